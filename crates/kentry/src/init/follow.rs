//! The guest's side of following: before each row is used once more, whoever follows is told which.

use super::{PARENT, ROUND_TIME};
use crate::this_machine::executor;
use document::{Document, Outcome};
use measure::TableRow;
use nix::libc;
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, mprotect};
use places::guest::packed;
use places::guest::rendezvous::{ANSWER, CODE, PAGE, Rendezvous};
use places::host::{Executor, Host, Interrupt, Priority};
use record::trace::{MOST, Symbol};
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::time::Duration;

/// The guest's only CPU.
const CPU: usize = 0;

/// Of a page.
const LENGTH: NonZeroUsize = NonZeroUsize::new(4096).expect("not 0");

const TWO: NonZeroUsize = NonZeroUsize::new(2).expect("not 0");

/// How often a row is followed at most, until the use that was followed is as long as those that were counted.
const ATTEMPTS: usize = 4;

/// The time between two attempts, which is the guest's and costs nothing: some paths depend on what part of a second it is
/// (timespec64_add_ns in include/linux/time64.h carries into the seconds or does not).
const PAUSE: Duration = Duration::from_millis(230);

/// How many turns of a loop wait for an interrupt: a turn has three instructions at least, and a timer interrupts after a quarter
/// of a million to ten million of them (CONFIG_HZ, and the rate of the counter).
const TURNS: u64 = 5_000_000;

/// Where this program meets who follows it.
pub struct RendezvousPage {
    code: extern "C" fn(u64, u64, u64),
    answer: *const u64,
}

impl RendezvousPage {
    fn make() -> nix::Result<RendezvousPage> {
        let (address, mode) =
            (NonZeroUsize::new(PAGE as usize), ProtFlags::PROT_READ | ProtFlags::PROT_WRITE);
        let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_FIXED_NOREPLACE;
        // SAFETY: nothing is there yet, or else this fails.
        let pages = unsafe { mmap_anonymous(address, LENGTH.saturating_mul(TWO), mode, flags)? };
        let answer = pages.as_ptr().wrapping_byte_add((ANSWER - PAGE) as usize).cast::<u64>();
        // SAFETY: both pages are this function's own. Nobody could write to a page that was never touched.
        unsafe {
            pages.cast::<u8>().write(CODE);
            answer.write_volatile(0);
            mprotect(pages, LENGTH.get(), ProtFlags::PROT_READ | ProtFlags::PROT_EXEC)?;
        }
        // SAFETY: an instruction that returns is a function that ignores its arguments.
        let code =
            unsafe { std::mem::transmute::<NonNull<libc::c_void>, extern "C" fn(u64, u64, u64)>(pages) };
        Ok(RendezvousPage { code, answer })
    }

    fn meet(&self, about: Rendezvous) {
        let [what, about, more] = about.arguments();
        (self.code)(what, about, more);
    }

    /// How many instructions the last use was that was followed; 0 where it was not.
    fn count(&self) -> u64 {
        self.meet(Rendezvous::Count);
        // SAFETY: the page stays mapped.
        unsafe { self.answer.read_volatile() }
    }

    /// Has the kernel's symbols read from here.
    pub fn tell(&self, symbols: &[Symbol]) {
        let bytes = packed(symbols);
        let (address, length) = (bytes.as_ptr().expose_provenance() as u64, bytes.len() as u64);
        self.meet(Rendezvous::Symbols { address, length });
    }

    /// Nothing more is followed.
    pub fn end(self) {
        self.meet(Rendezvous::Over);
    }
}

/// What is followed besides the rows.
pub enum Awaited {
    /// The timer's interrupt, by the address of its entry.
    Timer(u64),
    /// An execve, of the first row that makes a process.
    Execve,
}

/// Uses every row that is ok once more, to be followed; then has the other happen. Where whoever follows is still met.
///
/// # Errors
/// In words, when nothing can be followed.
pub fn run(
    rows: &[TableRow],
    document: &Document,
    awaited: Option<Awaited>,
) -> Result<RendezvousPage, String> {
    let place =
        RendezvousPage::make().map_err(|errno| format!("nothing can be followed: {}", errno.desc()))?;
    let flag = Interrupt::default();
    let mut host = executor(Priority::Inherited, ROUND_TIME, &flag).map_err(|error| error.to_string())?;
    for row in rows {
        let Some(count) = counted(row, document) else { continue };
        // A process that is made executes more than anybody reads.
        if count > MOST as f64 {
            place.meet(Rendezvous::TooLong(row.0.id, row.1.id, count as u32));
            continue;
        }
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            use_once(&place, &mut host, *row);
            if [0.0, count].contains(&(place.count() as f64)) {
                break;
            }
        }
    }
    match awaited {
        Some(Awaited::Timer(address)) => {
            place.meet(Rendezvous::Timer(address));
            (0..TURNS).for_each(|turn| _ = std::hint::black_box(turn));
        }
        Some(Awaited::Execve) => {
            if let Some(row) = rows.iter().find(|(_, operation)| operation.process) {
                place.meet(Rendezvous::Execve(row.0.id, row.1.id));
                measure_once(&mut host, *row);
            }
        }
        None => (),
    }
    Ok(place)
}

/// What a row of the document counts, if it has a count.
fn counted((entry, operation): &TableRow, document: &Document) -> Option<f64> {
    let ids = (Some(entry.id), Some(operation.id));
    let row = document.results.iter().find(|row| (row.entry_id, row.operation_id) == ids)?;
    row.instructions.as_ref().filter(|_| row.outcome == Outcome::Ok).map(|cost| cost.estimate.0)
}

/// Has a probe use a row as it does when it is counted. What it answers was judged before.
fn use_once(place: &RendezvousPage, host: &mut Host, (entry, operation): TableRow) {
    place.meet(Rendezvous::Row(entry.id, operation.id));
    measure_once(host, (entry, operation));
}

fn measure_once(host: &mut Host, (entry, operation): TableRow) {
    let _ = host.measure(entry.probe, CPU, &measure::counted_request((entry, operation), CPU, PARENT));
}

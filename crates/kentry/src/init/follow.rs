//! The guest's side of following: before each row is used once more, whoever follows is told which.

use super::measure::{PARENT, ROUND_TIME};
use crate::this_machine::executor;
use document::{Document, Outcome};
use guest::meeting::{CODE, Meeting, PAGE};
use host::{Executor, Interrupt, Priority};
use measure::TableRow;
use nix::libc;
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, mprotect};
use std::num::NonZeroUsize;
use std::ptr::NonNull;

const LENGTH: NonZeroUsize = NonZeroUsize::new(4096).expect("not 0");

/// How many turns of a loop wait for an interrupt: a timer interrupts every few million instructions.
const TURNS: u64 = 100_000_000;

/// Where this program meets who follows it.
struct Place {
    code: extern "C" fn(u64, u64),
}

impl Place {
    fn make() -> nix::Result<Place> {
        let (address, mode) =
            (NonZeroUsize::new(PAGE as usize), ProtFlags::PROT_READ | ProtFlags::PROT_WRITE);
        // SAFETY: nothing is there yet, or else this fails.
        let page = unsafe {
            mmap_anonymous(address, LENGTH, mode, MapFlags::MAP_PRIVATE | MapFlags::MAP_FIXED_NOREPLACE)?
        };
        // SAFETY: the page is this function's own.
        unsafe { page.cast::<u8>().write(CODE) };
        protect(page)?;
        // SAFETY: an instruction that returns is a function that ignores its arguments.
        let code = unsafe { std::mem::transmute::<NonNull<libc::c_void>, extern "C" fn(u64, u64)>(page) };
        Ok(Place { code })
    }

    fn meet(&self, about: Meeting) {
        let [what, about] = about.arguments();
        (self.code)(what, about);
    }
}

fn protect(page: NonNull<libc::c_void>) -> nix::Result<()> {
    // SAFETY: the page is this function's own, and nobody writes to it any more.
    unsafe { mprotect(page, LENGTH.get(), ProtFlags::PROT_READ | ProtFlags::PROT_EXEC) }
}

/// Uses every row that is ok once more, to be followed; then waits for an interrupt at this address of the kernel, if there is one.
///
/// # Errors
/// In words, when nothing can be followed.
pub fn run(rows: &[TableRow], document: &Document, interrupt: Option<u64>) -> Result<(), String> {
    let place = Place::make().map_err(|errno| format!("nothing can be followed: {}", errno.desc()))?;
    let flag = Interrupt::default();
    let mut host = executor(Priority::Inherited, ROUND_TIME, &flag).map_err(|error| error.to_string())?;
    let is_ok = |(entry, operation): &&TableRow| {
        let is_row =
            |row: &document::Row| (row.entry_id, row.operation_id) == (Some(entry.id), Some(operation.id));
        document.results.iter().any(|row| is_row(row) && row.outcome == Outcome::Ok)
    };
    for (entry, operation) in rows.iter().filter(is_ok) {
        place.meet(Meeting::Row(entry.id, operation.id));
        let request = measure::counted_request((entry, operation), 0, PARENT);
        // What it answers was judged before.
        let _ = host.measure(entry.probe, 0, &request);
    }
    if let Some(address) = interrupt {
        place.meet(Meeting::Interrupt(address));
        (0..TURNS).for_each(|turn| drop(std::hint::black_box(turn)));
    }
    place.meet(Meeting::Over);
    Ok(())
}

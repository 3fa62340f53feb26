//! Counting by the tracepoint `raw_syscalls:sys_enter`.
//!
//! Each CPU has a ring, to which the events of all watched threads on it write a record for each call. A thread of this process reads the
//! rings. What found no room is not lost for the sum: each event counts for itself as well.

use crate::counts::Counts;
use crate::error::Error;
use crate::event::{Event, What, Whose};
use crate::record::records;
use crate::ring::Ring;
use crate::switches::Switches;
use crate::target::{Clock, CpuTime, Target};
use crate::{cgroup, proc, tracepoint};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes of a ring, and what an ordinary user may have of it (kernel.perf_event_mlock_kb, less the page of positions).
const RING: usize = 8 << 20;
const SMALL_RING: usize = 512 << 10;

/// Rings are read at least so often.
const PAUSE: Duration = Duration::from_millis(20);

/// The most CPUs that are asked for.
const MOST_CPUS: u32 = 8192;

/// Whether this process may count calls by the tracepoint, as far as its own calls tell.
///
/// # Errors
/// What is missing.
pub fn permitted() -> Result<(), Error> {
    let what = What::Calls { tracepoint: tracepoint::number()?, wakeup: 0 };
    let own = Whose::Thread { tid: 0, from_exec: false };
    Event::open(what, own, None).map(drop).map_err(|errno| refused(errno, "its own calls"))
}

/// What was counted, and how.
#[derive(Debug)]
pub struct Observed {
    /// By process and call, as far as there are records.
    pub counts: Counts,
    /// All calls, as the events counted.
    pub total: u64,
    /// How long.
    pub seconds: f64,
    /// The CPU time of those whose calls these are.
    pub cpu: CpuTime,
    /// How often their threads were switched, and events with them; none where nobody tells.
    pub switches: Option<u64>,
    /// How many threads and processes they made, of which each got events of its own.
    pub forks: u64,
}

/// Events that count; dropped, they are gone.
#[derive(Debug)]
pub struct Watch {
    calls: Vec<Event>,
    times: Vec<Event>,
    clock: Option<Clock>,
    switches: Switches,
    begin: Instant,
    reader: Reader,
}

/// Who is watched, for opening.
enum Watched<'a> {
    Threads { tids: BTreeSet<u32>, pid: Option<u32>, from_exec: bool },
    Group(BorrowedFd<'a>),
    All,
}

impl Watch {
    /// Begins to count a target's calls.
    ///
    /// # Errors
    /// [`Error::Target`] where there is none, [`Error::Permission`] where it is not permitted, [`Error::System`] where it cannot be.
    pub fn of(target: &Target) -> Result<Watch, Error> {
        target.check()?;
        let mut watch = match target {
            Target::Process(pid) => {
                let watched = Watched::Threads { tids: BTreeSet::new(), pid: Some(*pid), from_exec: false };
                Watch::open(watched, &format!("the calls of process {pid}"))?
            }
            Target::Cgroup(path) => {
                let folder = cgroup::folder(path)?;
                Watch::open(Watched::Group(folder.as_fd()), "the calls of a cgroup")?
            }
            Target::System => Watch::open(Watched::All, "the calls of all processes")?,
        };
        watch.clock = match target {
            Target::Process(_) => None,
            Target::Cgroup(path) => Some(Clock::of_cgroup(path)?),
            Target::System => Some(Clock::of_system()?),
        };
        watch.switches = Switches::of(target);
        watch.enable()?;
        Ok(watch)
    }

    /// Counts what a process does from the next program on that it executes.
    ///
    /// # Errors
    /// As [`Watch::of`].
    pub(crate) fn of_program(pid: u32) -> Result<Watch, Error> {
        let watched = Watched::Threads { tids: [pid].into(), pid: None, from_exec: true };
        Watch::open(watched, "the calls of the command")
    }

    /// Counts the calls of processes that this thread starts, and its own.
    ///
    /// # Errors
    /// As [`Watch::of`].
    pub fn of_children() -> Result<Watch, Error> {
        let watched = Watched::Threads { tids: [0].into(), pid: None, from_exec: false };
        let watch = Watch::open(watched, "its own calls")?;
        watch.enable()?;
        Ok(watch)
    }

    fn open(watched: Watched, what: &str) -> Result<Watch, Error> {
        let tracepoint = tracepoint::number()?;
        // Before there are events, so that it does not inherit any.
        let reader = Reader::start()?;
        let room = Room::make();
        let opened = open_all(watched, tracepoint, what);
        drop(room);
        let (calls, times, rings) = opened?;
        let files = rings.iter().map(|(place, _)| *place).collect::<Vec<_>>();
        let files = files.iter().filter_map(|place| calls.get(*place)?.as_fd().try_clone_to_owned().ok());
        reader
            .give(Given { files: files.collect(), rings: rings.into_iter().map(|(_, ring)| ring).collect() });
        Ok(Watch { calls, times, clock: None, switches: Switches::None, begin: Instant::now(), reader })
    }

    fn enable(&self) -> Result<(), Error> {
        let failed = |errno: Errno| Error::system("perf events cannot be switched on", errno);
        self.calls.iter().chain(&self.times).try_for_each(Event::enable).map_err(failed)
    }

    /// Looks how much CPU time a cgroup has used, which nobody tells when it was removed; whether it is still there. Others always are.
    pub fn look(&mut self) -> bool {
        self.clock.as_mut().is_none_or(Clock::look)
    }

    /// Ends counting.
    ///
    /// # Errors
    /// [`Error::System`] where the kernel does not tell what was counted.
    pub fn end(self) -> Result<Observed, Error> {
        // A process that has ended has no events to switch off.
        self.calls.iter().chain(&self.times).for_each(|event| {
            let _ = event.disable();
        });
        let seconds = self.begin.elapsed().as_secs_f64();
        let failed = |errno: Errno| Error::system("perf events cannot be read", errno);
        let sum =
            |events: &[Event]| events.iter().map(Event::count).sum::<Result<u64, Errno>>().map_err(failed);
        let total = sum(&self.calls)?;
        let cpu = match &self.clock {
            Some(clock) => clock.used()?,
            None => {
                let seconds = sum(&self.times)? as f64 / 1e9;
                CpuTime { seconds, sure: seconds, parts: None, by: "the kernel's task clock" }
            }
        };
        let switches = self.switches.since();
        let counts = self.reader.end();
        // Those of the whole machine are no thread's.
        let forks =
            if matches!(self.switches, Switches::None) && self.clock.is_some() { 0 } else { counts.forks() };
        Ok(Observed { counts, total, seconds, cpu, switches, forks })
    }
}

/// Calls, times, and the rings with the places of their events.
type Opened = (Vec<Event>, Vec<Event>, Vec<(usize, Ring)>);

fn open_all(watched: Watched, tracepoint: u64, what: &str) -> Result<Opened, Error> {
    let mut opening =
        Opening { what, tracepoint, calls: Vec::new(), times: Vec::new(), rings: Vec::new(), size: RING };
    match watched {
        Watched::Group(folder) => opening.on_each_cpu(Whose::Group(folder))?,
        Watched::All => opening.on_each_cpu(Whose::All)?,
        Watched::Threads { tids, pid: None, from_exec } => {
            tids.into_iter().try_for_each(|tid| opening.thread(tid, from_exec))?;
        }
        Watched::Threads { pid: Some(pid), .. } => opening.process(pid)?,
    }
    Ok((
        opening.calls,
        opening.times,
        opening.rings.into_iter().map(|(_, place, ring)| (place, ring)).collect(),
    ))
}

struct Opening<'a> {
    what: &'a str,
    tracepoint: u64,
    calls: Vec<Event>,
    times: Vec<Event>,
    /// By CPU: the place of the event that has the ring.
    rings: Vec<(u32, usize, Ring)>,
    size: usize,
}

impl Opening<'_> {
    /// All threads; those that are made meanwhile by one that is not yet watched are found by looking again.
    fn process(&mut self, pid: u32) -> Result<(), Error> {
        let mut known = BTreeSet::new();
        loop {
            let new: Vec<u32> = proc::threads(pid).into_iter().filter(|tid| !known.contains(tid)).collect();
            for tid in &new {
                match self.thread(*tid, false) {
                    // It has ended meanwhile.
                    Err(Error::Target(_)) => {}
                    other => other?,
                }
            }
            known.extend(new.iter().copied());
            if new.is_empty() {
                break;
            }
        }
        if self.calls.is_empty() {
            return Err(Error::Target(format!("process {pid} has just ended")));
        }
        Ok(())
    }

    fn thread(&mut self, tid: u32, from_exec: bool) -> Result<(), Error> {
        let whose = Whose::Thread { tid, from_exec };
        self.on_each_cpu(whose)?;
        self.times.push(Event::open(What::Time, whose, None).map_err(|errno| refused(errno, self.what))?);
        Ok(())
    }

    fn on_each_cpu(&mut self, whose: Whose) -> Result<(), Error> {
        let mut opened = 0;
        for cpu in 0..MOST_CPUS {
            let what = What::Calls { tracepoint: self.tracepoint, wakeup: (self.size / 4) as u32 };
            match Event::open(what, whose, Some(cpu)) {
                Ok(event) => self.add(event, cpu)?,
                // Beyond the last CPU; one that is not there among others that are.
                Err(Errno::EINVAL) if opened > 0 => break,
                Err(Errno::ENODEV) => continue,
                Err(errno) => return Err(refused(errno, self.what)),
            }
            opened += 1;
        }
        Ok(())
    }

    fn add(&mut self, event: Event, cpu: u32) -> Result<(), Error> {
        let failed = |errno: Errno| Error::system("records of perf events find no memory", errno);
        if let Some((_, place, _)) = self.rings.iter().find(|(of, ..)| *of == cpu) {
            if let Some(other) = self.calls.get(*place) {
                event.write_to(other).map_err(failed)?;
            }
        } else {
            let ring = match Ring::of(&event, self.size) {
                Err(Errno::EPERM | Errno::ENOMEM) if self.size == RING => {
                    self.size = SMALL_RING;
                    Ring::of(&event, self.size)
                }
                other => other,
            };
            self.rings.push((cpu, self.calls.len(), ring.map_err(failed)?));
        }
        self.calls.push(event);
        Ok(())
    }
}

/// As many files may be open as is permitted, while this exists.
struct Room(Option<(u64, u64)>);

impl Room {
    fn make() -> Room {
        let limits = getrlimit(Resource::RLIMIT_NOFILE).ok();
        let raised = limits.filter(|(_, hard)| setrlimit(Resource::RLIMIT_NOFILE, *hard, *hard).is_ok());
        Room(raised)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if let Some((soft, hard)) = self.0 {
            let _ = setrlimit(Resource::RLIMIT_NOFILE, soft, hard);
        }
    }
}

const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;

fn refused(errno: Errno, what: &str) -> Error {
    match errno {
        Errno::EPERM | Errno::EACCES => Error::Permission(missing(what)),
        Errno::ESRCH => Error::Target("the process has just ended".into()),
        Errno::ENOSYS => Error::System(
            "this kernel has no perf events (CONFIG_PERF_EVENTS), or a filter denies them".into(),
        ),
        Errno::EMFILE | Errno::ENFILE => Error::System(format!(
            "each thread takes an open file for each CPU, and this process may open no more (ulimit -n) to count {what}"
        )),
        other => Error::system(&format!("perf_event_open(2) does not count {what}"), other),
    }
}

/// Which permission is missing, by what the kernel says of this process.
fn missing(what: &str) -> String {
    let status = proc::read("/proc/self/status").unwrap_or_default();
    let capabilities = status.lines().find_map(|line| line.strip_prefix("CapEff:")).map(str::trim);
    let capabilities = capabilities.and_then(|text| u64::from_str_radix(text, 16).ok()).unwrap_or(0);
    let has = |capability: u32| capabilities >> capability & 1 == 1;
    let paranoid = proc::read("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    match paranoid.trim() {
        level if !level.is_empty() && !has(CAP_PERFMON) && !has(CAP_SYS_ADMIN) => {
            format!(
                "this process may not count {what}: it lacks CAP_PERFMON, and kernel.perf_event_paranoid is {level}"
            )
        }
        _ => format!(
            "this process may not count {what}: perf_event_open(2) is refused, by a seccomp filter or a security module"
        ),
    }
}

struct Given {
    files: Vec<std::os::fd::OwnedFd>,
    rings: Vec<Ring>,
}

/// A thread that reads the rings.
#[derive(Debug)]
struct Reader {
    give: Option<Sender<Given>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<Counts>>,
}

impl Reader {
    fn start() -> Result<Reader, Error> {
        let (give, given) = channel();
        let ends = Arc::new(AtomicBool::new(false));
        let started = std::thread::Builder::new().spawn({
            let ends = Arc::clone(&ends);
            move || read(&given, &ends)
        });
        let thread = started.map_err(Error::no_thread)?;
        Ok(Reader { give: Some(give), ends, thread: Some(thread) })
    }

    fn give(&self, given: Given) {
        if let Some(give) = &self.give {
            let _ = give.send(given);
        }
    }

    fn end(mut self) -> Counts {
        self.stop().unwrap_or_default()
    }

    fn stop(&mut self) -> Option<Counts> {
        self.ends.store(true, Ordering::SeqCst);
        self.give = None;
        self.thread.take().and_then(|thread| thread.join().ok())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stop();
    }
}

fn read(given: &Receiver<Given>, ends: &AtomicBool) -> Counts {
    let mut counts = Counts::new(has_fred());
    let Ok(Given { files, rings }) = given.recv() else { return counts };
    let mut bytes = Vec::new();
    loop {
        // What is written before this is asked for is read below.
        let is_last = ends.load(Ordering::SeqCst);
        for ring in &rings {
            bytes.clear();
            ring.take(&mut bytes);
            records(&bytes).for_each(|record| counts.add(record));
        }
        if is_last {
            return counts;
        }
        let mut wanted: Vec<PollFd> =
            files.iter().map(|file| PollFd::new(file.as_fd(), PollFlags::POLLIN)).collect();
        let before = Instant::now();
        let _ = poll(&mut wanted, PollTimeout::try_from(PAUSE).unwrap_or(PollTimeout::ZERO));
        // A ring whose threads have all ended is always ready.
        let hung =
            wanted.iter().any(|file| file.revents().is_some_and(|has| has.contains(PollFlags::POLLHUP)));
        if hung && before.elapsed() < PAUSE {
            std::thread::sleep(PAUSE / 10);
        }
    }
}

/// By /proc/cpuinfo; where it does not say, there is none.
fn has_fred() -> bool {
    let text = proc::read("/proc/cpuinfo").unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags")).unwrap_or_default();
    flags.split_ascii_whitespace().any(|flag| flag == "fred")
}

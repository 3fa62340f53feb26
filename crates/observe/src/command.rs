//! A command whose calls are counted from its first instruction on.
//!
//! It leads a process group of its own, with which it ends when this process is killed. In a terminal that group is in the foreground, as a
//! shell's jobs are.

use crate::counts::Counts;
use crate::error::Error;
use crate::notify;
use crate::target::CpuTime;
use crate::watch::{Observed, Watch};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::libc;
use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::{Pid, getpgrp, isatty, pipe2, read, tcgetpgrp, tcsetpgrp, write};
use process::GroupNote;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Where a command's standard output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Where this process's goes.
    Own,
    /// To this process's standard error: its own standard output is for the result.
    Errors,
}

/// How a command ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    /// Its status.
    pub status: ExitStatus,
    /// Whether it was told to end because its time was up, or this process was interrupted.
    pub was_told: bool,
}

/// While a command is waited for.
const PAUSE: Duration = Duration::from_millis(1);

/// What it gets between the signals that ask it to end and that end it.
const GRACE: Duration = Duration::from_secs(2);

/// What counts.
enum Counting {
    Tracepoint(Watch),
    Filter(JoinHandle<Counts>),
}

/// A command that runs.
pub struct Started {
    child: Child,
    counting: Counting,
    begin: Instant,
    _note: Option<Arc<GroupNote>>,
    terminal: Option<Terminal>,
}

impl Started {
    /// Starts a command; its calls are counted by the tracepoint.
    ///
    /// # Errors
    /// [`Error::Command`] where it cannot be started; others where it cannot be watched. Then it has not run.
    pub fn watched(command: &[OsString], output: Output) -> Result<Started, Error> {
        let (ready, is_ready) = pipe2(OFlag::O_CLOEXEC).map_err(|errno| Error::system("no pipe", errno))?;
        let (may_go, go) = pipe2(OFlag::O_CLOEXEC).map_err(|errno| Error::system("no pipe", errno))?;
        let files = [is_ready.as_raw_fd(), may_go.as_raw_fd(), go.as_raw_fd()];
        let prepared = Prepared::new(command, output, move || wait_to_go(files))?;
        let (spawned, watch) = std::thread::scope(|scope| {
            // The child waits for this thread, and starting it returns when it executes its program.
            let attach = scope.spawn(move || {
                let mut pid = [0; 4];
                let told = read(&ready, &mut pid).is_ok_and(|count| count == pid.len());
                let watch = told.then(|| Watch::of_program(u32::from_ne_bytes(pid)));
                if matches!(watch, Some(Ok(_))) {
                    let _ = write(&go, &[0]);
                }
                watch
            });
            let spawned = prepared.spawn();
            // Otherwise the thread would wait for a child that there is not.
            drop((is_ready, may_go));
            (spawned, attach.join().ok().flatten())
        });
        match (spawned, watch) {
            (_, Some(Err(why))) => Err(why),
            (Ok((child, note, terminal)), Some(Ok(watch))) => {
                Ok(Started::new(child, Counting::Tracepoint(watch), note, terminal))
            }
            (Err(source), _) => Err(failed(command, source)),
            (Ok(_), None) => Err(Error::System("the command did not tell its number".into())),
        }
    }

    /// Starts a command; its calls are counted by a filter that asks this process.
    ///
    /// # Errors
    /// As [`Started::watched`].
    pub fn filtered(command: &[OsString], output: Output) -> Result<Started, Error> {
        let made = socketpair(AddressFamily::Unix, SockType::Datagram, None, SockFlag::SOCK_CLOEXEC);
        let (ours, theirs) = made.map_err(|errno| Error::system("no socket", errno))?;
        let socket = theirs.as_raw_fd();
        let refused = Arc::new(shared()?);
        let tell = Arc::clone(&refused);
        let prepared = Prepared::new(command, output, move || {
            notify::put_on(socket).inspect_err(|errno| tell.set(*errno as u32))
        })?;
        let pid = Arc::new(AtomicU32::new(0));
        let supervisor = std::thread::spawn({
            let pid = Arc::clone(&pid);
            move || {
                let Some(listener) = notify::receive(&ours) else { return Counts::default() };
                notify::supervise(&listener, || Some(pid.load(Ordering::SeqCst)).filter(|pid| *pid != 0))
            }
        });
        let spawned = prepared.spawn();
        // The supervisor no longer waits for a filter that nobody puts on.
        let _ = nix::sys::socket::send(socket, &[0], nix::sys::socket::MsgFlags::MSG_NOSIGNAL);
        drop(theirs);
        match spawned {
            Ok((child, note, terminal)) => {
                pid.store(child.id(), Ordering::SeqCst);
                Ok(Started::new(child, Counting::Filter(supervisor), note, terminal))
            }
            Err(source) => Err(match refused.get() {
                0 => failed(command, source),
                errno => notify::refused(Errno::from_raw(errno as i32)),
            }),
        }
    }

    fn new(
        child: Child,
        counting: Counting,
        note: Option<Arc<GroupNote>>,
        terminal: Option<Terminal>,
    ) -> Started {
        Started { child, counting, begin: Instant::now(), _note: note, terminal }
    }

    /// The command's process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has ended, or `stops` says so, or its time is up; then it is told to end.
    ///
    /// # Errors
    /// [`Error::System`] where nobody tells how it ended, or what it did.
    pub fn wait(
        mut self,
        time: Option<Duration>,
        mut stops: impl FnMut(Duration) -> bool,
    ) -> Result<(Observed, Ended), Error> {
        let (mut told, mut end) = (None, None);
        while end.is_none() {
            end = self
                .reap()
                .map_err(|errno| Error::system("the command's end cannot be waited for", errno))?;
            let ran = self.begin.elapsed();
            match told {
                None if time.is_some_and(|time| ran >= time) || stops(ran) => {
                    self.signal(Signal::SIGTERM);
                    told = Some(Instant::now());
                }
                Some(since) if Instant::elapsed(&since) > GRACE => self.signal(Signal::SIGKILL),
                _ => {}
            }
            if end.is_none() {
                std::thread::sleep(PAUSE);
            }
        }
        let seconds = self.begin.elapsed().as_secs_f64();
        drop(self.terminal.take());
        let Reaped { status, parts, switches } = end.unwrap_or_default();
        let was_told = told.is_some();
        if was_told {
            // What it has started and left behind: its filter asks this process, or its time is up, too.
            self.signal(Signal::SIGKILL);
        }
        let ended = Ended { status: ExitStatus::from_raw(status), was_told };
        let observed = match self.counting {
            Counting::Tracepoint(watch) => {
                let observed = watch.end()?;
                let cpu = CpuTime::of_command(parts, Some(observed.cpu.seconds));
                Observed { cpu, seconds, switches: Some(switches), ..observed }
            }
            Counting::Filter(supervisor) => {
                let counts = supervisor.join().map_err(|_| Error::System("counting has failed".into()))?;
                let cpu = CpuTime::of_command(parts, None);
                Observed { total: counts.seen(), counts, seconds, cpu, switches: Some(switches), forks: 0 }
            }
        };
        Ok((observed, ended))
    }

    fn signal(&self, signal: Signal) {
        let _ = i32::try_from(self.child.id()).map(|group| killpg(Pid::from_raw(group), signal));
    }

    /// What it ended with, if it has.
    fn reap(&self) -> Result<Option<Reaped>, Errno> {
        let pid = i32::try_from(self.child.id()).map_err(|_| Errno::ECHILD)?;
        let mut status = 0;
        // SAFETY: all zeros is a usage.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes a number and a usage.
        let reaped = unsafe { libc::wait4(pid, &raw mut status, libc::WNOHANG, &raw mut usage) };
        match Errno::result(reaped) {
            Ok(0) | Err(Errno::EINTR) => Ok(None),
            Ok(_) => {
                let parts = [usage.ru_utime, usage.ru_stime].map(seconds);
                let count = |count: i64| u64::try_from(count).unwrap_or(0);
                let switches = count(usage.ru_nvcsw).saturating_add(count(usage.ru_nivcsw));
                Ok(Some(Reaped { status, parts, switches }))
            }
            Err(errno) => Err(errno),
        }
    }
}

/// What a command ended with. Usage is that of its children, too.
#[derive(Debug, Clone, Copy, Default)]
struct Reaped {
    status: i32,
    /// Seconds in user space and in the kernel.
    parts: [f64; 2],
    /// How often threads were switched.
    switches: u64,
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

fn failed(command: &[OsString], source: io::Error) -> Error {
    let name = command.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Error::Command { name, source }
}

/// In the child: tells its number, then waits until it is watched. Nobody watches it where the pipe ends first.
fn wait_to_go([is_ready, may_go, go]: [RawFd; 3]) -> Result<(), Errno> {
    let (pid, mut byte) = (std::process::id().to_ne_bytes(), 0u8);
    // SAFETY: system calls with numbers and memory of this stack.
    unsafe {
        libc::close(go);
        Errno::result(libc::write(is_ready, pid.as_ptr().cast(), pid.len()))?;
        loop {
            match Errno::result(libc::read(may_go, (&raw mut byte).cast(), 1)) {
                Ok(1) => return Ok(()),
                Err(Errno::EINTR) => {}
                _ => return Err(Errno::ECANCELED),
            }
        }
    }
}

/// A word of memory that a child shares.
struct Shared(std::ptr::NonNull<AtomicU32>);

// SAFETY: it is an atomic number, which lives as long as this process.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    fn set(&self, value: u32) {
        // SAFETY: it is mapped and never unmapped.
        unsafe { self.0.as_ref() }.store(value, Ordering::SeqCst);
    }

    fn get(&self) -> u32 {
        // SAFETY: as above.
        unsafe { self.0.as_ref() }.load(Ordering::SeqCst)
    }
}

fn shared() -> Result<Shared, Error> {
    use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous};
    let length = std::num::NonZero::<usize>::MIN;
    let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    // SAFETY: new memory, at a place that the kernel chooses.
    let made = unsafe { mmap_anonymous(None, length, protection, MapFlags::MAP_SHARED) };
    made.map(|memory| Shared(memory.cast())).map_err(|errno| Error::system("no memory", errno))
}

/// A command with what its process does before.
struct Prepared {
    command: Command,
    note: Option<Arc<GroupNote>>,
    terminal: Option<Terminal>,
}

impl Prepared {
    fn new(
        words: &[OsString],
        output: Output,
        mut last: impl FnMut() -> Result<(), Errno> + Send + Sync + 'static,
    ) -> Result<Prepared, Error> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(Error::Target("no command was named".into()));
        };
        let mut command = Command::new(program);
        command.args(arguments);
        if output == Output::Errors {
            let errors =
                nix::unistd::dup(io::stderr()).map_err(|errno| Error::system("standard error", errno))?;
            command.stdout(Stdio::from(errors));
        }
        let note = GroupNote::take().map(Arc::new);
        let written = note.clone();
        let terminal = Terminal::of_this_process();
        let has_terminal = terminal.is_some();
        let parent = std::process::id();
        // SAFETY: what runs in the child makes system calls, and neither allocates nor locks.
        unsafe {
            command.pre_exec(move || {
                nix::unistd::setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
                if let Some(note) = &written {
                    note.write();
                }
                nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
                if nix::unistd::getppid().as_raw() != parent as i32 {
                    return Err(Errno::ESRCH.into());
                }
                if has_terminal {
                    Terminal::give(nix::unistd::getpid());
                }
                last().map_err(io::Error::from)
            });
        }
        Ok(Prepared { command, note, terminal })
    }

    fn spawn(mut self) -> io::Result<(Child, Option<Arc<GroupNote>>, Option<Terminal>)> {
        let child = self.command.spawn()?;
        Ok((child, self.note, self.terminal))
    }
}

/// The terminal of this process, which gets it back when this is dropped.
struct Terminal(Pid);

impl Terminal {
    fn of_this_process() -> Option<Terminal> {
        let own = getpgrp();
        let is_own =
            isatty(io::stdin()).unwrap_or(false) && tcgetpgrp(io::stdin()).is_ok_and(|group| group == own);
        is_own.then_some(Terminal(own))
    }

    /// Puts a group into the foreground. Whoever is in the background and does so is stopped, unless the signal is blocked.
    fn give(group: Pid) {
        let mut blocked = SigSet::empty();
        blocked.add(Signal::SIGTTOU);
        if let Ok(before) = blocked.thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK) {
            let _ = tcsetpgrp(io::stdin(), group);
            let _ = before.thread_set_mask();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        Terminal::give(self.0);
    }
}

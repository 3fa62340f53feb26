//! A command whose calls are counted from its first instruction on.
//!
//! It leads a process group of its own, with which it ends when this process is killed. In a terminal that group is in the foreground, as a
//! shell's jobs are.

use crate::counts::Counts;
use crate::error::{Error, words};
use crate::guard::Guard;
use crate::notify;
use crate::target::CpuTime;
use crate::watch::{Observed, Watch};
use layers::Shared;
use layers::notification::Message;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::libc;
use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::{Pid, getpgrp, isatty, pipe2, read, tcgetpgrp, tcsetpgrp, write};
use process::GroupNote;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
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
    /// Whether it left processes behind with its filter that were ended.
    pub ended_others: bool,
}

/// While a command is waited for.
const PAUSE: Duration = Duration::from_millis(1);

/// What it gets between the signals that ask it to end and that end it.
const GRACE: Duration = Duration::from_secs(2);

/// What counts.
enum Counting {
    Tracepoint(Watch),
    Filter(Supervisor),
}

/// A thread that answers for a filter.
struct Supervisor {
    thread: JoinHandle<Result<Counts, Error>>,
    /// Whether those who still have the filter are to be ended.
    ends: Arc<AtomicBool>,
    _guard: Guard,
}

impl Supervisor {
    /// Waits until nobody has the filter any more; once `ends` says so, those who have it are ended.
    fn end(self, mut ends: impl FnMut() -> bool) -> Result<Counts, Error> {
        while !self.thread.is_finished() {
            if ends() {
                self.ends.store(true, Ordering::SeqCst);
            }
            std::thread::sleep(PAUSE);
        }
        self.thread.join().map_err(|_| Error::System("counting has failed".into()))?
    }
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
        let (spawned, watch) = std::thread::scope(|scope| -> Result<_, Error> {
            // The child waits for this thread, and starting it returns when it executes its program.
            let attach = std::thread::Builder::new().spawn_scoped(scope, move || {
                let mut pid = [0; 4];
                let told = read(&ready, &mut pid).is_ok_and(|count| count == pid.len());
                let watch = told.then(|| Watch::of_program(u32::from_ne_bytes(pid)));
                // Its program may have ended before it is known here to have started.
                let begin = Instant::now();
                if matches!(watch, Some(Ok(_))) {
                    let _ = write(&go, &[0]);
                }
                watch.map(|watch| watch.map(|watch| (watch, begin)))
            });
            let attach = attach.map_err(Error::no_thread)?;
            let spawned = prepared.spawn();
            // Otherwise the thread would wait for a child that there is not.
            drop((is_ready, may_go));
            Ok((spawned, attach.join().ok().flatten()))
        })?;
        match (spawned, watch) {
            (_, Some(Err(why))) => Err(why),
            (Ok((child, note, terminal)), Some(Ok((watch, begin)))) => {
                Ok(Started { child, counting: Counting::Tracepoint(watch), begin, _note: note, terminal })
            }
            (Err(why), _) => Err(why),
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
        let (born, message) = (shared::<AtomicU32>()?, shared::<Message>()?);
        let prepared = Prepared::new(command, output, move || {
            born.store(std::process::id(), Ordering::SeqCst);
            notify::put_on(socket)
        })?;
        let guard = Guard::start(message)?;
        let of_guard =
            guard.socket().ok_or_else(|| Error::System("no socket to the filter's guard".into()))?;
        let (pid, ends) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
        let started = std::thread::Builder::new().spawn({
            let (pid, ends) = (Arc::clone(&pid), Arc::clone(&ends));
            move || {
                let Some(listener) = notify::receive(ours.as_raw_fd()) else { return Ok(Counts::default()) };
                // SAFETY: the kernel has just made it for this process.
                let listener = unsafe { OwnedFd::from_raw_fd(listener) };
                // Before this is answered the command cannot start anything: it ends with this process.
                let sent = notify::send(of_guard.as_raw_fd(), listener.as_raw_fd());
                sent.map_err(|errno| Error::system("the filter's guard cannot be told", errno))?;
                let first = || Some(pid.load(Ordering::SeqCst)).filter(|pid| *pid != 0);
                notify::supervise(&listener, message, first, &ends).inspect_err(|_| {
                    // A command that has yet to execute its program has the listener itself, and would wait for an answer for ever.
                    if first().is_none() {
                        notify::kill(born.load(Ordering::SeqCst));
                    }
                    let _ =
                        nix::sys::socket::shutdown(of_guard.as_raw_fd(), nix::sys::socket::Shutdown::Both);
                })
            }
        });
        let thread = started.map_err(Error::no_thread)?;
        let begin = Instant::now();
        let spawned = prepared.spawn();
        // The supervisor no longer waits for a filter that nobody puts on.
        let _ = nix::sys::socket::send(socket, &[0], nix::sys::socket::MsgFlags::MSG_NOSIGNAL);
        drop(theirs);
        let (child, note, terminal) = match spawned {
            Ok(spawned) => spawned,
            // Its call was not answered: that is why its program did not start.
            Err(why) => return Err(thread.join().ok().and_then(Result::err).unwrap_or(why)),
        };
        pid.store(child.id(), Ordering::SeqCst);
        let counting = Counting::Filter(Supervisor { thread, ends, _guard: guard });
        Ok(Started { child, counting, begin, _note: note, terminal })
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
                // Nobody answers any more.
                _ if matches!(&self.counting, Counting::Filter(supervisor) if supervisor.thread.is_finished()) =>
                {
                    self.signal(Signal::SIGKILL);
                }
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
        let mut ended = Ended { status: ExitStatus::from_raw(status), was_told, ended_others: false };
        let observed = match self.counting {
            Counting::Tracepoint(watch) => {
                let observed = watch.end()?;
                let cpu = CpuTime::of_command(parts, Some(observed.cpu.seconds));
                Observed { cpu, seconds, switches: Some(switches), ..observed }
            }
            Counting::Filter(supervisor) => {
                let (begin, mut must_end) = (self.begin, was_told);
                let counts = supervisor.end(|| {
                    let ran = begin.elapsed();
                    must_end |= stops(ran) || time.is_some_and(|time| ran >= time);
                    must_end
                })?;
                ended.ended_others = must_end && !was_told;
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

/// What a child does before its program, by number from 1.
#[derive(Clone, Copy)]
enum Step {
    Group = 1,
    Death,
    Parent,
    Last,
}

/// Why a command was not started: by this process's own doing, which a child told, or by its program.
fn failed(name: &OsString, told: u32, source: io::Error) -> Error {
    let (step, errno) = (told >> 16, Errno::from_raw((told & 0xffff) as i32));
    let own = |what: &str| Error::system(&format!("kentry cannot prepare the command: {what}"), errno);
    match (step, source.raw_os_error().map(Errno::from_raw)) {
        (step, _) if step == Step::Group as u32 => own("setpgid(2)"),
        (step, _) if step == Step::Death as u32 => own("prctl(PR_SET_PDEATHSIG)"),
        (step, _) if step == Step::Parent as u32 => own("its parent"),
        (step, _) if step == Step::Last as u32 => notify::refused(errno),
        (_, Some(Errno::EMFILE | Errno::ENFILE)) => {
            Error::System(format!("kentry cannot start a command: {} (see ulimit -n)", words(&source)))
        }
        (_, Some(Errno::EAGAIN | Errno::ENOMEM)) => Error::System(format!(
            "kentry cannot start a process for the command: {} (see ulimit -u, and pids.max and memory.max of its cgroup)",
            words(&source)
        )),
        _ => Error::Command { name: name.to_string_lossy().into_owned(), source },
    }
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

/// Memory that a child shares.
fn shared<T: Shared>() -> Result<&'static T, Error> {
    layers::shared().map_err(|errno| Error::system("no memory", errno))
}

/// A command's process, where its group is noted, and the terminal that it has.
type Spawned = (Child, Option<Arc<GroupNote>>, Option<Terminal>);

/// A command with what its process does before.
struct Prepared {
    command: Command,
    name: OsString,
    /// Which step failed in the child, and its error.
    told: &'static AtomicU32,
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
        let told = shared::<AtomicU32>()?;
        // SAFETY: what runs in the child makes system calls, and neither allocates nor locks.
        unsafe {
            command.pre_exec(move || {
                let failed = |step: Step| {
                    move |errno: Errno| {
                        told.store((step as u32) << 16 | errno as u32, Ordering::SeqCst);
                        io::Error::from(errno)
                    }
                };
                nix::unistd::setpgid(Pid::from_raw(0), Pid::from_raw(0)).map_err(failed(Step::Group))?;
                if let Some(note) = &written {
                    note.write();
                }
                nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(failed(Step::Death))?;
                if nix::unistd::getppid().as_raw() != parent as i32 {
                    return Err(failed(Step::Parent)(Errno::ESRCH));
                }
                if has_terminal {
                    Terminal::give(nix::unistd::getpid());
                }
                last().map_err(failed(Step::Last))
            });
        }
        Ok(Prepared { command, name: program.clone(), told, note, terminal })
    }

    fn spawn(mut self) -> Result<Spawned, Error> {
        let spawned = self.command.spawn();
        let child = spawned.map_err(|source| failed(&self.name, self.told.load(Ordering::SeqCst), source))?;
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

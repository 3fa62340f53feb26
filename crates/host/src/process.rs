//! One probe run: fork, pin, execute, read, and an end to it whatever happens.

use crate::image::Image;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigHandler, SigSet, Signal, killpg, signal};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, pipe2, read, setpgid};
use record::{Failure, Step};
use std::convert::Infallible;
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// No probe writes as much: 256 blocks of 64 samples of 32 bytes, and what is around them.
const MOST_OUTPUT: usize = 2 << 20;

/// Set from a signal handler to end a run early.
pub type Interrupt = Arc<AtomicBool>;

/// Scheduling of the probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// As this process.
    Inherited,
    /// SCHED_FIFO, lowest priority.
    Realtime,
}

/// What a probe run may use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The CPU it is pinned to.
    pub cpu: usize,
    /// Its scheduling.
    pub priority: Priority,
    /// The longest it may take.
    pub time: Duration,
    /// Ends it when set.
    pub interrupt: Interrupt,
}

/// Runs the program and returns what it wrote to its standard output.
pub fn run(image: &Image, arguments: &[String], limits: &Limits) -> Result<Vec<u8>, Failure> {
    let argv = Arguments::new(image, arguments).ok_or(not_started(Step::Execute, Errno::EINVAL))?;
    let (output, output_end) = pipe2(OFlag::O_CLOEXEC).map_err(|error| not_started(Step::Pipe, error))?;
    let (trouble, trouble_end) = pipe2(OFlag::O_CLOEXEC).map_err(|error| not_started(Step::Pipe, error))?;

    // SAFETY: the child only makes system calls on what was made before; it neither allocates nor locks.
    let child = match unsafe { fork() }.map_err(|error| not_started(Step::Fork, error))? {
        ForkResult::Child => {
            let Err((step, error)) = become_probe(image, &argv, limits, output_end.as_fd());
            report_and_exit(step, error, trouble_end.as_fd())
        }
        ForkResult::Parent { child } => Child { pid: child, reaped: false },
    };
    drop(output_end);
    drop(trouble_end);
    child.collect(output, trouble, limits)
}

fn not_started(step: Step, error: Errno) -> Failure {
    Failure::NotStarted { step, errno: error as i32 }
}

/// The argument vector, made before the fork, because making it allocates.
struct Arguments {
    /// What the pointers point to.
    _texts: Vec<CString>,
    pointers: Vec<*const libc::c_char>,
}

impl Arguments {
    /// None when an argument has a NUL in it.
    fn new(image: &Image, arguments: &[String]) -> Option<Arguments> {
        let rest = arguments.iter().map(|argument| CString::new(argument.as_str()).ok());
        let texts: Vec<CString> =
            std::iter::once(Some(image.name.clone())).chain(rest).collect::<Option<_>>()?;
        let pointers = texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect();
        Some(Arguments { _texts: texts, pointers })
    }
}

/// In the child: nothing but system calls from here on.
fn become_probe(
    image: &Image,
    argv: &Arguments,
    limits: &Limits,
    output: BorrowedFd,
) -> Result<Infallible, (Step, Errno)> {
    set_up().map_err(|error| (Step::Setup, error))?;
    pin(limits.cpu).map_err(|error| (Step::Pin, error))?;
    if limits.priority == Priority::Realtime {
        set_realtime().map_err(|error| (Step::Realtime, error))?;
    }
    nix::unistd::dup2_stdout(output).map_err(|error| (Step::Setup, error))?;
    let no_environment = [std::ptr::null::<libc::c_char>()];
    // SAFETY: both vectors end in a null pointer, and their texts live as long as they do.
    unsafe {
        let (argv, envp) = (argv.pointers.as_ptr(), no_environment.as_ptr());
        libc::execveat(image.file.as_raw_fd(), c"".as_ptr(), argv.cast(), envp.cast(), libc::AT_EMPTY_PATH);
    }
    Err((Step::Execute, Errno::last()))
}

fn set_up() -> Result<(), Errno> {
    // A group of its own: the terminal's interrupt is for us, and its children end with it.
    setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    SigSet::empty().thread_set_mask()?;
    // SAFETY: the default action is no handler of ours.
    unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) }?;
    Ok(())
}

fn pin(cpu: usize) -> Result<(), Errno> {
    let mut cpus = CpuSet::new();
    cpus.set(cpu)?;
    sched_setaffinity(Pid::from_raw(0), &cpus)
}

/// SCHED_FIFO at its lowest priority for this process.
fn set_realtime() -> Result<(), Errno> {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: the kernel reads one sched_param.
    Errno::result(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) }).map(drop)
}

/// Whether a child may have real-time priority, found out by one that tries.
///
/// # Errors
/// What the kernel answers.
pub fn try_realtime() -> std::io::Result<()> {
    // SAFETY: as in `run`.
    match unsafe { fork() }? {
        ForkResult::Child => {
            let code = set_realtime().map_or_else(|error| error as i32, |()| 0);
            // SAFETY: as in `report_and_exit`.
            unsafe { libc::_exit(code) }
        }
        ForkResult::Parent { child } => match waitpid(child, None)? {
            WaitStatus::Exited(_, 0) => Ok(()),
            WaitStatus::Exited(_, code) => Err(std::io::Error::from_raw_os_error(code)),
            status => Err(std::io::Error::other(format!("{status:?}"))),
        },
    }
}

fn report_and_exit(step: Step, error: Errno, trouble: BorrowedFd) -> ! {
    let [a, b, c, d] = (error as i32).to_le_bytes();
    // Nobody to tell when this fails too.
    let _ = nix::unistd::write(trouble, &[step as u8, a, b, c, d]);
    // SAFETY: ends the child without running what the parent registered for its own exit.
    unsafe { libc::_exit(127) }
}

/// What the child said of its trouble, if it had any.
fn read_trouble(trouble: &OwnedFd) -> Option<Failure> {
    let mut message = [0; 5];
    let length = read(trouble, &mut message).ok()?;
    let [step, errno @ ..] = message;
    let step = Step::ALL.into_iter().find(|known| *known as u8 == step)?;
    (length == message.len()).then_some(Failure::NotStarted { step, errno: i32::from_le_bytes(errno) })
}

/// A child that is killed, with its group, and reaped when this goes.
struct Child {
    pid: Pid,
    reaped: bool,
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            let _ = waitpid(self.pid, None);
        }
    }
}

impl Child {
    fn kill(&self) {
        // Its group may not exist yet, or no more.
        let _ = killpg(self.pid, Signal::SIGKILL);
        let _ = nix::sys::signal::kill(self.pid, Signal::SIGKILL);
    }

    fn collect(mut self, output: OwnedFd, trouble: OwnedFd, limits: &Limits) -> Result<Vec<u8>, Failure> {
        let deadline = Instant::now() + limits.time;
        let bytes = read_all(&output, deadline, limits)?;
        let status = self.wait(deadline, limits)?;
        if let Some(failure) = read_trouble(&trouble) {
            return Err(failure);
        }
        match status {
            WaitStatus::Exited(_, 0) => Ok(bytes),
            WaitStatus::Exited(_, code) => Err(Failure::Exited(code)),
            WaitStatus::Signaled(_, signal, _) => Err(Failure::Killed(signal as i32)),
            _ => Err(Failure::Silent),
        }
    }

    /// Waits for its end: it has closed its output, so that is near, unless it is up to something.
    fn wait(&mut self, deadline: Instant, limits: &Limits) -> Result<WaitStatus, Failure> {
        let mut pause = Duration::from_micros(20);
        loop {
            match waitpid(self.pid, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => {}
                Ok(status) => {
                    self.reaped = true;
                    return Ok(status);
                }
                Err(error) => {
                    self.reaped = true;
                    return Err(not_started(Step::Read, error));
                }
            }
            if Instant::now() >= deadline || limits.interrupt.load(Ordering::Relaxed) {
                return Err(Failure::Timeout(limits.time));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

fn read_all(output: &OwnedFd, deadline: Instant, limits: &Limits) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 1 << 14];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || limits.interrupt.load(Ordering::Relaxed) {
            return Err(Failure::Timeout(limits.time));
        }
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(output.as_fd(), PollFlags::POLLIN)], timeout) {
            Ok(0) | Err(Errno::EINTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(not_started(Step::Read, error)),
        }
        match read(output, &mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(not_started(Step::Read, error)),
        }
        if bytes.len() > MOST_OUTPUT {
            return Err(Failure::Flood(MOST_OUTPUT));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    /// Runs a shell script in a probe's place.
    fn script(text: &str, time: Duration) -> Result<Vec<u8>, Failure> {
        let image = Image { file: File::open("/bin/sh").unwrap().into(), name: c"sh".into() };
        let cpu = *crate::allowed_cpus().unwrap().last().unwrap();
        let limits = Limits { cpu, priority: Priority::Inherited, time, interrupt: Interrupt::default() };
        run(&image, &["-c".into(), text.into()], &limits)
    }

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(300);

    #[test]
    fn what_it_writes_comes_back_and_it_is_pinned() {
        assert_eq!(script("echo hello", LONG).unwrap(), b"hello\n");
        let cpu = crate::allowed_cpus().unwrap().last().unwrap().to_string();
        let list = script(
            "while read -r key value; do [ \"$key\" = Cpus_allowed_list: ] && echo \"$value\"; done \
                           </proc/self/status; true",
            LONG,
        );
        assert_eq!(String::from_utf8(list.unwrap()).unwrap().trim(), cpu);
    }

    #[test]
    fn a_death_is_told_by_its_signal_or_status() {
        assert_eq!(script("kill -SEGV $$", LONG), Err(Failure::Killed(11)));
        assert_eq!(script("echo much; kill -KILL $$", LONG), Err(Failure::Killed(9)));
        assert_eq!(script("exit 3", LONG), Err(Failure::Exited(3)));
    }

    #[test]
    fn one_that_hangs_is_ended_with_its_children() {
        let begin = Instant::now();
        assert_eq!(script("sleep 50 & sleep 50", SHORT), Err(Failure::Timeout(SHORT)));
        assert_eq!(script("exec >&-; while :; do :; done", SHORT), Err(Failure::Timeout(SHORT)));
        // A child of its own holds the pipe after it is gone.
        assert_eq!(script("sleep 50 & exit 0", SHORT), Err(Failure::Timeout(SHORT)));
        assert!(begin.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_flood_is_stopped() {
        assert_eq!(
            script("while :; do echo flood flood flood flood; done", LONG),
            Err(Failure::Flood(MOST_OUTPUT))
        );
    }

    #[test]
    fn an_interruption_ends_it() {
        let image = Image { file: File::open("/bin/sh").unwrap().into(), name: c"sh".into() };
        let cpu = *crate::allowed_cpus().unwrap().last().unwrap();
        let interrupt = Interrupt::new(AtomicBool::new(true));
        let limits = Limits { cpu, priority: Priority::Inherited, time: LONG, interrupt };
        assert_eq!(run(&image, &["-c".into(), "sleep 50".into()], &limits), Err(Failure::Timeout(LONG)));
    }

    #[test]
    fn what_is_no_program_is_not_started() {
        let image = Image { file: File::open("/dev/null").unwrap().into(), name: c"null".into() };
        let cpu = *crate::allowed_cpus().unwrap().last().unwrap();
        let limits =
            Limits { cpu, priority: Priority::Inherited, time: LONG, interrupt: Interrupt::default() };
        let refused = Failure::NotStarted { step: Step::Execute, errno: libc::EACCES };
        assert_eq!(run(&image, &[], &limits), Err(refused));
        let limits = Limits { cpu: 1000, ..limits };
        let refused = Failure::NotStarted { step: Step::Pin, errno: libc::EINVAL };
        assert_eq!(run(&image, &[], &limits), Err(refused));
    }
}

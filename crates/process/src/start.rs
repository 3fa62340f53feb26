//! From a command to a process that executes it.

use crate::affinity::Mask;
use crate::command::{Command, Isolation, Pipe, Program, Texts};
use crate::running::Running;
use crate::search;
use crate::warden::Note;
use crate::{Error, Phase};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl, open};
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, clone};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, signal};
use nix::sys::stat::Mode;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getppid, read, write};
use std::convert::Infallible;
use std::ffi::{CString, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The stack of a child until it executes its program. What runs on it makes system calls with constant frames: nothing there
/// grows with the number of arguments, because no page guards its end.
const STACK: usize = 64 << 10;

/// A child that is about to execute its program, and our ends of its pipes.
pub(crate) struct Started {
    pub running: Running,
    /// The read end of its standard error, where that is kept.
    pub messages: Option<OwnedFd>,
    /// The pipe for [`check_report`].
    pub trouble: OwnedFd,
}

/// Where the child's output comes from.
pub(crate) struct Output {
    pub pipe: Pipe,
    /// The pipe is one of the files that the child inherits.
    pub is_standard: bool,
}

/// What the child needs. It is made before there is a child, because that may not allocate.
struct Prepared<'a> {
    command: &'a Command<'a>,
    output: &'a Output,
    arguments: Texts,
    environment: Texts,
    /// Where the program may be, in the order in which it is tried; nothing for an open file.
    paths: Vec<CString>,
    mask: Option<Mask>,
    /// This process.
    parent: Pid,
    /// Where its group is noted, if it may start others.
    note: Option<Note>,
}

/// The child's standard streams; where there is none, it keeps this process's.
struct Streams<'a> {
    input: Option<BorrowedFd<'a>>,
    output: Option<BorrowedFd<'a>>,
    errors: Option<BorrowedFd<'a>>,
}

/// The step that failed, and the kernel's error.
type Trouble = (Phase, Errno);

fn not_started((phase, errno): Trouble) -> Error {
    Error::NotStarted { phase, errno }
}

/// Makes a child, which executes the program. This process goes on when the child executes it or has failed to; which of both
/// the pipe for [`check_report`] tells.
pub(crate) fn start(command: &Command, output: &Output) -> Result<Started, Error> {
    let prepared = Prepared::new(command, output).map_err(not_started)?;
    let (messages, empty) = match command.isolation {
        Isolation::Group => (None, None),
        Isolation::Session => (Some(Pipe::new()?), Some(nothing()?)),
    };
    let trouble = Pipe::new()?;
    let errors = messages.as_ref().map(|pipe| pipe.theirs.as_fd());
    let Output { pipe, is_standard } = output;
    let output = if *is_standard { Some(pipe.theirs.as_fd()) } else { errors };
    let streams = Streams { input: empty.as_ref().map(|file| file.as_fd()), output, errors };
    let child = make_child(|| {
        let Err(why) = prepared.become_program(&streams);
        report_and_exit(why, trouble.theirs.as_fd())
    });
    let pid = child.map_err(|errno| not_started((Phase::Fork, errno)))?;
    let running = Running::new(pid, prepared.note);
    Ok(Started { running, messages: messages.map(|pipe| pipe.ours), trouble: trouble.ours })
}

/// Makes a child without copying this process's page tables, which for a process of some 100 MB takes longer than many a probe
/// runs. Like posix_spawn(3), which cannot do all that a child here has to: the child uses this process's memory, on a
/// stack of its own, and the calling thread is suspended until the child executes a program or ends.
///
/// `child` makes system calls on what was made before; it neither allocates nor locks, and does not return.
fn make_child(child: impl Fn() -> Infallible) -> Result<Pid, Errno> {
    let mut stack = vec![0; STACK];
    // A handler of this process would run in the child, on this process's memory.
    let mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
    let run = Box::new(|| match child() {});
    let flags = CloneFlags::CLONE_VM | CloneFlags::CLONE_VFORK;
    // SAFETY: the thread that owns the memory is suspended as long as the child uses it, and the stack is its own. The child
    // changes nothing of this process's but errno, which nobody reads: signal actions, descriptors and limits are copies.
    let made = unsafe { clone(run, &mut stack, flags, Some(libc::SIGCHLD)) };
    // It cannot fail with a mask that came from the kernel.
    let _ = mask.thread_set_mask();
    made
}

fn nothing() -> Result<OwnedFd, Error> {
    let file = open("/dev/null", OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty());
    file.map_err(|errno| not_started((Phase::Input, errno)))
}

impl<'a> Prepared<'a> {
    fn new(command: &'a Command<'a>, output: &'a Output) -> Result<Prepared<'a>, Trouble> {
        let name = match &command.program {
            Program::Named(name) | Program::Open(_, name) => name,
        };
        let texts = |texts: &mut dyn Iterator<Item = &OsString>| {
            Texts::new(texts).map_err(|errno| (Phase::Execute, errno))
        };
        let paths = match &command.program {
            Program::Named(name) => search::paths(name, std::env::var_os("PATH").as_deref()),
            Program::Open(..) => Ok(Vec::new()),
        };
        let mask = command.cpu.map(Mask::only).transpose().map_err(|errno| (Phase::Pin, errno))?;
        Ok(Prepared {
            command,
            output,
            arguments: texts(&mut std::iter::once(name).chain(&command.arguments))?,
            environment: texts(&mut command.environment.iter())?,
            paths: paths.map_err(|errno| (Phase::Execute, errno))?,
            mask,
            parent: Pid::this(),
            note: if command.isolation == Isolation::Session { Note::take() } else { None },
        })
    }

    /// In the child: nothing but system calls from here on.
    fn become_program(&self, streams: &Streams) -> Result<Infallible, Trouble> {
        let command = self.command;
        self.set_up().map_err(|errno| (Phase::Setup, errno))?;
        if let Some(mask) = &self.mask {
            mask.apply().map_err(|errno| (Phase::Pin, errno))?;
        }
        if command.realtime {
            set_realtime().map_err(|errno| (Phase::Realtime, errno))?;
        }
        self.hand_over(streams).map_err(|errno| (Phase::Setup, errno))?;
        Err((Phase::Execute, self.execute()))
    }

    fn set_up(&self) -> Result<(), Errno> {
        match self.command.isolation {
            Isolation::Group => nix::unistd::setpgid(Pid::from_raw(0), Pid::from_raw(0))?,
            Isolation::Session => nix::unistd::setsid().map(drop)?,
        }
        self.note.iter().for_each(Note::write);
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        // Was the parent killed before that? Then nobody is told any more when to end this child. A filter may forbid the question.
        let parent = getppid();
        if parent != self.parent && parent.as_raw() >= 0 {
            return Err(Errno::ESRCH);
        }
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        remove_handlers();
        discard_pending_signals();
        SigSet::empty().thread_set_mask()?;
        // SAFETY: the default action is no handler of ours.
        unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) }?;
        Ok(())
    }

    /// Returns only if it fails. It does not use execvpe(3), which may not be called here: for a file that is no program, it
    /// copies the arguments to the stack and hands them to a shell.
    fn execute(&self) -> Errno {
        let (argv, envp) = (self.arguments.as_ptr(), self.environment.as_ptr());
        match &self.command.program {
            Program::Open(file, _) => {
                let flags = libc::AT_EMPTY_PATH;
                // SAFETY: both lists end in a null pointer, and their texts live as long as `self`.
                unsafe { libc::execveat(file.as_raw_fd(), c"".as_ptr(), argv.cast(), envp.cast(), flags) };
                Errno::last()
            }
            Program::Named(_) => search::first_that_is_there(&self.paths, |path| {
                // SAFETY: as above; the path lives as long as `self`, too.
                unsafe { libc::execve(path.as_ptr(), argv, envp) };
                Errno::last()
            }),
        }
    }

    /// Gives the child its standard streams, and leaves those files open that its program inherits.
    fn hand_over(&self, streams: &Streams) -> Result<(), Errno> {
        if let Some(input) = streams.input {
            nix::unistd::dup2_stdin(input)?;
        }
        if let Some(output) = streams.output {
            nix::unistd::dup2_stdout(output)?;
        }
        if let Some(errors) = streams.errors {
            nix::unistd::dup2_stderr(errors)?;
        }
        let Output { pipe, is_standard } = self.output;
        let named = (!is_standard).then_some(&pipe.theirs);
        for file in self.command.files.iter().chain(named) {
            fcntl(file, FcntlArg::F_SETFD(FdFlag::empty()))?;
        }
        Ok(())
    }
}

/// What this process does at a signal, without a change of it; none of those that the library keeps for itself.
pub fn action_of(number: i32) -> Option<libc::sigaction> {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: the library writes one sigaction, or refuses.
    let known = unsafe { libc::sigaction(number, std::ptr::null(), action.as_mut_ptr()) } == 0;
    // SAFETY: it was written.
    known.then(|| unsafe { action.assume_init() })
}

/// Gives every signal that has a handler its default action, as executing a program will do: this process's handlers must not
/// run in the child.
fn remove_handlers() {
    for number in 1..=libc::SIGRTMAX() {
        let is_handler =
            |action: libc::sigaction| ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction);
        if action_of(number).is_some_and(is_handler) {
            // SAFETY: the default action is no handler of ours.
            unsafe { libc::signal(number, libc::SIG_DFL) };
        }
    }
}

/// Discards what was sent to this process's group between the making of the child and its leaving the group. It was meant for
/// this process, which gets it, too: a child that then stopped (Ctrl-Z) would never be continued with the group, and this
/// process would wait for it forever; one that died (Ctrl-C) would look like a program that failed.
fn discard_pending_signals() {
    let (all, now) = (SigSet::all(), libc::timespec { tv_sec: 0, tv_nsec: 0 });
    // SAFETY: the kernel reads the set and the time, and returns the next pending signal, all of which are blocked here.
    while unsafe { libc::sigtimedwait(all.as_ref(), std::ptr::null_mut(), &raw const now) } > 0 {}
}

/// SCHED_FIFO at its lowest priority for this process.
fn set_realtime() -> Result<(), Errno> {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: the kernel reads one sched_param.
    Errno::result(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) }).map(drop)
}

fn report_and_exit((phase, errno): Trouble, trouble: BorrowedFd) -> ! {
    let [a, b, c, d] = (errno as i32).to_le_bytes();
    // If this fails, too, there is nobody to tell.
    let _ = write(trouble, &[phase as u8, a, b, c, d]);
    // SAFETY: ends the child without running what the parent registered for its own exit.
    unsafe { libc::_exit(127) }
}

/// The child's report, if it could not execute its program. To be called after it has closed its output or ended, because
/// it writes the report before that.
pub(crate) fn check_report(trouble: &OwnedFd) -> Result<(), Error> {
    let mut message = [0; 5];
    // A child that another thread is starting may have this pipe open, too; reading must not wait for that child.
    match poll(&mut [PollFd::new(trouble.as_fd(), PollFlags::POLLIN)], PollTimeout::ZERO) {
        Ok(0) => return Ok(()),
        Ok(_) => {}
        Err(errno) => return Err(Error::NotFollowed { errno }),
    }
    match read(trouble, &mut message) {
        Ok(length) if length == message.len() => Err(reported(message)),
        Ok(_) => Ok(()),
        Err(errno) => Err(Error::NotFollowed { errno }),
    }
}

fn reported([phase, errno @ ..]: [u8; 5]) -> Error {
    let phase = Phase::ALL.into_iter().find(|known| *known as u8 == phase).unwrap_or(Phase::Setup);
    not_started((phase, Errno::from_raw(i32::from_le_bytes(errno))))
}

/// Whether a child may have real-time priority: a child tries it.
///
/// # Errors
/// The kernel's error.
pub fn try_realtime() -> std::io::Result<()> {
    // SAFETY: the child makes one system call and ends.
    match unsafe { fork() }? {
        ForkResult::Child => {
            let code = set_realtime().map_or_else(|errno| errno as i32, |()| 0);
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

//! Processes that this one makes and waits for. It has one thread when it does so.

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getppid};

/// Plus the number of the signal that ended a program: the exit status of a shell.
const SIGNALLED: i32 = 128;

/// How a process changed: the kernel's own word, wait(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status(pub i32);

impl Status {
    /// Whether it is over.
    pub fn is_over(self) -> bool {
        libc::WIFEXITED(self.0) || libc::WIFSIGNALED(self.0)
    }

    /// The exit status of who stands for it, as a shell has it.
    pub fn code(self) -> i32 {
        if libc::WIFSIGNALED(self.0) { SIGNALLED + libc::WTERMSIG(self.0) } else { libc::WEXITSTATUS(self.0) }
    }

    /// The signal that stopped it.
    pub fn signal(self) -> i32 {
        libc::WSTOPSIG(self.0)
    }

    /// The event of ptrace(2) that stopped it; 0 if it was none.
    pub fn event(self) -> i32 {
        self.0 >> 16
    }
}

/// A child, which dies with this process; none in the child.
pub(crate) fn fork() -> Result<Option<Pid>, Errno> {
    clone(0)
}

/// The same, and both have one table of descriptors until the child executes a program.
pub(crate) fn fork_with_files() -> Result<Option<Pid>, Errno> {
    clone(libc::CLONE_FILES)
}

fn clone(flags: libc::c_int) -> Result<Option<Pid>, Errno> {
    let parent = Pid::this();
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    // SAFETY: with no stack of its own, the child goes on here as after fork(2); this process has one thread, so no lock is held.
    let made = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match Errno::result(made)? {
        0 => {
            let dies = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
            // Was the parent killed before that? Then nobody would end this child.
            if dies.is_err() || getppid() != parent {
                leave(1);
            }
            Ok(None)
        }
        pid => Ok(Some(Pid::from_raw(i32::try_from(pid).unwrap_or(i32::MAX)))),
    }
}

/// Waits for a change of it.
pub(crate) fn wait(pid: Pid) -> Result<Status, Errno> {
    loop {
        let mut status = 0;
        // SAFETY: the kernel writes one number.
        let got = unsafe { libc::waitpid(pid.as_raw(), &raw mut status, libc::__WALL) };
        match Errno::result(got) {
            Ok(_) => return Ok(Status(status)),
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Waits for its end.
pub(crate) fn reap(pid: Pid) {
    while wait(pid).is_ok_and(|status| !status.is_over()) {}
}

/// Ends this process at once.
pub(crate) fn leave(code: i32) -> ! {
    // SAFETY: a system call; nothing is left to be done.
    unsafe { libc::_exit(code) }
}

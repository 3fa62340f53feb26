//! Layers that need another process: one that answers calls, traces, or has set up what a process cannot set up for the program that it
//! becomes. This process is that one; the program runs in a child, which dies with it, and whose end is its own.

mod dispatch;
mod notify;
mod ptrace;

pub(crate) use dispatch::dispatch;
pub(crate) use notify::notify;
pub(crate) use ptrace::{Stops, trace};

use crate::NotHere;
use crate::child::{Status, leave, wait};
use nix::errno::Errno;
use nix::libc;
use nix::unistd::Pid;

/// What a child is told to become.
pub(crate) type Become<'a> = &'a dyn Fn() -> i32;

/// Stops each time a call begins and ends, and tells such stops from others.
const SYSGOOD: libc::c_int = libc::PTRACE_O_TRACESYSGOOD;

/// In a child: is traced by its parent from here on, and stops.
fn be_traced() -> Result<(), NotHere> {
    // SAFETY: system calls with numbers.
    let traced = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) };
    Errno::result(traced).map_err(|errno| match errno {
        Errno::EPERM => NotHere(
            "ptrace(2) refuses: this process is traced already, or kernel.yama.ptrace_scope is 3".into(),
        ),
        errno => NotHere::refused("ptrace PTRACE_TRACEME", errno),
    })?;
    let this = Pid::this().as_raw();
    // SAFETY: as above.
    Errno::result(unsafe { libc::kill(this, libc::SIGSTOP) })
        .map(drop)
        .map_err(|errno| NotHere::refused("kill", errno))
}

/// Waits for a stop of the child. If that has ended instead, so does this process.
fn stopped(child: Pid) -> Result<Status, NotHere> {
    let status = wait(child).map_err(|errno| NotHere::refused("waitpid", errno))?;
    if status.is_over() {
        leave(status.code());
    }
    Ok(status)
}

/// Asks something of ptrace(2) that takes numbers.
fn ask(request: libc::c_uint, child: Pid, address: usize, data: usize) -> Result<(), NotHere> {
    // SAFETY: what is asked for here reads or writes no more than what `address` and `data` say, which is there.
    let answer = unsafe { libc::ptrace(request, child.as_raw(), address, data) };
    Errno::result(answer).map(drop).map_err(|errno| NotHere::refused("ptrace", errno))
}

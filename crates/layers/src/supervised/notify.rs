//! A supervisor that learns of every call, and lets each go on.

use super::Become;
use crate::NotHere;
use crate::bpf::Program;
use crate::child::{Status, fork_with_files, leave};
use crate::install::install_with_listener;
use crate::notification::{self, Message};
use crate::shared;
use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use std::os::fd::{IntoRawFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};

/// The child that the handler waits for.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// Has a child become the program, and answers its calls to its end.
pub(crate) fn notify(program: Become) -> Result<i32, NotHere> {
    let place = shared::<AtomicI32>().map_err(|errno| NotHere::refused("mmap", errno))?;
    end_with_child()?;
    // One table of descriptors: the child cannot send its own any more when it has one, because every call of its waits for an answer.
    let child = fork_with_files().map_err(|errno| NotHere::refused("clone", errno))?;
    let Some(child) = child else {
        let listener = install_with_listener(&Program::notify())?;
        place.store(listener.into_raw_fd(), Ordering::SeqCst);
        return Ok(program());
    };
    CHILD.store(child.as_raw(), Ordering::SeqCst);
    // It may have ended before the handler knew it.
    leave_with_child(0);
    let listener = loop {
        match place.load(Ordering::SeqCst) {
            0 => nix::sched::sched_yield().map_err(|errno| NotHere::refused("sched_yield", errno))?,
            listener => break listener,
        }
    };
    loop {
        answer(listener)?;
    }
}

/// Lets the next call go on.
fn answer(listener: RawFd) -> Result<(), NotHere> {
    let asked = match notification::next(listener, &Message::new()) {
        // The call was interrupted, or its process has ended; if that was the last one, the handler ends this one.
        Err(Errno::EINTR | Errno::ENOENT) => return Ok(()),
        other => other.map_err(|errno| NotHere::refused("seccomp notification", errno))?,
    };
    match notification::go_on(listener, asked.id) {
        Ok(()) | Err(Errno::ENOENT | Errno::EINTR) => Ok(()),
        Err(Errno::EINVAL) => {
            Err(NotHere("this kernel cannot let a reported call go on (since Linux 5.5)".into()))
        }
        Err(errno) => Err(NotHere::refused("seccomp answer", errno)),
    }
}

/// From here on this process ends when the child does, wherever it waits.
fn end_with_child() -> Result<(), NotHere> {
    let action = SigAction::new(SigHandler::Handler(leave_with_child), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler makes system calls alone.
    unsafe { sigaction(Signal::SIGCHLD, &action) }
        .map(drop)
        .map_err(|errno| NotHere::refused("sigaction", errno))
}

extern "C" fn leave_with_child(_signal: libc::c_int) {
    let (child, mut status) = (CHILD.load(Ordering::SeqCst), 0);
    if child == 0 {
        return;
    }
    // SAFETY: the kernel writes one number.
    let got = unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) };
    if got == child && Status(status).is_over() {
        leave(Status(status).code());
    }
}

//! Whether calls of a thread may be turned into signals (prctl PR_SET_SYSCALL_USER_DISPATCH). Only a tracer can read it: a child stops the
//! thread that asks for some microseconds. Nobody else is stopped.

use crate::apart::{self, Answer};
use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, gettid};
use std::time::Duration;

/// PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, since Linux 6.4; include/uapi/linux/ptrace.h.
const GET_CONFIGURATION: libc::c_uint = 0x4211;

/// The first version that has it.
const SINCE: environment::Version = (6, 4);

/// Whether the calling thread has it.
///
/// # Errors
/// In words, where it cannot be told.
pub(super) fn here() -> Result<bool, String> {
    // An older kernel would not answer; and gVisor, which says that it is Linux 4.4, has ended the process that is traced so.
    if environment::this_kernel().is_none_or(|version| version < SINCE) {
        return Err("this kernel does not tell it (since Linux 6.4)".into());
    }
    let thread = gettid();
    let answer = apart::ask(Duration::from_millis(150), |answer| ask(thread, answer))?;
    match apart::numbers(&answer).as_slice() {
        [0, mode] => Ok(*mode != 0),
        [errno, ..] if *errno == i64::from(libc::EIO) => {
            Err("this kernel does not tell it (since Linux 6.4)".into())
        }
        [errno, ..] => {
            let errno = Errno::from_raw(i32::try_from(*errno).unwrap_or(0));
            Err(format!("a child may not trace this process: {}", errno.desc()))
        }
        [] => Err("the process that asked had no answer".into()),
    }
}

/// Says an error or 0, and the mode.
fn ask(thread: Pid, answer: &mut Answer) {
    match mode(thread) {
        Ok(mode) => _ = answer.number(0) && answer.number(mode as i64),
        Err(errno) => _ = answer.number(errno as i64),
    }
}

fn mode(thread: Pid) -> Result<u64, Errno> {
    ptrace::seize(thread, ptrace::Options::empty())?;
    ptrace::interrupt(thread)?;
    loop {
        match waitpid(thread, Some(WaitPidFlag::__WALL))? {
            WaitStatus::PtraceEvent(..) => break,
            // A signal that came first goes on its way.
            WaitStatus::Stopped(_, signal) => ptrace::cont(thread, signal)?,
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) => return Err(Errno::ESRCH),
            _ => {}
        }
    }
    let found = configuration(thread);
    ptrace::detach(thread, None)?;
    found
}

/// The mode of a stopped thread; 0 is off.
fn configuration(thread: Pid) -> Result<u64, Errno> {
    // `struct ptrace_sud_config`: mode, selector, offset, length.
    let mut found = [0u64; 4];
    let size = size_of_val(&found);
    // SAFETY: the kernel writes as many bytes as it is told, which are there.
    Errno::result(unsafe { libc::ptrace(GET_CONFIGURATION, thread.as_raw(), size, found.as_mut_ptr()) })?;
    Ok(found[0])
}

//! Installs a seccomp filter, for good.

use crate::NotHere;
use crate::bpf::Program;
use nix::errno::Errno;
use nix::libc;
use std::os::fd::{FromRawFd, OwnedFd};

/// What a process needs that may not do everything: programs that it executes gain nothing by it (prctl(2)).
pub(crate) fn gain_nothing() -> Result<(), NotHere> {
    nix::sys::prctl::set_no_new_privs().map_err(|errno| NotHere::refused("prctl PR_SET_NO_NEW_PRIVS", errno))
}

/// Installs a filter for this process, and all that it becomes.
pub(crate) fn install(program: &Program, allows_speculation: bool) -> Result<(), NotHere> {
    let flags = if allows_speculation { libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW } else { 0 };
    seccomp(program, flags).map(drop).map_err(|errno| match (errno, allows_speculation) {
        (Errno::EINVAL, true) => {
            NotHere("this kernel does not know SECCOMP_FILTER_FLAG_SPEC_ALLOW (since Linux 4.17)".into())
        }
        _ => no_filter(errno),
    })
}

/// Installs a filter, and returns where a supervisor learns of calls.
pub(crate) fn install_with_listener(program: &Program) -> Result<OwnedFd, NotHere> {
    let file = seccomp(program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER).map_err(|errno| match errno {
        Errno::EBUSY => NotHere(
            "a supervisor listens to the calls of this process already, and Linux has one at most".into(),
        ),
        Errno::EINVAL => NotHere("this kernel has no user notification of seccomp (since Linux 5.0)".into()),
        errno => no_filter(errno),
    })?;
    // SAFETY: the kernel has just made this descriptor, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

fn no_filter(errno: Errno) -> NotHere {
    match errno {
        Errno::ENOSYS | Errno::EINVAL => {
            NotHere("this kernel takes no seccomp filter (CONFIG_SECCOMP_FILTER, since Linux 3.17)".into())
        }
        Errno::EPERM | Errno::EACCES => {
            NotHere("this process may not install a filter: another filter forbids seccomp(2)".into())
        }
        errno => NotHere::refused("seccomp SECCOMP_SET_MODE_FILTER", errno),
    }
}

fn seccomp(program: &Program, flags: libc::c_ulong) -> Result<i32, Errno> {
    let mut code = program.code();
    let length = u16::try_from(code.len()).map_err(|_| Errno::EINVAL)?;
    let program = libc::sock_fprog { len: length, filter: code.as_mut_ptr() };
    let mode = libc::SECCOMP_SET_MODE_FILTER;
    // SAFETY: the kernel reads as many instructions as it is told, which are there until it has answered.
    let answer = unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) };
    Errno::result(answer).map(|answer| i32::try_from(answer).unwrap_or(-1))
}

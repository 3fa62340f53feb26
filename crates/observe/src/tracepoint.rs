//! The tracepoint `raw_syscalls:sys_enter`, by its number.
//!
//! Only tracefs tells it. Where that is not mounted, a mount is made that is attached nowhere (fsmount(2), Linux 5.2): no path leads to it,
//! and it is gone with its descriptor, however this process ends.

use crate::error::Error;
use crate::proc;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::libc;
use nix::sys::stat::Mode;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;

/// Where tracefs is mounted, if it is.
const MOUNTED: &str = "/sys/kernel/tracing";
const FOLDER: &str = "events/raw_syscalls/sys_enter";

const FSOPEN_CLOEXEC: libc::c_uint = 1;
const FSCONFIG_CMD_CREATE: libc::c_uint = 6;
const FSMOUNT_CLOEXEC: libc::c_uint = 1;

/// What the parser of records relies on.
const FIELDS: [&str; 2] = ["field:long id;\toffset:8;", "field:unsigned long args[6];\toffset:16;"];

/// The tracepoint's number.
///
/// # Errors
/// [`Error::Permission`] or [`Error::System`] where nobody tells it.
pub(crate) fn number() -> Result<u64, Error> {
    let mounted = nix::fcntl::open(MOUNTED, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty());
    let from_mounted = mounted.and_then(|folder| texts(&folder));
    let read = from_mounted.or_else(|_| detached().and_then(|folder| texts(&folder)));
    let (number, format) = read.map_err(untold)?;
    if !FIELDS.iter().all(|field| format.contains(field)) {
        return Err(Error::System(
            "the tracepoint raw_syscalls:sys_enter has other fields in this kernel than kentry knows".into(),
        ));
    }
    let number = number.trim().parse();
    number.map_err(|_| Error::System("tracefs has no number for raw_syscalls:sys_enter".into()))
}

fn untold(errno: Errno) -> Error {
    match errno {
        Errno::EPERM | Errno::EACCES => Error::Permission(
            "only tracefs tells the number of the tracepoint raw_syscalls:sys_enter, and this process may neither read \
             /sys/kernel/tracing nor mount one (CAP_SYS_ADMIN)"
                .into(),
        ),
        Errno::ENODEV | Errno::ENOENT => {
            Error::System("this kernel has no tracepoint raw_syscalls:sys_enter (CONFIG_FTRACE_SYSCALLS)".into())
        }
        Errno::ENOSYS => Error::System(
            "tracefs is not mounted, and this kernel cannot mount it apart (Linux 5.2 can); mount it at /sys/kernel/tracing".into(),
        ),
        other => Error::system("tracefs cannot be read", other),
    }
}

fn texts(folder: &OwnedFd) -> Result<(String, String), Errno> {
    Ok((text(folder, "id")?, text(folder, "format")?))
}

fn text(folder: &OwnedFd, name: &str) -> Result<String, Errno> {
    let path = Path::new(FOLDER).join(name);
    let file = openat(folder, &path, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())?;
    let mut text = String::new();
    let read = File::from(file).take(1 << 16).read_to_string(&mut text);
    read.map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO)))?;
    Ok(text)
}

/// A mount of tracefs that no path leads to.
fn detached() -> Result<OwnedFd, Errno> {
    // SAFETY: a system call with a text that ends in 0, and a number.
    let context = owned(unsafe { libc::syscall(libc::SYS_fsopen, c"tracefs".as_ptr(), FSOPEN_CLOEXEC) })?;
    let (file, none) = (context.as_raw_fd(), std::ptr::null::<libc::c_char>());
    // SAFETY: a system call with numbers and null pointers.
    Errno::result(unsafe { libc::syscall(libc::SYS_fsconfig, file, FSCONFIG_CMD_CREATE, none, none, 0) })?;
    // SAFETY: a system call with numbers.
    owned(unsafe { libc::syscall(libc::SYS_fsmount, file, FSMOUNT_CLOEXEC, 0) })
}

fn owned(answer: libc::c_long) -> Result<OwnedFd, Errno> {
    let file = Errno::result(answer)?;
    let file = RawFd::try_from(file).map_err(|_| Errno::EBADF)?;
    // SAFETY: the kernel has just made it for this process.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// The folder of a cgroup v2.
///
/// # Errors
/// [`Error::Target`] where there is none of this name.
pub(crate) fn cgroup(path: &Path) -> Result<OwnedFd, Error> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let shown = path.display();
    let folder = nix::fcntl::open(path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::ENOENT => Error::Target(format!("{shown}: there is no such cgroup")),
        Errno::ENOTDIR => Error::Target(format!("{shown} is no folder, so no cgroup")),
        other => Error::system(&format!("{shown} cannot be read"), other),
    })?;
    match nix::sys::stat::fstatat(&folder, "cgroup.procs", AtFlags::empty()).is_ok() && is_v2(&folder) {
        true => Ok(folder),
        false if !has_v2(&proc::read("/proc/self/mountinfo").unwrap_or_default()) => {
            Err(Error::Target(format!(
                "{shown} is no cgroup of version 2. This machine has only cgroup version 1; use --pid or --system"
            )))
        }
        false => Err(Error::Target(format!(
            "{shown} is no cgroup of version 2; `cat /proc/PID/cgroup` tells a process's (the line that begins with 0::), below the folder \
             where cgroup2 is mounted"
        ))),
    }
}

/// Whether cgroups of version 2 are mounted anywhere. Parses `/proc/PID/mountinfo`.
fn has_v2(text: &str) -> bool {
    text.lines().any(|line| line.contains(" - cgroup2 "))
}

fn is_v2(folder: &OwnedFd) -> bool {
    let found = nix::sys::statfs::fstatfs(folder);
    found.is_ok_and(|found| found.filesystem_type() == nix::sys::statfs::CGROUP2_SUPER_MAGIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_version_2_is_told_from_one_that_has_both() {
        let old = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
        assert!(!has_v2(old) && !has_v2(""));
        assert!(has_v2(&format!("{old}41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n")));
    }
}

//! What tracefs tells. Where that is not mounted, a mount is made that is attached nowhere (fsmount(2), Linux 5.2): no path leads to it, and it
//! is gone with its descriptor, however this process ends. An older kernel mounts it for a moment, in a mount namespace of a process's own:
//! the machine does not see it, and the namespace ends with the process.

use crate::NotHere;
use crate::child;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::libc::{self, EIO};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::Mode;
use nix::unistd::{pipe, write};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;

/// Where it usually is.
const USUAL: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Where it is mounted otherwise: a folder that is there wherever this gets so far.
const OWN: &str = "/proc";

/// A number has fewer bytes.
const LONGEST: u64 = 20;

/// A file that tells of an event has fewer bytes.
const LONGEST_TEXT: u64 = 1 << 16;

/// Of fsopen(2), fsconfig(2) and fsmount(2): include/uapi/linux/mount.h.
const FSOPEN_CLOEXEC: libc::c_uint = 1;
const FSCONFIG_CMD_CREATE: libc::c_uint = 6;
const FSMOUNT_CLOEXEC: libc::c_uint = 1;

/// The number of an event, such as `raw_syscalls/sys_enter`.
///
/// # Errors
/// [`NotHere`] where nobody tells it.
pub fn id(event: &str) -> Result<u64, NotHere> {
    read(|folder| number(&text(folder, event, "id")?)).or_else(|_| in_own_namespace(event))
}

/// What is read in a folder of tracefs: where it is mounted, or else in a mount that no path leads to.
///
/// # Errors
/// The kernel's answer to the last attempt.
pub fn read<T>(what: impl Fn(&OwnedFd) -> Result<T, Errno>) -> Result<T, Errno> {
    let mounted = USUAL.iter().find_map(|folder| at(folder).and_then(|folder| what(&folder)).ok());
    mounted.map_or_else(|| detached().and_then(|folder| what(&folder)), Ok)
}

/// The text of a file of an event, below a folder of tracefs.
///
/// # Errors
/// The kernel's answer.
pub fn text(folder: &OwnedFd, event: &str, name: &str) -> Result<String, Errno> {
    let path: PathBuf = ["events", event, name].iter().collect();
    let file = openat(folder, &path, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())?;
    let mut text = String::new();
    let read = File::from(file).take(LONGEST_TEXT).read_to_string(&mut text);
    read.map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(EIO)))?;
    Ok(text)
}

fn number(text: &str) -> Result<u64, Errno> {
    text.trim().parse().map_err(|_| Errno::EINVAL)
}

/// A folder by its path.
fn at(path: &str) -> Result<OwnedFd, Errno> {
    open(path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty())
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

/// Reads it in a child, because a process cannot leave a namespace.
///
/// # Errors
/// As [`id`].
pub fn in_own_namespace(event: &str) -> Result<u64, NotHere> {
    let not_made = |errno| NotHere::refused("tracefs cannot be read in a process of its own", errno);
    let (ours, theirs) = pipe().map_err(not_made)?;
    let child = child::fork().map_err(not_made)?;
    let Some(child) = child else {
        let said = match mounted(event) {
            Ok(id) => id.to_string(),
            Err(errno) => format!("-{}", errno as i32),
        };
        let _ = write(&theirs, said.as_bytes());
        child::leave(0)
    };
    drop(theirs);
    let mut said = String::new();
    let read = File::from(ours).take(LONGEST).read_to_string(&mut said);
    child::reap(child);
    match (read, said.parse::<i64>()) {
        (Ok(_), Ok(id)) if id >= 0 => Ok(id.unsigned_abs()),
        (Ok(_), Ok(errno)) => Err(not_told(Errno::from_raw(i32::try_from(-errno).unwrap_or(EIO)))),
        _ => Err(not_told(Errno::EIO)),
    }
}

fn mounted(event: &str) -> Result<u64, Errno> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    // Nothing of what follows reaches other namespaces.
    mount::<str, _, str, str>(None, "/", None, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None)?;
    mount::<_, _, _, str>(Some("tracefs"), OWN, Some("tracefs"), MsFlags::empty(), None)?;
    number(&text(&at(OWN)?, event, "id")?)
}

fn not_told(errno: Errno) -> NotHere {
    NotHere(match errno {
        Errno::EPERM | Errno::EACCES => {
            "the number of the tracepoint stands in tracefs (/sys/kernel/tracing), which this user may not read, and mounting it takes \
             CAP_SYS_ADMIN"
                .into()
        }
        Errno::ENODEV => "this kernel has no tracefs (CONFIG_TRACING)".into(),
        Errno::ENOENT => "this kernel has no raw_syscalls tracepoints (CONFIG_FTRACE_SYSCALLS)".into(),
        errno => format!("tracefs: {}", errno.desc()),
    })
}

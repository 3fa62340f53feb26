//! The number of a tracepoint, which tracefs tells. Where that is not mounted, it is mounted for a moment, in a mount namespace of a
//! process's own: the machine does not see it, and the namespace ends with the process.

use crate::NotHere;
use crate::child;
use nix::errno::Errno;
use nix::libc::EIO;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{pipe, write};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Where it usually is.
const USUAL: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Where it is mounted otherwise: a folder that is there wherever this gets so far.
const OWN: &str = "/proc";

/// A number has fewer bytes.
const LONGEST: u64 = 20;

/// The number of an event, such as `raw_syscalls/sys_enter`.
///
/// # Errors
/// [`NotHere`] where nobody tells it.
pub fn id(event: &str) -> Result<u64, NotHere> {
    USUAL.iter().find_map(|folder| read(folder, event).ok()).map_or_else(|| in_own_namespace(event), Ok)
}

fn read(folder: &str, event: &str) -> Result<u64, Errno> {
    let path = Path::new(folder).join("events").join(event).join("id");
    let from = |error: std::io::Error| Errno::from_raw(error.raw_os_error().unwrap_or(EIO));
    let mut text = String::new();
    File::open(path).map_err(from)?.take(LONGEST).read_to_string(&mut text).map_err(from)?;
    text.trim().parse().map_err(|_| Errno::EINVAL)
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
    read(OWN, event)
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

//! The file systems that a measurement reads, and the names that programs expect in /dev. All else is in memory already, and what the
//! archive has is to be seen.

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use std::io::ErrorKind;
use std::os::unix::fs::symlink;

/// Of each its type, where it is mounted, and whether nothing can be done without it.
const ALL: [(&str, &str, bool); 3] =
    [("proc", "/proc", true), ("sysfs", "/sys", false), ("devtmpfs", "/dev", false)];

/// The links in /dev that every system has, with what they lead to. The kernel names a program that is executed from an open file by
/// the first; where TOMOYO looks the name up (Debian's 5.10), nothing can be executed so without it.
const LINKS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// Mounts all that this kernel has, and makes the links.
///
/// # Errors
/// In words, when something is missing that nothing can be done without.
pub fn all() -> Result<(), String> {
    for (kind, place, is_needed) in ALL {
        match mount(Some(kind), place, Some(kind), MsFlags::empty(), None::<&str>) {
            // A kernel may have mounted its devices by itself (CONFIG_DEVTMPFS_MOUNT).
            Ok(()) | Err(Errno::EBUSY) => {}
            Err(_) if !is_needed => {}
            Err(errno) => return Err(format!("{kind} could not be mounted at {place}: {}", errno.desc())),
        }
    }
    for (link, target) in LINKS {
        match symlink(target, link) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(format!("{link} could not be made: {error}"));
            }
            _ => {}
        }
    }
    Ok(())
}

//! The file systems that a measurement reads. All else is in memory already, and what the archive has is to be seen.

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};

/// Of each its type, where it is mounted, and whether nothing can be done without it.
const ALL: [(&str, &str, bool); 3] =
    [("proc", "/proc", true), ("sysfs", "/sys", false), ("devtmpfs", "/dev", false)];

/// Mounts all that this kernel has.
///
/// # Errors
/// In words, when one is missing that nothing can be done without.
pub fn all() -> Result<(), String> {
    for (kind, place, is_needed) in ALL {
        match mount(Some(kind), place, Some(kind), MsFlags::empty(), None::<&str>) {
            // A kernel may have mounted its devices by itself (CONFIG_DEVTMPFS_MOUNT).
            Ok(()) | Err(Errno::EBUSY) => {}
            Err(_) if !is_needed => {}
            Err(errno) => return Err(format!("{kind} could not be mounted at {place}: {}", errno.desc())),
        }
    }
    Ok(())
}

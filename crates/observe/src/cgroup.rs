//! A cgroup of version 2, by its folder.

use crate::error::Error;
use crate::proc;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag};
use nix::sys::stat::Mode;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The folder of a cgroup v2.
///
/// # Errors
/// [`Error::Target`] where there is none of this name.
pub(crate) fn folder(path: &Path) -> Result<OwnedFd, Error> {
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

//! A landlock domain that allows everything below `/` (`Documentation/userspace-api/landlock.rst`): the hooks run, and forbid nothing.

use crate::NotHere;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::libc;
use nix::sys::stat::Mode;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// All rights to files that the first version knows: LANDLOCK_ACCESS_FS_EXECUTE to …_MAKE_SYM.
const RIGHTS: u64 = (1 << 13) - 1;

/// `LANDLOCK_RULE_PATH_BENEATH`
const PATH_BENEATH: libc::c_int = 1;

/// `struct landlock_path_beneath_attr`
#[repr(C, packed)]
struct Beneath {
    rights: u64,
    folder: RawFd,
}

/// Restricts this process, and all that it becomes.
pub(crate) fn restrict() -> Result<(), NotHere> {
    let rights = RIGHTS;
    // SAFETY: the kernel reads the eight bytes of the first version's attributes.
    let made =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const rights, size_of::<u64>(), 0) };
    let rules = Errno::result(made).map_err(not_made)?;
    // SAFETY: the kernel has just made this descriptor.
    let rules = unsafe { OwnedFd::from_raw_fd(i32::try_from(rules).unwrap_or(-1)) };
    let root = open("/", OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty());
    let root = root.map_err(|errno| NotHere::refused("/", errno))?;
    let rule = Beneath { rights: RIGHTS, folder: root.as_raw_fd() };
    let file = rules.as_raw_fd();
    // SAFETY: the kernel reads one rule, which is there until it has answered.
    let added = unsafe { libc::syscall(libc::SYS_landlock_add_rule, file, PATH_BENEATH, &raw const rule, 0) };
    Errno::result(added).map_err(|errno| NotHere::refused("landlock_add_rule", errno))?;
    // SAFETY: a system call with numbers.
    let restricted = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, file, 0) };
    Errno::result(restricted).map(drop).map_err(|errno| NotHere::refused("landlock_restrict_self", errno))
}

fn not_made(errno: Errno) -> NotHere {
    match errno {
        Errno::ENOSYS => {
            NotHere("this kernel has no landlock (CONFIG_SECURITY_LANDLOCK, since Linux 5.13)".into())
        }
        Errno::EOPNOTSUPP => NotHere(
            "landlock is built in and not switched on: it is missing in the kernel's parameter lsm=".into(),
        ),
        errno => NotHere::refused("landlock_create_ruleset", errno),
    }
}

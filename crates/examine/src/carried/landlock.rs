//! How many rule sets of Landlock a process is under. The kernel does not say, but it takes a bounded number of them: how many more it takes
//! tells how many there are.

use crate::apart::{self, Answer};
use nix::errno::Errno;
use nix::libc;
use std::time::Duration;

/// LANDLOCK_MAX_NUM_LAYERS, security/landlock/limits.h: 16 since the beginning (Linux 5.13), until another number is seen to be taken.
const LAYERS: i64 = 16;

/// LANDLOCK_ACCESS_FS_MAKE_BLOCK, which every version knows.
const MAKE_BLOCK: u64 = 1 << 11;

/// How many this process is under; a child puts itself under as many as the kernel takes.
///
/// # Errors
/// In words, where it cannot be told.
pub(super) fn layers() -> Result<u32, String> {
    let answer = apart::ask(Duration::from_millis(100), count)?;
    match apart::numbers(&answer).as_slice() {
        [taken, errno] if *errno == i64::from(libc::E2BIG) && (0..=LAYERS).contains(taken) => {
            Ok(u32::try_from(LAYERS - taken).unwrap_or(0))
        }
        [0, errno] if [libc::ENOSYS, libc::EOPNOTSUPP].map(i64::from).contains(errno) => {
            Err("this kernel has no Landlock, or a filter says so".into())
        }
        [_, errno] => {
            let errno = Errno::from_raw(i32::try_from(*errno).unwrap_or(0));
            Err(format!("a rule set could not be added: {}", errno.desc()))
        }
        _ => Err("the process that asked had no answer".into()),
    }
}

/// Says how many rule sets were taken, and with which errno the next was refused.
fn count(answer: &mut Answer) {
    let rules = MAKE_BLOCK;
    // SAFETY: the kernel reads eight bytes, which are there.
    let set =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const rules, size_of::<u64>(), 0) };
    if set < 0 {
        _ = answer.number(0) && answer.number(Errno::last_raw().into());
        return;
    }
    // SAFETY: numbers alone.
    unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    let mut taken = 0;
    // SAFETY: numbers alone; this process ends soon.
    while taken <= LAYERS && unsafe { libc::syscall(libc::SYS_landlock_restrict_self, set, 0) } == 0 {
        taken += 1;
    }
    _ = answer.number(taken) && answer.number(Errno::last_raw().into());
}

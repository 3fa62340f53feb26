//! What `/proc/PID/status` and `/proc/PID/stat` say. The names of processes in them are anybody's: nothing is taken from inside of them.

use crate::proc::name;

/// Of `flags` in `/proc/PID/stat`: a thread of the kernel. include/linux/sched.h.
const PF_KTHREAD: u64 = 0x0020_0000;

/// The real user of a process, by its `/proc/PID/status`; what else that says, [`environment::Restrictions`] has.
pub(super) fn uid(status: &str) -> Option<u32> {
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    ids.split_whitespace().next()?.parse().ok()
}

/// Of `/proc/PID/stat`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub name: String,
    pub state: char,
    pub is_kernel_thread: bool,
}

/// proc_pid_stat(5): `1 (name) S …`, where a name may have parentheses and blanks of its own.
pub(super) fn stat(text: &str) -> Option<Stat> {
    let (before, after) = text.rsplit_once(')')?;
    let (_, command) = before.split_once('(')?;
    let mut fields = after.split_whitespace();
    let state = fields.next()?.chars().next()?;
    // Field 9; the state is field 3.
    let flags: u64 = fields.nth(5)?.parse().ok()?;
    Some(Stat { name: name(command), state, is_kernel_thread: flags & PF_KTHREAD != 0 })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_the_real_one() {
        assert_eq!(uid("Name:\truby\nUid:\t1000\t0\t0\t0\n"), Some(1000));
        for odd in ["", "Uid:", "Uid:\t-1\n", "Name:\tUid: 7\n"] {
            assert_eq!(uid(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn hostile_texts_say_nothing() {
        for odd in ["", "1", "1 (a", "1 (a) ", "1 (a) S 0 0", ")(", "1 (a) S 0 0 0 0 0 x"] {
            assert_eq!(stat(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn a_name_cannot_pass_for_other_fields() {
        let found = stat("7 (a) S 0 0 0 0 0 2097152 (b\u{1b}) R 1 7 7 0 -1 4194304 0").unwrap();
        assert_eq!((found.state, found.is_kernel_thread), ('R', false));
        assert_eq!(found.name, "a) S 0 0 0 0 0 2097152 (b?");
        assert!(stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0").unwrap().is_kernel_thread);
    }
}

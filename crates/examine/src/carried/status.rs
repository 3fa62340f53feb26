//! What `/proc/PID/status` and `/proc/PID/stat` say. The names of processes in them are anybody's: nothing is taken from inside of them.

use super::{IndirectBranch, SeccompMode, StoreBypass};
use crate::proc::name;

/// Of `flags` in `/proc/PID/stat`: a thread of the kernel. include/linux/sched.h.
const PF_KTHREAD: u64 = 0x0020_0000;

/// The lines that matter here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    pub tracer: Option<u32>,
    pub seccomp: Option<SeccompMode>,
    pub filters: Option<u32>,
    pub store_bypass: Option<StoreBypass>,
    pub indirect_branch: Option<IndirectBranch>,
    pub uid: Option<u32>,
}

/// proc_pid_status(5). A line that no kernel writes says nothing; of a line that is there twice, the first counts: the kernel writes `Name`
/// before all others, and quotes newlines in it.
pub(super) fn status(text: &str) -> Status {
    let value = |key: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(name, _)| *name == key).map(|(_, value)| value.trim())
    };
    let number = |key: &str| value(key).and_then(|value| value.parse::<u32>().ok());
    Status {
        tracer: number("TracerPid"),
        seccomp: number("Seccomp").and_then(SeccompMode::of),
        filters: number("Seccomp_filters"),
        store_bypass: value("Speculation_Store_Bypass").and_then(StoreBypass::of_status),
        indirect_branch: value("SpeculationIndirectBranch").and_then(IndirectBranch::of_status),
        uid: value("Uid").and_then(|ids| ids.split_whitespace().next()?.parse().ok()),
    }
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
    fn lines_of_a_container_are_understood() {
        let found = status(
            "Name:\truby\nUid:\t1000\t1000\t1000\t1000\nTracerPid:\t0\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n\
             Speculation_Store_Bypass:\tthread force mitigated\nSpeculationIndirectBranch:\tconditional force disabled\n",
        );
        let expected = Status {
            tracer: Some(0),
            seccomp: Some(SeccompMode::Filter),
            filters: Some(1),
            store_bypass: Some(StoreBypass::ThreadForcedOff),
            indirect_branch: Some(IndirectBranch::ThreadForcedOff),
            uid: Some(1000),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn hostile_texts_say_nothing() {
        for odd in
            ["", ":", "Seccomp:\t9\n", "TracerPid:\t-1\nSeccomp:\n", "NoNewPrivs:\t4294967296\n", "\u{0}"]
        {
            assert_eq!(status(odd), Status::default(), "{odd:?}");
        }
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

//! What may change underneath a measurement: read before and after it.

use crate::reader::Reader;
use crate::roots::Roots;

/// Facts that decide what an entry costs, and that somebody may change at any time. `None` means unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Underneath {
    facts: Vec<(&'static str, Option<String>)>,
}

/// What each fact is called, and its file. Few users can read those of tracing.
const FILES: [(&str, &str); 6] = [
    ("the clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("the kernel's current tracer", "/sys/kernel/tracing/current_tracer"),
    ("tracing of system calls (raw_syscalls)", "/sys/kernel/tracing/events/raw_syscalls/enable"),
    ("tracing of system calls (syscalls)", "/sys/kernel/tracing/events/syscalls/enable"),
    ("SMT", "/sys/devices/system/cpu/smt/control"),
    ("the mitigation of spectre_v2", "/sys/devices/system/cpu/vulnerabilities/spectre_v2"),
];

impl Underneath {
    /// Reads the facts now.
    pub fn now(roots: &Roots) -> Underneath {
        let reader = Reader::new(roots);
        Underneath { facts: FILES.map(|(what, path)| (what, reader.candidate_line(path))).to_vec() }
    }

    /// What has changed since `before`, in words.
    pub fn changes_since(&self, before: &Underneath) -> Vec<String> {
        let pairs = before.facts.iter().zip(&self.facts);
        let changed = pairs.filter(|((_, old), (_, new))| old.is_some() && new.is_some() && old != new);
        let words = |((what, old), (_, new)): (&(&str, Option<String>), &(&str, Option<String>))| {
            let text = |value: &Option<String>| value.clone().unwrap_or_default();
            format!("{what} was {:?} when the run began and {:?} when it ended", text(old), text(new))
        };
        changed.map(words).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn a_clock_source_that_was_switched_is_told_and_what_cannot_be_read_is_not() {
        let scratch = Scratch::new("underneath");
        let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        scratch.write(path, b"tsc\n");
        let before = Underneath::now(&scratch.roots());
        assert_eq!(Underneath::now(&scratch.roots()).changes_since(&before), [""; 0]);
        scratch.write(path, b"hpet\n");
        scratch.write("/sys/kernel/tracing/current_tracer", b"function\n");
        let changes = Underneath::now(&scratch.roots()).changes_since(&before);
        assert_eq!(changes, ["the clocksource was \"tsc\" when the run began and \"hpet\" when it ended"]);
    }
}

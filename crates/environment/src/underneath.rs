//! What may change underneath a measurement: read before and after it.

use crate::reader::Reader;
use crate::roots::Roots;
use crate::text;

/// Facts that decide what an entry costs, and that somebody may change at any time. `None` means unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Underneath {
    facts: Vec<(&'static str, Option<String>)>,
    tracer: Option<Tracer>,
}

/// The process that traces this one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tracer {
    /// 0 is none.
    pid: u32,
    /// Its program's name.
    name: Option<String>,
}

impl Tracer {
    /// None where the kernel does not say.
    fn now(reader: &Reader) -> Option<Self> {
        let status = text::clean(&reader.candidate("/proc/self/status", STATUS_LIMIT)?);
        let pid = text::number_field(&status, "TracerPid")?;
        let name = (pid > 0).then(|| reader.candidate_line(&format!("/proc/{pid}/comm"))).flatten();
        Some(Self { pid, name })
    }

    fn in_words(&self) -> String {
        let name = self.name.as_ref().map(|name| format!(" ({name})"));
        format!("process {}{}", self.pid, name.unwrap_or_default())
    }

    /// What has changed since `before`, in words.
    fn since(&self, before: &Self) -> Option<String> {
        let words = match (before.pid, self.pid) {
            (old, new) if old == new => return None,
            (0, _) => format!("{} began to trace this process (ptrace)", self.in_words()),
            (_, 0) => format!("{} ceased to trace this process (ptrace)", before.in_words()),
            _ => format!(
                "{} traced this process (ptrace) when the run began, and {} when it ended",
                before.in_words(),
                self.in_words()
            ),
        };
        Some(words)
    }
}

/// The most that is read of `/proc/self/status`, in bytes.
const STATUS_LIMIT: u64 = 1 << 16;

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
        let facts = FILES.map(|(what, path)| (what, reader.candidate_line(path))).to_vec();
        Underneath { facts, tracer: Tracer::now(&reader) }
    }

    /// What has changed since `before`, in words.
    pub fn changes_since(&self, before: &Underneath) -> Vec<String> {
        let pairs = before.facts.iter().zip(&self.facts);
        let words = |what: &str, old: &str, new: &str| {
            (old != new).then(|| format!("{what} was {old:?} when the run began and {new:?} when it ended"))
        };
        let changes =
            pairs.filter_map(|((what, old), (_, new))| words(what, old.as_deref()?, new.as_deref()?));
        let tracers = before.tracer.as_ref().zip(self.tracer.as_ref());
        changes.chain(tracers.and_then(|(old, new)| new.since(old))).collect()
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

    #[test]
    fn a_tracer_that_was_attached_in_mid_run_is_named() {
        let scratch = Scratch::new("tracer");
        let traced_by = |pid: u32| {
            let status = format!("Name:\tkentry\nTracerPid:\t{pid}\n");
            scratch.write("/proc/self/status", status.as_bytes());
            Underneath::now(&scratch.roots())
        };
        scratch.write("/proc/77/comm", b"strace\n");
        let (alone, first, second) = (traced_by(0), traced_by(77), traced_by(78));
        assert_eq!(first.changes_since(&alone), ["process 77 (strace) began to trace this process (ptrace)"]);
        assert_eq!(
            alone.changes_since(&first),
            ["process 77 (strace) ceased to trace this process (ptrace)"]
        );
        let both = "process 77 (strace) traced this process (ptrace) when the run began, and process 78 when it ended";
        assert_eq!(second.changes_since(&first), [both]);
        assert_eq!(first.changes_since(&first), [""; 0]);
    }
}

use document::{Confidence, Finding, Level};

/// What a finding is about. The names stand in documents and are for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// Whether the clock is read in user space.
    ClockPath,
    /// What a bare system call costs, and what makes it dearer.
    SystemCall,
    /// The C library against the vDSO.
    Libc,
    /// Faults of the processor that the kernel leaves open.
    Mitigations,
    /// Page-table isolation that this processor does not need.
    Pti,
    /// How noisy the run was.
    Noise,
    /// CPUs on which the core was never known to be alone.
    NeverSeenQuiet,
    /// Rows that had no time for enough rounds.
    FewRounds,
    /// Something changed while it was measured.
    Changed,
    /// The core's clock wandered.
    ClockRange,
    /// Core cycles cannot be told.
    ChainRatio,
    /// `lfence` does not order.
    Order,
    /// The time stamp counter's rate may change.
    TscNotInvariant,
    /// Two sources contradict each other about the time stamp counter's frequency.
    TscContradiction,
    /// The processor is a program.
    Emulated,
    /// The hypervisor does a part of the lab's ring 0 itself.
    Ring0,
    /// Core cycles by the processor's counter differ from those by the chain.
    CycleCounter,
    /// Rounds were lost to the firmware.
    Smi,
    /// The hypervisor ran something else.
    Steal,
    /// The control group's CPU quota stopped the run.
    CpuQuota,
    /// The run was interrupted.
    Partial,
    /// The guest ended before its plan was done.
    GuestEnded,
    /// The kernel refused real-time priority.
    NoRealtime,
    /// Clocks are offset.
    TimeNamespace,
    /// Facts could not be read.
    Unseen,
}

impl Id {
    /// Every finding there is.
    pub const ALL: [Id; 25] = [
        Id::ClockPath,
        Id::SystemCall,
        Id::Libc,
        Id::Mitigations,
        Id::Pti,
        Id::Noise,
        Id::NeverSeenQuiet,
        Id::FewRounds,
        Id::Changed,
        Id::ClockRange,
        Id::ChainRatio,
        Id::Order,
        Id::TscNotInvariant,
        Id::TscContradiction,
        Id::Emulated,
        Id::Ring0,
        Id::CycleCounter,
        Id::Smi,
        Id::Steal,
        Id::CpuQuota,
        Id::Partial,
        Id::GuestEnded,
        Id::NoRealtime,
        Id::TimeNamespace,
        Id::Unseen,
    ];

    /// As it stands in documents.
    pub fn name(self) -> &'static str {
        match self {
            Id::ClockPath => "clock-path",
            Id::SystemCall => "system-call",
            Id::Libc => "libc",
            Id::Mitigations => "mitigations",
            Id::Pti => "pti",
            Id::Noise => "noise",
            Id::NeverSeenQuiet => "never-seen-quiet",
            Id::FewRounds => "few-rounds",
            Id::Changed => "changed",
            Id::ClockRange => "clock-range",
            Id::ChainRatio => "chain-ratio",
            Id::Order => "order",
            Id::TscNotInvariant => "tsc-not-invariant",
            Id::TscContradiction => "tsc-contradiction",
            Id::Emulated => "emulated",
            Id::Ring0 => "ring-0",
            Id::CycleCounter => "cycle-counter",
            Id::Smi => "smi",
            Id::Steal => "steal",
            Id::CpuQuota => "cpu-quota",
            Id::Partial => "partial",
            Id::GuestEnded => "guest-ended",
            Id::NoRealtime => "no-realtime",
            Id::TimeNamespace => "time-namespace",
            Id::Unseen => "unseen",
        }
    }

    /// A finding that was seen, and says no more than its verdict.
    pub(crate) fn finding(self, level: Level, verdict: impl Into<String>) -> Finding {
        Finding {
            id: self.name().to_owned(),
            level,
            verdict: verdict.into(),
            evidence: None,
            cause: None,
            remedy: None,
            next: None,
            confidence: Confidence::Seen,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    const DOCUMENTATION: &str = include_str!("../../../docs/findings.md");

    #[test]
    fn every_finding_is_documented_and_nothing_else_is() {
        let headings = DOCUMENTATION.lines().filter_map(|line| line.strip_prefix("## "));
        let mut documented: Vec<&str> = headings.map(|heading| heading.trim_matches('`')).collect();
        let mut known = Id::ALL.map(Id::name).to_vec();
        documented.sort_unstable();
        known.sort_unstable();
        assert_eq!(documented, known);
    }

    #[test]
    fn every_section_says_when_what_and_what_to_do() {
        for section in DOCUMENTATION.split("\n## ").skip(1) {
            let name = section.lines().next().unwrap();
            for part in ["**When.**", "**Meaning.**", "**What to do.**"] {
                assert!(section.contains(part), "{name} lacks {part}");
            }
        }
    }
}

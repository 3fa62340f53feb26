use document::{Confidence, Finding, Level};

/// Makes the enumeration, with the name of each finding.
macro_rules! ids {
    ($($(#[$what:meta])* $id:ident $name:literal;)*) => {
        /// What a finding is about. The names stand in documents and are for ever.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Id {
            $($(#[$what])* $id,)*
        }

        impl Id {
            /// Every finding there is.
            pub const ALL: &[Id] = &[$(Id::$id,)*];

            /// As it stands in documents.
            pub fn name(self) -> &'static str {
                match self { $(Id::$id => $name,)* }
            }
        }
    };
}

ids! {
    /// What a bare system call costs, and what makes it dearer.
    SystemCall "system-call";
    /// The C library against the vDSO.
    Libc "libc";
    /// Whether the vDSO gives random bytes.
    RandomPath "random-path";
    /// Faults of the processor that the kernel leaves open.
    Mitigations "mitigations";
    /// Page-table isolation that this processor does not need.
    Pti "pti";
    /// How noisy the run was.
    Noise "noise";
    /// CPUs on which the core was never known to be alone.
    NeverSeenQuiet "never-seen-quiet";
    /// Rows that had no time for enough rounds.
    FewRounds "few-rounds";
    /// Something changed while it was measured.
    Changed "changed";
    /// The core's clock wandered.
    ClockRange "clock-range";
    /// Core cycles cannot be told.
    ChainRatio "chain-ratio";
    /// `lfence` does not order.
    Order "order";
    /// The time stamp counter's rate may change.
    TscNotInvariant "tsc-not-invariant";
    /// Two sources contradict each other about the time stamp counter's frequency.
    TscContradiction "tsc-contradiction";
    /// The processor is a program.
    Emulated "emulated";
    /// The hypervisor does a part of the lab's ring 0 itself.
    Ring0 "ring-0";
    /// Core cycles by the processor's counter differ from those by the chain.
    CycleCounter "cycle-counter";
    /// Rounds were lost to the firmware.
    Smi "smi";
    /// The hypervisor ran something else.
    Steal "steal";
    /// The control group's CPU quota stopped the run.
    CpuQuota "cpu-quota";
    /// The run was interrupted.
    Partial "partial";
    /// The guest ended before its plan was done.
    GuestEnded "guest-ended";
    /// The kernel refused real-time priority.
    NoRealtime "no-realtime";
    /// Clocks are offset.
    TimeNamespace "time-namespace";
    /// Facts could not be read.
    Unseen "unseen";
    /// Which entries are open.
    Entries "entries";
    /// Whether old static programs find the vsyscall page.
    VsyscallPage "vsyscall-page";
    /// Whether 32-bit programs run.
    Programs32Bit "programs-32-bit";
    /// 32-bit programs find no vDSO.
    Vdso32Bit "vdso-32-bit";
    /// What a command adds to the calls of what runs behind it.
    AddedByCommand "added-by-command";
    /// Whether programs of the x32 ABI run.
    ProgramsX32 "programs-x32";
    /// Whether each clock that the vDSO serves is read in user space, by each way.
    ClockServed "clock-served";
    /// Whether clocks go on steadily on each CPU.
    ClockSteady "clock-steady";
    /// Whether the clocks of all CPUs agree.
    ClockApart "clock-apart";
    /// The kernel found fault with a clock.
    ClockDemoted "clock-demoted";
    /// Whether a process carries anything into its calls.
    Carried "carried";
    /// Filters of system calls.
    Filters "filters";
    /// Loads that wait for earlier stores.
    StoreBypass "store-bypass";
    /// Indirect branches that are predicted by nobody else's doings.
    IndirectBranches "indirect-branches";
    /// Somebody traces the process.
    Tracer "tracer";
    /// System calls may be turned into signals.
    UserDispatch "user-dispatch";
    /// The kernel audits system calls.
    Audit "audit";
    /// Something runs at each system call.
    CallPrograms "call-programs";
    /// Rule sets of Landlock.
    Landlock "landlock";
    /// Who registered an area for restartable sequences.
    Rseq "rseq";
    /// What the number of the CPU costs.
    Getcpu "getcpu";
    /// A protection that the kernel uses, and its price.
    Protection "protection";
    /// What a hypervisor does not show of its processor.
    GuestProcessor "guest-processor";
    /// Words of the command line that change protections.
    BootWords "boot-words";
    /// FRED is offered and not used.
    Fred "fred";
    /// How the kernel may be preempted.
    Preemption "preemption";
}

impl Id {
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
            costs: None,
            figures: Vec::new(),
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
        let mut known: Vec<&str> = Id::ALL.iter().map(|id| id.name()).collect();
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

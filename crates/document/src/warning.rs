use serde::{Deserialize, Serialize};
use std::fmt;

/// What a reader must know before quoting a figure, each with its remedy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Warning {
    /// Rows most of whose rounds ran on a core that something else used too.
    Disturbed {
        /// Rows without an interval because of that.
        rows: u64,
        /// Rounds excluded, of all rows.
        excluded: u64,
        /// Rounds in all.
        rounds: u64,
    },
    /// The canary never ran as fast as a core that has no company lets it.
    SharedThroughout {
        /// 64 or 32.
        bits: u8,
        /// Independent instructions in a core cycle, at best.
        canary: f64,
    },
    /// Another process traces this one.
    Traced {
        /// Its process id.
        tracer: u32,
    },
    /// Seccomp filters run before every call.
    Seccomp {
        /// How many, where the kernel tells.
        filters: Option<u32>,
    },
    /// Clocks are offset in a time namespace.
    TimeNamespace,
    /// Core cycles cannot be told.
    ChainRatio {
        /// 64 or 32.
        bits: u8,
        /// Cycles of an imul if a xor takes one.
        ratio: f64,
    },
    /// Too few rounds for an interval.
    FewRounds {
        /// Rounds of the row that has fewest.
        rounds: u64,
    },
    /// The processor is a program: whatever time it takes is that program's.
    Emulated {
        /// The emulator's signature in CPUID.
        by: String,
    },
    /// Interrupted by the user.
    Interrupted,
    /// The lab's guest ended, or was ended, before its plan was done.
    GuestEnded {
        /// What became of it.
        why: String,
    },
    /// The counter's rate is not constant.
    TscNotInvariant,
    /// Real-time priority was asked for and not granted.
    NoRealtime {
        /// What the kernel answered.
        why: String,
    },
    /// The hypervisor ran something else.
    Steal {
        /// Milliseconds taken from the measured CPU.
        milliseconds: f64,
    },
    /// Something about the environment could not be seen.
    Unseen {
        /// How many facts.
        facts: u64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Disturbed { rows, excluded, rounds } => write!(
                f,
                "rows that lost most of their rounds to company on the core, and so have no interval: {rows} ({excluded} of \
                 {rounds} rounds were lost in all). Try again when the machine is idle, or on another CPU (--cpu)."
            ),
            Warning::SharedThroughout { bits, canary } => write!(
                f,
                "at its best the core executed {canary:.2} independent {bits}-bit instructions a cycle; unless it is a small \
                 core, something else used it all the time. Try again when the machine is idle, or on another CPU (--cpu)."
            ),
            Warning::Traced { tracer } => write!(
                f,
                "process {tracer} traces this one: every system call and signal stops for it. Run without strace or debugger."
            ),
            Warning::Seccomp { filters } => {
                let filters = filters.map_or("an unknown number of".to_string(), |filters| filters.to_string());
                write!(
                    f,
                    "{filters} seccomp filters run before every system call, and are in the figures (the kernel caches their \
                     answer for most calls, not for invalid ones). Run outside of the container for the bare kernel."
                )
            }
            Warning::TimeNamespace => f.write_str(
                "this is a time namespace with offset clocks: the vDSO does more work than outside of it.",
            ),
            Warning::ChainRatio { bits, ratio } => write!(
                f,
                "an imul takes {ratio:.3} times a xor in {bits}-bit code, not 3.00: this processor's chain cannot tell core \
                 cycles. Use ticks or ns."
            ),
            Warning::FewRounds { rounds } => write!(
                f,
                "too few rounds for a confidence interval: {rounds} in the row that has fewest, and 6 are needed. Give more time \
                 (--budget) or ask for fewer rows (--entry, --operation)."
            ),
            Warning::Emulated { by } => write!(
                f,
                "this machine is emulated ({by}): outcomes are what its kernel answers, but times would be the emulator's, \
                 and are not shown. Measure on hardware, or in a virtual machine that uses it."
            ),
            Warning::Interrupted => f.write_str("interrupted: this is what was measured so far."),
            Warning::GuestEnded { why } => write!(
                f,
                "{why}, before the plan was done: this is what was measured so far. Give more time (--timeout) or ask for \
                 fewer rows (--entry, --operation) or configurations (--set)."
            ),
            Warning::TscNotInvariant => f.write_str(
                "this CPU does not promise an invariant time stamp counter (CPUID 80000007h EDX bit 8): ticks and ns may \
                 drift with its frequency. Core cycles do not.",
            ),
            Warning::NoRealtime { why } => write!(
                f,
                "no real-time priority: {why}. Run as root, or raise RLIMIT_RTPRIO; without it figures are the same on an \
                 idle machine."
            ),
            Warning::Steal { milliseconds } => write!(
                f,
                "the hypervisor took {milliseconds:.0} ms from this CPU; the tail (p99.9, max) contains it. Try again later."
            ),
            Warning::Unseen { facts } => write!(
                f,
                "facts about this machine that could not be read: {facts}. The JSON document lists them with the reason."
            ),
        }
    }
}

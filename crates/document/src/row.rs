//! One entry and operation in one configuration.

use serde::{Deserialize, Serialize};
use stats::{
    Cost, Counts, Cycles, Instructions, Lines, Mode, Nanos, Noise, Spread, StoredDistribution, Ticks,
};
use std::collections::BTreeMap;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Measured.
    Ok,
    /// This machine, kernel or C library does not have it.
    Unsupported,
    /// It exists, but the kernel answers with an error.
    Refused,
    /// It ended in a signal.
    Fault,
    /// It answered wrongly, or changed a register that it must preserve.
    Mismatch,
    /// It did not end in time.
    Timeout,
    /// The attempt itself went wrong.
    Error,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Outcome; 7] = [
        Outcome::Ok,
        Outcome::Unsupported,
        Outcome::Refused,
        Outcome::Fault,
        Outcome::Mismatch,
        Outcome::Timeout,
        Outcome::Error,
    ];

    /// As in documents and tables.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Unsupported => "unsupported",
            Outcome::Refused => "refused",
            Outcome::Fault => "fault",
            Outcome::Mismatch => "mismatch",
            Outcome::Timeout => "timeout",
            Outcome::Error => "error",
        }
    }
}

/// Where a row's figures come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timing {
    /// Time on a processor.
    Hardware,
    /// Instructions executed in an emulator: no cost but `instructions`.
    Emulated,
}

/// Where a function is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Path {
    /// Without entering the kernel.
    User,
    /// By the kernel.
    Kernel,
}

/// One entry and operation, in one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the entry.
    pub entry: String,
    /// Its id in the table; null in documents of schema 1.
    pub entry_id: Option<u16>,
    /// Name of the operation.
    pub operation: String,
    /// Its id in the table; null in documents of schema 1.
    pub operation_id: Option<u16>,
    /// Bitness of the process that used it.
    pub bits: u8,
    /// All of the lab's switches, or the kind of core where several were measured; empty on a host otherwise.
    pub configuration: BTreeMap<String, String>,
    /// Where the figures come from.
    pub timing: Timing,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it did not work, in words; null if it did.
    pub reason: Option<String>,
    /// Whether a call of a function enters the kernel, as the probe found out; null for entries that are not functions.
    pub path: Option<Path>,
    /// Remarks for the reader, in words.
    pub remarks: Vec<String>,
    /// Why a row that works has no figures.
    pub noise: Option<Noise>,
    /// In core cycles.
    pub core_cycles: Option<Cost<Cycles>>,
    /// In ticks of the time stamp counter.
    pub ticks: Option<Cost<Ticks>>,
    /// In nanoseconds.
    pub ns: Option<Cost<Nanos>>,
    /// In instructions executed; only in an emulated guest.
    pub instructions: Option<Cost<Instructions>>,
    /// Core cycles for a call among calls made back to back, without fences between them.
    pub throughput: Option<Cost<Cycles>>,
    /// Why there is no throughput although it was measured, in words.
    pub throughput_withheld: Option<String>,
    /// The costs that single samples gather at, where there are several; in core cycles, or else in ticks.
    pub modes: Vec<Mode>,
    /// The CPU that the estimate is of.
    pub cpu: Option<usize>,
    /// How much of the spread between rounds is layout, where layouts were drawn: in the lab, where time is measured.
    #[serde(default)]
    pub spread: Option<Spread>,
    /// How much was measured, and how much of that was kept.
    pub counts: Counts,
    /// The rounds, which the figures are computed from; empty where instructions are counted.
    pub rounds: Lines,
    /// Single samples in core cycles; null where there are none.
    pub distribution_cycles: Option<StoredDistribution>,
    /// Single samples in ticks; null where there are none.
    pub distribution_ticks: Option<StoredDistribution>,
}

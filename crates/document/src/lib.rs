//! The run document: one saved measurement, versioned. `docs/run.schema.json` is the same contract for everybody
//! else. Field names and units are for ever within one schema version; what is absent is `null`, never 0.

mod judge;
mod load;
mod warning;

pub use judge::{interrupts_in_words, judge, judge_failure, path_in_words, signal_in_words};
pub use load::{LoadError, load};
pub use warning::Warning;

use environment::Environment;
use serde::{Deserialize, Serialize};
use stats::{Cost, Cycles, Instructions, Nanos, Ticks};
use std::collections::BTreeMap;

/// The schema that this version writes.
pub const SCHEMA: &str = "kentry.run/1";

/// One measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// How it was measured.
    pub measurement: Measurement,
    /// On what.
    pub environment: Environment,
    /// The functions that the vDSO images export, by bitness (`64`, `32`).
    pub vdso: BTreeMap<String, Vec<Export>>,
    /// The rows, in the table's order.
    pub results: Vec<Row>,
}

/// A function that a vDSO image exports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    /// Its symbol.
    pub name: String,
    /// Its symbol's version, empty when it has none.
    pub version: String,
}

/// How a document's figures were measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Version of kentry.
    pub kentry: String,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// How long it took, seconds.
    pub seconds: f64,
    /// How long it was allowed to take, seconds.
    pub budget_seconds: f64,
    /// The CPU that the probes were pinned to.
    pub cpu: usize,
    /// What the order of the rounds was drawn from.
    pub seed: u64,
    /// Whether it was cut short, so that rows may be missing or less precise.
    pub partial: bool,
    /// Whether the probes ran with real-time priority.
    pub realtime: bool,
    /// Frequency of the time stamp counter against CLOCK_MONOTONIC_RAW, hertz.
    pub tsc_hz: Option<f64>,
    /// Core cycles in a tick, median over all rounds; none when the chain does not hold.
    pub cycles_per_tick: Option<f64>,
    /// The same at the 5th and the 95th percentile of the rounds: how far the core's clock wandered.
    pub cycles_per_tick_range: Option<[f64; 2]>,
    /// Cycles of an imul if a xor takes one, by bitness (`64`, `32`). Core cycles are given only where it is 3.00
    /// within 1 %.
    pub chain_ratio: BTreeMap<String, f64>,
    /// Independent instructions in a core cycle with the core to itself, by bitness.
    pub canary: BTreeMap<String, f64>,
    /// What disturbed it.
    pub disturbance: Disturbance,
    /// What a reader must know before quoting a figure.
    pub warnings: Vec<Warning>,
}

/// What disturbed a run, in rounds and samples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Probe runs that measured.
    pub rounds: u64,
    /// Of these, excluded because the canary was off: the core was shared.
    pub excluded_canary: u64,
    /// Of these, excluded because the CPU changed.
    pub excluded_migrated: u64,
    /// Rounds in which the probe was preempted at least once.
    pub preempted: u64,
    /// Samples taken.
    pub samples: u64,
    /// Of these, left out, singly (interrupt, change of frequency) or with their round.
    pub disturbed: u64,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Measured.
    Ok,
    /// This machine, kernel or C library does not have it.
    Unsupported,
    /// It is there, and the kernel answers with an error.
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

/// One entry and operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the entry.
    pub entry: String,
    /// Name of the operation.
    pub operation: String,
    /// Bitness of the process that used it.
    pub bits: u8,
    /// The lab's switches; empty on a host.
    pub configuration: BTreeMap<String, String>,
    /// Where the figures come from.
    pub timing: Timing,
    /// How it ended.
    pub outcome: Outcome,
    /// Why, or what is worth knowing, in words.
    pub reason: Option<String>,
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
    /// Samples taken.
    pub samples: u64,
    /// Of these, left out as disturbed.
    pub disturbed: u64,
}

//! The run document: one saved measurement, versioned. `docs/run.schema.json` is the same contract for everybody
//! else. Field names and units are for ever within one schema version; what is absent is `null`, never 0.

#![deny(missing_docs)]

mod checkup;
mod compute;
mod earlier;
mod finding;
mod identity;
mod load;
mod place;
mod price;
mod rate;
mod recompute;
mod row;
mod shape;
mod spread;
mod verdict;
mod wide;

pub use checkup::{Added, Behind, CHECKUP_SCHEMA, Checkup, Diagnosis};
pub use compute::Samples;
pub use earlier::EarlierRuns;
pub use finding::{Confidence, Figure, Finding, Level, Unit};
pub use identity::{DEFAULT, Identity, KERNEL};
pub use load::{LoadError, load, read, schema_of};
pub use place::{Counter, Machine, Name};
pub use price::{Price, PriceSource, PriceUnit};
pub use rate::{Interval, Rate};
pub use recompute::{Recomputed, recompute};
pub use row::{FOOTPRINT, Outcome, Path, Rings, Row, Timing, row_in_words};
pub use spread::{by_boot, spread};
pub use verdict::{exception_in_words, interrupts_in_words, judge, judge_failure, path_of, signal_in_words};
pub use wide::{is_figure, is_narrow};

use environment::Environment;
use record::{Payload, Record};
use serde::{Deserialize, Serialize};
use stats::Counts;
use std::collections::BTreeMap;
use table::Kernel;

/// The schema that this version writes.
pub const SCHEMA: &str = "kentry.run/2";

/// One measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// Tells this run from every other: 128 random bits, hexadecimal. Null where no run of kentry made the document.
    pub id: Option<String>,
    /// How it was measured.
    pub measurement: Measurement,
    /// The machine that it was measured on.
    pub environment: Environment,
    /// The functions that the vDSO images export, by bitness (`64`, `32`).
    pub vdso: BTreeMap<String, Vec<Export>>,
    /// The rows, in the table's order.
    pub results: Vec<Row>,
    /// What the facts and the figures say, the most important first.
    pub findings: Vec<Finding>,
}

impl Document {
    /// Without rows, and of which nothing is known yet.
    pub fn empty() -> Document {
        Document {
            schema: SCHEMA.into(),
            id: None,
            measurement: Measurement::default(),
            environment: Environment::default(),
            vdso: BTreeMap::new(),
            results: Vec::new(),
            findings: Vec::new(),
        }
    }
}

/// A function that a vDSO image exports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    /// Its symbol.
    pub name: String,
    /// Its symbol's version, empty when it has none.
    pub version: String,
}

impl Export {
    /// Those that the records of a describing probe name, in their order.
    pub fn all(records: &[Record]) -> Vec<Export> {
        let export = |record: &Record| match &record.payload {
            Payload::Export { name, version } => {
                Some(Export { name: name.clone(), version: version.clone() })
            }
            _ => None,
        };
        records.iter().filter_map(export).collect()
    }
}

/// How a document's figures were measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measurement {
    /// Version of kentry.
    pub kentry: String,
    /// The C compiler that made the probes, and its version.
    pub compiler: Option<String>,
    /// SHA-256 of each probe, by its name.
    pub probes: BTreeMap<String, String>,
    /// The command that the probes ran under; null if they ran as they are.
    pub command: Option<String>,
    /// Which arm of a comparison that was measured in turns it is, `A` or `B`; written only if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// Where the rounds come from.
    pub place: Place,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// How long it took, seconds.
    pub seconds: f64,
    /// How long it was allowed to take, seconds; up to three times as long where rows lacked rounds.
    pub budget_seconds: f64,
    /// Whether it had to keep to the budget, even if rows lacked rounds.
    pub strict_budget: bool,
    /// The CPUs that rounds were taken on.
    pub cpus: Vec<CpuUse>,
    /// What the order of the rounds was drawn from.
    pub seed: u64,
    /// Whether it was cut short, so that rows may be missing or less precise.
    pub partial: bool,
    /// Why a guest ended before its plan was done, in words; null if it finished, and on a host.
    pub ended: Option<String>,
    /// Whether that was for want of time, so that more of it would help; written only if so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub out_of_time: bool,
    /// Whether the probes ran with real-time priority.
    pub realtime: bool,
    /// Why the kernel refused real-time priority, in words; null if it granted the request or was not
    /// asked.
    pub realtime_refused: Option<String>,
    /// Frequency of the time stamp counter against CLOCK_MONOTONIC_RAW, hertz.
    pub tsc_hz: Option<f64>,
    /// The counter's step as far as its readings show, ticks.
    pub tsc_step: Option<f64>,
    /// Core cycles in a tick, median over all kept rounds, or over all rounds where none was kept; null when core cycles
    /// cannot be told.
    pub cycles_per_tick: Option<f64>,
    /// The same at the 5th and the 95th percentile of the rounds: how far the core's clock wandered.
    pub cycles_per_tick_range: Option<[f64; 2]>,
    /// Standard error of these, as a part of them, that all rounds have in common; it is in the intervals.
    pub clock_error: Option<f64>,
    /// Cycles of an imul if a xor takes one, on quiet blocks, by bitness (`64`, `32`). Core cycles are given only where it
    /// is 3.00 within 1 %.
    pub chain_ratio: BTreeMap<String, f64>,
    /// How long imul chains in a row took, as a part of what they should have: 1 where lfence orders rdtsc.
    #[serde(rename = "order")]
    pub lfence_order: Option<f64>,
    /// All rows together.
    pub counts: Counts,
    /// Share of the run's canaries that found the core alone, 0 to 1; null where nothing was timed.
    pub quiet_share: Option<f64>,
    /// What was found different at the end than at the beginning, in words. A change that only figures show is a finding.
    pub changes: Vec<String>,
}

/// Where rounds come from. The default is that of a document that does not say; [`load`] asks its environment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Place {
    /// What executed the instructions.
    pub machine: Name<Machine>,
    /// Which kernel served the entries.
    pub kernel: Name<Kernel>,
}

/// What one CPU contributed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuUse {
    /// Its number.
    pub cpu: usize,
    /// `performance`, `efficient` or `uniform`.
    pub core: String,
    /// Rounds that were taken on it.
    pub rounds: u64,
    /// Of these, with a part in an estimate.
    pub kept_rounds: u64,
    /// Share of its canaries that found the core alone, 0 to 1.
    pub quiet_share: f64,
    /// Independent instructions in a core cycle when the core was alone, by bitness (`64`, `32`).
    pub canary: BTreeMap<String, f64>,
    /// What vouches for that: `known-width`, `no-sibling` or [`CpuUse::NOTHING`].
    pub vouched_by: String,
}

impl CpuUse {
    /// What `vouched_by` says where the fastest canaries may still be those of a shared core.
    pub const NOTHING: &str = "nothing";

    /// Whether nothing shows that the core was ever alone.
    pub fn is_unvouched(&self) -> bool {
        self.vouched_by == CpuUse::NOTHING
    }
}

//! The checkup: what `kentry doctor` found out about a machine. `docs/checkup.schema.json` is the same contract for everybody else.

use crate::{Document, Finding, Level, Price};
use examine::{Carried, ClockHealth, Runtimes};
use serde::{Deserialize, Serialize};

/// The schema of checkups that this version writes.
pub const CHECKUP_SCHEMA: &str = "kentry.checkup/1";

/// All that was found out, and what it means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkup {
    /// [`CHECKUP_SCHEMA`].
    pub schema: String,
    /// The rows that were measured, and the machine.
    pub run: Document,
    /// Whether the clocks of its CPUs are steady and agree; null where that was not looked at.
    pub clock_health: Option<ClockHealth>,
    /// What the process that was looked at carries; null where that was not looked at.
    pub carried: Option<Carried>,
    /// What programs find in the C library and the vDSO; null where that was not looked at.
    pub runtimes: Option<Runtimes>,
    /// What a command adds, where it was made behind one; written only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<Behind>,
    /// What the protections of this kernel cost, by the lab's settings that stand for them.
    #[serde(default)]
    pub prices: Vec<Price>,
    /// What it means, the most important first.
    pub diagnoses: Vec<Diagnosis>,
}

/// The command that a checkup was made behind, and what it adds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Behind {
    /// As it was typed.
    pub command: String,
    /// Rows that were measured in turns, without the command and behind it.
    pub rows: Vec<Added>,
}

/// What a command adds to a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Added {
    /// Name of the entry.
    pub entry: String,
    /// Name of the operation.
    pub operation: String,
    /// What it costs without the command, core cycles; null where that is not known.
    pub without: Option<f64>,
    /// What it costs behind the command, core cycles; null where that is not known.
    pub behind: Option<f64>,
    /// How much more that is, core cycles, and the ends of its interval; null where it cannot be told.
    pub more: Option<[f64; 3]>,
    /// Whether it is surely more, by the test that `compare --live` makes.
    pub is_more: bool,
    /// Why it cannot be used behind the command, in words; null if it can.
    pub closed: Option<String>,
}

/// A finding, and the check that made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The check's name: `clocks`, `carried`, ...
    pub check: String,
    /// What it found.
    #[serde(flatten)]
    pub finding: Finding,
}

impl Checkup {
    /// The level of the worst finding, if it is `least` or worse.
    pub fn worst(&self, least: Level) -> Option<Level> {
        let levels = self.diagnoses.iter().map(|diagnosis| diagnosis.finding.level);
        levels.max_by_key(|level| level.rank()).filter(|worst| worst.rank() >= least.rank())
    }

    /// Of a run, with nothing else looked at.
    pub fn of(run: Document) -> Checkup {
        let schema = CHECKUP_SCHEMA.to_owned();
        Checkup {
            schema,
            run,
            clock_health: None,
            carried: None,
            runtimes: None,
            prices: Vec::new(),
            behind: None,
            diagnoses: Vec::new(),
        }
    }
}

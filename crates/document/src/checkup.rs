//! The checkup: what `kentry doctor` found out about a machine. `docs/checkup.schema.json` is the same contract for everybody else.

use crate::{Document, Finding, Price};
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
    /// What the protections of this kernel cost, by the lab's settings that stand for them.
    #[serde(default)]
    pub prices: Vec<Price>,
    /// What it means, the most important first.
    pub diagnoses: Vec<Diagnosis>,
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
            diagnoses: Vec::new(),
        }
    }
}

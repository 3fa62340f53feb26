//! Which hosts of a fleet are odd, and why; and what a roll-out changed, on which generation. Pure: summaries in, a judgement out.
//!
//! `docs/fleet.md` explains to users what is tested; `tests/truth.rs` proves it on fleets whose truth is known.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod judgement;
mod rollout;

pub use judgement::{
    Closed, Cohort, CohortRow, Difference, Differs, FactValue, FindingCount, Judgement, Mitigation,
    MitigationValue, Named, OddHost, Remark, RowName, SCHEMA, Split, SplitSide, Unit, ValueCount,
};
pub use rollout::{Answer, FactChange, Gate, Rollout, RolloutRow, Stratum, Verdict};

use summary::Summary;

/// With fewer hosts in a cohort, or fewer pairs of a row, there is no verdict.
pub const LEAST_HOSTS: usize = 5;

/// What a fleet is judged by.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Ids of facts that split cohorts further; [`Fleet::fact_ids`] has those that there are.
    pub by: Vec<String>,
    /// The limit of a roll-out's gate, percent, above 0.
    pub fail_above_percent: Option<f64>,
}

/// The runs of a fleet, of which it keeps what a judgement needs.
#[derive(Debug, Clone, Default)]
pub struct Fleet {}

impl Fleet {
    /// Without a run.
    pub fn new() -> Fleet {
        Fleet::default()
    }

    /// Adds a run. A host is known by its machine's id, or by this label where there is none; the label is its name in either case.
    pub fn add(&mut self, _label: &str, _summary: &Summary) {}

    /// Ids of facts that `--by` may name: those of [`summary::FACTS`], `mitigation:NAME` of the mitigations that runs have.
    pub fn fact_ids(&self) -> Vec<String> {
        summary::FACTS.iter().map(|fact| fact.id.to_owned()).collect()
    }

    /// Which hosts are odd.
    pub fn judge(&self, settings: &Settings) -> Judgement {
        Judgement {
            schema: SCHEMA.to_owned(),
            kind: "hosts".to_owned(),
            false_odd: 0.01,
            by: settings.by.clone(),
            hosts: 0,
            judged: 0,
            runs: 0,
            cohorts: Vec::new(),
            splits: Vec::new(),
            odd: Vec::new(),
            closed: Vec::new(),
            findings: Vec::new(),
            mitigations: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// What changed since this fleet, on the same hosts.
    pub fn roll_out(&self, _after: &Fleet, settings: &Settings) -> Rollout {
        Rollout {
            schema: SCHEMA.to_owned(),
            kind: "rollout".to_owned(),
            false_changes: 0.01,
            fail_above_percent: settings.fail_above_percent,
            pairs: 0,
            only_before: Named::default(),
            only_after: Named::default(),
            runs: [0, 0],
            changed: Vec::new(),
            strata: Vec::new(),
            gate: None,
            remarks: Vec::new(),
        }
    }
}

//! Which hosts of a fleet are odd, and why; and what a roll-out changed, on which generation. Pure: summaries in, a judgement out.
//!
//! `docs/fleet.md` explains to users what is tested; `tests/truth.rs` proves it on fleets whose truth is known.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod cohort;
mod columns;
mod corrected;
mod difference;
mod distance;
mod explain;
mod far;
mod fleet;
mod gate;
mod hosts;
mod judge;
mod judgement;
mod lost;
mod median;
mod modes;
mod odd;
mod otherwise;
mod pairs;
mod rollout;
mod sample;
mod shift;
mod split;
mod tables;
mod tails;
mod tested;
mod words;

pub use fleet::Fleet;
pub use judgement::{
    Closed, Cohort, CohortRow, Difference, Differs, FactValue, FindingCount, Judgement, Mitigation,
    MitigationValue, Named, OddHost, Remark, RowName, SCHEMA, Split, SplitSide, Unit, ValueCount,
};
pub use rollout::{
    Answer, FactChange, Gate, LostRow, Otherwise, OtherwiseRow, Rollout, RolloutRow, Stratum, Verdict,
};

/// With fewer hosts in a cohort, or fewer pairs of a row, there is no verdict.
pub const LEAST_HOSTS: usize = 5;

/// What a fleet is judged by.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Ids of facts that split cohorts, or strata of a roll-out, further; [`Fleet::fact_ids`] has those that there are.
    pub by: Vec<String>,
    /// The limit of a roll-out's gate, percent, above 0.
    pub fail_above_percent: Option<f64>,
}

/// A fact that no run of a fleet has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no fact {id:?} to split cohorts by; there are: {known}")]
pub struct UnknownFact {
    /// What was asked for.
    pub id: String,
    /// What there is.
    pub known: String,
}

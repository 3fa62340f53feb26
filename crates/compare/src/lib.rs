//! What differs between two sides of one or several measurements, and what can be said of it. Pure: documents in, a
//! [`Comparison`] out.
//!
//! 1. [`Run::of`] takes from a document what a comparison needs, so that many documents fit into memory.
//! 2. [`compare()`] looks for what else differs (`facts`), finds the rows of both sides (`pair`), estimates each change with what is
//!    known of the variation between runs (`prior`, `model`, `fit`) or by rounds in turns (`turns`), and gives verdicts to all rows together (`judge`).
//! 3. A gate (`gate`) asks whether an interval clears a limit.
//!
//! `docs/compare.md` explains the model to users; `tests/truth.rs` and `tests/turns.rs` prove it on runs and turns whose truth
//! is known.

#![forbid(unsafe_code)]

mod apart;
mod asked;
mod boots;
mod compare;
mod comparison;
mod facts;
mod figures;
mod fit;
mod gate;
mod judge;
mod judgement;
mod model;
mod pair;
mod prior;
pub mod published;
mod run;
mod settings;
mod turns;

pub use compare::{compare, compare_pairs};
pub use comparison::{
    Change, Comparison, Confounder, GateAnswer, GateInterval, GateResult, Row, RowGate, RowSide, RunHead,
    SCHEMA, Severity, Side, Source, Summary, Unit, Variation, Verdict,
};
pub use run::{Paired, Run, SideRuns};
pub use settings::{Above, Gate, Inconclusive, InvalidSetting, Limit, On, Rows, Same, Settings};

//! The bill itself. What is absent is `null`, never 0.

use crate::bill::{Figure, Ring3, Step, Unit};
use document::Place;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema that this version writes.
pub const SCHEMA: &str = "kentry.bill/1";

/// What each step of a profile adds to an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bill {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of kentry that measured it.
    pub kentry: String,
    /// When that began, RFC 3339, UTC.
    pub started: String,
    /// Where it was measured.
    pub place: Place,
    /// The emulator's or hypervisor's processor, or this machine's.
    pub cpu: Option<String>,
    /// Whether the measurement was cut short.
    pub partial: bool,
    /// Id of the run of the lab that it was made of.
    pub run: Option<String>,
    /// Name of the entry.
    pub entry: String,
    /// Name of the operation.
    pub operation: String,
    /// Name of the profile.
    pub profile: String,
    /// What the profile's kernel does beside, and the lab cannot; in words.
    pub not_in_lab: Vec<String>,
    /// The unit of all figures; null where nothing was measured.
    pub unit: Option<Unit>,
    /// Why instructions were counted and no times measured, in words; null where times were.
    pub no_times: Option<String>,
    /// What the processor has, of what switches may need: `smap`, `pcid`.
    pub features: Vec<String>,
    /// What the entry costs with every switch at its first value.
    pub bare: Option<Figure>,
    /// What it costs with all steps that were measured.
    pub whole: Option<Figure>,
    /// The whole less bare.
    pub added: Option<Figure>,
    /// The steps, in the profile's order; those that could not be measured, too.
    pub lines: Vec<Line>,
    /// The sum of the steps, each alone.
    pub sum: Option<Figure>,
    /// What the whole adds beyond that sum: `added` less `sum`. Negative where steps share work.
    pub interactions: Option<Figure>,
    /// How many random orders were measured (`--orders`).
    pub orders: usize,
    /// What a Linux costs and what of that is explained here; null where none was given.
    pub there: Option<There>,
    /// The bytes of the path, timed in ring 3; null where that was not asked for.
    #[serde(default)]
    pub ring3: Option<Ring3>,
    /// Every configuration that was measured, in the order of the plan.
    pub configurations: Vec<MeasuredConfiguration>,
}

/// One step's line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The step.
    pub step: Step,
    /// Whether it was measured, and if not, why.
    pub state: State,
    /// What it adds to bare and what it requires.
    pub alone: Option<Figure>,
    /// What the whole loses without it; what requires it is left out of both.
    pub in_company: Option<Figure>,
    /// The mean of what it added in random orders, an estimate of its Shapley value; null without orders.
    pub in_orders: Option<Figure>,
    /// Share of the whole, from 0 to 1: `alone`, or `in_orders` where orders were measured, by `whole`. It may be negative.
    /// Shares of bare, of all steps and of the interactions add up to 1; with orders, interactions are within the steps.
    pub share: Option<f64>,
}

/// Whether a step was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "why")]
pub enum State {
    /// It was, and had its effect.
    Measured,
    /// Its instructions were executed, but without the feature that it needs they have no effect; where instructions are counted. It has
    /// no figures if it adds none. In words, what the processor lacks.
    WithoutEffect(String),
    /// It was measured, but adds no instruction on this path: what else it may cost, a count cannot see. It has no figures.
    Unseen,
    /// It is in no configuration: the processor lacks what it needs, the entry decides it, or it requires a step that was left out. In
    /// words. It has no figures.
    LeftOut(String),
    /// Its configurations were not measured, or a round was missing. In words. It has no figures, or not all.
    Failed(String),
}

/// A Linux that was measured, and what of its cost the lab explains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct There {
    /// Which kernel and machine, in words.
    pub what: String,
    /// Id of its run; null where the document has none.
    pub run: Option<String>,
    /// What the entry and operation cost there; null where that run cannot be compared, and `why` says why.
    pub measured: Option<Figure>,
    /// Why there is no figure, in words; null where there is.
    pub why: Option<String>,
    /// What explains it, in the order of the path.
    pub parts: Vec<ExplainedPart>,
    /// The sum of the parts that are protections, without their idle instructions; of a path that was followed. Null where none was.
    #[serde(default)]
    pub protections: Option<Figure>,
    /// What it costs in another boot of the same kernel, with its protections switched off as far as parameters do that; of a path that was
    /// followed. Null where no such boot was followed.
    #[serde(default)]
    pub unprotected: Option<Figure>,
    /// The parameters of that boot, `mitigations=off`; null where there was none.
    #[serde(default)]
    pub unprotected_by: Option<String>,
    /// The sum of the parts: what the whole costs, but for what medians of parts differ from the median of the whole. Null where the
    /// whole was not measured.
    pub explained: Option<Figure>,
    /// What is left: `measured` less `explained`. No part is fitted to it, and it may be negative.
    pub rest: Option<Figure>,
    /// `rest` by `measured`, from -1 to 1 in the usual case.
    pub rest_share: Option<f64>,
    /// Remarks on the comparison: what differs between the machines, and what the profile is not known to have. In words.
    pub remarks: Vec<String>,
}

/// A part of what explains a Linux's cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedPart {
    /// What it is.
    pub kind: ExplainedKind,
    /// For readers: `crossing by the hardware`, `pti=on`.
    pub what: String,
    /// What it costs here; null where it was not measured.
    pub figure: Option<Figure>,
    /// A remark, in words: why there is no figure, or where it comes from.
    pub note: Option<String>,
    /// Of a path that was followed: whether it is a protection.
    #[serde(default)]
    pub protects: bool,
}

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExplainedKind {
    /// The bare entry with an unknown call number.
    Crossing,
    /// A step of the profile, alone.
    Step,
    /// What steps cost together beyond their sum.
    Interactions,
    /// From the entry to the service and back: what an empty service costs beyond the crossing.
    Dispatch,
    /// The service itself, beyond dispatch.
    Service,
    /// What the virtual machine below that Linux does on the way.
    Exits,
    /// Of a path that was followed: what the program executes.
    Program,
    /// What a setting brings, or bare has, of the assembler's part.
    Brought,
    /// What Linux has in C.
    C,
    /// Several of these, of which each has no figure by itself.
    NotToldApart,
}

/// One configuration and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredConfiguration {
    /// Name of the operation.
    pub operation: String,
    /// The steps that are in it, by their place in `lines`.
    pub steps: Vec<usize>,
    /// The switches that differ from bare.
    pub values: BTreeMap<String, String>,
    /// What the entry costs in it; null where it was not measured.
    pub figure: Option<Figure>,
    /// Why not, in words; null where it was.
    pub why: Option<String>,
}

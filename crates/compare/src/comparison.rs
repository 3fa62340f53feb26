//! The result of a comparison, as `docs/compare.schema.json` describes it. What is absent is `null`, never 0.

use crate::settings::Settings;
use document::{Outcome, Path, Place};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The schema that this version writes.
pub const SCHEMA: &str = "kentry.compare/1";

/// Two sides, compared row by row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: String,
    /// What the new side is compared with.
    pub base: Side,
    /// The new side.
    pub new: Side,
    /// What it was judged by.
    pub settings: Settings,
    /// Kept runs that told, besides those of both sides, how much rows vary from run to run.
    pub history: Vec<RunHead>,
    /// What differs between the sides besides what was measured, the most serious first.
    pub confounders: Vec<Confounder>,
    /// Whether a confounder forbids the comparison, and nobody forced it: then there are no rows.
    pub refused: bool,
    /// The rows, those that matter most first.
    pub rows: Vec<Row>,
    /// How many rows have which verdict.
    pub summary: Summary,
    /// What a gate says; null where none was asked for.
    pub gate: Option<GateResult>,
}

/// One side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// What its user calls it.
    pub label: String,
    /// Its runs, in the order in which they were given.
    pub runs: Vec<RunHead>,
    /// Boots of a kernel that these runs are of, as far as it is known; runs whose boot is unknown count as of one.
    pub boots: usize,
}

/// What is said of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    /// The run's id; null where its document has none.
    pub id: Option<String>,
    /// What its user calls it.
    pub name: Option<String>,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// Where its rounds come from.
    pub place: Place,
    /// The processor's model.
    pub cpu: Option<String>,
    /// The machine's id; null where it is unknown.
    pub machine: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The boot's id; null where it is unknown.
    pub boot: Option<String>,
    /// Version of kentry.
    pub kentry: String,
    /// Share of the canaries that found the core alone, 0 to 1.
    pub quiet_share: Option<f64>,
    /// Whether it was cut short.
    pub partial: bool,
    /// How long it was allowed to take, seconds; null where it is unknown.
    #[serde(default)]
    pub budget_seconds: Option<f64>,
    /// The options of `kentry` that choose the rows that it was asked for; null where no few options do.
    #[serde(default)]
    pub options: Option<String>,
    /// The command that its probes ran under; null where they ran as they are.
    #[serde(default)]
    pub command: Option<String>,
    /// Which arm of a comparison in turns it is, `A` or `B`; null where it is none.
    #[serde(default)]
    pub arm: Option<String>,
}

/// A fact that is not the same on both sides, or not as it should be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confounder {
    /// Names it for programs: `cpu-model`, `kernel`, `probe`. It is never given to something else.
    pub id: String,
    /// Names it for readers: `kernel`, `probe of 64-bit programs`.
    pub what: String,
    /// The values on the base's side; several where its runs differ. Empty where nothing is known.
    pub base: Vec<String>,
    /// The values on the new side.
    pub new: Vec<String>,
    /// How serious it is.
    pub severity: Severity,
    /// What it means for the comparison, one sentence.
    pub meaning: String,
}

/// How serious a confounder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The comparison makes no sense.
    Refuses,
    /// It may be the cause of every difference.
    Caution,
    /// Worth knowing.
    Note,
}

/// A row of both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the entry.
    pub entry: String,
    /// Name of the operation.
    pub operation: String,
    /// Bitness of the process that used it.
    pub bits: u8,
    /// All of the lab's switches, or the kind of core; empty on a host otherwise.
    pub configuration: BTreeMap<String, String>,
    /// The unit of all of its figures; null where there are none.
    pub unit: Option<Unit>,
    /// What was found on the base's side; null where no run has the row.
    pub base: Option<RowSide>,
    /// What was found on the new side.
    pub new: Option<RowSide>,
    /// What can be said.
    pub verdict: Verdict,
    /// Whether the whole interval lies within the margin: `slower (within 2 %)`. Always true of `same`.
    pub within_margin: bool,
    /// What counts as the same, in the row's unit: a change of less than this, up or down. Null where there is no change.
    pub margin: Option<f64>,
    /// The same as a percentage of the base's estimate; null where that is not above zero.
    pub margin_percent: Option<f64>,
    /// How it changed; null where one side has no figure.
    pub change: Option<Change>,
    /// What is known of how much this row varies from run to run; null where there is no change.
    pub variation: Option<Variation>,
    /// Of an inconclusive row: about how many more runs each side needs; null where more than [`Row::MANY`] would be, and where
    /// rounds were paired.
    pub more_runs: Option<u64>,
    /// Remarks on this row alone, in words.
    pub remarks: Vec<String>,
    /// What the gate says of this row; null where no rule concerns it.
    pub gate: Option<RowGate>,
}

impl Row {
    /// More runs than this are not asked for.
    pub const MANY: u64 = 100;

    /// Which it is, for a reader: `call none pcid=off pti=on`.
    pub fn in_words(&self) -> String {
        document::row_in_words(&self.entry, &self.operation, &self.configuration)
    }
}

/// The unit of a row's figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Core cycles.
    Cycles,
    /// Nanoseconds, where core cycles are withheld on one side.
    Ns,
    /// Instructions, in an emulated guest.
    Instructions,
}

impl Unit {
    /// For readers.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Cycles => "cycles",
            Unit::Ns => "ns",
            Unit::Instructions => "instructions",
        }
    }
}

/// A row on one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowSide {
    /// How most of the runs ended.
    pub outcome: Outcome,
    /// Why it did not work, in words; null if it did.
    pub reason: Option<String>,
    /// Whether a call of the function enters the kernel; null for entries that are not functions, and where runs differ.
    pub path: Option<Path>,
    /// Runs that have the row.
    pub runs: u64,
    /// Of these, with a figure.
    pub figures: u64,
    /// The mean of their figures, weighed by how precise each is; null where there is none.
    pub estimate: Option<f64>,
    /// Lower end of its 95 % confidence interval, in which the variation between runs is included; null of instructions, which
    /// are counted, and where rounds were paired, which tell how much sides differ, and not how much one varies.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
    /// Each run's figure, in the order of the side's runs; null where it has none.
    pub of_runs: Vec<Option<f64>>,
}

/// How a row changed: new less base. Where rounds were paired, it is the median of the pairs, and not exactly the difference of the
/// estimates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// In the row's unit; above zero is slower.
    pub estimate: f64,
    /// Lower end of the interval that the verdict rests on.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// In percent of the base; null where the base is not clearly above zero.
    pub percent: Option<f64>,
    /// Lower end of the interval, in percent. It is above zero exactly where `low` is.
    pub percent_low: Option<f64>,
    /// Upper end of it.
    pub percent_high: Option<f64>,
    /// The confidence of both intervals, from 0.95 to 1: as much as the number of rows requires. It is 1 of instructions, which
    /// are counted.
    pub confidence: f64,
    /// How probable a change at least this great would be if nothing had changed; 0 or 1 of instructions.
    pub p: f64,
}

/// What can be said of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It worked, and does not any more.
    Closed,
    /// It did not work, and does now.
    Opened,
    /// It works on neither side, for different reasons.
    CauseChanged,
    /// It costs more.
    Slower,
    /// It costs less.
    Faster,
    /// Too little is known.
    Inconclusive,
    /// It costs the same within the margin.
    Same,
    /// It works on both sides, and one has no figure, because the machine was too noisy or had no time.
    NoFigure,
    /// It works on neither side, for the same reason.
    StillClosed,
    /// Only one side has the row.
    Absent,
}

impl Verdict {
    /// Every verdict, in the order in which rows matter.
    pub const ALL: [Verdict; 10] = [
        Verdict::Closed,
        Verdict::Opened,
        Verdict::CauseChanged,
        Verdict::Slower,
        Verdict::Faster,
        Verdict::Inconclusive,
        Verdict::Same,
        Verdict::NoFigure,
        Verdict::StillClosed,
        Verdict::Absent,
    ];

    /// For readers.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Closed => "closed",
            Verdict::Opened => "opened",
            Verdict::CauseChanged => "cause changed",
            Verdict::Slower => "slower",
            Verdict::Faster => "faster",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Same => "same",
            Verdict::NoFigure => "no figure",
            Verdict::StillClosed => "still closed",
            Verdict::Absent => "absent",
        }
    }

    /// Whether it says that something is not as it was.
    pub fn is_difference(self) -> bool {
        use Verdict::{CauseChanged, Closed, Faster, Opened, Slower};
        matches!(self, Closed | Opened | CauseChanged | Slower | Faster)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// How much a row varies from run to run, and what says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variation {
    /// Standard deviation from run to run, in the row's unit, or from boot to boot where the sides share no boot: by all that is known
    /// together, without what a single run's interval covers; null where rounds were paired, which does not tell it.
    pub deviation: Option<f64>,
    /// The same in percent of the base's estimate; null where that is not above zero.
    pub percent: Option<f64>,
    /// What weighs most in it.
    pub source: Source,
    /// Degrees of freedom that the runs of both sides give.
    pub of_runs: f64,
    /// Degrees of freedom that kept runs of this machine give.
    pub of_history: f64,
    /// Degrees of freedom that kentry's prior counts for.
    pub of_prior: f64,
    /// What the prior alone says, in the row's unit; null where it was not asked.
    pub prior: Option<f64>,
    /// Kept runs that were used.
    pub kept_runs: u64,
    /// Pairs of rounds that the change is made of; 0 where rounds were not paired.
    #[serde(default)]
    pub pairs: u64,
}

/// What tells how much a row varies from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The runs of both sides.
    Runs,
    /// Kept runs of this machine.
    History,
    /// kentry's prior for this kind of row.
    Prior,
    /// Pairs of rounds of both sides, one right after the other: what varies from run to run is the same in both.
    Pairs,
    /// Nothing varies: instructions are counted.
    Counted,
}

/// How many rows have which verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// All rows.
    pub rows: u64,
    /// Rows with a change, which the correction for many rows counts.
    pub compared: u64,
    /// By verdict; every verdict is there.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// Of the slower and the faster ones, those that are within the margin.
    pub within_margin: u64,
}

impl Summary {
    /// How many rows have this verdict.
    pub fn count(&self, verdict: Verdict) -> u64 {
        self.verdicts.get(&verdict).copied().unwrap_or(0)
    }
}

/// What a gate says of all rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateResult {
    /// The answer.
    pub answer: GateAnswer,
    /// The rows that decided it, by [`Row::in_words`], in the order of the rows: those that regressed, or else those that
    /// leave it open.
    pub decided_by: Vec<String>,
    /// Runs that the base and the new side lack: with fewer than three a side, no cost fails a gate. 0 where nothing varies from run to
    /// run, and in turns.
    pub missing: [u64; 2],
}

/// What a gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateAnswer {
    /// No regression.
    Pass,
    /// Nothing regressed for sure, and something may have.
    Inconclusive,
    /// A regression for sure.
    Regression,
}

/// What a gate says of one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowGate {
    /// The rule that concerns it, as it was given: `3%`, `closed`.
    pub rule: String,
    /// The answer.
    pub answer: GateAnswer,
    /// Why, in words.
    pub why: String,
    /// The interval that was held against a limit; null where none was.
    #[serde(default)]
    pub interval: Option<GateInterval>,
    /// Of a row that the gate leaves open: about how many more runs each side needs until it passes or regresses. Null where more than
    /// [`Row::MANY`] would be, where runs do not decide it, and of all other rows.
    #[serde(default)]
    pub more_runs: Option<u64>,
}

/// An interval, and the limit that it was held against; of two limits, the one that says less of a regression.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GateInterval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The limit.
    pub limit: f64,
    /// The unit of all three; null for percent of the base.
    pub unit: Option<Unit>,
}

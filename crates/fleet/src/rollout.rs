//! What is said of a roll-out: the same hosts before and after.

use crate::judgement::{FactValue, Named, Remark, RowName, Unit};
use document::Outcome;
use serde::{Deserialize, Serialize};

/// What a roll-out changed, by generation and row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rollout {
    /// [`crate::SCHEMA`].
    pub schema: String,
    /// `rollout`.
    pub kind: String,
    /// Of the changes that are told, at most this part is none, in the mean over roll-outs: 0.01.
    pub false_changes: f64,
    /// The limit of the gate, percent; null where none was asked for.
    pub fail_above_percent: Option<f64>,
    /// Hosts of both sides, that is pairs.
    pub pairs: usize,
    /// Hosts that are on the side before only.
    pub only_before: Named,
    /// Hosts that are on the side after only.
    pub only_after: Named,
    /// Runs of each side that were given, before and after.
    pub runs: [usize; 2],
    /// What changed besides, on how many pairs: facts, the most frequent change first; 50 at most.
    pub changed: Vec<FactChange>,
    /// Hosts of one processor, hypervisor and kind of machine and kernel, the largest stratum first.
    pub strata: Vec<Stratum>,
    /// Hosts that changed otherwise than their stratum's others, the clearest first; of these, at most 1 % did not, in the mean over
    /// roll-outs. Rows tell of the middle host, and hide them.
    pub otherwise: Vec<Otherwise>,
    /// What the gate says; null where none was asked for.
    pub gate: Option<Gate>,
    /// What a reader must know besides; says whether what boots differ by is known within hosts or is a part of what pairs differ by.
    pub remarks: Vec<Remark>,
}

/// A fact that changed with the roll-out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactChange {
    /// Names the fact for programs, as in a judgement.
    pub id: String,
    /// Names it for readers.
    pub what: String,
    /// Its value before; null where nobody knows.
    pub before: Option<String>,
    /// Its value after; null where nobody knows.
    pub after: Option<String>,
    /// Where it changed so.
    pub hosts: Named,
}

/// Pairs of hosts that are alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stratum {
    /// Names it in this roll-out, `s1`, `s2`, ...
    pub id: String,
    /// What its hosts have in common.
    pub facts: Vec<FactValue>,
    /// Its hosts, in order of the alphabet.
    pub hosts: Vec<String>,
    /// Its rows, in the order in which runs have them.
    pub rows: Vec<RolloutRow>,
    /// Rows that had a figure before and have none afterwards, on some pairs or on all.
    pub lost: Vec<LostRow>,
}

/// A row that lost its figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LostRow {
    /// Which row it is.
    #[serde(flatten)]
    pub name: RowName,
    /// Pairs with a figure before.
    pub pairs: usize,
    /// Those that have none afterwards.
    pub lost: Named,
    /// How it ended before on most of these; null where it was not tried.
    pub outcome_before: Option<Outcome>,
    /// How it ends afterwards on most of these; null where it was not tried.
    pub outcome_after: Option<Outcome>,
    /// Why, in words; the reason of most of these.
    pub reason_after: Option<String>,
}

/// A host that changed otherwise than its stratum's others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Otherwise {
    /// Its name.
    pub host: String,
    /// Id of its stratum.
    pub stratum: String,
    /// How likely a host as far from the others is one like them, 0 to 1, of this host alone.
    pub p: f64,
    /// The same, corrected for the number of hosts (Benjamini and Hochberg).
    pub q: f64,
    /// The rows that tell by themselves, the clearest first; where only all of them together do, the clearest one.
    pub rows: Vec<OtherwiseRow>,
}

/// How much a row changed on a host that changed otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherwiseRow {
    /// Which row it is.
    #[serde(flatten)]
    pub name: RowName,
    /// How much it changed on this host, percent.
    pub percent: f64,
    /// How much it changed on the middle one of the others, percent.
    pub others_percent: f64,
    /// How much more it changed here than there, percent.
    pub more_percent: f64,
    /// Lower end of that one's interval, which reckons with that rows and hosts were chosen for their difference.
    pub more_percent_low: f64,
    /// Upper end of it.
    pub more_percent_high: f64,
    /// How likely a distance as great is of a host like the others, 0 to 1, two-sided, of this row alone.
    pub p: f64,
    /// Whether the row is told by itself.
    pub is_clear: bool,
}

/// What can be said of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It costs more than before.
    Slower,
    /// It costs less than before.
    Faster,
    /// It costs the same, within the limit of the gate in both directions. Only where there is one.
    Same,
    /// Neither is known, or there are too few pairs.
    Unknown,
}

impl Verdict {
    /// As JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Slower => "slower",
            Verdict::Faster => "faster",
            Verdict::Same => "same",
            Verdict::Unknown => "unknown",
        }
    }
}

/// A row of a stratum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RolloutRow {
    /// Which row it is.
    #[serde(flatten)]
    pub name: RowName,
    /// The unit of the medians.
    pub unit: Unit,
    /// Pairs with a figure above zero on both sides.
    pub pairs: usize,
    /// Median over these hosts before.
    pub before: f64,
    /// Median over the same hosts after.
    pub after: f64,
    /// How much more it costs on a host in the middle, percent: of the logarithms' differences. Null, with its ends and p, with fewer than
    /// [`crate::LEAST_HOSTS`] pairs.
    pub percent: Option<f64>,
    /// Lower end of its interval of 95 %; wider where the correction for rows and strata asks for it.
    pub percent_low: Option<f64>,
    /// Upper end of it.
    pub percent_high: Option<f64>,
    /// How likely a difference as clear is where there is none, 0 to 1, of this row alone.
    pub p: Option<f64>,
    /// The same, corrected for rows and strata (Benjamini and Hochberg).
    pub q: Option<f64>,
    /// How much hosts differ in their change, percent: standard deviation by the median absolute deviation. Where it is much greater than the
    /// interval, ask which hosts.
    pub spread_percent: Option<f64>,
    /// How much boots of one host differ, percent: standard deviation within hosts, of both sides, with the error of what was measured in
    /// each boot. Null where fewer than five hosts have two
    /// boots on a side; then it is a part of `spread_percent`, and of the interval in either case.
    pub boot_percent: Option<f64>,
    /// Pairs that changed by more than the limit of the gate, told by themselves or not; null where none was asked for.
    pub above_limit: Option<usize>,
    /// What can be said.
    pub verdict: Verdict,
    /// What the gate says; null where none was asked for.
    pub gate: Option<Answer>,
}

/// What a gate says, as comparisons' gates do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The whole interval lies at or below the limit, and no more hosts changed by more than that than by chance.
    Pass,
    /// The interval holds the limit, or there is none; or it lies below, but too many hosts changed by more.
    Inconclusive,
    /// The whole interval lies above the limit.
    Regression,
}

impl Answer {
    /// As JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Pass => "pass",
            Answer::Inconclusive => "inconclusive",
            Answer::Regression => "regression",
        }
    }
}

/// What the gate says of all rows and hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// The worst answer of any row. No better than inconclusive where there is no row, where a row was lost on all pairs, where hosts are in no
    /// pair, and where a host changed otherwise than its stratum and by more than the limit.
    pub answer: Answer,
    /// The limit, percent.
    pub limit_percent: f64,
    /// What decides: rows that were lost, hosts, and rows, the stratum's id first (`s1 syscall-x86_64 getppid 64`). Empty where all pass.
    pub decided_by: Vec<String>,
}

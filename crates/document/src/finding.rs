//! What facts and figures say, in words.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// Must be known before a figure is quoted, or costs something that could be saved.
    Warning,
    /// Programs get wrong answers, not only late ones.
    Critical,
    /// A level that a later version knows.
    #[serde(other)]
    Unknown,
}

impl Level {
    /// In a word, as documents have it; one of a later version is at least worth a note.
    pub fn name(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Note | Level::Unknown => "note",
            Level::Warning => "warning",
            Level::Critical => "critical",
        }
    }

    /// How bad it is: greater is worse.
    pub fn rank(self) -> u8 {
        match self {
            Level::Ok => 0,
            Level::Note | Level::Unknown => 1,
            Level::Warning => 2,
            Level::Critical => 3,
        }
    }
}

/// What a finding rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Measured in this run, or read from the kernel.
    Seen,
    /// Follows from what was seen.
    Inferred,
    /// Likely, but not certain.
    Likely,
    /// A confidence that a later version knows.
    #[serde(other)]
    Unknown,
}

/// A verdict. An id never changes its meaning; a reader that does not know an id shows the finding's words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is about: `clock-served`, `system-call`, `noise`, ...
    pub id: String,
    /// How much it matters.
    pub level: Level,
    /// The verdict, one sentence.
    pub verdict: String,
    /// The observations behind it, with figures; null where the verdict contains them.
    pub evidence: Option<String>,
    /// Why it is so, where that is known.
    pub cause: Option<String>,
    /// What it costs here, or saves, in numbers; null where that is not known.
    #[serde(default)]
    pub costs: Option<String>,
    /// What to do about it.
    pub remedy: Option<String>,
    /// The command that tells more.
    pub next: Option<String>,
    /// What it rests on.
    pub confidence: Confidence,
    /// Its figures, for programs that watch a machine.
    #[serde(default)]
    pub figures: Vec<Figure>,
}

/// A number behind a verdict. A name never changes its meaning or its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// `a-z`, `0-9` and `_`, as monitoring systems want it, without the unit: `clock_read`.
    pub name: String,
    /// What tells it from others of its name, by label: `clock` → `monotonic`.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// What is counted, in base units.
    pub unit: Unit,
    /// How much.
    pub value: f64,
}

/// Base units, as monitoring systems want them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Core cycles.
    Cycles,
    /// A share or a factor.
    Ratio,
    /// Things.
    Count,
}

impl Unit {
    /// As names of metrics end; nothing where it is a plain number.
    pub fn suffix(self) -> &'static str {
        match self {
            Unit::Seconds => "seconds",
            Unit::Cycles => "cycles",
            Unit::Ratio => "ratio",
            Unit::Count => "",
        }
    }
}

//! What facts and figures say, in words.

use serde::{Deserialize, Serialize};

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
    /// A level that a later version knows.
    #[serde(other)]
    Unknown,
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
    /// What it is about: `clock-path`, `system-call`, `noise`, ...
    pub id: String,
    /// How much it matters.
    pub level: Level,
    /// The verdict, one sentence.
    pub verdict: String,
    /// The observations behind it, with figures; null where the verdict contains them.
    pub evidence: Option<String>,
    /// Why it is so, where that is known.
    pub cause: Option<String>,
    /// What to do about it.
    pub remedy: Option<String>,
    /// The command that tells more.
    pub next: Option<String>,
    /// What it rests on.
    pub confidence: Confidence,
}

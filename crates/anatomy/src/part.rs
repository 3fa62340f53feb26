//! What an instruction of a path belongs to.

use serde::{Deserialize, Serialize};

/// What an instruction belongs to. Parts that the lab has as switches have their names in `entries.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Nothing that is known.
    Other,
}

/// How an instruction's part is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// The kernel's own table of alternatives says so.
    Table,
    /// By the function that it is in.
    Symbol,
    /// By what the instructions are.
    Pattern,
    /// Nothing says so.
    None,
}

//! The anatomy of one use of an entry.

use crate::{Confidence, Part};
use serde::{Deserialize, Serialize};

/// One use of an entry, instruction by instruction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Anatomy {
    /// The entry's name.
    pub entry: String,
    /// The operation's.
    pub operation: String,
    /// In the order of execution.
    pub instructions: Vec<Instruction>,
}

/// An instruction that was executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// Its address, in this boot.
    pub address: u64,
    /// The ring that executed it.
    pub ring: u8,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// As the GNU assembler writes it.
    pub text: String,
    /// The function that it is in, and how many bytes behind its beginning; none where no symbol covers it.
    pub function: Option<(String, u64)>,
    /// What it belongs to.
    pub part: Part,
    /// How that is known.
    pub confidence: Confidence,
}

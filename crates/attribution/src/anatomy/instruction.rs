//! The anatomy of one use of an entry.

use crate::anatomy::{Confidence, Part};
use serde::{Deserialize, Serialize};

/// One use of an entry, instruction by instruction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
#[serde(deny_unknown_fields)]
pub struct Instruction {
    /// Its address, in this boot.
    pub address: u64,
    /// The ring that executed it.
    pub ring: u8,
    /// Its bytes, two hexadecimal digits each.
    pub bytes: String,
    /// As the GNU assembler writes it, with symbols of the kernel instead of addresses.
    pub text: String,
    /// The function that it is in; null where no symbol covers it.
    pub function: Option<Location>,
    /// How many calls of the kernel's functions have not returned, counted from the entry: 0 in the entry's own code.
    pub depth: u32,
    /// What it belongs to.
    pub part: Part,
    /// How that is known.
    pub confidence: Confidence,
    /// Whether it does nothing, or jumps over what is switched off: boot has left it in the place of a protection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idle: bool,
}

/// A place in a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Location {
    /// The function's name.
    pub name: String,
    /// How many bytes behind its beginning.
    pub offset: u64,
}

impl Instruction {
    /// Its bytes; none where the text is no bytes, which no loaded document has.
    pub fn code(&self) -> Option<Vec<u8>> {
        let digits = self.bytes.as_bytes().chunks_exact(2);
        digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
    }

    /// The name of the function that it is in; of what has none, by the ring: `program`, `unknown`.
    pub fn function_name(&self) -> &str {
        match &self.function {
            Some(place) => &place.name,
            None if self.ring == 3 => "program",
            None => "unknown",
        }
    }
}

//! A function that the compiler has at an address.

use crate::functions;
use attribution::anatomy::Part;

/// A function with the place in it, as the compiler has it: `get_current`, `current.h`, 23.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub function: String,
    pub file: String,
    pub line: u32,
    /// What the function is for, by the truth's own table.
    pub(crate) parts: Option<&'static [Part]>,
}

impl Frame {
    pub(crate) fn new(function: String, file: String, line: u32) -> Frame {
        let parts = functions::of(&function);
        Frame { function, file, line, parts }
    }
}

//! A line of what stands above the rows.

use document::{Counter, Document};

/// One line of the head.
pub(crate) struct Fact {
    pub label: &'static str,
    pub text: String,
}

pub(crate) fn fact(label: &'static str, text: String) -> Fact {
    Fact { label, text }
}

/// Whether the figures are instructions.
pub(crate) fn is_counted(document: &Document) -> bool {
    document.counter() == Counter::Instructions
}

/// What the figures of a guest are.
pub(crate) fn figures(document: &Document) -> &'static str {
    if is_counted(document) { "instructions executed in an emulator; no times" } else { "times on hardware" }
}

//! Findings, as text and Markdown show them.

use document::Level;

/// A level in a word; one of a later version is at least worth a note.
pub(crate) fn level(level: Level) -> &'static str {
    match level {
        Level::Ok => "ok",
        Level::Note | Level::Unknown => "note",
        Level::Warning => "warning",
    }
}

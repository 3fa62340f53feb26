//! Lines on standard error.

use crate::os::locale;
use std::io::Write;

/// Prints a line on standard error, without control characters.
pub fn note(text: &str) {
    let text = report::plain(&process::without_numbers(text));
    // Not eprintln, which panics if standard error cannot be written either.
    let _ = writeln!(std::io::stderr(), "kentry: {}", locale::text(&text));
}

/// Says that the lab or a guest has no times, and why.
pub fn note_no_times(why: &str) {
    note(&format!("counting instructions in QEMU's emulation instead of time: {why}"));
}

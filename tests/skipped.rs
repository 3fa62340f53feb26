//! How a test says that this machine lacks something.

use std::io::Write;

/// Says, past the test runner, which keeps what a test says to itself, why something is not tested here; scripts/test.sh counts it.
pub fn skipped(why: impl std::fmt::Display) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "skipped {}: {why}", thread.name().unwrap_or_default());
}

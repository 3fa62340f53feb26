//! A run in a few kilobytes: what it found of each row, and the facts that tell machines apart. No rounds, so that no figure can be computed
//! again; [`Summary::of`] makes it of a document, and [`write()`] and [`Reader`] are its lines of JSON. `docs/summary.schema.json` is the
//! contract of a line.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod facts;
mod ndjson;
mod of;
#[cfg(feature = "parquet")]
pub mod parquet;
mod run;
#[cfg(feature = "simulated")]
pub mod simulated;

pub use facts::{FACTS, Fact};
pub use ndjson::{LONGEST_LINE, MOST_ROWS, Reader, Wrong, write};
pub use run::{Cohort, Row, Run};

/// The schema that this version writes.
pub const SCHEMA: &str = "kentry.summary/1";

/// What the schema of every version begins with.
pub const FAMILY: &str = "kentry.summary/";

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// What was measured where, and how that went.
    pub run: Run,
    /// Its rows, in the document's order.
    pub rows: Vec<Row>,
}

impl Summary {
    /// Without what tells one machine from others that are alike, and without the kernel's command line, in which anything may stand: to be
    /// published.
    pub fn published(&self) -> Summary {
        let cohort = Cohort { machine_id: None, ..self.run.cohort.clone() };
        let run = Run { boot_id: None, command_line: None, cohort, ..self.run.clone() };
        Summary { run, rows: self.rows.clone() }
    }
}

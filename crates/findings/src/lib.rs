//! Verdicts: from the facts and figures of a document to [`Finding`]s. Nothing here reads a clock or a file, prints, or
//! measures; the same document always has the same findings.
//!
//! A module for each subject. [`Id`] lists every finding; `docs/findings.md` says of each when it appears, what it means
//! and what to do.

#![forbid(unsafe_code)]

mod changes;
mod clock;
mod facts;
mod id;
mod libc;
mod mitigations;
mod noise;
mod run;
mod system_call;
mod timing;

#[cfg(test)]
mod testing;

pub use id::Id;

use document::{Document, Finding, Level};
use facts::Facts;
use table::Table;

/// The findings of a document, warnings first. What its own `findings` hold plays no part.
pub fn findings(document: &Document, table: &Table) -> Vec<Finding> {
    let facts = Facts { document, table };
    let subjects: [fn(&Facts) -> Vec<Finding>; 8] = [
        run::findings,
        changes::findings,
        timing::findings,
        clock::findings,
        system_call::findings,
        libc::findings,
        mitigations::findings,
        noise::findings,
    ];
    let mut findings: Vec<Finding> = subjects.iter().flat_map(|subject| subject(&facts)).collect();
    findings.sort_by_key(|finding| rank(finding.level));
    findings
}

/// The order in which levels are shown.
fn rank(level: Level) -> u8 {
    match level {
        Level::Warning => 0,
        Level::Note => 1,
        Level::Ok => 2,
        Level::Unknown => 3,
    }
}

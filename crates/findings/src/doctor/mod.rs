//! What `kentry doctor` says: from a checkup to diagnoses. Nothing here reads a clock or a file, prints, or measures; the same checkup
//! always has the same diagnoses.
//!
//! A module for each [`Check`]. What is absent or slow by nature is [`Level::Ok`] or [`Level::Note`]: a healthy machine has no warning.

mod carried;
mod check;
mod clock_causes;
mod clock_health;
mod clocks;
mod entries;
mod measurement;
mod protections;
mod runtimes;

pub use check::Check;

use crate::facts::Facts;
use document::{Checkup, Diagnosis, Finding, Level};
use table::{Entry, Operation, Table};

/// A checkup, and the table that its rows are from.
#[derive(Clone, Copy)]
pub(crate) struct CheckupFacts<'a> {
    pub checkup: &'a Checkup,
    /// Those of the rows, and the machine.
    #[allow(dead_code, reason = "the checks are being written")]
    pub run: Facts<'a>,
}

/// The rows that the check of clocks needs, in the table's order, for the plan of a measurement.
pub fn clock_rows(table: &Table) -> Vec<(&Entry, &Operation)> {
    clocks::rows(table)
}

/// The diagnoses of a checkup, the most important first. What its own `diagnoses` hold plays no part.
pub fn diagnoses(checkup: &Checkup, table: &Table) -> Vec<Diagnosis> {
    let facts = CheckupFacts { checkup, run: Facts { document: &checkup.run, table } };
    let of = |check: Check| {
        let diagnosis = move |finding| Diagnosis { check: check.name().to_owned(), finding };
        findings_of(check)(&facts).into_iter().map(diagnosis)
    };
    let mut diagnoses: Vec<Diagnosis> = Check::ALL.iter().flat_map(|check| of(*check)).collect();
    diagnoses.sort_by_key(|diagnosis| rank(diagnosis.finding.level));
    diagnoses
}

fn findings_of(check: Check) -> fn(&CheckupFacts) -> Vec<Finding> {
    match check {
        Check::Clocks => clocks::findings,
        Check::ClockHealth => clock_health::findings,
        Check::Entries => entries::findings,
        Check::Runtimes => runtimes::findings,
        Check::Carried => carried::findings,
        Check::Protections => protections::findings,
        Check::Measurement => measurement::findings,
    }
}

fn rank(level: Level) -> u8 {
    match level {
        Level::Warning => 0,
        Level::Note => 1,
        Level::Ok | Level::Unknown => 2,
    }
}

/// Findings that have every id there is of checkups, between them.
#[cfg(test)]
pub(crate) fn everything() -> Vec<Finding> {
    let checkups = [clocks::tests::checkups(), clock_health::tests::checkups()].into_iter().flatten();
    let found = checkups.flat_map(|checkup| diagnoses(&checkup, Table::get()));
    found.map(|diagnosis| diagnosis.finding).collect()
}

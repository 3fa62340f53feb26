//! What `kentry doctor` says: from a checkup to diagnoses. Nothing here reads a clock or a file, prints, or measures; the same checkup
//! always has the same diagnoses.
//!
//! A module for each [`Check`]. What is absent or slow by nature is [`Level::Ok`] or [`Level::Note`]: a healthy machine has no warning.

mod carried;
mod check;
mod clock_health;
mod clocks;
mod entries;
mod measurement;
mod protections;
mod runtimes;

pub use check::Check;
pub use protections::{
    Doing, Lies, PROTECTED_FAULTS, ProtectedFault, Protection, Stands, priced_settings, protections,
};

use crate::facts::Facts;
use document::{Checkup, Diagnosis, Finding, Level};
use table::Table;

/// A checkup, and the table that its rows are from.
#[derive(Clone, Copy)]
pub(crate) struct CheckupFacts<'a> {
    pub checkup: &'a Checkup,
    /// Those of the rows, and the machine.
    pub run: Facts<'a>,
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

/// The rows that [`Check::Runtimes`] needs, entry and operation.
pub fn runtime_rows(table: &Table) -> Vec<(String, String)> {
    runtimes::rows(table)
}

/// The rows that [`Check::Carried`] needs, entry and operation.
pub fn carried_rows(_table: &Table) -> Vec<(String, String)> {
    carried::ROWS.iter().map(|name| (name.entry.to_owned(), name.operation.to_owned())).collect()
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

/// Findings that no run alone has, of each check that makes some.
#[cfg(test)]
pub(crate) const OF_CHECKUPS: [&[crate::Id]; 3] = [&carried::IDS, &runtimes::IDS, &protections::IDS];

#[cfg(test)]
mod tests;

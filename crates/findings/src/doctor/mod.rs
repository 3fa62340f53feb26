//! What `kentry doctor` says: from a checkup to diagnoses. Nothing here reads a clock or a file, prints, or measures; the same checkup
//! always has the same diagnoses.
//!
//! A module for each [`Check`]. What is absent or slow by nature is ok or a note: a healthy machine has no warning.

mod behind;
mod carried;
mod check;
mod clock_health;
mod clocks;
mod entries;
mod measurement;
mod protections;
mod runtimes;
#[cfg(test)]
pub(crate) mod testing;

pub use check::Check;

use crate::facts::Facts;
use document::{Checkup, Diagnosis, Finding};
use table::Table;
use table::special::{BARE_SYSCALL, GETPPID, RowName};

/// A checkup, and the table that its rows are from.
#[derive(Clone, Copy)]
pub(crate) struct CheckupFacts<'a> {
    pub checkup: &'a Checkup,
    /// Those of the rows, and the machine.
    #[allow(dead_code, reason = "the checks are being written")]
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
    diagnoses.sort_by_key(|diagnosis| std::cmp::Reverse(diagnosis.finding.level.rank()));
    diagnoses
}

/// What is carried, and how much of that a command put there.
fn carried_and_added(facts: &CheckupFacts) -> Vec<Finding> {
    [behind::findings(facts), carried::findings(facts)].concat()
}

/// The rows that these checks need, without order; some may be named twice.
pub fn rows(checks: &[Check]) -> Vec<RowName> {
    let of = |check: &Check| match check {
        Check::Entries => [entries::ROWS.as_slice(), &[entries::CLOCK_BY_INT80]].concat(),
        Check::Clocks
        | Check::Runtimes
        | Check::Carried
        | Check::Protections
        | Check::ClockHealth
        | Check::Measurement => PLAINEST.to_vec(),
    };
    checks.iter().flat_map(of).collect()
}

/// What a call costs by itself.
const PLAINEST: [RowName; 2] = [BARE_SYSCALL, GETPPID];

fn findings_of(check: Check) -> fn(&CheckupFacts) -> Vec<Finding> {
    match check {
        Check::Clocks => clocks::findings,
        Check::ClockHealth => clock_health::findings,
        Check::Entries => entries::findings,
        Check::Runtimes => runtimes::findings,
        Check::Carried => carried_and_added,
        Check::Protections => protections::findings,
        Check::Measurement => measurement::findings,
    }
}

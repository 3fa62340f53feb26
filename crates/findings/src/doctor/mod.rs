//! What `kentry doctor` says: from a checkup to diagnoses. Nothing here reads a clock or a file, prints, or measures; the same checkup
//! always has the same diagnoses.
//!
//! A module for each [`Check`]. What is absent or slow by nature is ok or a note: a healthy machine has no warning.

mod behind;
mod carried;
mod check;
mod clock_causes;
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
use table::special::{BARE_SYSCALL, GETPPID, RowName};
use table::{Entry, Kernel, Operation, Table};

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
    diagnoses.sort_by_key(|diagnosis| std::cmp::Reverse(diagnosis.finding.level.rank()));
    diagnoses
}

/// What is carried, and how much of that a command put there.
fn carried_and_added(facts: &CheckupFacts) -> Vec<Finding> {
    [behind::findings(facts), carried::findings(facts)].concat()
}

/// The rows that these checks need, in the table's order.
pub fn rows<'t>(checks: &[Check], table: &'t Table) -> Vec<(&'t Entry, &'t Operation)> {
    let is_one = |names: &[RowName], row: (&Entry, &Operation)| {
        names.iter().any(|name| name.is(&row.0.name, &row.1.name))
    };
    let clocks = if checks.contains(&Check::Clocks) { clocks::rows(table) } else { Vec::new() };
    let are_clocks = |row: (&Entry, &Operation)| {
        clocks.iter().any(|(entry, operation)| (entry.id, operation.id) == (row.0.id, row.1.id))
    };
    let is_wanted = |row: &(&'t Entry, &'t Operation)| {
        let of = |check: &Check| {
            *check == Check::Entries
                && entries::ROWS
                    .iter()
                    .chain([&entries::CLOCK_BY_INT80])
                    .any(|name| name.is(&row.0.name, &row.1.name))
        };
        is_one(&PLAINEST, *row) || checks.iter().any(of) || are_clocks(*row)
    };
    table.rows(Kernel::Linux).filter(is_wanted).collect()
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

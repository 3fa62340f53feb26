//! What `kentry doctor` says: from a checkup to diagnoses. Nothing here reads a clock or a file, prints, or measures; the same checkup
//! always has the same diagnoses.
//!
//! A module for each [`Check`]. What is absent or slow by nature is ok or a note: a healthy machine has no warning.

mod behind;
mod carried;
mod check;
mod clock_causes;
mod clock_health;
pub(crate) mod clocks;
mod entries;
mod measurement;
mod protections;
pub(crate) mod runtimes;
#[cfg(test)]
pub(crate) mod testing;

pub use check::Check;
pub(crate) use protections::InForce;
pub use protections::{
    Doing, Lies, PROTECTED_FAULTS, ProtectedFault, Protection, Stands, When, priced_settings, protections,
};

use crate::facts::Facts;
use document::{Checkup, Diagnosis, Finding};
use environment::Environment;
use examine::{Carried, ClockHealth, Runtimes};
use table::special::RowName;
use table::{Entry, Kernel, Operation, Table};

/// What was found out, and the table that rows are from.
#[derive(Clone, Copy)]
pub(crate) struct CheckupFacts<'a> {
    /// The rows, and the machine.
    pub run: Facts<'a>,
    /// All of it; none where there is nothing but a run.
    pub checkup: Option<&'a Checkup>,
}

impl<'a> CheckupFacts<'a> {
    /// Of a run alone.
    pub fn of_run(run: Facts<'a>) -> Self {
        CheckupFacts { run, checkup: None }
    }

    /// What was read of the machine.
    pub fn environment(&self) -> &'a Environment {
        &self.run.document.environment
    }

    /// What threads saw of the clocks.
    pub fn clock_health(&self) -> Option<&'a ClockHealth> {
        self.checkup?.clock_health.as_ref()
    }

    /// What the process carries.
    pub fn carried(&self) -> Option<&'a Carried> {
        self.checkup?.carried.as_ref()
    }

    /// What programs find in the C library.
    pub fn runtimes(&self) -> Option<&'a Runtimes> {
        self.checkup?.runtimes.as_ref()
    }
}

/// The diagnoses of a checkup, the most important first. What its own `diagnoses` hold plays no part.
pub fn diagnoses(checkup: &Checkup, table: &Table) -> Vec<Diagnosis> {
    let facts = CheckupFacts { run: Facts { document: &checkup.run, table }, checkup: Some(checkup) };
    let of = |check: Check| {
        let diagnosis = move |finding| Diagnosis { check: check.name().to_owned(), finding };
        findings_of(check)(&facts).into_iter().map(diagnosis)
    };
    let mut diagnoses: Vec<Diagnosis> = Check::ALL.iter().flat_map(|check| of(*check)).collect();
    diagnoses.sort_by_key(|diagnosis| std::cmp::Reverse(diagnosis.finding.level.rank()));
    diagnoses
}

/// The rows that these checks need, in the table's order.
pub fn rows<'t>(checks: &[Check], table: &'t Table) -> Vec<(&'t Entry, &'t Operation)> {
    let wanted: Vec<(String, String)> = checks.iter().flat_map(|check| names(*check, table)).collect();
    let is_wanted = |(entry, operation): &(&Entry, &Operation)| {
        wanted.iter().any(|(one, other)| *one == entry.name && *other == operation.name)
    };
    table.rows(Kernel::Linux).filter(is_wanted).collect()
}

/// Those of one check, entry and operation. What a call costs by itself is asked for by all.
fn names(check: Check, table: &Table) -> Vec<(String, String)> {
    let named = |name: &RowName| (name.entry.to_owned(), name.operation.to_owned());
    let own: Vec<(String, String)> = match check {
        Check::Clocks => {
            let rows = clocks::rows(table).into_iter();
            rows.map(|(entry, operation)| (entry.name.clone(), operation.name.clone())).collect()
        }
        Check::Entries => entries::ROWS.iter().chain([&entries::CLOCK_BY_INT80]).map(named).collect(),
        Check::Runtimes => runtimes::rows(table),
        Check::Carried | Check::ClockHealth | Check::Protections | Check::Measurement => Vec::new(),
    };
    own.into_iter().chain(carried::ROWS.iter().map(named)).collect()
}

/// What is carried, and how much of that a command put there.
fn carried_and_added(facts: &CheckupFacts) -> Vec<Finding> {
    [behind::findings(facts), carried::findings(facts)].concat()
}

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

/// Findings that no run alone has, of each check that makes some.
#[cfg(test)]
pub(crate) const OF_CHECKUPS: [&[crate::Id]; 3] = [&carried::IDS, &runtimes::IDS, &protections::IDS];

#[cfg(test)]
mod tests;

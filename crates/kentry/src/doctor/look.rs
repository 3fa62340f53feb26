//! Looks at this machine: measures the rows that the checks need, then whatever else they look at.

use crate::doctor::args::DoctorArgs;
use crate::doctor::behind;
use crate::error::Error;
use crate::prices::{self, LabRuns};
use crate::this_machine::{drawn_seed, measure_host};
use document::{Checkup, Document};
use examine::{Carried, ClockHealth, Runtimes};
use findings::doctor::{Check, diagnoses, priced_settings, rows};
use measure::HostPlan;
use places::host::Interrupt;
use std::sync::atomic::Ordering;
use std::time::Duration;
use table::Table;

/// How long the clocks of all CPUs are looked at.
const CLOCKS: Duration = Duration::from_millis(1500);

/// What is found out, with what it means.
///
/// # Errors
/// [`Error::Usage`] for a CPU that may not be used, [`Error::Environment`] where nothing can be measured, [`Error::Interrupted`].
pub fn checkup(args: &DoctorArgs, interrupt: &Interrupt) -> Result<Checkup, Error> {
    let mut checkup = match args.command.is_empty() {
        true => here(args, interrupt)?,
        false => behind::checkup(args, interrupt)?,
    };
    let names: Vec<&str> = args.checks().iter().map(|check| check.name()).collect();
    checkup.diagnoses = diagnoses(&checkup, Table::get());
    checkup.diagnoses.retain(|diagnosis| names.contains(&diagnosis.check.as_str()));
    Ok(checkup)
}

/// What this process finds.
fn here(args: &DoctorArgs, interrupt: &Interrupt) -> Result<Checkup, Error> {
    let checks = args.checks();
    let is_asked = |check: Check| checks.contains(&check);
    // What cannot be looked at is said before anything is measured.
    let carried = args.pid.map_or_else(|| Ok(Carried::here()), Carried::of);
    let carried = carried.map_err(|why| Error::Environment(why.to_string()))?;
    let mut checkup = Checkup::of(measured(args, &checks, interrupt)?);
    checkup.carried = is_asked(Check::Carried).then_some(carried);
    if is_asked(Check::Protections) {
        let settings = priced_settings(&checkup.run.environment);
        checkup.prices = prices::of(Table::get(), &settings, &LabRuns::default());
    }
    if is_asked(Check::Runtimes) {
        checkup.runtimes = Some(Runtimes::here());
    }
    if is_asked(Check::ClockHealth) && !interrupt.load(Ordering::Relaxed) {
        checkup.clock_health = Some(ClockHealth::look(CLOCKS));
    }
    Ok(checkup)
}

/// The rows that the checks need.
fn measured(args: &DoctorArgs, checks: &[Check], interrupt: &Interrupt) -> Result<Document, Error> {
    let plan = args.time.plan(rows(checks, Table::get()), args.usual_budget(), drawn_seed());
    let plan = HostPlan { strict_budget: true, ..plan };
    let document = measure_host(&plan, interrupt)?;
    let has_outcome = document.results.iter().any(document::Row::has_outcome);
    if interrupt.load(Ordering::Relaxed) && !has_outcome {
        return Err(Error::Interrupted);
    }
    Ok(document)
}

//! The machine that the command runs on, as measurements need it.

use crate::error::Error;
use crate::{input, progress, saving};
use document::{Counter, Document, Machine};
use environment::{CoreType, Environment, Roots};
use measure::{Earlier, Here, HostPlan, Setup};
use places::host::{Host, Interrupt, Limits, Priority};
use runs::{Head, Of};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// This machine.
#[derive(Debug)]
pub struct ThisMachine {
    /// What it says about itself.
    pub environment: Environment,
    /// The CPUs that this process may use, and their kinds.
    pub cpus: BTreeMap<usize, CoreType>,
}

impl ThisMachine {
    /// Captured on the CPU that was asked for, or else on the one where a measurement begins.
    ///
    /// # Errors
    /// [`Error::Usage`] if this process may not use the CPU that was asked for, [`Error::Environment`] if the kernel does
    /// not tell which it may use.
    pub fn capture(asked: Option<usize>) -> Result<ThisMachine, Error> {
        let roots = Roots::default();
        let allowed = places::host::allowed_cpus().map_err(|error| failed(&error))?;
        let cpu = places::host::choose_cpu(asked, &allowed).map_err(|error| match asked {
            Some(_) => Error::Usage(format!("--cpu: {error}")),
            None => failed(&error),
        })?;
        let environment = environment::capture(&roots, cpu);
        Ok(ThisMachine { environment, cpus: environment::core_types(&roots, &allowed) })
    }
}

/// Where the plan is measured, and the priority that probes have: real-time priority if the plan asks for it and the kernel grants it.
///
/// # Errors
/// As [`ThisMachine::capture`].
pub fn here(plan: &HostPlan, interrupt: &Interrupt) -> Result<(Here, Priority), Error> {
    let ThisMachine { environment, cpus } = ThisMachine::capture(plan.cpus.only())?;
    let refused = plan.realtime.then(places::host::try_realtime).and_then(Result::err);
    let priority = if plan.realtime && refused.is_none() { Priority::Realtime } else { Priority::Inherited };
    let here = Here {
        cpus,
        realtime_refused: refused.map(|why| why.to_string()),
        interrupt: interrupt.clone(),
        earlier: earlier(&environment),
        environment,
    };
    Ok((here, priority))
}

/// What the user's kept runs found of this machine; nothing where they cannot be read.
fn earlier(environment: &Environment) -> Earlier {
    let kept = saving::store().and_then(|store| Ok((store.list()?.heads, store)));
    let Ok((heads, store)) = kept else { return Earlier::default() };
    Earlier::of(&heads, environment, &|head| input::of_head(&store, head).ok())
}

/// The latest kept runs of the lab on this machine, the newest first; none where they cannot be read.
pub fn runs_of_lab() -> Vec<Document> {
    let kept = input::KeptRuns::default();
    let Ok(Some((store, listed))) = kept.listed() else { return Vec::new() };
    let mut heads = listed.heads.iter().filter(|head| Of::Lab.is(&head.place)).peekable();
    if heads.peek().is_none() {
        return Vec::new();
    }
    let Ok(here) = ThisMachine::capture(None) else { return Vec::new() };
    let here = here.environment;
    // A guest does not tell its host's id: one that was emulated is the same everywhere, another has this processor.
    let is_of_here = |head: &&Head| match &head.machine_id {
        None => head.place.machine.known().is_some_and(is_emulated) || head.cpu == here.cpu.brand,
        known => *known == here.machine_id,
    };
    heads
        .filter(is_of_here)
        .take(input::LOOKED_AT)
        .filter_map(|head| input::of_head(store, head).ok())
        .collect()
}

/// Whether a program executes this machine, which has no times then.
pub fn is_emulated(machine: Machine) -> bool {
    machine.counter() == Counter::Instructions
}

/// What runs probes here, none of them for longer than `time`.
///
/// # Errors
/// [`Error::Environment`] if there is no place for the probes.
pub fn executor(priority: Priority, time: Duration, interrupt: &Interrupt) -> Result<Host, Error> {
    let limits = Limits { time, output: record::MOST_OUTPUT, interrupt: interrupt.clone() };
    Host::new(priority, limits).map_err(|error| failed(&error))
}

fn failed(error: &dyn std::fmt::Display) -> Error {
    Error::Environment(error.to_string())
}

/// A probe that runs longer than this is considered hung.
const ROUND_TIME: Duration = Duration::from_secs(10);

/// To be called before anything asks for the time: the vDSO reads the counter too, and would get the SIGSEGV.
pub fn need_counter() -> Result<(), Error> {
    if places::host::tsc_is_readable() {
        return Ok(());
    }
    let why = "this process may not read the time stamp counter (prctl PR_SET_TSC): nothing can be timed";
    Err(Error::Environment(why.into()))
}

/// A seed for a run that was given none. It need not be secret, only different each time; and there may be no
/// source of random numbers here.
pub fn drawn_seed() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.subsec_nanos() ^ now.as_secs() as u32).rotate_left(16) ^ std::process::id()
}

pub fn measure_host(plan: &HostPlan, interrupt: &Interrupt) -> Result<Document, Error> {
    let (here, priority) = here(plan, interrupt)?;
    let mut host = executor(priority, ROUND_TIME, interrupt)?;
    let setup = Setup { executor: &mut host, parent: u64::from(std::process::id()), here };
    let bar = progress::Bar::new();
    Ok(measure::measure(plan, setup, &mut |progress| bar.show(progress))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_may_not_be_used_is_a_wrong_argument() {
        let error = ThisMachine::capture(Some(usize::MAX)).unwrap_err();
        assert!(matches!(error, Error::Usage(_)) && error.to_string().contains("--cpu: CPU "), "{error}");
        let machine = ThisMachine::capture(None).unwrap();
        assert!(machine.cpus.len() == places::host::allowed_cpus().unwrap().len(), "{:?}", machine.cpus);
    }
}

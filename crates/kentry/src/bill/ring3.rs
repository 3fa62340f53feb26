//! `kentry bill --ring-3`: the bytes of the path, timed in ring 3 of this Linux: each configuration is an arm, and all are measured in turns.

use super::measure_here;
use crate::error::Error;
use crate::progress;
use crate::this_machine::{drawn_seed, executor, here, need_counter};
use attribution::bill::{Costs, Figure, Program, Question, Ring3, Ring3Arms, Where};
use document::{Document, Outcome};
use measure::arms::{Arm, Arms, Setup};
use measure::{CpuChoice, HostPlan, Probes};
use places::host::{Executor, Interrupt, Limits, Priority};
use places::ring3::{Asked, Kernel, PathExecutor, path_of};
use std::rc::Rc;
use std::time::Duration;
use table::special::{CALL, GETPPID};
use table::{SwitchValues, Table};

/// For each arm: some fifty rounds, or thirty where others use the machine as well.
const OF_ARM: Duration = Duration::from_millis(400);

/// For the look at the CPUs.
const BEFORE: Duration = Duration::from_secs(1);

/// The longest that a run of a probe may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Whether ring 3 can call the path of what is asked.
///
/// # Errors
/// [`Error::Usage`] if it cannot.
pub fn check(question: &Question) -> Result<(), Error> {
    if path_of(&question.entry).is_some() && question.operation == GETPPID.operation {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "--ring-3: of {} and {} no path can be called in ring 3; it is there for --entry {} --operation {}",
        question.entry, question.operation, GETPPID.entry, GETPPID.operation
    )))
}

/// Times the path of a question; `linux` is what was measured of it on this Linux, where it was.
///
/// # Errors
/// [`Error::Environment`] where no probe runs at all.
pub fn measure(question: &Question, linux: Option<&Document>, interrupt: &Interrupt) -> Result<Ring3, Error> {
    need_counter()?;
    let kernel = Rc::new(Kernel::embedded().map_err(internal)?);
    let path = path_of(&question.entry).unwrap_or_default();
    let asked = |values: &SwitchValues| Asked { path: path.into(), values: values.clone(), more: Vec::new() };
    let arms = Ring3Arms::new(Table::get(), question, &|values| program(&kernel, &asked(values)))?;
    let measured = match linux {
        Some(_) => None,
        None => Some(measure_here(question, interrupt)?),
    };
    let all: Vec<Asked> = arms.values.iter().map(asked).collect();
    let costs = in_turns(&kernel, &all, interrupt)?;
    let linux = linux.or(measured.as_ref());
    let facts = linux.map(|linux| &linux.environment);
    let place = Where {
        path: path.to_owned(),
        cpu: facts.and_then(|facts| facts.cpu.brand.clone()),
        kernel: facts.and_then(|facts| facts.kernel.release.clone()),
        here: linux.and_then(|linux| cost_here(linux, question)),
    };
    Ok(arms.ring3(costs, place))
}

/// What tells one program from another.
fn program(kernel: &Kernel, asked: &Asked) -> Result<Program, Error> {
    let function = kernel.function(asked, 0).map_err(internal)?;
    let prepared = kernel.prepared(asked.clone()).map_err(internal)?;
    let image = kernel.program(&prepared, 0).map_err(internal)?;
    let left_out = function.left_out.into_iter().map(|left| (left.instruction.to_owned(), left.step));
    Ok(Program { identity: Probes::hash(&image).into_bytes(), left_out: left_out.collect() })
}

/// What each arm cost in each turn.
fn in_turns(kernel: &Rc<Kernel>, all: &[Asked], interrupt: &Interrupt) -> Result<Vec<Costs>, Error> {
    let count = u32::try_from(all.len()).unwrap_or(u32::MAX);
    let call = [vec![CALL.entry.to_owned()], vec![CALL.operation.to_owned()]];
    let plan = HostPlan {
        rows: measure::select::rows(Table::get(), table::Kernel::Linux, &call[0], &call[1])?,
        footprints: Vec::new(),
        cpus: CpuChoice::Quiet,
        budget: BEFORE + OF_ARM * count,
        strict_budget: false,
        seed: u64::from(drawn_seed()),
        realtime: false,
    };
    let (machine, priority) = here(&plan, interrupt)?;
    let limits = Limits { time: TIMEOUT, output: record::MOST_OUTPUT, interrupt: interrupt.clone() };
    let mut executors = executors(kernel, all, plan.seed, priority, &limits)?;
    let mut scout = executor(priority, TIMEOUT, interrupt)?;
    let arms = executors.iter_mut().map(|path| Arm {
        executor: path as &mut dyn Executor,
        cpu: None,
        command: None,
        probes: Probes::embedded(),
    });
    let setup = Setup { arms: arms.collect(), scout: &mut scout, here: machine };
    let bar = progress::Bar::new();
    let arms = measure::arms::measure(&plan, setup, &mut |progress| bar.show(progress))?;
    Ok((0..all.len()).map(|arm| costs(&arms, arm)).collect())
}

fn executors(
    kernel: &Rc<Kernel>,
    all: &[Asked],
    seed: u64,
    priority: Priority,
    limits: &Limits,
) -> Result<Vec<PathExecutor>, Error> {
    let path = |asked: &Asked| {
        PathExecutor::new(kernel.clone(), asked.clone(), seed, priority, limits.clone()).map_err(internal)
    };
    all.iter().map(path).collect()
}

/// What an arm cost, if its path was called and answered.
fn costs(arms: &Arms, arm: usize) -> Costs {
    let row = arms.documents.get(arm).and_then(|document| document.results.first());
    let row = row.ok_or_else(|| "it was not measured".to_owned())?;
    if row.outcome != Outcome::Ok {
        let reason = row.reason.as_deref().unwrap_or("without a reason");
        return Err(format!("{}: {reason}", row.outcome.name()));
    }
    Ok(arms.turns.first().map(|turns| arms.costs(turns, arm)).unwrap_or_default())
}

fn cost_here(linux: &Document, question: &Question) -> Option<Figure> {
    let is_it = |row: &&document::Row| row.entry == question.entry && row.operation == question.operation;
    let row = linux.results.iter().find(is_it)?;
    let cost = row.core_cycles?;
    let [low, high] = [cost.ci_low, cost.ci_high].map(|end| end.map(|end| end.0));
    Some(Figure { estimate: cost.estimate.0, low, high, p: None, rounds: row.rounds.at_ms.len() })
}

fn internal(error: places::ring3::Error) -> Error {
    Error::Environment(error.to_string())
}

#[cfg(test)]
mod tests {
    use attribution::bill::all_published;
    use places::ring3::privileged::names;

    /// A name that nothing has would never be shown.
    #[test]
    fn what_is_published_is_of_instructions_that_are_left_out() {
        for name in all_published().filter(|name| !name.contains('=')) {
            assert!(names().any(|known| known == name), "{name}");
        }
    }
}

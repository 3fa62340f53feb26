//! `kentry compare`.

mod anatomies;
pub mod args;
pub mod arm;
mod gate_rules;
pub mod live;
mod sides;

use crate::compare::args::{CompareArgs, Ended};
use crate::compare::arm::ArmCommand;
use crate::compare::sides::{Read, Sides};
use crate::error::Error;
use crate::exit::INTERRUPTED;
use crate::messages::note;
use crate::options::output::{Look, Outputs};
use crate::options::save::SaveArgs;
use crate::os::interrupts;
use crate::saving::Saving;
use crate::this_machine::{drawn_seed, need_counter};
use compare::{Comparison, GateAnswer, Run, SideRuns};
use measure::arms::Arms;
use report::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use table::{Kernel, Table};

/// The exit code where a result cannot be written.
const UNWRITTEN: u8 = 5;

/// Compares, and ends with the gate's answer.
pub fn run(args: &CompareArgs) -> ExitCode {
    let compared = args.has_its_gate().and_then(|()| match args.live.is_empty() {
        true => compare_runs(args),
        false => compare_live(args),
    });
    let ended = compared.unwrap_or_else(|error| {
        note(&error.to_string());
        match error {
            Error::Output { .. } | Error::Report(_) => Ended::Failed(UNWRITTEN),
            // What is there is measured; it could not be kept.
            Error::Runs(_) if !args.live.is_empty() => Ended::Failed(UNWRITTEN),
            Error::Environment(_) if !args.live.is_empty() => Ended::NotComparable,
            Error::Interrupted => Ended::Failed(INTERRUPTED),
            // A store that cannot be read has no such run.
            _ => Ended::Failed(2),
        }
    });
    ExitCode::from(ended.exit_code(args.show.git_bisect))
}

fn compare_runs(args: &CompareArgs) -> Result<Ended, Error> {
    args.measured.none_given()?;
    let outputs = args.show.rows.to.open(Kind::COMPARISON)?;
    gate_rules::not_contradictory(&args.settings().gate)?;
    let sides = match Sides::read(args)? {
        Read::Runs(sides) => sides,
        Read::Anatomies(documents) => return compare_paths(documents, args, outputs),
    };
    let uses_history = args.uses_history(sides.base.runs.len(), sides.new.runs.len());
    let history = if uses_history { sides.history(&mut note) } else { Vec::new() };
    let compared = compare::compare(Table::get(), &sides.base, &sides.new, &history, &args.settings());
    if !compared.refused {
        not_the_same(&compared)?;
        gate_rules::name_rows_of(&compared)?;
    }
    show(&compared, args, outputs)
}

/// Shows what the paths of saved anatomies execute more and less than the first of them.
fn compare_paths(
    documents: Vec<attribution::anatomy::Document>,
    args: &CompareArgs,
    outputs: Outputs,
) -> Result<Ended, Error> {
    anatomies::only_what_applies(args)?;
    outputs.formats().try_for_each(anatomies::can_be_written_in)?;
    let joined = match anatomies::joined(documents) {
        Ok(joined) => joined,
        Err(why) => {
            note(&why);
            return Ok(Ended::NotComparable);
        }
    };
    outputs.write(Look::whole(args.show.rows.verbose), |format, style| {
        report::anatomy(&joined, format, style)
    })?;
    Ok(Ended::Answered(GateAnswer::Pass))
}

/// Measures the arms, keeps their runs, and compares them by the rounds that were taken together.
fn compare_live(args: &CompareArgs) -> Result<Ended, Error> {
    need_counter()?;
    let commands = args.live.iter().map(|text| ArmCommand::parse(text)).collect::<Result<Vec<_>, Error>>()?;
    let plan = args.measured.plan(Table::get(), (&args.rows, args.show.rows.all), drawn_seed())?;
    let gate = args.settings().gate;
    gate_rules::not_contradictory(&gate)?;
    let rows: Vec<_> = plan.rows.iter().map(|(entry, operation)| (&*entry.name, &*operation.name)).collect();
    gate_rules::name_rows(&gate, Some(Kernel::Linux), &rows)?;
    let outputs = args.show.rows.to.open(Kind::COMPARISON)?;
    let save = SaveArgs { no_save: args.measured.no_save, ..SaveArgs::default() };
    // That runs cannot be kept is said once.
    let savings = [Saving::prepare(&save, &mut note)?, Saving::prepare(&save, &mut |_| ())?];
    let interrupt = interrupts::noted();
    let arms = live::measure(&commands, &plan, args.measured.timeout(), &interrupt, &mut note)?;
    let kept: Vec<Result<bool, Error>> =
        savings.into_iter().zip(&arms.documents).map(|(saving, document)| saving.keep(document)).collect();
    let is_kept = |place: usize| matches!(kept.get(place), Some(Ok(true)));
    let [base, new] = [0, 1].map(|place| given(&arms, &commands, place, is_kept(place)));
    let compared = compare::compare_pairs(Table::get(), &base, &new, &live::pairs(&arms), &args.settings());
    let ended = show(&compared, args, outputs)?;
    kept.into_iter().collect::<Result<Vec<bool>, Error>>()?;
    Ok(if interrupt.load(Ordering::Relaxed) { Ended::Failed(INTERRUPTED) } else { ended })
}

/// Refuses sides of the same runs. Where only some stand on both sides, the comparison says so.
fn not_the_same(compared: &Comparison) -> Result<(), Error> {
    let [base, new] = [&compared.base, &compared.new].map(|side| {
        side.runs.iter().map(|run| run.id.as_deref()).collect::<Option<BTreeSet<&str>>>().unwrap_or_default()
    });
    if base.is_empty() || base != new || compared.settings.force {
        return Ok(());
    }
    let label = &compared.base.label;
    let why = format!("{label}: the same on both sides, and a run cannot differ from itself; name two runs");
    Err(Error::Usage(report::plain(&why)))
}

/// An arm as a side. A run that is not kept has no id that anybody could find it by.
fn given(arms: &Arms, commands: &[ArmCommand], place: usize, is_kept: bool) -> SideRuns {
    let typed = commands.get(place).map(|command| command.text.as_str()).filter(|text| !text.is_empty());
    let label = format!("{}: {}", measure::arms::name(place), typed.unwrap_or("no command"));
    let run = |document: &document::Document| {
        let run = Run::of_configuration(Table::get(), document, None, &BTreeMap::new());
        if is_kept { run } else { run.unkept() }
    };
    SideRuns { label: report::plain(&label), runs: arms.documents.get(place).map(run).into_iter().collect() }
}

/// Writes the comparison, and says how it ended.
fn show(compared: &Comparison, args: &CompareArgs, outputs: Outputs) -> Result<Ended, Error> {
    outputs.write(args.show.rows.look(false), |format, style| report::comparison(compared, format, style))?;
    if let Some(why) = report::refusal(compared) {
        note(&format!("{why}; --force compares them all the same"));
        return Ok(Ended::NotComparable);
    }
    Ok(Ended::Answered(compared.gate.as_ref().map_or(GateAnswer::Pass, |gate| gate.answer)))
}

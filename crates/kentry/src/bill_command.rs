//! `kentry bill`: from arguments to the exit code.

use crate::{catch_interrupts, is_colored, lab_command, note, width};
use bill::{Bill, Plan, Processor};
use document::Document;
use host::Interrupt;
use kentry::bill_args::{BILL_SECONDS, BillArgs, usage};
use kentry::dry_run;
use kentry::error::{Error, INTERRUPTED, UNFINISHED};
use kentry::output::Target;
use kentry::saving::Saving;
use measure::Counter;
use measure::lab::{Accel, Emulator, LabPlan, choose, features};
use report::{BillFormat, Selection, Style};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;
use table::Table;

/// Measures a bill and shows it.
pub fn run(args: &BillArgs) -> Result<ExitCode, Error> {
    let table = Table::get();
    let seed = args.guest.seed.unwrap_or(0);
    let question = args.question(table, seed)?;
    let linux = args.run.as_deref().map(kentry::input::document).transpose()?;
    let target = Target::open(args.to.output.as_deref())?;
    if args.dry_run {
        return print_plan(args, question, target);
    }
    let saving = Saving::prepare(&args.save, &mut note)?;
    let interrupt = catch_interrupts()?;
    let options = args.guest.options(BILL_SECONDS);
    let limits = lab_command::limits(&options, &interrupt);
    let emulator = choose(&options, &limits, &mut note)?;
    let processor = processor(&emulator, &limits)?;
    let steps = question.profile.step_names();
    let plan = Plan::new(table, question, processor).map_err(|why| usage(&why, table, &steps))?;
    let measured = lab_plan(table, &plan, seed, options.time)?;
    let document = lab_command::on(emulator, measured, limits, args.guest.seed, &interrupt)?;
    let mut bill = plan.bill(&document, linux.as_ref());
    if bill.unit.is_none() && interrupt.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    // Kept before it is shown, as every run.
    let kept = saving.keep(&document);
    if !matches!(kept, Ok(true)) {
        bill.run = None;
    }
    write(&bill, args, target)?;
    kept?;
    end(&bill, &document, &interrupt)
}

/// What the emulator makes, or this machine's processor.
fn processor(emulator: &Emulator, limits: &lab::Limits) -> Result<Processor, Error> {
    let counts = emulator.machine().counter() == Counter::Instructions;
    Ok(Processor { features: features(emulator, limits)?, counts, forgives: emulator.forgives() })
}

fn lab_plan<'a>(table: &'a Table, plan: &Plan, seed: u64, time: Duration) -> Result<LabPlan<'a>, Error> {
    let wanted = plan.configurations.iter().filter_map(|configuration| {
        let entry = table.entry(&plan.question.entry)?;
        Some(((entry, table.operation(&configuration.operation)?), &configuration.values))
    });
    Ok(LabPlan::of(table, &wanted.collect::<Vec<_>>(), seed, time)?)
}

fn print_plan(args: &BillArgs, question: bill::Question, target: Target) -> Result<ExitCode, Error> {
    let (table, format) = (Table::get(), args.to.format_of_plan()?);
    let options = args.guest.options(BILL_SECONDS);
    let counter = if options.accel == Accel::Kvm { Counter::Time } else { Counter::Instructions };
    let features = record::abi::FEATURES.iter().map(|(_, name)| name.to_string()).collect();
    let everything = Processor { features, counts: counter == Counter::Instructions, forgives: false };
    let seed = question.seed;
    let plan = Plan::new(table, question, everything).map_err(|why| usage(&why, table, &[]))?;
    let plan = lab_plan(table, &plan, seed, options.time)?;
    let plan = lab_command::seeded(plan, args.guest.seed, counter);
    target.write_report(format, &dry_run::lab_plan(&plan, counter, format)?)?;
    Ok(ExitCode::SUCCESS)
}

fn write(bill: &Bill, args: &BillArgs, target: Target) -> Result<(), Error> {
    let format = args.to.format();
    let (color, width) = (is_colored(args.to.color, &target), width(&target));
    let style = Style { color, width, verbose: args.verbose, selection: Selection::All };
    let bytes = report::bill(bill, format, &style)?;
    if format == BillFormat::Text { target.write_text(&bytes) } else { target.write(&bytes) }
}

/// The exit code of a bill that was shown.
fn end(bill: &Bill, document: &Document, interrupt: &Interrupt) -> Result<ExitCode, Error> {
    let failed = || bill.configurations.iter().find_map(|configuration| configuration.why.clone());
    match (interrupt.load(Ordering::Relaxed), bill.unit) {
        (true, _) => Ok(ExitCode::from(INTERRUPTED)),
        _ if document.measurement.partial => Ok(ExitCode::from(UNFINISHED)),
        (_, None) => {
            let why = failed().unwrap_or_else(|| "there is nothing to measure".into());
            Err(Error::Environment(format!("nothing could be measured: {why}")))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

//! `kentry anatomy`: from arguments to the exit code.

use crate::{bill_command, catch_interrupts, is_colored, linux_command, note, width};
use anatomy::{Beside, Document, Followed, SCHEMA};
use bill::Question;
use guest::{Booted, Limits};
use host::Interrupt;
use kentry::anatomy_args::AnatomyArgs;
use kentry::anatomy_paths::{self, NO_NAMES, Recorder};
use kentry::error::{Error, UNFINISHED};
use kentry::linux_machine::{self, LinuxMachine, emulator};
use kentry::output::Target;
use kentry::{dry_run, profiles, progress};
use linux::Kernel;
use measure::Counter;
use measure::guest::GuestPlan;
use report::{AnatomyFormat, Selection, Style};
use std::process::ExitCode;
use std::time::SystemTime;
use table::Table;

/// Follows a path, or prints the plan.
pub fn run(args: &AnatomyArgs) -> Result<ExitCode, Error> {
    let plan = args.plan(Table::get())?;
    args.profile(Table::get(), "")?;
    let target = Target::open(args.to.output.as_deref())?;
    if args.dry_run {
        let format = args.to.format_of_plan()?;
        let usual = lab::Qemu::new(lab::Accelerator::Tcg, None).cpu_model;
        target.write_report(format, &dry_run::linux_plan(&plan, &usual, Counter::Instructions, format)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let interrupt = catch_interrupts()?;
    let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let kernel = linux_machine::kernel(&args.kernel)?;
    let followed = follow(args, &plan, &kernel, &interrupt)?;
    let paths = match followed {
        Ok(paths) => paths,
        Err(why) => {
            note(&why);
            return Ok(ExitCode::from(UNFINISHED));
        }
    };
    let beside = beside(args, &plan, &kernel, &paths, &interrupt)?;
    let kentry = env!("CARGO_PKG_VERSION").to_string();
    let document = Document { schema: SCHEMA.into(), kentry, started, paths, beside };
    write(&document, args, target)?;
    Ok(ExitCode::SUCCESS)
}

/// A path for each configuration; or in words, why one was not followed.
fn follow(
    args: &AnatomyArgs,
    plan: &GuestPlan,
    kernel: &Kernel,
    interrupt: &Interrupt,
) -> Result<Result<Vec<Followed>, String>, Error> {
    let limits =
        Limits { time: plan.time, output: linux_command::GUEST_OUTPUT, interrupt: interrupt.clone() };
    let emulator = emulator(&args.options(), &limits, &mut note)?;
    let machine = LinuxMachine::new(emulator, plan, vec![kernel.clone()], limits)?;
    let machine = LinuxMachine { symbols: true, ..machine };
    let recorder = Recorder::new(&machine);
    let setting = machine.setting(&recorder)?;
    let bar = progress::Bar::new();
    let document = measure::guest::measure(plan, &setting, &mut |share, what| bar.say(share, what))?;
    drop(bar);
    let booted = recorder.booted();
    let is_nameless = |booted: &Booted| !booted.traces.is_empty() && booted.symbols.is_empty();
    if booted.iter().any(|(_, booted)| is_nameless(booted)) {
        note(&format!("{NO_NAMES}: parts are told by instructions alone"));
    }
    anatomy_paths::followed(plan, kernel, &machine.machine.cpu_model, args.is_timer(), &document, &booted)
}

/// The lab's profile of that kernel, counted now; none where there is none, or the lab does not have the entry. Then it says so.
fn beside(
    args: &AnatomyArgs,
    plan: &GuestPlan,
    kernel: &Kernel,
    paths: &[Followed],
    interrupt: &Interrupt,
) -> Result<Option<Beside>, Error> {
    let (table, Some(first)) = (Table::get(), paths.first()) else { return Ok(None) };
    let profile = args.profile(table, &kernel.release)?.and_then(|name| profiles::of_table(table, &name));
    let Some(profile) = profile else { return Ok(None) };
    let (Some((entry, operation)), false) = (plan.rows.first(), args.is_timer()) else { return Ok(None) };
    let names = [&entry.name, &operation.name].map(|name| vec![name.clone()]);
    if measure::select::rows(table, table::Kernel::Lab, &names[0], &names[1]).is_err() {
        note(&format!(
            "the lab does not have {} {}: no profile stands beside it",
            entry.name, operation.name
        ));
        return Ok(None);
    }
    let question = Question {
        entry: entry.name.clone(),
        operation: operation.name.clone(),
        profile,
        orders: 0,
        seed: 0,
    };
    let bill = bill_command::counted(question, args.cpu_model.as_deref(), interrupt)?;
    Ok(Some(Beside::of(&bill, &first.anatomy)))
}

fn write(document: &Document, args: &AnatomyArgs, target: Target) -> Result<(), Error> {
    let format = args.to.format();
    let (color, width) = (is_colored(args.to.color, &target), width(&target));
    let style = Style { color, width, verbose: args.verbose, selection: Selection::All };
    let bytes = report::anatomy(document, format, &style)?;
    if AnatomyFormat::is_text(format) { target.write_text(&bytes) } else { target.write(&bytes) }
}

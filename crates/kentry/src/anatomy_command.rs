//! `kentry anatomy`: from arguments to the exit code.

use crate::{bill_command, catch_interrupts, is_colored, linux_command, note, width};
use anatomy::{Beside, Document, Followed, SCHEMA};
use bill::Question;
use guest::Limits;
use host::Interrupt;
use kentry::anatomy_args::AnatomyArgs;
use kentry::anatomy_paths::{self, NO_NAMES, Recorder};
use kentry::error::{Error, UNFINISHED};
use kentry::linux_machine::{LinuxMachine, this_program};
use kentry::output::Target;
use kentry::{dry_run, profiles, progress, room};
use linux::Kernel;
use measure::Counter;
use measure::guest::{Ended, GuestPlan, Setting};
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
    let kernel = kentry::linux_machine::kernel(&args.kernel)?;
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
    let (accelerator, version) = linux_command::machine(&args.options(), &limits, &mut crate::note)?;
    let machine = guest::Machine { memory_mib: plan.memory_mib, ..guest::Machine::new(accelerator, None) };
    let cpu_model = machine.cpu_model.clone();
    let (kernels, program) = (vec![kernel.clone()], this_program()?);
    let machine = LinuxMachine { machine, kernels, program, limits, budget: 0.0, symbols: true };
    let recorder = Recorder::new(&machine);
    let file = kernel.file.to_string_lossy().into_owned();
    let setting = Setting {
        place: document::Machine::QemuTcg,
        version,
        cpu_model: cpu_model.clone(),
        kernels: vec![measure::guest::Kernel { file, release: kernel.release.clone() }],
        at_once: room::guests_at_once(plan.memory_mib)?,
        interrupt: interrupt.clone(),
        machine: &recorder,
    };
    let bar = progress::Bar::new();
    let document = measure::guest::measure(plan, &setting, &mut |share, what| bar.say(share, what))?;
    drop(bar);
    let ended = recorder.ended();
    let is_nameless = |ended: &Ended| !ended.traces.is_empty() && ended.symbols.is_empty();
    if ended.iter().any(|(_, ended)| is_nameless(ended)) {
        note(&format!("{NO_NAMES}: parts are told by instructions alone"));
    }
    anatomy_paths::followed(plan, kernel, &cpu_model, args.is_timer(), &document, &ended)
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

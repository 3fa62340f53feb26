//! `kentry anatomy`: from arguments to the exit code.

pub mod args;
mod each;
mod gate;
mod paths;
mod timed;

use crate::anatomy::args::AnatomyArgs;
use crate::error::Error;
use crate::exit::{REGRESSION, UNFINISHED};
use crate::linux::machine::{self, History, LinuxMachine, accelerator};
use crate::messages::{note, note_no_times};
use crate::options::guest::GuestArgs;
use crate::options::output::Look;
use crate::os::interrupts;
use crate::{counted, dry_run, linux, progress};
use ::linux::Kernel;
use attribution::anatomy::{Beside, Document, Followed, LeftOut, SCHEMA};
use attribution::bill::Question;
use measure::Counter;
use measure::guest::GuestPlan;
use paths::{Asked, NO_NAMES, Paths, Recorder};
use places::emulator::Accelerator;
use places::guest::{Booted, Limits};
use places::host::Interrupt;
use report::{Kind, Style};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;
use table::Table;

/// Follows a path, or prints the plan.
pub fn run(args: &AnatomyArgs) -> Result<ExitCode, Error> {
    let plan = args.plan(Table::get())?;
    args.profile(Table::get(), "")?;
    if args.dry_run {
        let usual = Accelerator::Tcg.usual_model();
        let write = |format, _: &Style| dry_run::linux_plan(&plan, usual, Counter::Instructions, format);
        args.to.open(Kind::PLAN)?.write(Look::WHOLE, write)?;
        if args.has_profile_beside() && is_in_the_lab(&plan) {
            let own = "kentry's own kernel boots, too; `kentry bill --dry-run` shows how, and --beside none leaves it out";
            note(&if args.finds_profile() {
                format!("if a profile fits the kernel, {own}")
            } else {
                own.to_string()
            });
        }
        return Ok(ExitCode::SUCCESS);
    }
    let outputs = args.to.open(Kind::ANATOMY)?;
    match document(args, &plan)? {
        Ok(Done { document, has_failed }) => {
            outputs.write(Look::whole(args.verbose), |format, style| {
                report::anatomy(&document, format, style)
            })?;
            let exceeded =
                args.fail_above.iter().flat_map(|gate| gate.exceeded(&document)).collect::<Vec<_>>();
            exceeded.iter().for_each(|what| note(what));
            Ok(match (exceeded.is_empty(), has_failed) {
                (false, _) => ExitCode::from(REGRESSION),
                (true, true) => ExitCode::from(UNFINISHED),
                (true, false) => ExitCode::SUCCESS,
            })
        }
        Err(why) => {
            note(&why);
            Ok(ExitCode::from(UNFINISHED))
        }
    }
}

/// What one use of an entry executes in the kernel that is here, with every other choice as it is by default; or in words, why it was not
/// followed.
pub fn usual(entry: &str) -> Result<Result<Document, String>, Error> {
    for_option("--anatomy", &AnatomyArgs::usual(entry))
}

/// What a boot executes of an entry and operation, for this option, and a second one with the parameters that `against_of` has for the kernel's
/// release; or in words, why it was not followed. Why there is no second one the document tells.
pub fn of_kernel(
    option: &str,
    kernel: &str,
    against_of: Option<fn(&str) -> Option<String>>,
    [entry, operation]: [&str; 2],
    guest: &GuestArgs,
) -> Result<Result<Document, String>, Error> {
    let args = AnatomyArgs {
        operation: Some(operation.to_owned()),
        kernel: kernel.to_owned(),
        against_of,
        cpu_model: guest.cpu_model.clone(),
        timeout: guest.timeout,
        seed: guest.seed,
        ..AnatomyArgs::usual(entry)
    };
    for_option(option, &args)
}

/// What is followed for an option of another command, which names the entry.
fn for_option(option: &str, args: &AnatomyArgs) -> Result<Result<Document, String>, Error> {
    let plan = args.plan(Table::get()).map_err(|error| match error {
        Error::Usage(why) => Error::Usage(format!("{option} follows an entry: {why}")),
        other => other,
    })?;
    Ok(document(args, &plan)?.map(|done| done.document))
}

/// What was followed.
struct Done {
    document: Document,
    /// Whether a guest of several failed.
    has_failed: bool,
}

/// All that is followed and counted; or in words, why it was not.
fn document(args: &AnatomyArgs, plan: &GuestPlan) -> Result<Result<Done, String>, Error> {
    let interrupt = interrupts::noted();
    let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let Boots { plan, kernels, mut left_out, has_failed } = boots(args, plan, &interrupt)?;
    let mut paths = match follow(args, &plan, &kernels, &interrupt)? {
        Ok(paths) => paths,
        Err(why) => return Ok(Err(why)),
    };
    let times = |paths: &mut Paths| timed::on_paths(args, &plan, &kernels, &mut paths.followed, &interrupt);
    let timed = if args.each { Some(times(&mut paths)?) } else { None };
    left_out.extend(paths.left_out);
    let beside = beside(args, &plan, &paths.followed, &interrupt)?;
    let kentry = env!("CARGO_PKG_VERSION").to_string();
    let (schema, paths, has_failed) = (SCHEMA.into(), paths.followed, has_failed || paths.has_failed);
    let is_history = !args.history.is_empty();
    let document = Document { schema, kentry, started, paths, beside, is_history, left_out, timed };
    Ok(Ok(Done { document, has_failed }))
}

/// What is booted, now that the kernels are known.
struct Boots<'a> {
    plan: GuestPlan<'a>,
    kernels: Vec<Kernel>,
    left_out: Vec<LeftOut>,
    /// Whether one of these is a file that was named and holds no kernel.
    has_failed: bool,
}

/// A history in the order of versions; of features, those that the kernel knows.
fn boots<'a>(args: &AnatomyArgs, plan: &GuestPlan<'a>, interrupt: &Interrupt) -> Result<Boots<'a>, Error> {
    if !args.history.is_empty() {
        let History { plan, kernels, left_out } = machine::history(plan.clone(), interrupt)?;
        check_twice(args, &plan, &kernels)?;
        let has_failed = !left_out.is_empty();
        let named = |(file, why): (PathBuf, String)| LeftOut { boot: file.display().to_string(), why };
        return Ok(Boots { plan, kernels, left_out: left_out.into_iter().map(named).collect(), has_failed });
    }
    let kernels = machine::kernels(plan, interrupt)?;
    check_twice(args, plan, &kernels)?;
    let release = kernels.first().map(|kernel| kernel.release.as_str());
    let of_kernel = release.map(|release| args.plan_of(Table::get(), release)).transpose()?.flatten();
    let (plan, left_out) = of_kernel.unwrap_or_else(|| (plan.clone(), Vec::new()));
    Ok(Boots { plan, kernels, left_out, has_failed: false })
}

/// Two words may mean one file: then a boot would be followed twice.
fn check_twice(args: &AnatomyArgs, plan: &GuestPlan, kernels: &[Kernel]) -> Result<(), Error> {
    let boots = plan.configurations.iter().map(|one| {
        let file = kernels.get(one.kernel).map(|kernel| kernel.file.canonicalize().ok());
        (file, one.words().to_string(), one.cpu_model.clone(), one.parameters.clone())
    });
    let boots: Vec<_> = boots.collect();
    match boots.iter().enumerate().any(|(place, boot)| boots[..place].contains(boot)) {
        true => Err(args.same_again()),
        false => Ok(()),
    }
}

/// A path for each configuration; or in words, why one was not followed.
fn follow(
    args: &AnatomyArgs,
    plan: &GuestPlan,
    kernels: &[Kernel],
    interrupt: &Interrupt,
) -> Result<Result<Paths, String>, Error> {
    let limits = Limits { time: plan.time, output: linux::GUEST_OUTPUT, interrupt: interrupt.clone() };
    let accelerator = accelerator(&args.options(), &limits, &mut note_no_times)?;
    let machine = LinuxMachine::new(accelerator, plan, kernels.to_vec(), limits)?;
    let machine = LinuxMachine { symbols: true, event: args.event(), ..machine };
    let recorder = Recorder::new(&machine);
    let setup = machine.setup(&recorder)?;
    let bar = progress::Bar::new();
    let document = measure::guest::measure(plan, &setup, &mut |share, what| bar.say(share, what))?;
    drop(bar);
    // An anatomy's document has no place for it.
    let unverified = document.environment.guest.as_ref().map(report::unverified).unwrap_or_default();
    if !unverified.is_empty() {
        note(&report::plain(&unverified));
    }
    let booted = recorder.booted();
    let is_whole = |booted: &Booted| booted.trouble.is_none() && !booted.traces.is_empty();
    let is_nameless = |booted: &Booted| is_whole(booted) && booted.symbols.is_empty();
    if booted.iter().any(|(_, booted)| is_nameless(booted)) {
        note(&format!("{NO_NAMES}: parts are told by instructions alone"));
    }
    let asked = Asked { plan, kernels, cpu_model: &machine.machine.cpu_model, event: args.event() };
    asked.followed(&document, &booted, args.may_leave_out())
}

/// The lab's profile of the first path's kernel, counted now; none where there is none, or the lab does not have the entry. Then it says so.
fn beside(
    args: &AnatomyArgs,
    plan: &GuestPlan,
    paths: &[Followed],
    interrupt: &Interrupt,
) -> Result<Option<Beside>, Error> {
    let (table, Some(first)) = (Table::get(), paths.first()) else { return Ok(None) };
    let profile = args.profile(table, &first.configuration.release)?;
    let Some(profile) = profile.cloned() else { return Ok(None) };
    let (Some((entry, operation)), None) = (plan.rows.first(), args.event()) else { return Ok(None) };
    if !is_in_the_lab(plan) {
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
    let bill = counted::counted(question, args.cpu_model.as_deref(), interrupt)?;
    Ok(Some(Beside::of(&bill, &first.anatomy)))
}

/// Whether the lab has the row that is followed.
fn is_in_the_lab(plan: &GuestPlan) -> bool {
    plan.rows.first().is_some_and(|(entry, operation)| {
        let names = [&entry.name, &operation.name].map(|name| vec![name.clone()]);
        measure::select::rows(Table::get(), table::Kernel::Lab, &names[0], &names[1]).is_ok()
    })
}

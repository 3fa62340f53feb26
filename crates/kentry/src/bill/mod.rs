//! `kentry bill`: from arguments to the exit code.

pub mod args;
mod beside_linux;
mod listing;
mod ring3;

use crate::bill::args::BillArgs;
use crate::counted::{BILL_SECONDS, lab_plan, processor};
use crate::error::Error;
use crate::exit::{INTERRUPTED, UNFINISHED};
use crate::lab::listing as path_listing;
use crate::messages::{note, note_no_times};
use crate::options::output::{Look, Outputs};
use crate::options::save::SaveArgs;
use crate::os::interrupts;
use crate::saving::Saving;
use crate::this_machine::{ThisMachine, drawn_seed, measure_host, need_counter};
use crate::{dry_run, lab};
use attribution::bill::{Bill, Plan, Processor, Question, Ring3};
use document::Document;
use measure::lab::{Accel, Options, choose};
use measure::{Counter, CpuChoice, HostPlan};
use places::host::Interrupt;
use report::{Kind, Style};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;
use table::{Kernel, Table};

/// How long this Linux is measured.
const HERE: Duration = Duration::from_secs(2);

/// Measures a bill and shows it.
pub fn run(args: &BillArgs) -> Result<ExitCode, Error> {
    if let Some(kernel) = &args.beside_linux {
        return beside_linux::run(args, kernel);
    }
    if let Some(kernel) = &args.follow {
        return beside_linux::explain(args, kernel);
    }
    let given = args.run.as_deref().map(crate::input::document).transpose()?;
    if given.as_ref().is_some_and(document::Document::is_of_lab) {
        let why = "--run: this is a run of the lab, and no measurement of a Linux; name a run of `kentry measure`, or use --here";
        return Err(Error::Usage(why.into()));
    }
    let question = args.question(Table::get(), &|| match &given {
        Some(linux) => Ok(linux.environment.clone()),
        None => Ok(ThisMachine::capture(None)?.environment),
    })?;
    if args.ring_3 {
        ring3::check(&question)?;
    }
    if args.dry_run {
        Saving::check(&args.save)?;
        return print_plan(args, question);
    }
    if args.listing {
        return list(args, question);
    }
    let outputs = args.to.open(Kind::BILL)?;
    let saving = Saving::prepare(&args.save, &mut note)?;
    let interrupt = interrupts::noted();
    let Measured { plan, document, linux, no_times } = measure(args, question, &interrupt)?;
    let bill = plan.bill(&document, given.as_ref().or(linux.as_ref()));
    let ring3 =
        args.ring_3.then(|| ring3::measure(&plan.question, linux.as_ref(), &interrupt)).transpose()?;
    let bill = Bill { no_times, ring3, ..bill };
    let runs = Runs { lab: &document, linux: linux.as_ref() };
    show(args, bill, runs, outputs, saving, &interrupt)
}

/// The runs that a bill was made of.
struct Runs<'a> {
    lab: &'a Document,
    /// Of this Linux, with `--here`.
    linux: Option<&'a Document>,
}

/// Keeps the runs, shows the bill, and says how that ends.
fn show(
    args: &BillArgs,
    mut bill: Bill,
    runs: Runs,
    outputs: Outputs,
    saving: Saving,
    interrupt: &Interrupt,
) -> Result<ExitCode, Error> {
    if bill.unit.is_none() && interrupt.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    // Kept before they are shown, as every run; the name belongs to that of the lab, which is the latest.
    let kept =
        runs.linux.map_or(Ok(()), |linux| keep_linux(linux, args)).and_then(|()| saving.keep(runs.lab));
    if !matches!(kept, Ok(true)) {
        bill.run = None;
        bill.there.iter_mut().filter(|_| args.here).for_each(|there| there.run = None);
    }
    outputs.write(Look::whole(args.verbose), |format, style| report::bill(&bill, format, style))?;
    kept?;
    end(&bill, runs.lab, interrupt)
}

/// What was measured.
struct Measured {
    plan: Plan,
    /// Of the lab.
    document: Document,
    /// Of this Linux, with `--here`.
    linux: Option<Document>,
    /// Why there are no times; none where there are.
    no_times: Option<String>,
}

fn measure(args: &BillArgs, question: Question, interrupt: &Interrupt) -> Result<Measured, Error> {
    let table = Table::get();
    let options = args.guest.options(BILL_SECONDS);
    let limits = lab::limits(&options, interrupt);
    let mut no_times = asked_for_no_times(&options);
    let emulator = choose(&options, &limits, &mut |why| {
        note_no_times(why);
        no_times = Some(format!("no times can be measured in the lab on this machine, because {why}"));
    })?;
    let processor = processor(&emulator, &limits)?;
    let no_times = no_times.filter(|_| processor.counts);
    let plan = Plan::new(table, question, processor)?;
    let of_lab = lab_plan(table, &plan, options.time);
    let linux = if args.here { Some(measure_here(&plan.question, interrupt)?) } else { None };
    let document = lab::on(emulator, of_lab, limits, args.guest.seed, interrupt)?;
    Ok(Measured { plan, document, linux, no_times })
}

/// By what the command line asks for a count.
fn asked_for_no_times(options: &Options) -> Option<String> {
    let asked = match options {
        Options { bochs: true, .. } => "--bochs asks for an emulator",
        Options { accel: Accel::Tcg, .. } => "--accel tcg asks for QEMU's emulation",
        Options { cpu_model: Some(_), accel: Accel::Auto, .. } => {
            "a processor that --cpu-model names is emulated"
        }
        _ => return None,
    };
    Some(asked.to_owned())
}

/// Measures the same entry and operation on this Linux.
fn measure_here(question: &Question, interrupt: &Interrupt) -> Result<Document, Error> {
    need_counter()?;
    let of_row = [&question.entry, &question.operation].map(|name| vec![name.clone()]);
    let plan = HostPlan {
        rows: measure::select::rows(Table::get(), Kernel::Linux, &of_row[0], &of_row[1])?,
        footprints: Vec::new(),
        cpus: CpuChoice::Quiet,
        budget: HERE,
        strict_budget: false,
        seed: u64::from(drawn_seed()),
        realtime: false,
    };
    measure_host(&plan, interrupt)
}

fn keep_linux(linux: &Document, args: &BillArgs) -> Result<(), Error> {
    Saving::prepare(&SaveArgs { name: None, ..args.save.clone() }, &mut |_| ())?.keep(linux).map(drop)
}

fn print_plan(args: &BillArgs, question: Question) -> Result<ExitCode, Error> {
    let table = Table::get();
    let options = args.guest.options(BILL_SECONDS);
    let counter = if options.accel == Accel::Kvm { Counter::Time } else { Counter::Instructions };
    let features = record::abi::FEATURES.iter().map(|(_, name)| name.to_string()).collect();
    let everything = Processor { features, counts: counter == Counter::Instructions, forgives: false };
    let plan = Plan::new(table, question, everything)?;
    let plan = lab_plan(table, &plan, options.time);
    let plan = lab::seeded(plan, args.guest.seed, counter);
    let write = |format, _: &Style| dry_run::lab_plan(&plan, counter, format);
    args.to.open(Kind::PLAN)?.write(Look::WHOLE, write)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the path with all steps of the profile.
fn list(args: &BillArgs, question: Question) -> Result<ExitCode, Error> {
    let outputs = args.to.open(Kind::LISTING)?;
    let table = Table::get();
    let entry = path_listing::entry(table, table::Kernel::Lab, &question.entry)?;
    let options = args.guest.options(BILL_SECONDS);
    let limits = lab::limits(&options, &interrupts::noted());
    // The same code is built wherever the kernel runs.
    let emulator = choose(&options, &limits, &mut |_| ())?;
    let processor = processor(&emulator, &limits)?;
    let plan = Plan::new(table, question, processor)?;
    let listing = listing::built(table, entry, &plan, &emulator, &limits)?;
    let text = listing::text(table, entry, &plan, &listing)?.into_bytes();
    outputs.write(Look::WHOLE, |_, _| Ok::<_, Error>(text.clone()))?;
    Ok(ExitCode::SUCCESS)
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
        _ => match bill.ring3.as_ref().and_then(Ring3::failure) {
            Some(why) => Err(Error::Environment(format!("nothing could be timed in ring 3: {why}"))),
            None => Ok(ExitCode::SUCCESS),
        },
    }
}

//! `kentry reproduce`: from arguments to the exit code.

use crate::error::Error;
use crate::exit::INTERRUPTED;
use crate::lab::args::LabKernel;
use crate::linux::args::LINUX_SECONDS;
use crate::messages::note;
use crate::options::output::{Look, OutputArgs, formats};
use crate::options::save::SaveArgs;
use crate::options::time::{TimeArgs, of_one_kind, with_default};
use crate::os::interrupts;
use crate::saving::Saving;
use crate::this_machine::{ThisMachine, drawn_seed, executor, measure_host, need_counter};
use clap::{Args, ValueHint};
use compare::published::{Parts, Publication, Publications, Reproduction, Timed};
use document::{Document, Row};
use environment::Environment;
use measure::guest::GuestPlan;
use measure::lab::Options;
use measure::{Loops, TableRow};
use places::host::{Interrupt, Priority};
use report::{Kind, Style};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;
use table::{Kernel, Table};

/// The budget of `reproduce`, in seconds, for kentry's way.
pub const REPRODUCE_BUDGET: u32 = 2;

/// `--cpu` of `reproduce`.
const ONE_CPU: &str = "Measure on this CPU alone [default: whichever CPU is quiet, among fast cores]";

/// Options of `reproduce`.
#[derive(Debug, Clone, Args)]
#[command(
    mut_arg("format", formats(Kind::REPRODUCTION)),
    mut_arg("budget", with_default(REPRODUCE_BUDGET)),
    mut_arg("cpu", of_one_kind(ONE_CPU))
)]
pub struct ReproduceArgs {
    /// Which published table; --list shows all
    #[arg(value_name = "NAME", required_unless_present = "list", value_hint = ValueHint::Other)]
    pub table: Option<String>,
    /// List the published tables
    #[arg(long, conflicts_with_all = ["table", "lab", "lab_kernel", "guest", "cpu", "budget", "strict_budget", "seed", "realtime", "no_save", "name", "tag", "verbose"])]
    pub list: bool,
    /// Add what it takes in the lab, kentry's own kernel, which has entries and protections that this Linux lacks
    #[arg(long)]
    pub lab: bool,
    /// The same in this one of the lab's kernels: for long mode, or for 32-bit protected mode (docs/lab-i386.md) [default: as the table says]
    #[arg(long, value_name = "NAME")]
    pub lab_kernel: Option<LabKernel>,
    /// Add what it takes in guests that boot this Linux, where the table has rows for such: a kernel's file, or auto, as `kentry linux`
    /// finds one
    #[arg(long, value_name = "FILE|auto", value_hint = ValueHint::FilePath)]
    pub guest: Option<String>,
    /// How to measure kentry's way
    #[command(flatten)]
    pub time: TimeArgs,
    /// Whether to keep the run
    #[command(flatten)]
    pub save: SaveArgs,
    /// What the result is written as, and where
    #[command(flatten)]
    pub to: OutputArgs,
    /// Show the intervals of kentry's figures as well
    #[arg(short, long)]
    pub verbose: bool,
}

/// The longest that the loops of a row may take; they take tens of milliseconds.
const LOOPS_TIME: Duration = Duration::from_secs(30);

/// The longest that the lab may take.
const LAB_TIME: Duration = Duration::from_secs(60);

/// Lists what was published, or reproduces one table.
pub fn run(args: &ReproduceArgs) -> Result<ExitCode, Error> {
    match args.table.as_deref().filter(|_| !args.list) {
        Some(name) => reproduce(find(name)?, args),
        None => list(args),
    }
}

fn list(args: &ReproduceArgs) -> Result<ExitCode, Error> {
    let write = |format, style: &Style| report::publications(Publications::get(), format, style);
    args.to.open(Kind::LIST)?.write(Look::whole(args.verbose), write)?;
    Ok(ExitCode::SUCCESS)
}

fn reproduce(publication: &Publication, args: &ReproduceArgs) -> Result<ExitCode, Error> {
    args.time.one_kind("the figures of a published table are")?;
    need_counter()?;
    let outputs = args.to.open(Kind::REPRODUCTION)?;
    let saving = Saving::prepare(&args.save, &mut note)?;
    let interrupt = interrupts::noted();
    let found = measure(publication, args, &interrupt)?;
    let interrupted = interrupt.load(Ordering::Relaxed);
    let run = found.run.as_ref();
    if interrupted && !run.is_some_and(|run| run.results.iter().any(Row::has_outcome)) {
        return Err(Error::Interrupted);
    }
    let keeps = saving.keeps();
    // Kept before they are shown, as every run; that of this Linux is the latest.
    let kept = keep_guests(&found, args).and(run.map_or(Ok(false), |run| saving.keep(run)));
    let mut reproduction = found.beside(publication);
    if !keeps || kept.is_err() {
        reproduction.here.run = None;
        let guests = reproduction.lab.iter_mut().chain(&mut reproduction.guests);
        guests.for_each(|found| found.run = None);
    }
    outputs.write(Look::whole(args.verbose), |format, style| {
        report::reproduction(&reproduction, format, style)
    })?;
    kept?;
    Ok(if interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// A name belongs to the run of this Linux. That runs cannot be kept was said for that one.
fn keep_guests(found: &Found, args: &ReproduceArgs) -> Result<(), Error> {
    for run in found.lab.iter().chain(&found.guests) {
        Saving::prepare(&SaveArgs { name: None, ..args.save.clone() }, &mut |_| ())?.keep(run)?;
    }
    Ok(())
}

fn find(word: &str) -> Result<&'static Publication, Error> {
    let all = Publications::get();
    let words =
        || all.iter().flat_map(|publication| std::iter::once(&publication.name).chain(&publication.known_as));
    match all.meant(word).as_slice() {
        [one] => Ok(one),
        [] => {
            let hint = table::nearest(word, words().map(String::as_str));
            let word = report::plain(word);
            Err(Error::Usage(format!(
                "there is no published table \"{word}\"{hint} (`kentry reproduce --list` shows what there is)"
            )))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|publication| publication.name.as_str()).collect();
            let word = report::plain(word);
            Err(Error::Usage(format!(
                "several published tables are known as \"{word}\": {}; name one",
                names.join(", ")
            )))
        }
    }
}

/// What was measured.
struct Found {
    /// This machine, where nothing of the publication can be measured on it.
    here: Option<Environment>,
    run: Option<Document>,
    timed: Vec<Timed>,
    lab: Option<Document>,
    guests: Option<Document>,
}

impl Found {
    fn beside(&self, publication: &Publication) -> Reproduction {
        let (run, lab) = (self.run.as_ref(), self.lab.as_ref());
        let unknown = Environment::default();
        let here = run.map(|run| &run.environment).or(self.here.as_ref()).unwrap_or(&unknown);
        let parts = Parts { here, run, timed: &self.timed, lab, guests: self.guests.as_ref() };
        Reproduction::of(publication, &parts, Table::get())
    }
}

/// Guests come first: where they cannot be had, that is said at once.
fn measure(publication: &Publication, args: &ReproduceArgs, interrupt: &Interrupt) -> Result<Found, Error> {
    let kernel = args.lab_kernel.map_or(publication.lab_kernel, LabKernel::kernel);
    let in_lab = || in_lab(publication, kernel, args.time.seed, interrupt);
    let lab = match publication.is_for_lab(Table::get()) {
        _ if args.lab || args.lab_kernel.is_some() => in_lab()?,
        // Nobody asked for the lab: where there is none, the published figures stand alone.
        true => in_lab().unwrap_or_else(|error| {
            note(&format!("the lab was not measured: {error}"));
            None
        }),
        false => None,
    };
    let guests = match &args.guest {
        Some(kernel) => in_guests(publication, kernel, args, interrupt)?,
        None => None,
    };
    let rows = rows(publication);
    if rows.is_empty() {
        return Ok(Found { here: Some(this_machine(args)?), run: None, timed: Vec::new(), lab, guests });
    }
    let run = kentrys_way(rows.clone(), args, interrupt)?;
    let timed = time_loops(publication, rows, &run, args.time.seed, interrupt)?;
    Ok(Found { here: None, run: Some(run), timed, lab, guests })
}

fn this_machine(args: &ReproduceArgs) -> Result<Environment, Error> {
    Ok(ThisMachine::capture(args.time.cpus().only())?.environment)
}

fn kentrys_way(rows: Vec<TableRow>, args: &ReproduceArgs, interrupt: &Interrupt) -> Result<Document, Error> {
    measure_host(&args.time.plan(rows, REPRODUCE_BUDGET, drawn_seed()), interrupt)
}

/// The rows of the table of entries that the publication is measured by on this Linux.
fn rows(publication: &Publication) -> Vec<TableRow<'static>> {
    let table = Table::get();
    let row = |(entry, operation)| Some((table.entry(entry)?, table.operation(operation)?));
    publication.on_linux().into_iter().filter_map(row).collect()
}

/// On the CPU that kentry found quietest.
fn time_loops(
    publication: &Publication,
    rows: Vec<TableRow>,
    run: &Document,
    seed: Option<u64>,
    interrupt: &Interrupt,
) -> Result<Vec<Timed>, Error> {
    let used = run.measurement.cpus.iter().max_by_key(|cpu| cpu.kept_rounds);
    let Some(cpu) = used.map(|cpu| cpu.cpu).filter(|_| !interrupt.load(Ordering::Relaxed)) else {
        return Ok(Vec::new());
    };
    let loops = Loops {
        rows,
        ways: publication.loops().into_iter().map(|(_, way)| way).collect(),
        unit: publication.unit,
        cpu,
        parent: u64::from(std::process::id()),
        seed: seed.unwrap_or(u64::from(drawn_seed())),
    };
    let mut host = executor(Priority::Inherited, LOOPS_TIME, interrupt)?;
    Ok(loops.time(&mut host, interrupt))
}

/// None where the lab has nothing that stands for the publication.
fn in_lab(
    publication: &Publication,
    kernel: Kernel,
    seed: Option<u64>,
    interrupt: &Interrupt,
) -> Result<Option<Document>, Error> {
    let (entry, operation, set) = publication.wants(kernel, Table::get());
    if entry.is_empty() {
        note(&nothing(publication, kernel));
        return Ok(None);
    }
    let whose = measure::select::whose(Table::get(), kernel, &operation);
    let accel = measure::lab::Accel::Auto;
    let options = Options {
        entry,
        operation,
        whose,
        set,
        footprints: Vec::new(),
        accel,
        cpu_model: None,
        bochs: false,
        seed: seed.unwrap_or(0),
        time: LAB_TIME,
    };
    crate::lab::measured(&options, seed, interrupt).map(Some)
}

/// That a kernel of the lab has nothing that stands for the publication, and whether the other one has.
fn nothing(publication: &Publication, kernel: Kernel) -> String {
    let (mode, other, option) = match kernel {
        Kernel::LabI386 => ("protected mode", Kernel::Lab, "x86_64"),
        _ => ("long mode", Kernel::LabI386, "i386"),
    };
    let has_other = !publication.wants(other, Table::get()).0.is_empty();
    let but = if has_other { format!("; the other one has (--lab-kernel {option})") } else { String::new() };
    format!("the lab's kernel for {mode} has nothing that stands for {}{but}", publication.name)
}

/// None where no guest stands for anything of the publication.
fn in_guests(
    publication: &Publication,
    kernel: &str,
    args: &ReproduceArgs,
    interrupt: &Interrupt,
) -> Result<Option<Document>, Error> {
    let (entry, operation, set) = publication.wants(Kernel::Linux, Table::get());
    if entry.is_empty() {
        note(&format!("no guest stands for anything of {}", publication.name));
        return Ok(None);
    }
    let options = measure::guest::Options {
        entry,
        operation,
        kernels: vec![kernel.to_string()],
        append: Vec::new(),
        cpu_models: Vec::new(),
        set,
        accel: measure::lab::Accel::Auto,
        boots: None,
        follows: false,
        seed: args.time.seed.unwrap_or(0),
        memory_mib: places::guest::MEMORY_MIB,
        time: Duration::from_secs(LINUX_SECONDS),
    };
    let plan = GuestPlan::new(Table::get(), &options)?;
    let kernels = crate::linux::machine::kernels(&plan, interrupt)?;
    crate::linux::in_guests(plan, kernels, &options, args.time.seed, interrupt).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_one_kernel_of_the_lab_has_nothing_the_other_one_may() {
        let said = |name, kernel| nothing(find(name).unwrap(), kernel);
        let but = "has nothing that stands for pti-costs; the other one has (--lab-kernel x86_64)";
        assert_eq!(said("pti-costs", Kernel::LabI386), format!("the lab's kernel for protected mode {but}"));
    }
}

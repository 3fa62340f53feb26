//! `kentry lab`: from arguments to the exit code.

pub mod args;
pub mod listing;

use crate::error::Error;
use crate::exec::{Output, Program, Refused, Running, standard_input};
use crate::lab::args::{LabArgs, Personality};
use crate::measure::show;
use crate::messages::{note, note_no_times};
use crate::options::guest::Accel;
use crate::options::output::{Look, Outputs};
use crate::os::interrupts;
use crate::output::Target;
use crate::saving::Saving;
use crate::this_machine::{ThisMachine, drawn_seed, executor};
use crate::{dry_run, progress};
use environment::Environment;
use measure::lab::{Configurations, Emulator, LabPlan, Options, Setup, choose, image};
use measure::{Counter, Scout};
use places::host::{Interrupt, Priority, Reading};
use places::lab::Mode;
use report::{Kind, Style};
use std::process::ExitCode;
use std::time::Duration;
use table::Table;

/// The most that the lab writes for any plan, in bytes.
const LAB_OUTPUT: usize = 256 << 20;

/// The longest that the look at a CPU may take; it takes a millisecond.
const LOOK_TIME: Duration = Duration::from_secs(1);

/// Why an emulator's figures would say nothing of footprints.
const NO_FOOTPRINT: &str = "--footprint: here instructions are counted, and what an entry evicts costs time, but no instruction; it \
    needs KVM that runs the kernel natively (--accel kvm), or kentry measure on this Linux";

/// An image runs a row again and again by one line of its plan, which a server beside it would not be there for.
const NO_IMAGE: &str = "--iso: an image measures calls of Linux alone; without --iso, --personality mach measures in a virtual machine";

/// Measures, prints the plan or a path, writes an image, or runs a program.
pub fn run(args: &LabArgs) -> Result<ExitCode, Error> {
    if !args.exec.is_empty() {
        return Ok(execute(args));
    }
    if let Some(word) = &args.listing {
        return list(args, word);
    }
    let options = args.options()?;
    let plan = LabPlan::new(Table::get(), &options)?;
    args.rows.note_short_names(Table::get(), args.lab_kernel.kernel());
    if args.iso.is_some() && args.personality == Personality::Mach {
        return Err(Error::Usage(NO_IMAGE.into()));
    }
    if let Some(iso) = &args.iso {
        let target = Target::open(Some(iso))?;
        let limits = limits(&options, &interrupts::noted());
        target.write(&image(&seeded(plan, args.guest.seed, Counter::Time), &limits)?)?;
        note(
            "the image boots a PC from a CD or a USB stick, by BIOS or UEFI; in an emulator, qemu-system-x86_64 -cdrom FILE",
        );
        return Ok(ExitCode::SUCCESS);
    }
    if args.dry_run {
        Saving::check(&args.save)?;
        let is_timed = args.guest.accel == Accel::Kvm || plan.has_footprints();
        let counter = if is_timed { Counter::Time } else { Counter::Instructions };
        let plan = seeded(plan, args.guest.seed, counter);
        let write = |format, _: &Style| dry_run::lab_plan(&plan, counter, format);
        args.show.to.open(Kind::PLAN)?.write(Look::WHOLE, write)?;
        return Ok(ExitCode::SUCCESS);
    }
    let outputs = args.show.to.open(Kind::RUN)?;
    let saving = Saving::prepare(&args.save, &mut note)?;
    let interrupt = interrupts::noted();
    let document = in_lab(plan, &options, args.guest.seed, &interrupt)?;
    show(&document, &args.show, args.rows.are_named(), (outputs, saving), &interrupt)
}

/// The plan with the seed that it is measured with: unless the command line names one, the same for every count, so that
/// figures repeat to the byte, and another for every measurement of time, whose layout and order are to be drawn anew.
pub fn seeded<'a>(plan: LabPlan<'a>, seed: Option<u64>, counter: Counter) -> LabPlan<'a> {
    match (counter, seed) {
        (Counter::Time, None) => plan.seeded(u64::from(drawn_seed())),
        (Counter::Time, Some(_)) | (Counter::Instructions, _) => plan,
    }
}

/// What these options ask for, measured, and neither shown nor kept; `seed` is the one that the command line names.
pub fn measured(
    options: &Options,
    seed: Option<u64>,
    interrupt: &Interrupt,
) -> Result<document::Document, Error> {
    in_lab(LabPlan::new(Table::get(), options)?, options, seed, interrupt)
}

fn in_lab(
    plan: LabPlan,
    options: &Options,
    seed: Option<u64>,
    interrupt: &Interrupt,
) -> Result<document::Document, Error> {
    let limits = limits(options, interrupt);
    let emulator = choose(options, &limits, &mut note_no_times)?;
    on(emulator, plan, limits, seed, interrupt)
}

/// What a plan asks for, measured on an emulator that was chosen.
pub fn on(
    emulator: Emulator,
    plan: LabPlan,
    limits: places::lab::Limits,
    seed: Option<u64>,
    interrupt: &Interrupt,
) -> Result<document::Document, Error> {
    let first = Reading::now();
    let counter = emulator.machine().counter();
    if counter == Counter::Instructions && plan.has_footprints() {
        return Err(Error::Environment(NO_FOOTPRINT.into()));
    }
    let native = counter == Counter::Time;
    // Nothing may run beside a guest that measures time.
    let version = native.then(|| emulator.version(&limits)).transpose()?;
    let (host, scout) = if native { of_this_machine(interrupt)? } else { (None, None) };
    let tsc_hz = rate_since(first.as_ref(), &emulator);
    let setup = Setup { emulator, version, limits, host, tsc_hz, scout };
    let (plan, bar) = (seeded(plan, seed, counter), progress::Bar::new());
    Ok(measure::lab::measure(&plan, setup, &mut |progress| bar.show(progress))?)
}

/// Ticks in a second of this machine's counter since that reading, where the guest uses this counter.
fn rate_since(first: Option<&Reading>, emulator: &Emulator) -> Option<f64> {
    if emulator.tsc_hz().is_some() {
        return None;
    }
    first.zip(Reading::now()).and_then(|(first, last)| first.tsc_hz(&last))
}

/// The machine whose processor runs the kernel, and what chooses among its CPUs.
fn of_this_machine(interrupt: &Interrupt) -> Result<(Option<Environment>, Option<Scout>), Error> {
    let machine = ThisMachine::capture(None)?;
    let executor = Box::new(executor(Priority::Inherited, LOOK_TIME, interrupt)?);
    let scout = Scout::new(executor, &machine.cpus, &machine.environment, u64::from(std::process::id()));
    Ok((Some(machine.environment), scout))
}

/// Prints the path of an entry.
fn list(args: &LabArgs, word: &str) -> Result<ExitCode, Error> {
    let kernel = args.lab_kernel.kernel();
    let (mode, entry) = (Mode::of(kernel), listing::entry(Table::get(), kernel, word)?);
    let configurations = Configurations::new(Table::get(), kernel, &args.sets()?)?;
    if configurations.all.len() > 2 {
        return Err(Error::Usage("--listing takes two --set at most".into()));
    }
    if let Some(text) = listing::for_programs(mode, entry)? {
        return write(args.show.to.open(Kind::LISTING)?, &text);
    }
    let paths = listing::paths_of(mode, entry)?;
    let outputs = args.show.to.open(Kind::LISTING)?;
    let limits = limits(&args.options()?, &interrupts::noted());
    // The same code is built wherever the kernel runs.
    let emulator = choose(&args.options()?, &limits, &mut |_| ())?;
    let mut texts = Vec::new();
    for path in &paths {
        let listed = measure::lab::listing(entry, path, &configurations, &emulator, &limits)?;
        texts.push(listing::text(mode, path, &configurations.named, &listed)?);
    }
    write(outputs, &texts.join("\n"))
}

fn write(outputs: Outputs, text: &str) -> Result<ExitCode, Error> {
    outputs.write(Look::WHOLE, |_, _| Ok::<_, Error>(text.as_bytes().to_vec()))?;
    Ok(ExitCode::SUCCESS)
}

pub fn limits(options: &Options, interrupt: &Interrupt) -> places::lab::Limits {
    places::lab::Limits { time: options.time, output: LAB_OUTPUT, interrupt: interrupt.clone() }
}

/// Runs a program, and ends with its exit code.
fn execute(args: &LabArgs) -> ExitCode {
    let (mut standard, mut errors) = (std::io::stdout(), std::io::stderr());
    let mut output = Output { standard: &mut standard, errors: &mut errors, command: "kentry lab" };
    let code = exec(args, &mut output).unwrap_or_else(|refused| {
        output.say(&refused.why);
        refused.code
    });
    ExitCode::from(code)
}

fn exec(args: &LabArgs, output: &mut Output) -> Result<u8, Refused> {
    // The program's output goes there.
    Target::standard()?;
    let kernel = args.lab_kernel.kernel();
    let configurations = Configurations::new(Table::get(), kernel, &args.sets()?).map_err(Error::from)?;
    if configurations.all.len() > 1 {
        return Err(Error::Usage("--exec takes one --set at most".into()).into());
    }
    let program = Program::read(&args.exec)?;
    let interrupt = interrupts::noted();
    let limits = places::lab::Limits { time: args.options()?.time, output: usize::MAX, interrupt };
    let first = Reading::now();
    // The program's output does not depend on the machine, and standard error belongs to the program.
    let emulator = choose(&args.options()?, &limits, &mut |_| ()).map_err(Error::from)?;
    let input = standard_input(&limits)?;
    let running = Running {
        configurations: &configurations,
        seed: args.guest.seed.unwrap_or(0),
        tsc_hz: rate_since(first.as_ref(), &emulator),
        serves_exceptions: args.serve_exceptions,
        input: &input,
    };
    crate::exec::run(&program, &emulator, &running, &limits, output)
}

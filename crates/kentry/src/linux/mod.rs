//! `kentry linux`: from arguments to the exit code.

pub mod args;
mod exec;
pub mod machine;

use crate::error::Error;
use crate::exec::{Output, Refused};
use crate::exit::UNFINISHED;
use crate::linux::args::LinuxArgs;
use crate::linux::exec::Program;
use crate::linux::machine::{History, LinuxMachine, accelerator, kernel};
use crate::measure::show;
use crate::messages::{note, note_no_times};
use crate::options::guest::Accel;
use crate::options::output::Look;
use crate::os::{interrupts, room};
use crate::output::Target;
use crate::saving::Saving;
use crate::this_machine::drawn_seed;
use crate::{dry_run, progress};
use measure::Counter;
use measure::guest::{GuestPlan, Options};
use measure::lab::machine_of;
use places::emulator::Accelerator;
use places::guest::Limits;
use places::host::Interrupt;
use report::{Kind, Style};
use std::process::ExitCode;
use std::time::Duration;
use table::{Kernel, Table};

/// The most that a guest writes for any plan, in bytes.
pub const GUEST_OUTPUT: usize = 256 << 20;

/// The longest that a program in a guest may run, unless the command line says: a week.
const LONGEST_PROGRAM: Duration = Duration::from_secs(7 * 24 * 3600);

/// Measures, prints the plan, or runs a program.
pub fn run(args: &LinuxArgs) -> Result<ExitCode, Error> {
    let options = args.options();
    let plan = GuestPlan::new(Table::get(), &options)?;
    if args.runs_a_program() {
        return Ok(execute(args, &plan, &options));
    }
    args.rows.note_short_names(Table::get(), Kernel::Linux);
    if args.dry_run {
        Saving::check(&args.save)?;
        return print_plan(args, &plan);
    }
    let outputs = args.show.to.open(args.kind())?;
    let saving = Saving::prepare(&args.save, &mut note)?;
    let interrupt = interrupts::noted();
    let History { plan, kernels, left_out } = match args.history.is_empty() {
        true => History { kernels: machine::kernels(&plan, &interrupt)?, plan, left_out: Vec::new() },
        false => machine::history(plan, &interrupt)?,
    };
    for (file, why) in &left_out {
        note(&format!("left out: {}: {why}", report::plain_os(file.as_os_str())));
    }
    let document = in_guests(plan, kernels, &options, args.seed, &interrupt)?;
    let shown = show(&document, &args.show, args.rows.are_named(), (outputs, saving), &interrupt)?;
    match document.unfit() {
        Some(why) => {
            Err(Error::Environment(format!("no guest has what was asked for: {}", report::plain(why))))
        }
        None if shown == ExitCode::SUCCESS && !left_out.is_empty() => Ok(ExitCode::from(UNFINISHED)),
        None => Ok(shown),
    }
}

fn print_plan(args: &LinuxArgs, plan: &GuestPlan) -> Result<ExitCode, Error> {
    let accelerator = match args.accel {
        Accel::Kvm => Accelerator::Kvm,
        Accel::Auto | Accel::Tcg => Accelerator::Tcg,
    };
    let (usual, counter) = (accelerator.usual_model(), machine_of(accelerator).counter());
    let write = |format, _: &Style| dry_run::linux_plan(plan, usual, counter, format);
    args.show.to.open(Kind::PLAN)?.write(Look::WHOLE, write)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs a program, and ends with its exit code.
fn execute(args: &LinuxArgs, plan: &GuestPlan, options: &Options) -> ExitCode {
    let (mut standard, mut errors) = (std::io::stdout(), std::io::stderr());
    let mut output = Output { standard: &mut standard, errors: &mut errors, command: "kentry linux" };
    let code = exec(args, plan, options, &mut output).unwrap_or_else(|refused| {
        output.say(&refused.why);
        refused.code
    });
    ExitCode::from(code)
}

fn exec(args: &LinuxArgs, plan: &GuestPlan, options: &Options, output: &mut Output) -> Result<u8, Refused> {
    let [configuration] = &plan.configurations[..] else {
        let what = "--exec and --shell boot one guest: give at most one each of --kernel, --append, --cpu-model and --set";
        return Err(Error::Usage(what.into()).into());
    };
    // The program's output goes there.
    Target::standard()?;
    let time = args.timeout.unwrap_or(LONGEST_PROGRAM);
    let limits = Limits { time, output: usize::MAX, interrupt: interrupts::noted() };
    let mut program = Program::pack(args)?;
    let word = plan.kernels.first().map_or(linux::AUTO, String::as_str);
    // The program's output does not depend on the machine, and standard error belongs to the program.
    let kernels = vec![kernel(word, &limits.interrupt, &mut |_| ())?];
    let accelerator = accelerator(options, &limits, &mut |_| ())?;
    // Last, since it may come slowly.
    program.add_input(args, &limits)?;
    let machine = LinuxMachine::new(accelerator, plan, kernels, limits)?;
    room::guests_at_once(machine.takes(program.size()))?;
    let request = plan.request(configuration, 0, &machine.machine.cpu_model, Counter::Time);
    program.run(&machine, &request, output)
}

/// What a plan asks for, measured, and neither shown nor kept. Instructions are counted with the same seed every time unless the command
/// line names one.
pub fn in_guests(
    plan: GuestPlan,
    kernels: Vec<::linux::Kernel>,
    options: &Options,
    seed: Option<u64>,
    interrupt: &Interrupt,
) -> Result<document::Document, Error> {
    let limits = Limits { time: plan.time, output: GUEST_OUTPUT, interrupt: interrupt.clone() };
    let accelerator = accelerator(options, &limits, &mut note_no_times)?;
    let machine = LinuxMachine::new(accelerator, &plan, kernels, limits)?;
    let setup = machine.setup(&machine)?;
    let plan = match (setup.place.counter(), seed) {
        (Counter::Time, None) => plan.seeded(u64::from(drawn_seed())),
        (Counter::Time, Some(_)) | (Counter::Instructions, _) => plan,
    };
    let bar = progress::Bar::new();
    Ok(measure::guest::measure(&plan, &setup, &mut |share, what| bar.say(share, what))?)
}

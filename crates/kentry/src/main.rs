//! Arguments, plan, measurement, report: one after the other.

mod anatomy_command;
mod bill_command;
mod compare_command;
mod lab_command;
mod linux_command;
mod report_command;
mod reproduce_command;
mod runs_command;
mod show_command;

use document::Outcome;
use kentry::cli::{Cli, Color, Command, ExplainArgs, ListArgs, MeasureArgs, NOISY, OutputArgs, ShowArgs};
use kentry::error::{Error, INTERRUPTED, UNFINISHED, code_without_command, without_numbers};
use kentry::output::Target;
use kentry::saving::Saving;
use kentry::this_machine::{ThisMachine, executor, here};
use kentry::{
    arguments, completions, dry_run, explain, init, interrupts, locale, manual, memory, pager, probe_files,
    progress, stack, too_noisy,
};
use measure::{HostPlan, Setup};
use places::host::Interrupt;
use report::{Selection, Style};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use table::{Kernel, Table};

#[global_allocator]
static MEMORY: memory::Allocator = memory::Allocator;

/// A probe that runs longer than this is considered hung.
const ROUND_TIME: Duration = Duration::from_secs(10);

/// Width of a table that is not written to a terminal, in columns.
const WIDTH: usize = 100;

fn main() -> ExitCode {
    if init::is_meant() {
        init::run();
    }
    match prepare() {
        Ok(()) => stack::with_room(command),
        Err(error) => {
            note(&error.to_string());
            ExitCode::from(code_without_command(&std::env::args_os().collect::<Vec<_>>(), error.exit_code()))
        }
    }
}

fn prepare() -> Result<(), Error> {
    interrupts::begin().map_err(|error| Error::Environment(format!("signals cannot be handled: {error}")))?;
    memory::prepare()
}

fn failed(error: &Error) -> ExitCode {
    note(&error.to_string());
    ExitCode::from(error.exit_code())
}

fn command() -> ExitCode {
    // A file that may not grow is an error of the write then, and not the end of the process.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Interrupt::default());
    let arguments: Vec<_> = std::env::args_os().collect();
    memory::ends_with(code_without_command(&arguments, memory::TOO_LITTLE));
    let cli = arguments::parse(&arguments).unwrap_or_else(|error| lab_command::leave(&error, &arguments));
    if !measures(&cli) {
        interrupts::end_at_once();
    }
    let result = match cli.command {
        None => run_measure(&cli.measure),
        Some(Command::Measure(args)) => run_measure(&args),
        Some(Command::Lab(args)) if !args.exec.is_empty() => lab_command::execute(&args),
        Some(Command::Lab(args)) => lab_command::measure(&args),
        Some(Command::Linux(args)) => linux_command::run(&args),
        Some(Command::Anatomy(args)) => anatomy_command::run(&args),
        Some(Command::Bill(args)) => bill_command::run(&args),
        Some(Command::Runs(args)) => runs_command::run(&args),
        Some(Command::Show(args)) => show_command::run(&args),
        Some(Command::Reproduce(args)) => reproduce_command::run(&args),
        Some(Command::Compare(args)) => Ok(compare_command::run(&args)),
        Some(Command::Report(args)) => report_command::run(&args),
        Some(Command::List(args)) => run_list(&args),
        Some(Command::Explain(args)) => run_explain(&args),
        Some(Command::Completions { shell }) => print(&completions::script(shell)),
        Some(Command::Probes { folder }) => probe_files::write(&folder).and_then(|text| print(&text)),
        Some(Command::Man { subcommand }) => run_man(subcommand.as_deref()),
    };
    result.unwrap_or_else(|error| failed(&error))
}

/// Whether a command line asks for something that looks from its beginning on whether it is interrupted.
fn measures(cli: &Cli) -> bool {
    match &cli.command {
        None => true,
        Some(Command::Measure(_) | Command::Lab(_) | Command::Linux(_) | Command::Anatomy(_)) => true,
        Some(Command::Reproduce(args)) => !args.list,
        // It may wait for a document on standard input.
        Some(Command::Bill(args)) => args.run.is_none(),
        Some(Command::Compare(args)) => !args.live.is_empty(),
        Some(_) => false,
    }
}

/// Prints a line on standard error, without control characters.
fn note(text: &str) {
    let text = report::plain(&without_numbers(text));
    // Not eprintln, which panics if standard error cannot be written either.
    let _ = writeln!(std::io::stderr(), "kentry: {}", locale::text(&text));
}

fn run_measure(args: &MeasureArgs) -> Result<ExitCode, Error> {
    need_counter()?;
    let plan = args.plan(Table::get(), drawn_seed())?;
    let target = Target::open(args.show.to.output.as_deref())?;
    if args.dry_run {
        let format = args.show.to.format();
        target.write_report(format, &dry_run::plan(&plan, format)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let saving = Saving::prepare(&args.save, &mut note)?;
    let interrupt = interrupts::noted();
    let document = measure_host(&plan, &interrupt)?;
    let shown = show(&document, &args.show, args.rows.are_named(), (target, saving), &interrupt)?;
    let noisy = args.fail_if_noisy.and_then(|share| too_noisy::why(&document, share));
    if let Some(why) = noisy.filter(|_| shown == ExitCode::SUCCESS) {
        note(&why);
        return Ok(ExitCode::from(NOISY));
    }
    Ok(shown)
}

/// To be called before anything asks for the time: the vDSO reads the counter too, and would get the SIGSEGV.
fn need_counter() -> Result<(), Error> {
    if places::host::tsc_is_readable() {
        return Ok(());
    }
    let why = "this process may not read the time stamp counter (prctl PR_SET_TSC): nothing can be timed";
    Err(Error::Environment(why.into()))
}

/// Writes the report of a measurement that is over, keeps the run, and says how it went.
fn show(
    document: &document::Document,
    args: &ShowArgs,
    all: bool,
    (target, saving): (Target, Saving),
    interrupt: &Interrupt,
) -> Result<ExitCode, Error> {
    // A file that is there may hold a measurement; nothing is worth more than nothing.
    if interrupt.load(Ordering::Relaxed) && !document.results.iter().any(document::Row::has_outcome) {
        return Err(Error::Interrupted);
    }
    let style = style(args, all, &target);
    let interrupted = interrupt.load(Ordering::Relaxed);
    let file = target.path().map(Path::to_path_buf);
    let format = args.to.format();
    // Kept before it is shown: a reader may close the pipe, and a disk that is full of runs still shows this one.
    let kept = saving.keep(document);
    target.write_report(format, &report::render(document, Table::get(), format, &style)?)?;
    kept?;
    if let Some(file) = file.filter(|_| interrupted) {
        note(&format!("interrupted; {} is partial", report::plain_os(file.as_os_str())));
    }
    match all_failed(document) {
        _ if interrupted => Ok(ExitCode::from(INTERRUPTED)),
        _ if document.measurement.partial => Ok(ExitCode::from(UNFINISHED)),
        Some(why) => Err(Error::Environment(format!("nothing could be measured: {why}"))),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// A seed for a run that was given none. It need not be secret, only different each time; and there may be no
/// source of random numbers here.
fn drawn_seed() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.subsec_nanos() ^ now.as_secs() as u32).rotate_left(16) ^ std::process::id()
}

/// If every row failed for a reason that has nothing to do with the kernel: the first row's reason.
fn all_failed(document: &document::Document) -> Option<&str> {
    let failed = |row: &document::Row| matches!(row.outcome, Outcome::Error | Outcome::Timeout);
    let first = document.results.first().filter(|_| document.results.iter().all(failed))?;
    Some(first.reason.as_deref().unwrap_or(first.outcome.name()))
}

fn measure_host(plan: &HostPlan, interrupt: &Interrupt) -> Result<document::Document, Error> {
    let (here, priority) = here(plan, interrupt)?;
    let mut host = executor(priority, ROUND_TIME, interrupt)?;
    let setup = Setup { executor: &mut host, parent: u64::from(std::process::id()), here };
    let bar = progress::Bar::new();
    Ok(measure::measure(plan, setup, &mut |progress| bar.show(progress))?)
}

fn run_list(args: &ListArgs) -> Result<ExitCode, Error> {
    let target = Target::open(args.to.output.as_deref())?;
    let style = whole(&args.to, false, &target);
    let format = args.to.format();
    let kernel = if args.lab { Kernel::Lab } else { Kernel::Linux };
    target.write_report(format, &report::list(Table::get(), kernel, format, &style)?)?;
    Ok(ExitCode::SUCCESS)
}

/// The latest run that has rows of what is explained. That none can be read is no reason not to explain it.
fn latest_of(explained: &explain::Explained) -> Option<document::Document> {
    let latest = explained.latest()?;
    kentry::input::latest_with(latest, |document| explained.is_in(document)).unwrap_or_else(|error| {
        note(&error.to_string());
        None
    })
}

/// On a terminal the text is formatted for it; elsewhere it remains Markdown.
fn run_explain(args: &ExplainArgs) -> Result<ExitCode, Error> {
    if args.example {
        return print(explain::example(Table::get(), &args.name)?.as_bytes());
    }
    let named = args.run.as_deref().map(kentry::input::document).transpose()?;
    let text = if explain::like_here::is_meant(&args.name) {
        match &named {
            Some(document) => explain::like_here::explain(&document.environment),
            None => explain::like_here::explain(&ThisMachine::capture(None)?.environment),
        }
    } else {
        let explained = explain::Explained::of(Table::get(), &args.name)?;
        let document = named.or_else(|| latest_of(&explained));
        explained.text(document.as_ref())
    };
    let quoted = match &args.anatomy {
        None => String::new(),
        Some(Some(file)) => explain::anatomy::quote(Table::get(), &args.name, file)?,
        Some(None) => match anatomy_command::usual(&args.name)? {
            Ok(document) => explain::anatomy::parts(&document),
            Err(why) => {
                note(&why);
                return Ok(ExitCode::from(UNFINISHED));
            }
        },
    };
    let text = text + &quoted;
    let text = locale::text(&text);
    let color = is_colored(args.color, &Target::Standard);
    if !color && !Target::Standard.is_terminal() {
        return print(text.as_bytes());
    }
    let style = Style { color, width: width(&Target::Standard), verbose: false, selection: Selection::All };
    let text = report::prose(&text, &style);
    if pager::show(&text) { Ok(ExitCode::SUCCESS) } else { print(text.as_bytes()) }
}

/// The page of the command, or of one of its subcommands.
fn run_man(subcommand: Option<&str>) -> Result<ExitCode, Error> {
    let page = manual::page(subcommand)
        .map_err(|source| Error::Output { target: "manual page".into(), source })?
        .ok_or_else(|| {
            let name = report::plain(subcommand.unwrap_or(""));
            Error::Usage(format!("there is no manual page of a subcommand \"{name}\""))
        })?;
    print(&page)
}

fn print(bytes: &[u8]) -> Result<ExitCode, Error> {
    Target::standard()?.write(bytes)?;
    Ok(ExitCode::SUCCESS)
}

/// `all`: whether every row is to be shown in any case.
fn style(args: &ShowArgs, all: bool, target: &Target) -> Style {
    let selection = if all || args.all || args.verbose { Selection::All } else { Selection::FirstScreen };
    Style { selection, ..whole(&args.to, args.verbose, target) }
}

/// Of a result that is always shown whole.
fn whole(to: &OutputArgs, verbose: bool, target: &Target) -> Style {
    Style { color: is_colored(to.color, target), width: width(target), verbose, selection: Selection::All }
}

fn is_colored(when: Color, target: &Target) -> bool {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    match when {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => target.is_terminal() && !plain,
    }
}

fn width(target: &Target) -> usize {
    let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    columns.filter(|_| target.is_terminal()).unwrap_or(WIDTH)
}

//! A command line in, its command's exit code out.

use kentry::cli::{Cli, Command};
use kentry::error::{Error, code_without_command};
use kentry::messages::note;
use kentry::os::{interrupts, memory, stack};
use kentry::{
    anatomy, arguments, bill, catalogue, compare, completions, doctor, explain, export, fleet, impact, init,
    lab, linux, list, manual, measure, output, probes, report, reproduce, runs, show, tax,
};
use places::host::Interrupt;
use std::process::ExitCode;

#[global_allocator]
static MEMORY: memory::Allocator = memory::Allocator;

fn main() -> ExitCode {
    if init::is_meant() {
        init::run();
    }
    if layers::under::is_meant() {
        layers::under::run();
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
    let cli = arguments::parse(&arguments).unwrap_or_else(|error| arguments::leave(&error, &arguments));
    if !measures(&cli) {
        interrupts::end_at_once();
    }
    let result = match cli.command {
        None => measure::run(&cli.measure),
        Some(Command::Measure(args)) => measure::run(&args),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::Impact(args)) => impact::run(&args),
        Some(Command::Lab(args)) => lab::run(&args),
        Some(Command::Linux(args)) => linux::run(&args),
        Some(Command::Anatomy(args)) => anatomy::run(&args),
        Some(Command::Bill(args)) => bill::run(&args),
        Some(Command::Runs(args)) => runs::run(&args),
        Some(Command::Show(args)) => show::run(&args),
        Some(Command::Reproduce(args)) => reproduce::run(&args),
        Some(Command::Tax(args)) => tax::run(&args),
        Some(Command::Compare(args)) => Ok(compare::run(&args)),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Fleet(args)) => fleet::run(&args),
        Some(Command::Export(args)) => export::run(&args),
        Some(Command::Catalogue(args)) => catalogue::run(&args),
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Completions { shell }) => output::print(&completions::script(shell)),
        Some(Command::Probes { folder }) => probes::write(&folder).and_then(|text| output::print(&text)),
        Some(Command::Man { subcommand }) => manual::run(&subcommand),
    };
    result.unwrap_or_else(|error| failed(&error))
}

/// Whether a command line asks for something that looks from its beginning on whether it is interrupted.
fn measures(cli: &Cli) -> bool {
    match &cli.command {
        None => true,
        Some(
            Command::Measure(_)
            | Command::Impact(_)
            | Command::Lab(_)
            | Command::Linux(_)
            | Command::Anatomy(_),
        ) => true,
        Some(Command::Reproduce(args)) => !args.list,
        Some(Command::Doctor(args)) => !args.list,
        Some(Command::Tax(args)) => !args.list,
        // It may wait for a document on standard input.
        Some(Command::Bill(args)) => args.run.is_none(),
        Some(Command::Compare(args)) => !args.live.is_empty(),
        Some(_) => false,
    }
}

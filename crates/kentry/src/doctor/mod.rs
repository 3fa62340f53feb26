//! `kentry doctor`: from arguments to the exit code.

pub mod args;
mod behind;
mod look;

use crate::doctor::args::DoctorArgs;
use crate::error::Error;
use crate::exit::{FOUND, INTERRUPTED, NAGIOS_CRITICAL, NAGIOS_UNKNOWN, NAGIOS_WARNING};
use crate::messages::note;
use crate::options::output::{Look, Outputs};
use crate::os::interrupts;
use crate::output;
use crate::this_machine::need_counter;
use document::{Checkup, Level};
use findings::doctor::Check;
use places::host::Interrupt;
use report::{Described, Kind, Style};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

/// Looks, or lists what is looked at.
pub fn run(args: &DoctorArgs) -> Result<ExitCode, Error> {
    if args.list {
        return list(args);
    }
    match look(args) {
        // What cannot be written to the standard output would not be there now, either.
        Err(error) if args.is_for_nagios() => {
            note(&error.to_string());
            if !matches!(error, Error::Output { .. }) {
                output::print(&report::unknown_status(&error.to_string()))?;
            }
            Ok(ExitCode::from(NAGIOS_UNKNOWN))
        }
        result => result,
    }
}

fn list(args: &DoctorArgs) -> Result<ExitCode, Error> {
    let all: Vec<Described> =
        Check::ALL.iter().map(|check| Described { name: check.name(), what: check.what() }).collect();
    let write = |format, style: &Style| report::checks(&all, format, style);
    args.to.open(Kind::LIST)?.write(Look::whole(args.verbose), write)?;
    Ok(ExitCode::SUCCESS)
}

fn look(args: &DoctorArgs) -> Result<ExitCode, Error> {
    args.validate()?;
    need_counter()?;
    let outputs = args.to.open(Kind::CHECKUP)?;
    let interrupt = interrupts::noted();
    let checkup = look::checkup(args, &interrupt)?;
    show(args, outputs, &checkup, &interrupt)
}

/// Writes the checkup, and says how it went.
fn show(
    args: &DoctorArgs,
    outputs: Outputs,
    checkup: &Checkup,
    interrupt: &Interrupt,
) -> Result<ExitCode, Error> {
    let interrupted = interrupt.load(Ordering::Relaxed);
    if interrupted && args.is_for_nagios() {
        return Err(Error::Interrupted);
    }
    if checkup.diagnoses.is_empty() {
        let why = "nothing could be looked at here: neither /proc and /sys nor any row tells what these checks ask for";
        return Err(Error::Environment(why.into()));
    }
    let fail_on = args.fails_on();
    let write = |format, style: &Style| report::checkup(checkup, fail_on, format, style);
    outputs.write(Look::whole(args.verbose), write)?;
    if interrupted {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(match fail_on.and_then(|least| checkup.worst(least)) {
        None => ExitCode::SUCCESS,
        Some(worst) if args.is_for_nagios() => ExitCode::from(state(worst)),
        Some(_) => ExitCode::from(FOUND),
    })
}

/// The exit status of a plugin of Nagios that found something this bad.
fn state(worst: Level) -> u8 {
    if worst == Level::Critical { NAGIOS_CRITICAL } else { NAGIOS_WARNING }
}

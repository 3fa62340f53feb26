//! How a program of the lab ended, as an outcome and its reason in words.

use super::Configuration;
use crate::state::State;
use document::Outcome;
use lab::{Collected, End, Ran, Trouble};
use nix::errno::Errno;
use record::{Failure, MOST_OUTPUT, Verdict, abi};

/// Takes what became of one round of a row.
pub fn take(state: &mut State, configuration: &Configuration, ran: &Ran) {
    let (entry, _) = state.row;
    match ran.end {
        End::Exited(status) => match answer(ran, status) {
            Ok(records) => state.read(&records),
            Err(failure) => state.end(document::judge_failure(entry, &failure)),
        },
        End::Fault(detail) => {
            let verdict = Verdict { outcome: abi::OUTCOME_FAULT, cause: abi::CAUSE_SIGNAL, detail };
            state.end(document::judge(entry, &verdict));
        }
        End::Runaway(ticks) => {
            state.end((Outcome::Timeout, format!("it ran for {ticks} ticks without an end")));
        }
        End::Unsupported(switch) => {
            state.end_unrun((Outcome::Unsupported, unsupported(configuration, switch)))
        }
        End::NotLoaded(errno) => state.end_unrun((Outcome::Error, not_loaded(entry.probe.name(), errno))),
        End::Checked(..) => state.end((Outcome::Error, "the kernel took the run for a check".into())),
        End::Unknown(how) => {
            state.end((Outcome::Error, format!("it ended in a way that this version does not know ({how})")));
        }
    }
}

fn answer(ran: &Ran, status: u64) -> Result<Vec<record::Record>, Failure> {
    let output = ran.output.as_ref().ok_or(process::Error::Flood(MOST_OUTPUT))?;
    let records = record::parse(output)?;
    match (status, records.is_empty()) {
        (0, false) => Ok(records),
        (0, true) => Err(Failure::Silent),
        (status, _) => Err(Failure::Exited(i32::try_from(status).unwrap_or(-1))),
    }
}

/// What it means for a row that its round did not come to an end.
pub fn missing(collected: &Collected, number: u64, trouble: &Trouble) -> (Outcome, String) {
    let last =
        collected.log.last().map(|line| format!("; the kernel's last words: {line}")).unwrap_or_default();
    if collected.running != Some(number) {
        return (Outcome::Error, format!("it was not begun: {trouble}{last}"));
    }
    let outcome = if matches!(trouble, Trouble::Timeout(_)) { Outcome::Timeout } else { Outcome::Error };
    (outcome, format!("it was running when the guest failed: {trouble}{last}"))
}

/// Switches are named after what the processor must have.
pub fn unsupported(configuration: &Configuration, switch: u64) -> String {
    match configuration.of_switch(switch) {
        Some((name, value)) => format!("this CPU has no {} ({name}={value})", name.to_uppercase()),
        None => format!("this CPU lacks what switch {switch} needs"),
    }
}

/// As execve would have answered.
pub fn not_loaded(program: &str, errno: u64) -> String {
    let errno = Errno::from_raw(i32::try_from(errno).unwrap_or(0));
    format!("{program} could not be loaded in the lab: {errno:?} ({})", errno.desc())
}

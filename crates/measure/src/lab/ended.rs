//! How a program of the lab ended, as an outcome and its reason in words.

use super::Configuration;
use super::found::features;
use crate::Answer;
use document::Outcome;
use nix::errno::Errno;
use places::lab::{Collected, End, Ran, Trouble};
use record::{Boot, Failure, MOST_OUTPUT, Verdict, abi};
use table::{Entry, feature};

/// The answer of one round of a row of this entry, in a boot.
pub fn answer_of(entry: &Entry, configuration: &Configuration, ran: &Ran, boot: Option<&Boot>) -> Answer {
    match ran.end {
        End::Exited(status) => match answer(ran, status) {
            Ok(records) => Answer::Records(records),
            Err(failure) => Answer::Failed(failure),
        },
        End::Fault(detail) => {
            let verdict = Verdict { outcome: abi::OUTCOME_FAULT, cause: abi::CAUSE_SIGNAL, detail };
            let (outcome, why) = document::judge(entry, &verdict);
            Answer::Ended(outcome, why)
        }
        End::Runaway(ticks) => {
            Answer::Ended(Outcome::Timeout, format!("it ran for {ticks} ticks without an end"))
        }
        End::Unsupported(switch) => {
            Answer::Unrun(Outcome::Unsupported, unsupported(configuration, switch, boot))
        }
        End::NotLoaded(errno) => Answer::Unrun(Outcome::Error, not_loaded(entry.probe.name(), errno)),
        End::Checked(..) => Answer::Ended(Outcome::Error, "the kernel took the run for a check".into()),
        End::Unknown(how) => {
            let why = format!("it ended in a way that this version does not know ({how})");
            Answer::Ended(Outcome::Error, why)
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

/// The outcome of a row whose round did not end, or did not begin.
pub fn missing(collected: &Collected, number: u64, trouble: &Trouble) -> (Outcome, String) {
    let last =
        collected.log.last().map(|line| format!("; the kernel's last words: {line}")).unwrap_or_default();
    if collected.running != Some(number) {
        return (Outcome::Error, format!("it was not begun: {trouble}{last}"));
    }
    let outcome = if matches!(trouble, Trouble::Machine(places::emulator::Trouble::Timeout(_))) {
        Outcome::Timeout
    } else {
        Outcome::Error
    };
    (outcome, format!("it was running when the guest failed: {trouble}{last}"))
}

/// What the processor lacks for the switch that the kernel names, by what the kernel said of it at boot.
pub fn unsupported(configuration: &Configuration, switch: u64, boot: Option<&Boot>) -> String {
    let Some((switch, value)) = configuration.of_switch(switch) else {
        return format!("this CPU lacks what switch {switch} needs");
    };
    let there = boot.map(|boot| features(boot.features)).unwrap_or_default();
    let required = switch.requirements(value).into_iter().filter_map(|need| need.feature.as_deref());
    let required: Vec<&str> = required.collect();
    let lacking = required.iter().copied().filter(|feature| !there.iter().any(|known| known == feature));
    let lacking: Vec<&str> = lacking.collect();
    // A kernel that refuses what it has all features for is not understood; then all that is required is named.
    let features = || if lacking.is_empty() { required.iter() } else { lacking.iter() }.copied();
    let names = features().map(feature::name).collect::<Vec<_>>().join(", and ");
    if let Some(options) = feature::options(features()) {
        return format!("{}={value} requires {names} (`kentry lab {options}`)", switch.name);
    }
    match names.as_str() {
        "" => format!("this CPU lacks what {}={value} requires", switch.name),
        features => format!("this CPU has no {features}, which {}={value} requires", switch.name),
    }
}

/// In words, the error that execve would have returned.
pub fn not_loaded(program: &str, errno: u64) -> String {
    let errno = Errno::from_raw(i32::try_from(errno).unwrap_or(0));
    format!("{program} could not be loaded in the lab: {errno:?} ({})", errno.desc())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Configurations;
    use table::{Kernel, Table};

    #[test]
    fn of_what_a_value_requires_only_that_is_named_which_is_not_there() {
        let sets = ["paging=off,segments=limited,exit=iret,smap=off,smep=off".to_string()];
        let all = Configurations::new(Table::get(), Kernel::LabI386, &sets).unwrap();
        let paging = u64::from(Table::get().switch("paging").unwrap().id);
        let said = |features| {
            let boot = Boot { features, ..Boot::default() };
            unsupported(&all.all[0], paging, Some(&boot))
        };
        let limits = "checks of segment limits, which QEMU's TCG does not make (`kentry lab --lab-kernel i386 --bochs`)";
        assert_eq!(said(1 << abi::FEATURE_PROTECTED), format!("paging=off requires {limits}"));
        assert_eq!(said(0), format!("paging=off requires protected mode, and {limits}"));
        assert_eq!(said(u64::MAX), said(0));
    }
}

//! `kentry anatomy --each`: what the boots that were followed in an emulator take in cycles, where KVM runs ring 0 on the processor.

use crate::anatomy::args::AnatomyArgs;
use crate::error::Error;
use crate::linux::machine::{LinuxMachine, accelerator};
use crate::{linux, progress};
use ::linux::Kernel;
use attribution::anatomy::{Cycles, Followed, Timed};
use document::{Document, Outcome, Row};
use measure::guest::{GuestPlan, Options};
use measure::lab::Accel;
use places::emulator::Accelerator;
use places::guest::Limits;
use places::host::Interrupt;
use std::sync::atomic::Ordering;

/// Why the timer's interrupt has no times.
const NO_ROW: &str = "no probe asks for an interrupt by the timer";

/// Times the boots of a plan and puts what they take on the paths; where that cannot be, in words, why.
///
/// # Errors
/// [`Error::Interrupted`] when the user ended it, [`Error::Environment`] when memory is short.
pub fn on_paths(
    args: &AnatomyArgs,
    plan: &GuestPlan,
    kernels: &[Kernel],
    paths: &mut [Followed],
    interrupt: &Interrupt,
) -> Result<Timed, Error> {
    let not = |why: String| Ok(Timed { cpu: None, why: Some(why) });
    if args.event().is_some() {
        return not(NO_ROW.into());
    }
    if args.cpu_model.is_some() {
        return not("a processor that --cpu-model names is emulated".into());
    }
    let limits = Limits { time: plan.time, output: linux::GUEST_OUTPUT, interrupt: interrupt.clone() };
    let mut why = None;
    let found = accelerator(&options(args), &limits, &mut |said| why = Some(said.to_owned()))?;
    if found != Accelerator::Kvm {
        return not(why.unwrap_or_else(|| "KVM does not run their ring 0 here".into()));
    }
    let plan = GuestPlan { follows: false, ..plan.clone() };
    let machine = LinuxMachine::new(found, &plan, kernels.to_vec(), limits)?;
    let bar = progress::Bar::new();
    let timed =
        measure::guest::measure(&plan, &machine.setup(&machine)?, &mut |share, what| bar.say(share, what))?;
    drop(bar);
    if interrupt.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    put(&timed, paths);
    match paths.iter().any(|path| path.cycles.is_some()) {
        true => Ok(Timed { cpu: timed.environment.cpu.brand.clone(), why: None }),
        false => not(failure(&timed)),
    }
}

fn options(args: &AnatomyArgs) -> Options {
    Options { accel: Accel::Auto, ..args.options() }
}

/// Puts what each row took on the path of the same settings.
fn put(timed: &Document, paths: &mut [Followed]) {
    for path in paths {
        // A row's configuration also has the kernel, and what else the command line names.
        let is_same = |row: &&Row| {
            let mut settings = path.configuration.settings.iter();
            settings.all(|(name, value)| row.configuration.get(name) == Some(value))
        };
        path.cycles = timed.results.iter().find(is_same).and_then(cycles);
    }
}

/// What a row took, if it was measured.
fn cycles(row: &Row) -> Option<Cycles> {
    let cost = row.core_cycles.filter(|_| row.outcome == Outcome::Ok)?;
    let [low, high] = [cost.ci_low, cost.ci_high].map(|end| end.map(|end| end.0));
    Some(Cycles { estimate: cost.estimate.0, low, high })
}

/// Why no row was measured.
fn failure(timed: &Document) -> String {
    let why = timed.results.iter().find_map(|row| row.reason.clone());
    why.unwrap_or_else(|| "no guest had enough undisturbed rounds".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use attribution::anatomy::{Anatomy, BootedConfiguration};
    use stats::{Cost, Cycles as Measured};

    fn settings(value: &str) -> std::collections::BTreeMap<String, String> {
        [("audit".to_owned(), value.to_owned())].into()
    }

    fn row(value: &str, outcome: Outcome, estimate: Option<f64>) -> Row {
        let named =
            [("kernel", "6.12"), ("append", "quiet")].map(|(name, value)| (name.into(), value.into()));
        Row {
            configuration: settings(value).into_iter().chain(named).collect(),
            outcome,
            core_cycles: estimate.map(|estimate| Cost::single(Measured(estimate))),
            reason: (outcome != Outcome::Ok).then(|| "the guest did not boot".to_owned()),
            ..Row::unmeasured("syscall-x86_64", "getppid", 64)
        }
    }

    fn path(value: &str) -> Followed {
        let configuration =
            BootedConfiguration { settings: settings(value), ..BootedConfiguration::default() };
        let anatomy =
            Anatomy { entry: "syscall-x86_64".into(), operation: "getppid".into(), instructions: Vec::new() };
        Followed::new(configuration, None, 0, anatomy)
    }

    #[test]
    fn a_path_has_the_cycles_of_the_boot_with_its_settings() {
        let mut paths = [path("on"), path("off"), path("other")];
        let results = vec![row("off", Outcome::Ok, Some(311.0)), row("on", Outcome::Ok, Some(400.5))];
        put(&Document { results, ..Document::empty() }, &mut paths);
        let estimates = paths.each_ref().map(|path| path.cycles.map(|cycles| cycles.estimate));
        assert_eq!(estimates, [Some(400.5), Some(311.0), None]);
        assert_eq!(paths[0].cycles.unwrap().low, None, "one round has no interval");
    }

    #[test]
    fn a_guest_that_fails_has_no_cycles_and_says_why() {
        let mut paths = [path("on")];
        let results = vec![row("on", Outcome::Error, Some(311.0))];
        let timed = Document { results, ..Document::empty() };
        put(&timed, &mut paths);
        assert_eq!(paths[0].cycles, None);
        assert_eq!(failure(&timed), "the guest did not boot");
        assert!(failure(&Document::empty()).contains("undisturbed"));
    }
}

//! `kentry bill` where time is measured, with guests that are shell scripts: what they play is what probes write on a simulated core, on
//! which each step has a known cost, the clock of each boot differs, and each layout makes configurations dearer by chance.

use crate::tapes::{BOOT, LONG, NEXT_BOOT, Tape, guest, limits, request, simulated};
use attribution::bill::{Bill, Plan, Processor, State};
use kentry::bill::args::BillArgs;
use kentry::cli::{Cli, Command};
use kentry::counted::lab_plan;
use measure::Counter;
use measure::lab::{Emulator, LabPlan, Setup, measure};
use places::lab::{Accelerator, Qemu};
use record::abi;
use simulator::{Machine, Model};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::time::Duration;
use table::Table;
use tempfile::TempDir;

/// What the crossing costs, what an empty service costs beyond it, and each step; in core cycles.
const CROSSING: f64 = 150.0;
const SERVICE: f64 = 20.0;
const STEPS: [(&str, &str, f64); 4] =
    [("pti", "on", 190.0), ("stack", "frame", 12.0), ("canary", "on", 0.0), ("cr3-writes", "1", 95.0)];

/// What the first and the last of them cost less together.
const SHARED: f64 = 30.0;

/// How far a layout may move a configuration, up or down.
const LAYOUT: f64 = 2.0;

fn arguments(words: &[&str]) -> BillArgs {
    use clap::Parser;
    let words = [&["kentry", "bill", "--profile", "bare"], words].concat();
    let Some(Command::Bill(arguments)) = Cli::try_parse_from(words).unwrap().command else { panic!() };
    arguments
}

fn plan(features: &[&str]) -> Result<Plan, attribution::bill::Error> {
    let settings = STEPS.map(|(switch, value, _)| format!("{switch}={value}")).join(",");
    let question = arguments(&["--set", &settings]).question(Table::get(), &|| unreachable!()).unwrap();
    let features = features.iter().map(|feature| feature.to_string()).collect();
    Plan::new(Table::get(), question, Processor { features, counts: false, forgives: false })
}

/// What a configuration costs, with this operation.
fn cost(configuration: &BTreeMap<String, String>, operation: u16) -> f64 {
    let has =
        |(switch, value, _): &(&str, &str, f64)| configuration.get(*switch).is_some_and(|set| set == value);
    let steps: f64 = STEPS.iter().filter(|step| has(step)).map(|(.., cost)| cost).sum();
    let shared = if has(&STEPS[0]) && has(&STEPS[3]) { SHARED } else { 0.0 };
    let service = if operation == Table::get().operation("none").unwrap().id { 0.0 } else { SERVICE };
    CROSSING + service + steps - shared
}

/// From -1 to 1, always the same for the same.
fn drawn(from: &impl Hash) -> f64 {
    let mut hasher = DefaultHasher::new();
    from.hash(&mut hasher);
    hasher.finish() as f64 / u64::MAX as f64 * 2.0 - 1.0
}

/// A program in QEMU's place that boots as often as the plan says.
fn played(folder: &TempDir, plan: &LabPlan) -> PathBuf {
    let mut machine = Machine::new(3, Model::default());
    for number in 0..plan.boots(Counter::Time) {
        let mut tape = Tape::found(&BOOT);
        let mut now = plan.defaults.all_values();
        let (mut layout, mut run) = (String::new(), 0);
        // Every boot is a little slower than the one before.
        let drift = 1.0 + 0.004 * number as f64;
        for line in plan.work(Counter::Time, number).plan.render().lines() {
            match line.split_once(' ') {
                Some(("layout", drawn)) => layout = drawn.into(),
                Some(("set", settings)) => {
                    tape.obey(line);
                    let pairs = settings.split(' ').map(|pair| pair.split_once('=').unwrap());
                    now.extend(pairs.map(|(name, value)| (name.to_string(), value.to_string())));
                }
                Some(("run", _)) => {
                    let output = if line.split(' ').count() == 3 {
                        Vec::new()
                    } else {
                        let asked = request(line);
                        let moved = drawn(&(&layout, asked.operation, &now)) * LAYOUT;
                        let cycles = cost(&now, asked.operation) * drift + moved;
                        simulated(&mut machine, &asked, cycles)
                    };
                    tape.program(run, &output, abi::LAB_END_EXITED, [0; 4]);
                    run += 1;
                }
                _ => (),
            }
        }
        std::fs::write(folder.path().join(format!("stream.{number}")), tape.done()).unwrap();
    }
    guest(folder, NEXT_BOOT, b"0\n")
}

fn measured(plan: &Plan) -> Bill {
    let of_lab = lab_plan(Table::get(), plan, Duration::from_secs(60));
    let folder = tempfile::tempdir().unwrap();
    let qemu = Qemu { program: played(&folder, &of_lab).into(), ..Qemu::new(Accelerator::Kvm, None) };
    let mut host = environment::Environment::default();
    host.cpu.vendor = Some("GenuineIntel".into());
    (host.cpu.family, host.cpu.model) = (Some(6), Some(0x8f));
    let setup = Setup {
        emulator: Emulator::Qemu(qemu),
        version: Some("QEMU 1".into()),
        limits: limits(LONG),
        host: Some(host),
        tsc_hz: Some(2e9),
        scout: None,
    };
    let document = measure(&of_lab, setup, &mut |_| ()).unwrap();
    plan.bill(&document, Some(&document))
}

#[test]
fn every_step_is_within_its_interval_and_what_costs_nothing_has_no_verdict() {
    let plan = plan(&[]).unwrap();
    let bill = measured(&plan);
    assert_eq!(bill.unit, Some(attribution::bill::Unit::Cycles));
    // Of intervals that hold the truth in 95 of 100 cases, one of these eight may miss it: layouts are drawn from all switches' names.
    let mut missed = Vec::new();
    for (line, (switch, value, cost)) in bill.lines.iter().zip(STEPS) {
        assert_eq!((&*line.step.switch, &*line.step.value, &line.state), (switch, value, &State::Measured));
        let shared = if switch == "pti" || switch == "cr3-writes" { SHARED } else { 0.0 };
        for (figure, truth) in [(line.alone, cost), (line.in_company, cost - shared)] {
            let figure = figure.unwrap();
            // What drifts in all boots alike is in every cost, too.
            let slack = 0.015 * truth + 0.5;
            let (low, high) = (figure.low.unwrap() - slack, figure.high.unwrap() + slack);
            let has_verdict = figure.p.unwrap() < 0.05;
            if !(low <= truth && truth <= high) || has_verdict != (truth > 5.0) {
                missed.push(format!("{switch}: {figure:?} and not {truth}"));
            }
            assert!(high - low < 20.0 + 2.0 * slack, "{switch}: {figure:?}");
        }
    }
    assert!(missed.len() <= 1, "{missed:#?}");
    let near = |figure: Option<attribution::bill::Figure>, truth: f64| {
        let figure = figure.unwrap();
        assert!((figure.estimate - truth).abs() < 0.02 * truth.abs() + 4.0, "{figure:?} and not {truth}");
    };
    let sum: f64 = STEPS.iter().map(|(.., cost)| cost).sum();
    near(bill.bare, CROSSING + SERVICE);
    near(bill.sum, sum);
    near(bill.interactions, -SHARED);
    near(bill.whole, CROSSING + SERVICE + sum - SHARED);
    let why = bill.there.unwrap().why;
    assert_eq!(why.as_deref(), Some("it is no measurement of a Linux"));
}

#[test]
fn a_profile_that_the_processor_cannot_do_names_the_features() {
    let refused = |set: &str| {
        let question = arguments(&["--set", set]).question(Table::get(), &|| unreachable!()).unwrap();
        let lacking = Processor { features: vec!["smap".into()], counts: false, forgives: false };
        Plan::new(Table::get(), question, lacking).unwrap_err().to_string()
    };
    let why = refused("pcid=keep,verw=on,smap=on");
    assert_eq!(
        why,
        "this CPU lacks PCID, which pcid=keep needs, MDCLEAR, which verw=on needs; `--without STEP` leaves a step out"
    );
}

//! From the rounds of all rows to the document: what they are judged by, what disturbed them, what to warn of.

use crate::state::State;
use document::{Disturbance, Document, Export, Measurement, Warning};
use environment::Environment;
use stats::{Disturbed, Reference, Summary};
use std::collections::BTreeMap;
use table::Probe;

/// Fewer rounds have no interval.
const ROUNDS_FOR_AN_INTERVAL: usize = 6;

/// What a run's figures are.
enum Figures {
    /// Times on a processor.
    Times,
    /// Instructions, in the lab.
    Instructions,
    /// None: times would be the emulator's.
    None(&'static str),
}

/// CPUID signatures of hypervisors that are emulators. One without a signature cannot be told.
const EMULATORS: [&str; 1] = ["TCGTCGTCGTCG"];

/// Steal below this share of the run is no news.
const STEAL_SHARE: f64 = 0.01;

/// Independent instructions in a cycle that every core but the smallest executes when it is alone; a hyperthread's
/// half of a core does not.
const LEAST_CANARY: f64 = 2.9;

type References = BTreeMap<Probe, Reference>;

/// The document of a measurement that is over. `measurement` comes with what is known without its rounds.
pub fn conclude(
    states: &[State],
    mut measurement: Measurement,
    environment: Environment,
    vdso: BTreeMap<String, Vec<Export>>,
) -> Document {
    let nanos_per_tick = measurement.tsc_hz.map(|hertz| 1e9 / hertz);
    let figures = figures(&environment);
    let references: References =
        Probe::ALL.into_iter().filter_map(|probe| Some((probe, reference(states, probe)?))).collect();
    let (results, summaries): (Vec<_>, Vec<_>) = states
        .iter()
        .filter(|state| state.was_tried())
        .map(|state| match figures {
            Figures::Times => state.document(references.get(&state.row.0.probe), nanos_per_tick),
            Figures::Instructions | Figures::None(_) => state.emulated(),
        })
        .unzip();
    let summaries: Vec<Summary> = summaries.into_iter().flatten().collect();
    if matches!(figures, Figures::Times) {
        describe_clock(&mut measurement, states, &references);
    }
    measurement.disturbance = disturbance(states, &references);
    let mut warnings = about_rows(&measurement, &summaries);
    match figures {
        Figures::Times => warnings.extend(about_the_core(&references)),
        // Said once, above the table.
        Figures::Instructions => {}
        Figures::None(by) => warnings.push(Warning::Emulated { by: by.into() }),
    }
    if !matches!(figures, Figures::Instructions) {
        warnings.extend(about_the_machine(&environment, measurement.seconds));
    }
    measurement.warnings.append(&mut warnings);
    Document { schema: document::SCHEMA.to_string(), measurement, environment, vdso, results }
}

fn figures(environment: &Environment) -> Figures {
    match (&environment.lab, emulator(environment)) {
        (Some(lab), _) if lab.icount => Figures::Instructions,
        (None, Some(by)) => Figures::None(by),
        _ => Figures::Times,
    }
}

/// The emulator that this machine is, if it is one.
fn emulator(environment: &Environment) -> Option<&'static str> {
    let signatures = [&environment.hypervisor.signature, &environment.hypervisor.second_signature];
    EMULATORS.into_iter().find(|known| signatures.iter().any(|found| found.as_deref() == Some(*known)))
}

fn describe_clock(measurement: &mut Measurement, states: &[State], references: &References) {
    // In this order: the C library's probe stands in for 64 bit when it ran alone.
    for probe in [Probe::Libc, Probe::Probe32, Probe::Probe64] {
        if let Some(reference) = references.get(&probe) {
            let bits = probe.bits().to_string();
            measurement.chain_ratio.insert(bits.clone(), reference.chain_ratio);
            measurement.canary.insert(bits, reference.canary);
        }
    }
    let sound = |state: &'_ State| -> Vec<f64> {
        let Some(reference) = references.get(&state.row.0.probe) else { return Vec::new() };
        let rounds = state.rounds.all().iter().filter(|round| reference.disturbance(round).is_none());
        rounds.map(|round| round.cycles_per_tick).collect()
    };
    let cycles: Vec<f64> = states.iter().flat_map(sound).collect();
    if references.values().all(Reference::chain_holds) {
        let [low, middle, high] = [0.05, 0.5, 0.95].map(|q| stats::quantile_of(cycles.iter().copied(), q));
        measurement.cycles_per_tick = middle;
        measurement.cycles_per_tick_range = low.zip(high).map(|(low, high)| [low, high]);
    }
}

/// Each probe is code of its own, laid out in its own way, and has a canary of its own.
fn reference(states: &[State], probe: Probe) -> Option<Reference> {
    let of_probe = states.iter().filter(|state| state.row.0.probe == probe);
    Reference::of(of_probe.flat_map(|state| state.rounds.all()))
}

fn disturbance(states: &[State], references: &BTreeMap<Probe, Reference>) -> Disturbance {
    let mut all = Disturbance::default();
    for state in states {
        // A round for each row, in which nothing can be disturbed.
        all.rounds += u64::from(state.samples() > 0);
        all.samples += state.samples();
        let Some(reference) = references.get(&state.row.0.probe) else {
            continue;
        };
        for round in state.rounds.all() {
            let cause = reference.disturbance(round);
            all.rounds += 1;
            all.excluded_canary += u64::from(cause == Some(Disturbed::Canary));
            all.excluded_migrated += u64::from(cause == Some(Disturbed::Migrated));
            all.preempted += u64::from(round.preemptions > 0);
            all.samples += round.taken as u64;
            all.disturbed += if cause.is_some() { round.taken } else { round.disturbed } as u64;
        }
    }
    all
}

fn about_rows(measurement: &Measurement, summaries: &[Summary]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let is_known = |warning: &Warning| matches!(warning, Warning::GuestEnded { .. });
    if measurement.partial && !measurement.warnings.iter().any(is_known) {
        warnings.push(Warning::Interrupted);
    }
    let lost = summaries.iter().filter(|summary| summary.excluded * 2 > summary.rounds).count() as u64;
    if lost > 0 {
        let disturbance = &measurement.disturbance;
        let excluded = disturbance.excluded_canary + disturbance.excluded_migrated;
        warnings.push(Warning::Disturbed { rows: lost, excluded, rounds: disturbance.rounds });
    }
    let trusted = summaries.iter().filter(|summary| summary.excluded * 2 <= summary.rounds);
    let fewest = trusted.map(|summary| summary.rounds - summary.excluded).min();
    if let Some(rounds) = fewest.filter(|rounds| *rounds < ROUNDS_FOR_AN_INTERVAL) {
        warnings.push(Warning::FewRounds { rounds: rounds as u64 });
    }
    warnings
}

fn about_the_core(references: &References) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (probe, reference) in references {
        let bits = probe.bits();
        if !reference.chain_holds() {
            warnings.push(Warning::ChainRatio { bits, ratio: reference.chain_ratio });
        }
        if reference.canary < LEAST_CANARY {
            warnings.push(Warning::SharedThroughout { bits, canary: reference.canary });
        }
    }
    warnings
}

fn about_the_machine(environment: &Environment, seconds: f64) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if !environment.tsc.invariant {
        warnings.push(Warning::TscNotInvariant);
    }
    if let Some(tracer) = environment.limits.tracer_pid.filter(|pid| *pid > 0) {
        warnings.push(Warning::Traced { tracer });
    }
    if environment.limits.seccomp.as_deref().is_some_and(|mode| mode != "off") {
        warnings.push(Warning::Seccomp { filters: environment.limits.seccomp_filters });
    }
    if environment.clock.time_namespace.as_ref().is_some_and(|offsets| !offsets.is_empty()) {
        warnings.push(Warning::TimeNamespace);
    }
    let stolen = environment.load.as_ref().and_then(|load| load.steal_ms);
    if let Some(milliseconds) = stolen.filter(|ms| *ms > seconds * 1000.0 * STEAL_SHARE) {
        warnings.push(Warning::Steal { milliseconds });
    }
    let is_file = |what: &str| ["/proc", "/sys"].iter().any(|root| what.starts_with(root));
    let missed =
        environment.unseen.iter().filter(|unseen| is_file(&unseen.what) && !unseen.why.contains("normal"));
    let facts = missed.count() as u64;
    if facts > 0 {
        warnings.push(Warning::Unseen { facts });
    }
    warnings
}

//! Documents of schema 1, which kept neither rounds nor distributions.

use crate::{
    Confidence, CpuUse, Document, Export, Finding, Level, Measurement, Outcome, Path, Place, Row, Timing,
};
use environment::{Environment, Verdict};
use serde::Deserialize;
use stats::{Cost, Counts, Cycles, Instructions, Nanos, Ticks};
use std::collections::BTreeMap;

/// Its name.
pub const SCHEMA: &str = "kentry.run/1";

#[derive(Deserialize)]
pub struct DocumentV1 {
    measurement: MeasurementV1,
    pub environment: Environment,
    vdso: BTreeMap<String, Vec<Export>>,
    results: Vec<RowV1>,
}

#[derive(Deserialize)]
struct MeasurementV1 {
    kentry: String,
    started: String,
    seconds: f64,
    budget_seconds: f64,
    cpu: usize,
    seed: u64,
    partial: bool,
    realtime: bool,
    tsc_hz: Option<f64>,
    cycles_per_tick: Option<f64>,
    cycles_per_tick_range: Option<[f64; 2]>,
    chain_ratio: BTreeMap<String, f64>,
    canary: BTreeMap<String, f64>,
    disturbance: DisturbanceV1,
    warnings: Vec<serde_json::Map<String, serde_json::Value>>,
}

#[derive(Deserialize)]
struct DisturbanceV1 {
    rounds: u64,
    excluded_canary: u64,
    excluded_migrated: u64,
    samples: u64,
    disturbed: u64,
}

#[derive(Deserialize)]
struct RowV1 {
    entry: String,
    operation: String,
    bits: u8,
    configuration: BTreeMap<String, String>,
    timing: Timing,
    outcome: Outcome,
    reason: Option<String>,
    core_cycles: Option<Cost<Cycles>>,
    ticks: Option<Cost<Ticks>>,
    ns: Option<Cost<Nanos>>,
    instructions: Option<Cost<Instructions>>,
    throughput: Option<Cost<Cycles>>,
    samples: u64,
    disturbed: u64,
}

impl From<DocumentV1> for Document {
    fn from(old: DocumentV1) -> Document {
        let place = Place::of(&old.environment);
        let mut environment = old.environment;
        let is_timed = environment.guest.as_ref().is_some_and(|guest| !guest.icount);
        // Nothing was timed but where ring 0 ran natively, by the loop alone.
        if let Some(lab) = environment.lab.as_mut().filter(|_| is_timed) {
            lab.ring0.verdict = Verdict::Natively;
        }
        Document {
            schema: crate::SCHEMA.into(),
            id: None,
            findings: old.measurement.warnings.iter().map(finding).collect(),
            measurement: measurement(old.measurement, place),
            environment,
            vdso: old.vdso,
            results: old.results.into_iter().map(row).collect(),
        }
    }
}

fn measurement(old: MeasurementV1, place: Place) -> Measurement {
    let disturbance = old.disturbance;
    let excluded = disturbance.excluded_canary.saturating_add(disturbance.excluded_migrated);
    let kept_rounds = disturbance.rounds.saturating_sub(excluded);
    let cpu = CpuUse {
        cpu: old.cpu,
        rounds: disturbance.rounds,
        kept_rounds,
        canary: old.canary,
        ..CpuUse::default()
    };
    Measurement {
        kentry: old.kentry,
        place,
        started: old.started,
        seconds: old.seconds,
        budget_seconds: old.budget_seconds,
        strict_budget: true,
        cpus: vec![cpu],
        seed: old.seed,
        partial: old.partial,
        realtime: old.realtime,
        tsc_hz: old.tsc_hz,
        cycles_per_tick: old.cycles_per_tick,
        cycles_per_tick_range: old.cycles_per_tick_range,
        chain_ratio: old.chain_ratio,
        counts: Counts {
            rounds: disturbance.rounds,
            kept_rounds,
            samples: disturbance.samples,
            kept_samples: disturbance.samples.saturating_sub(disturbance.disturbed),
            ..Counts::default()
        },
        ..Measurement::default()
    }
}

/// A warning's kind and figures; its words were not kept.
fn finding(warning: &serde_json::Map<String, serde_json::Value>) -> Finding {
    let kind = warning.get("kind").and_then(serde_json::Value::as_str).unwrap_or("unknown");
    let figures = warning.iter().filter(|(name, _)| *name != "kind");
    let figures: Vec<String> = figures.map(|(name, value)| format!("{name} {value}")).collect();
    Finding {
        id: kind.into(),
        level: Level::Warning,
        verdict: format!("A document of schema 1 has the warning {kind}."),
        evidence: (!figures.is_empty()).then(|| figures.join(", ")),
        cause: None,
        remedy: None,
        next: None,
        confidence: Confidence::Seen,
    }
}

/// What schema 1 said of a function's path, in its reason.
const SERVED: [(&str, Path); 2] =
    [("served without entering the kernel", Path::User), ("enters the kernel", Path::Kernel)];

fn row(old: RowV1) -> Row {
    let is_ok = old.outcome == Outcome::Ok;
    let reason = old.reason.unwrap_or_default();
    let served = SERVED.into_iter().find(|(words, _)| is_ok && reason.starts_with(words));
    let rest = served.map_or(reason.as_str(), |(words, _)| reason[words.len()..].trim_start_matches("; "));
    let rest = (!rest.is_empty()).then(|| rest.to_string());
    let kept_samples = old.samples.saturating_sub(old.disturbed);
    Row {
        configuration: old.configuration,
        timing: old.timing,
        outcome: old.outcome,
        reason: rest.clone().filter(|_| !is_ok),
        path: served.map(|(_, path)| path),
        remarks: rest.filter(|_| is_ok).into_iter().collect(),
        core_cycles: old.core_cycles,
        ticks: old.ticks,
        ns: old.ns,
        instructions: old.instructions,
        throughput: old.throughput,
        counts: Counts { samples: old.samples, kept_samples, ..Counts::default() },
        ..Row::unmeasured(&old.entry, &old.operation, old.bits)
    }
}

//! The figure of a Linux that the lab's figures can be compared with, or why there is none.

use crate::bill::{Figure, Question, Unit};
use document::{Document, Outcome, Row};
use environment::{CoreType, Cpu, Environment};
use stats::Cost;
use std::collections::BTreeSet;

/// The key of a row's configuration that names the kind of core, where a host has several.
const CORE: &str = "core";

/// Counters whose rates differ by less, as a part of them, tick alike: each rate is measured against CLOCK_MONOTONIC_RAW, whose own
/// rate the kernel finds anew at every boot, and which is seldom off by more than 500 millionths.
const SAME_RATE: f64 = 1e-3;

/// What the entry and operation cost there, in the bill's unit; why that cannot be told, in words.
pub(crate) fn cost(
    question: &Question,
    unit: Option<Unit>,
    lab: &Document,
    linux: &Document,
) -> Result<Figure, String> {
    if !linux.is_of_linux() {
        return Err("it is no measurement of a Linux".into());
    }
    let name = format!("{} {}", question.entry, question.operation);
    let row = row(question, &name, lab, linux)?;
    if row.outcome != Outcome::Ok {
        let reason = row.reason.as_deref().unwrap_or("without a reason");
        return Err(format!("{name} did not work there: {reason}"));
    }
    let unit = unit.ok_or("nothing was measured here")?;
    let is_figure = match unit {
        Unit::Cycles => row.core_cycles.as_ref().is_none_or(|cost| document::is_figure(&cost.unitless())),
        Unit::Ticks => row.ticks.as_ref().is_none_or(|cost| document::is_figure(&cost.unitless())),
        Unit::Instructions => true,
    };
    let figure = match unit {
        Unit::Cycles => row.core_cycles.as_ref().map(figure),
        Unit::Ticks => row.ticks.as_ref().map(figure),
        Unit::Instructions => row.instructions.as_ref().map(figure),
    };
    if figure.is_some() && !is_figure {
        return Err(format!("the interval of {name} there is wider than its figure"));
    }
    let figure = figure.ok_or_else(|| match (unit, row.ticks.is_some() || row.core_cycles.is_some()) {
        (Unit::Instructions, true) => "time was measured there, and instructions are counted here".into(),
        _ => format!("{name} has no figure in {} there", unit.name()),
    })?;
    if unit != Unit::Instructions {
        one_processor(&lab.environment, &linux.environment)?;
        one_core(lab, linux, row)?;
    }
    if unit == Unit::Ticks {
        one_counter(lab.measurement.tsc_hz, linux.measurement.tsc_hz)?;
    }
    Ok(figure)
}

/// Whether both were measured on processors of one kind; why not, in words. One processor's time explains nothing of another's.
pub(crate) fn one_processor(here: &Environment, there: &Environment) -> Result<(), String> {
    let brands = here.cpu.brand.as_ref().zip(there.cpu.brand.as_ref());
    let signatures = signature(&here.cpu).zip(signature(&there.cpu));
    let differ = brands.is_some_and(|(here, there)| here.trim() != there.trim())
        || signatures.is_some_and(|(here, there)| here != there);
    if differ {
        return Err(format!("the processor there is {}, and here it is {}", in_words(there), in_words(here)));
    }
    if brands.is_none() && signatures.is_none() {
        return Err("whether the processor there is the one here is not known".into());
    }
    Ok(())
}

/// Family, model and stepping.
fn signature(cpu: &Cpu) -> Option<(u32, u32, u32)> {
    Some((cpu.family?, cpu.model?, cpu.stepping?))
}

/// The processor: its brand and signature, as far as they are known, or what an emulator was asked for.
pub(crate) fn in_words(environment: &Environment) -> String {
    let cpu = &environment.cpu;
    let signature = signature(cpu)
        .map(|(family, model, stepping)| format!("family {family}, model {model}, stepping {stepping}"));
    let guest = || environment.guest.as_ref().map(|guest| guest.cpu_model.clone());
    match (cpu.brand.as_ref().map(|brand| brand.trim()), signature) {
        (Some(brand), Some(signature)) => format!("{brand} ({signature})"),
        (Some(brand), None) => brand.into(),
        (None, Some(signature)) => format!("one of {signature}"),
        (None, None) => guest().unwrap_or_else(|| "unknown".into()),
    }
}

/// Whether the row is of the kind of core that the lab ran on, as far as both are known.
fn one_core(lab: &Document, linux: &Document, row: &Row) -> Result<(), String> {
    let named = row.configuration.get(CORE).map(String::as_str);
    match core(lab, None).zip(named.or_else(|| core(linux, row.cpu))) {
        Some((here, there)) if here != there => {
            Err(format!("its core was of another kind: {there} there, and {here} here"))
        }
        _ => Ok(()),
    }
}

/// Whether a tick is as long on both sides; why not, in words.
fn one_counter(here: Option<f64>, there: Option<f64>) -> Result<(), String> {
    let Some((here, there)) = here.zip(there) else {
        return Err("whether a tick there is as long as one here is not known".into());
    };
    if (here - there).abs() <= SAME_RATE * here.max(there) {
        return Ok(());
    }
    let mega = |hertz: f64| hertz / 1e6;
    Err(format!("a tick there is not one here: {:.1} MHz there, and {:.1} MHz here", mega(there), mega(here)))
}

/// The row of the entry and operation that tells what it costs: one without a footprint, and on the lab's kind of core.
fn row<'a>(question: &Question, name: &str, lab: &Document, linux: &'a Document) -> Result<&'a Row, String> {
    let is_it = |row: &&Row| row.entry == question.entry && row.operation == question.operation;
    let all: Vec<&Row> = linux.results.iter().filter(is_it).collect();
    let plain: Vec<&Row> = all.iter().copied().filter(|row| !row.has_footprint()).collect();
    match (plain.as_slice(), all.is_empty()) {
        ([], true) => return Err(format!("{name} was not measured there")),
        ([], false) => {
            return Err(format!("{name} was measured there with a footprint alone, which is in its cost"));
        }
        ([one], _) => return Ok(one),
        _ => {}
    }
    let several = || Err(format!("{name} was measured in several configurations there"));
    if !plain.iter().all(|row| row.configuration.contains_key(CORE)) {
        return several();
    }
    let Some(core) = core(lab, None) else {
        return Err(format!(
            "{name} was measured on several kinds of core there, and the lab's is not known"
        ));
    };
    let is_on = |row: &&Row| row.configuration.get(CORE).is_some_and(|of_row| of_row == core);
    let on_core: Vec<&Row> = plain.into_iter().filter(is_on).collect();
    match on_core.as_slice() {
        [one] => Ok(one),
        [] => Err(format!("{name} was measured on several kinds of core there, and on none that is {core}")),
        _ => several(),
    }
}

/// The kind of core that a document's rounds ran on, or those of one CPU; none unless it is one kind, and known.
fn core(document: &Document, cpu: Option<usize>) -> Option<&str> {
    let used = document.measurement.cpus.iter().filter(|used| cpu.is_none_or(|cpu| used.cpu == cpu));
    let kinds: BTreeSet<&str> = used.map(|used| used.core.as_str()).collect();
    let one = kinds.first().copied().filter(|_| kinds.len() == 1);
    one.filter(|kind| !kind.is_empty() && *kind != CoreType::Uniform.name())
}

fn figure<U: Copy + Into<f64>>(cost: &Cost<U>) -> Figure {
    let cost = cost.unitless();
    Figure { estimate: cost.estimate, low: cost.ci_low, high: cost.ci_high, p: None, rounds: 0 }
}

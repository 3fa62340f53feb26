//! The figure of a Linux that the lab's figures can be compared with, or why there is none.

use crate::{Figure, Question, Unit};
use document::{Document, Outcome, Row};
use environment::CoreType;
use stats::Cost;
use std::collections::BTreeSet;

/// The key of a row's configuration that names the kind of core, where a host has several.
const CORE: &str = "core";

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
    let figure = match unit {
        Unit::Cycles => row.core_cycles.as_ref().map(figure),
        Unit::Ticks => row.ticks.as_ref().map(figure),
        Unit::Instructions => row.instructions.as_ref().map(figure),
    };
    figure.ok_or_else(|| match (unit, row.ticks.is_some() || row.core_cycles.is_some()) {
        (Unit::Instructions, true) => "time was measured there, and instructions are counted here".into(),
        _ => format!("{name} has no figure in {} there", unit.name()),
    })
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
    let Some(core) = core(lab) else {
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

/// The kind of core that the lab ran on, if its CPUs were of one kind and that kind is known.
fn core(lab: &Document) -> Option<&str> {
    let kinds: BTreeSet<&str> = lab.measurement.cpus.iter().map(|used| used.core.as_str()).collect();
    let one = kinds.first().copied().filter(|_| kinds.len() == 1);
    one.filter(|kind| !kind.is_empty() && *kind != CoreType::Uniform.name())
}

fn figure<U: Copy + Into<f64>>(cost: &Cost<U>) -> Figure {
    let cost = cost.unitless();
    Figure { estimate: cost.estimate, low: cost.ci_low, high: cost.ci_high, p: None, rounds: 0 }
}

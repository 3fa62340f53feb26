//! A run as CSV: a line for each row, with every digit.

use crate::Error;
use crate::grid::{Column, Grid, Items, Named};
use document::{Document, Interval, Path, Row, is_figure};
use stats::Cost;

/// A cost in each unit that a row may have.
const UNITS: [Named<Row, Cost<f64>>; 5] = [
    ("core_cycles", |row| row.core_cycles.as_ref().map(Cost::unitless)),
    ("ticks", |row| row.ticks.as_ref().map(Cost::unitless)),
    ("ns", |row| row.ns.as_ref().map(Cost::unitless)),
    ("instructions", |row| row.instructions.as_ref().map(Cost::unitless)),
    (THROUGHPUT, |row| row.throughput.as_ref().map(Cost::unitless)),
];

/// Of calls back to back.
const THROUGHPUT: &str = "throughput";

/// What is known of a cost.
const FIGURES: [Named<Cost<f64>>; 8] = [
    ("estimate", |cost| Some(cost.estimate)),
    ("ci_low", |cost| cost.ci_low),
    ("ci_high", |cost| cost.ci_high),
    ("min", |cost| Some(cost.min)),
    ("p50", |cost| Some(cost.p50)),
    ("p99", |cost| cost.p99),
    ("p999", |cost| cost.p999),
    ("max", |cost| Some(cost.max)),
];

/// So many of these are those of a use where a sample is a mean of several: the estimate and its interval.
const OF_MEANS: usize = 3;

/// What UnixBench makes of a cost.
const RATES: [Named<Row, Interval>; 2] = [
    ("loops_per_second", |row| row.rate.map(|rate| rate.loops_per_second)),
    ("unixbench_index", |row| row.rate.and_then(|rate| rate.index)),
];

type Rows<'a> = Items<'a, Row>;

pub(crate) fn render(document: &Document) -> Result<Vec<u8>, Error> {
    let named = names(Grid::of(&document.results));
    let measured = named.for_each(UNITS, |rows, unit| {
        rows.for_each(FIGURES.into_iter().enumerate(), |rows, figure| cost(rows, unit, figure))
    });
    samples(measured).for_each(RATES, rate).grid().csv()
}

fn names(rows: Rows) -> Rows {
    rows.column(Column::text("entry"), |row| &row.entry)
        .column(Column::number("entry_id"), |row| row.entry_id)
        .column(Column::text("operation"), |row| &row.operation)
        .column(Column::number("operation_id"), |row| row.operation_id)
        .column(Column::number("bits"), |row| row.bits)
        .column(Column::text("configuration"), |row| {
            joined(row.configuration.iter().map(|(key, value)| format!("{key}={value}")))
        })
        .column(Column::text("timing"), |row| row.timing.name())
        .column(Column::text("outcome"), |row| row.outcome.name())
        .column(Column::text("reason"), |row| row.reason.as_ref())
        .column(Column::text("path"), |row| row.path.map(Path::name))
        .column(Column::number("uses"), |row| row.uses)
        .column(Column::text("remarks"), |row| row.remarks.join("; "))
        .column(Column::text("noise"), |row| row.noise.map(|noise| noise.kind.name()))
        .column(Column::number("noise_low"), |row| row.noise.and_then(|noise| noise.low))
        .column(Column::number("noise_high"), |row| row.noise.and_then(|noise| noise.high))
        .column(Column::number("cpu"), |row| row.cpu)
}

fn cost<'a>(
    rows: Rows<'a>,
    (unit, cost): Named<Row, Cost<f64>>,
    (place, (name, figure)): (usize, Named<Cost<f64>>),
) -> Rows<'a> {
    rows.column(Column::number(format!("{unit}_{name}")), |row| {
        let is_of_a_use = row.uses <= 1 || unit == THROUGHPUT || place < OF_MEANS;
        cost(row).filter(|cost| is_of_a_use && is_figure(cost)).and_then(|cost| figure(&cost))
    })
}

fn samples(rows: Rows) -> Rows {
    rows.column(Column::text("throughput_withheld"), |row| row.throughput_withheld.as_ref())
        .column(Column::text("modes"), |row| {
            joined(row.modes.iter().map(|mode| format!("{}:{}", mode.share, mode.cost)))
        })
        .column(Column::number("rounds"), |row| row.counts.rounds)
        .column(Column::number("kept_rounds"), |row| row.counts.kept_rounds)
        .column(Column::number("blocks"), |row| row.counts.blocks)
        .column(Column::number("kept_blocks"), |row| row.counts.kept_blocks)
        .column(Column::number("samples"), |row| row.counts.samples)
        .column(Column::number("kept_samples"), |row| row.counts.kept_samples)
        .column(Column::number("interrupted"), |row| row.counts.interrupted)
        .column(Column::number("ring0"), |row| row.rings.map(|rings| rings.ring0.0))
        .column(Column::number("ring3"), |row| row.rings.map(|rings| rings.ring3.0))
        .column(Column::text("boots"), |row| joined(row.boots.iter().map(|estimate| estimate.0.to_string())))
}

fn rate<'a>(rows: Rows<'a>, (name, rate): Named<Row, Interval>) -> Rows<'a> {
    rows.column(Column::number(name), |row| rate(row).map(|one| one.estimate))
        .column(Column::number(format!("{name}_ci_low")), |row| rate(row).and_then(|one| one.ci_low))
        .column(Column::number(format!("{name}_ci_high")), |row| rate(row).and_then(|one| one.ci_high))
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(";")
}

//! What stands in the cells of a table for people.

use crate::bar::Scale;
use crate::figure::{ABSENT, Floor, Unit, half_width, number, shown, unitless};
use document::{Document, Outcome, Row, Timing};
use stats::Cost;

/// A column; the cost is one with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    Cost,
    Ns,
    Ratio,
    Bar,
    P99,
    Min,
    P50,
    P999,
    Max,
    Ticks,
    Throughput,
    Samples,
    Disturbed,
    Note,
}

/// What only a verbose report has.
pub(crate) const DETAILS: [Column; 8] = [
    Column::Min,
    Column::P50,
    Column::P999,
    Column::Max,
    Column::Ticks,
    Column::Throughput,
    Column::Samples,
    Column::Disturbed,
];

impl Column {
    /// Its name above the cells; some have none, or one that depends on the unit.
    pub fn heading(self) -> &'static str {
        match self {
            Column::Cost | Column::Bar | Column::Note => "",
            Column::Ns => "ns",
            Column::Ratio => "ratio",
            Column::P99 => "p99",
            Column::Min => "min",
            Column::P50 => "p50",
            Column::P999 => "p99.9",
            Column::Max => "max",
            Column::Ticks => "ticks",
            Column::Throughput => "throughput",
            Column::Samples => "samples",
            Column::Disturbed => "disturbed",
        }
    }
}

impl Column {
    /// Whether it says something about instructions that were counted.
    pub fn is_of_counts(self) -> bool {
        use Column::*;
        !matches!(self, Ns | Ratio | P99 | Ticks | Throughput | Disturbed)
    }
}

/// Whether a row has numbers; the others have words.
pub(crate) fn has_figures(row: &Row) -> bool {
    row.outcome == Outcome::Ok
}

/// What turns rows into cells.
pub(crate) struct Figures {
    pub scale: Scale,
    floor: Floor,
    counted: bool,
}

impl Figures {
    pub fn of(document: &Document) -> Self {
        let units: Vec<Unit> = document.results.iter().filter_map(|row| Some(shown(row)?.unit)).collect();
        let counted = !units.is_empty() && units.iter().all(|unit| *unit == Unit::Instructions);
        Self { scale: Scale::of(document), floor: Floor::of(document), counted }
    }

    /// Whether all figures are instructions: then there is nothing to convert, and hardly anything that varies.
    pub fn are_counted(&self) -> bool {
        self.counted
    }

    /// Whether ratios can be told.
    pub fn has_ratios(&self) -> bool {
        self.floor.is_known()
    }

    /// A cell; empty for those that need more than the row ([`Column::Cost`], [`Column::Bar`], [`Column::Note`]).
    pub fn cell(&self, column: Column, row: &Row) -> String {
        let sample = |figure: fn(&Cost<f64>) -> f64| {
            shown(row).map_or(ABSENT.to_owned(), |shown| shown.number(figure(&shown.cost)))
        };
        match column {
            Column::Cost | Column::Bar | Column::Note => String::new(),
            Column::Ns if row.timing == Timing::Emulated => "emulated".to_owned(),
            Column::Ns => optional(row.ns.as_ref().map(|cost| unitless(cost).estimate)),
            Column::Ratio => shown(row).map_or(ABSENT.to_owned(), |shown| self.floor.ratio(&shown)),
            Column::P99 => sample(|cost| cost.p99),
            Column::Min => sample(|cost| cost.min),
            Column::P50 => sample(|cost| cost.p50),
            Column::P999 => sample(|cost| cost.p999),
            Column::Max => sample(|cost| cost.max),
            Column::Ticks => optional(row.ticks.as_ref().map(|cost| unitless(cost).estimate)),
            Column::Throughput => optional(row.throughput.as_ref().map(|cost| unitless(cost).estimate)),
            Column::Samples => row.samples.to_string(),
            Column::Disturbed => row.disturbed.to_string(),
        }
    }
}

fn optional(value: Option<f64>) -> String {
    value.map_or(ABSENT.to_owned(), number)
}

/// The estimate, with the letter of its unit or without.
pub(crate) fn estimate(row: &Row, suffix: &str) -> String {
    match shown(row) {
        Some(shown) => format!("{}{suffix}", shown.estimate()),
        None => ABSENT.to_owned(),
    }
}

/// How far the interval reaches, `±0.2`.
pub(crate) fn error(row: &Row) -> String {
    let half = shown(row).and_then(|shown| half_width(&shown.cost));
    half.map_or(ABSENT.to_owned(), |half| format!("±{}", number(half)))
}

//! What came out in guests: in the lab, and in a Linux.

use super::figures::is_known;
use super::ratio;
use super::wants::{in_words, subject};
use crate::published::{Column, Publication, Row, Unit};
use document::{Counter, Document, is_figure};
use serde::Serialize;
use stats::Cost;
use std::collections::{BTreeMap, BTreeSet};
use table::{Kernel, Table};

/// What a guest's figures count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestUnit {
    /// Instructions executed in an emulator: no times.
    Instructions,
    /// Cycles of the core.
    CoreCycles,
    /// Ticks of the time stamp counter.
    Ticks,
    /// UnixBench's index, of a Linux beside published ones.
    Index,
}

/// What came out in the guests of one kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InGuests {
    /// Which kernel that is.
    pub kernel: Kernel,
    /// What the figures count.
    pub unit: GuestUnit,
    /// Id of the kept run with these figures.
    pub run: Option<String>,
    /// The figures, configuration by configuration.
    pub figures: Vec<GuestFigure>,
}

/// A figure of a guest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GuestFigure {
    /// Heading of the row.
    pub row: String,
    /// The entry.
    pub entry: String,
    /// The operation.
    pub operation: String,
    /// The switches or parameters that stand for the column, for instance `pti=on`; empty where none does.
    pub column: String,
    /// All that stand for row and column.
    pub set: BTreeMap<String, String>,
    /// In [`InGuests::unit`]; null where it could not be measured.
    pub value: Option<f64>,
    /// Ends of its 95 % confidence interval; null for counts.
    pub ci_low: Option<f64>,
    /// The upper end.
    pub ci_high: Option<f64>,
    /// As a multiple of the base row's in the same column; null where the published figures are an index.
    pub to_base: Option<f64>,
    /// Why there is none.
    pub reason: Option<String>,
}

impl GuestUnit {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            GuestUnit::Instructions => "instructions",
            GuestUnit::CoreCycles => "core cycles",
            GuestUnit::Ticks => "TSC ticks",
            GuestUnit::Index => "index",
        }
    }

    fn of(publication: &Publication, kernel: Kernel, run: &Document) -> GuestUnit {
        match run.counter() {
            Counter::Instructions => GuestUnit::Instructions,
            Counter::Time if kernel == Kernel::Linux && publication.unit == Unit::Index => GuestUnit::Index,
            Counter::Time if run.measurement.cycles_per_tick.is_some() => GuestUnit::CoreCycles,
            Counter::Time => GuestUnit::Ticks,
        }
    }

    /// The figure of a row, and the ends of its interval. A count has none.
    fn of_row(self, row: &document::Row) -> Option<[Option<f64>; 3]> {
        let ends = |cost: Cost<f64>| [Some(cost.estimate), cost.ci_low, cost.ci_high];
        let of_cost = |cost: Cost<f64>| Some(cost).filter(is_figure).map(ends);
        match self {
            GuestUnit::Instructions => row.instructions.map(|cost| [Some(cost.estimate.0), None, None]),
            GuestUnit::CoreCycles => row.core_cycles.and_then(|cost| of_cost(cost.unitless())),
            GuestUnit::Ticks => row.ticks.and_then(|cost| of_cost(cost.unitless())),
            GuestUnit::Index => {
                let index = row.rate.and_then(|rate| rate.index).filter(|_| is_known(row));
                index.map(|index| [Some(index.estimate), index.ci_low, index.ci_high])
            }
        }
    }
}

impl InGuests {
    pub(super) fn of(publication: &Publication, kernel: Kernel, run: &Document, table: &Table) -> InGuests {
        let unit = GuestUnit::of(publication, kernel, run);
        let mut figures = Vec::new();
        let mut known = BTreeSet::new();
        for column in publication.columns.iter().map(|column| column.get_ref()) {
            let name = in_words(column.settings(kernel));
            if !known.insert(name.clone()) {
                continue;
            }
            let rows = publication.rows.iter().map(|row| row.get_ref());
            let mut of_column: Vec<GuestFigure> = rows
                .filter_map(|row| guest_figure(publication, kernel, (row, column, &name), (unit, run), table))
                .collect();
            let base = of_column.iter().find(|figure| Some(&figure.row) == publication.base.as_ref());
            // Multiples of a cost beside an index, which counts the opposite, would mislead: the changes are compared instead.
            let base = base.and_then(|figure| figure.value).filter(|_| publication.unit != Unit::Index);
            of_column.iter_mut().for_each(|figure| figure.to_base = ratio(figure.value, base));
            figures.append(&mut of_column);
        }
        InGuests { kernel, unit, run: run.id.clone(), figures }
    }
}

fn guest_figure(
    publication: &Publication,
    kernel: Kernel,
    (row, column, name): (&Row, &Column, &str),
    (unit, run): (GuestUnit, &Document),
    table: &Table,
) -> Option<GuestFigure> {
    let (entry, operation) = row.in_guests(kernel, table)?;
    let set = publication.set_in_full(kernel, row, column, table);
    let of_set = |row: &&document::Row| {
        (row.entry.as_str(), row.operation.as_str()) == (entry, operation)
            && set.iter().all(|(switch, value)| row.configuration.get(switch) == Some(value))
    };
    let found = run.results.iter().find(of_set);
    let [value, ci_low, ci_high] = found.and_then(|row| unit.of_row(row)).unwrap_or_default();
    let reason = found.map_or_else(
        || Some(format!("{} did not measure it", subject(kernel))),
        |row| {
            row.reason
                .clone()
                .or_else(|| value.is_none().then(|| format!("{} has no figure for it", subject(kernel))))
        },
    );
    Some(GuestFigure {
        row: row.name.clone(),
        entry: entry.into(),
        operation: operation.into(),
        column: name.into(),
        set: publication.set(kernel, row, column),
        value,
        ci_low,
        ci_high,
        to_base: None,
        reason,
    })
}

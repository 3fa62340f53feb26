//! What came out in the lab.

use super::ratio;
use super::wants::in_words;
use crate::{Column, Publication, Row, Unit};
use document::{Counter, Document};
use serde::Serialize;
use stats::Cost;
use std::collections::{BTreeMap, BTreeSet};
use table::Table;

/// What the lab's figures count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabUnit {
    /// Instructions executed in an emulator: no times.
    Instructions,
    /// Cycles of the core.
    CoreCycles,
    /// Ticks of the time stamp counter.
    Ticks,
}

/// What came out in the lab.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InLab {
    /// What the figures count.
    pub unit: LabUnit,
    /// Id of the kept run with these figures.
    pub run: Option<String>,
    /// The figures, configuration by configuration.
    pub figures: Vec<LabFigure>,
}

/// A figure of the lab.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabFigure {
    /// Heading of the row.
    pub row: String,
    /// The entry.
    pub entry: String,
    /// The operation.
    pub operation: String,
    /// The switches that stand for the column, for instance `pti=on`; empty where none does.
    pub column: String,
    /// All switches that stand for row and column.
    pub set: BTreeMap<String, String>,
    /// In [`InLab::unit`]; null where it could not be measured.
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

impl LabUnit {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            LabUnit::Instructions => "instructions",
            LabUnit::CoreCycles => "core cycles",
            LabUnit::Ticks => "TSC ticks",
        }
    }

    fn of(run: &Document) -> LabUnit {
        match run.counter() {
            Counter::Instructions => LabUnit::Instructions,
            Counter::Time if run.measurement.cycles_per_tick.is_some() => LabUnit::CoreCycles,
            Counter::Time => LabUnit::Ticks,
        }
    }

    fn cost(self, row: &document::Row) -> Option<Cost<f64>> {
        match self {
            LabUnit::Instructions => row.instructions.map(|cost| cost.unitless()),
            LabUnit::CoreCycles => row.core_cycles.map(|cost| cost.unitless()),
            LabUnit::Ticks => row.ticks.map(|cost| cost.unitless()),
        }
    }
}

impl InLab {
    pub(super) fn of(publication: &Publication, run: &Document, table: &Table) -> InLab {
        let unit = LabUnit::of(run);
        let mut figures = Vec::new();
        let mut known = BTreeSet::new();
        for column in publication.columns.iter().map(|column| column.get_ref()) {
            let name = in_words(&column.set);
            if !known.insert(name.clone()) {
                continue;
            }
            let rows = publication.rows.iter().map(|row| row.get_ref());
            let mut of_column: Vec<LabFigure> = rows
                .filter_map(|row| lab_figure(publication, row, column, &name, (unit, run), table))
                .collect();
            let base = of_column.iter().find(|figure| Some(&figure.row) == publication.base.as_ref());
            // Multiples of a cost beside an index, which counts the opposite, would mislead: the changes are compared instead.
            let base = base.and_then(|figure| figure.value).filter(|_| publication.unit != Unit::Index);
            of_column.iter_mut().for_each(|figure| figure.to_base = ratio(figure.value, base));
            figures.append(&mut of_column);
        }
        InLab { unit, run: run.id.clone(), figures }
    }
}

fn lab_figure(
    publication: &Publication,
    row: &Row,
    column: &Column,
    name: &str,
    (unit, run): (LabUnit, &Document),
    table: &Table,
) -> Option<LabFigure> {
    let (entry, operation) = row.in_lab(table)?;
    let set = publication.lab_set(row, column, table);
    let of_set = |row: &&document::Row| {
        (row.entry.as_str(), row.operation.as_str()) == (entry, operation)
            && set.iter().all(|(switch, value)| row.configuration.get(switch) == Some(value))
    };
    let found = run.results.iter().find(of_set);
    let cost = found.and_then(|row| unit.cost(row));
    let value = cost.map(|cost| cost.estimate);
    let interval = cost.filter(|_| unit != LabUnit::Instructions);
    let reason = found.map_or_else(
        || Some("the lab did not measure it".to_string()),
        |row| row.reason.clone().or_else(|| value.is_none().then(|| "the lab has no figure for it".into())),
    );
    Some(LabFigure {
        row: row.name.clone(),
        entry: entry.into(),
        operation: operation.into(),
        column: name.into(),
        set: publication.set(row, column),
        value,
        ci_low: interval.and_then(|cost| cost.ci_low),
        ci_high: interval.and_then(|cost| cost.ci_high),
        to_base: None,
        reason,
    })
}

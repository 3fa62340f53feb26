//! A comparison as CSV: a line for each row, with every digit. Like JSON, it has all rows. What the sides are, and what else differs, is in
//! JSON alone.

use crate::Error;
use crate::grid::{Cell, Column, Grid};
use compare::{Change, Comparison, Row, RowSide, Unit};

type Side = (&'static str, fn(&Row) -> Option<&RowSide>);
type Figure<T> = (&'static str, fn(&T) -> Option<f64>);

const SIDES: [Side; 2] = [("base", |row| row.base.as_ref()), ("new", |row| row.new.as_ref())];

const FIGURES: [Figure<RowSide>; 3] =
    [("estimate", |side| side.estimate), ("ci_low", |side| side.low), ("ci_high", |side| side.high)];

/// The interval is as sure as `confidence` says, which is more than 95 % where there are many rows.
const CHANGES: [Figure<Change>; 7] = [
    ("change", |change| Some(change.estimate)),
    ("change_ci_low", |change| Some(change.low)),
    ("change_ci_high", |change| Some(change.high)),
    ("percent", |change| change.percent),
    ("percent_ci_low", |change| change.percent_low),
    ("percent_ci_high", |change| change.percent_high),
    ("confidence", |change| Some(change.confidence)),
];

pub(super) fn render(compared: &Comparison) -> Result<Vec<u8>, Error> {
    Grid::of(&compared.rows)
        .column(Column::text("entry"), |row| &row.entry)
        .column(Column::text("operation"), |row| &row.operation)
        .column(Column::number("bits"), |row| row.bits)
        .column(Column::text("configuration"), configuration)
        .column(Column::text("verdict"), verdict)
        .column(Column::text("within_margin"), |row| {
            row.change.as_ref().map(|_| row.within_margin.to_string())
        })
        .column(Column::text("unit"), |row| row.unit.map(Unit::name))
        .for_each(SIDES, |rows, (name, side)| {
            rows.column(Column::text(format!("{name}_outcome")), move |row| {
                side(row).map(|side| side.outcome.name())
            })
            .column(Column::text(format!("{name}_reason")), move |row| side(row)?.reason.as_ref())
            .column(Column::number(format!("{name}_runs")), move |row| side(row).map(|side| side.runs))
            .for_each(FIGURES, |rows, (figure, of)| {
                rows.column(Column::number(format!("{name}_{figure}")), move |row| side(row).and_then(of))
            })
        })
        .for_each(CHANGES, |rows, (name, of)| {
            rows.column(Column::number(name), move |row| row.change.as_ref().and_then(of))
        })
        .column(Column::number("margin"), |row| row.margin)
        .column(Column::text("remarks"), |row| row.remarks.join("; "))
        .grid()
        .csv()
}

fn configuration(row: &Row) -> Cell {
    Cell::Names(row.configuration.iter().map(|(name, value)| format!("{name}={value}")).collect())
}

/// As JSON has it.
fn verdict(row: &Row) -> String {
    row.verdict.name().replace(' ', "-")
}

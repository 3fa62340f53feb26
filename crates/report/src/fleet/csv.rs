//! A fleet as CSV: a line for each row of each odd host, or for each row of each stratum.

use super::words::values;
use crate::Error;
use crate::grid::{Column, Grid, Items};
use ::fleet::{Answer, Difference, Judgement, OddHost, Rollout, RolloutRow, RowName, Stratum};

/// An odd host with one of its rows; without, where only all of them together say that it is odd.
type Odd<'a> = (&'a OddHost, Option<&'a Difference>);

pub(super) fn of_judgement(judgement: &Judgement) -> Result<Vec<u8>, Error> {
    let of_host = |odd: &OddHost| odd.rows.len().max(1);
    let lines: Vec<Odd> = judgement
        .odd
        .iter()
        .flat_map(|odd| (0..of_host(odd)).map(move |place| (odd, odd.rows.get(place))))
        .collect();
    let grid = Grid::of(&lines)
        .column(Column::text("host"), |line| &line.0.host)
        .column(Column::text("cohort"), |line| &line.0.cohort)
        .column(Column::number("host_p"), |line| line.0.p)
        .column(Column::number("host_q"), |line| line.0.q);
    named(grid, |line| line.1.map(|row| &row.name))
        .column(Column::text("unit"), |line| line.1.map(|row| row.unit.name()))
        .column(Column::number("estimate"), |line| line.1.map(|row| row.estimate))
        .column(Column::number("median"), |line| line.1.map(|row| row.median))
        .column(Column::number("difference"), |line| line.1.map(|row| row.difference))
        .column(Column::number("difference_low"), |line| line.1.map(|row| row.difference_low))
        .column(Column::number("difference_high"), |line| line.1.map(|row| row.difference_high))
        .column(Column::number("percent"), |line| line.1.and_then(|row| row.percent))
        .column(Column::number("percent_low"), |line| line.1.and_then(|row| row.percent_low))
        .column(Column::number("percent_high"), |line| line.1.and_then(|row| row.percent_high))
        .column(Column::number("p"), |line| line.1.map(|row| row.p))
        .column(Column::text("is_clear"), |line| line.1.map(|row| row.is_clear.to_string()))
        .grid()
        .csv()
}

pub(super) fn of_rollout(rollout: &Rollout) -> Result<Vec<u8>, Error> {
    let lines: Vec<(&Stratum, &RolloutRow)> = rollout
        .strata
        .iter()
        .flat_map(|stratum| stratum.rows.iter().map(move |row| (stratum, row)))
        .collect();
    let grid = Grid::of(&lines)
        .column(Column::text("stratum"), |line| &line.0.id)
        .column(Column::text("facts"), |line| values(&line.0.facts));
    named(grid, |line| Some(&line.1.name))
        .column(Column::text("unit"), |line| line.1.unit.name())
        .column(Column::number("pairs"), |line| line.1.pairs)
        .column(Column::number("before"), |line| line.1.before)
        .column(Column::number("after"), |line| line.1.after)
        .column(Column::number("percent"), |line| line.1.percent)
        .column(Column::number("percent_low"), |line| line.1.percent_low)
        .column(Column::number("percent_high"), |line| line.1.percent_high)
        .column(Column::number("p"), |line| line.1.p)
        .column(Column::number("q"), |line| line.1.q)
        .column(Column::number("spread_percent"), |line| line.1.spread_percent)
        .column(Column::text("verdict"), |line| line.1.verdict.name())
        .column(Column::number("above_limit"), |line| line.1.above_limit)
        .column(Column::text("gate"), |line| line.1.gate.map(Answer::name))
        .grid()
        .csv()
}

/// With the columns that name a row.
fn named<'a, T>(items: Items<'a, T>, name: impl Fn(&'a T) -> Option<&'a RowName>) -> Items<'a, T> {
    items
        .column(Column::text("entry"), |line| name(line).map(|name| &name.entry))
        .column(Column::text("operation"), |line| name(line).map(|name| &name.operation))
        .column(Column::number("bits"), |line| name(line).map(|name| name.bits))
        .column(Column::text("configuration"), |line| name(line).and_then(|name| name.configuration.as_ref()))
}

//! The table of a text report: its columns, and the lines of a row.

use super::groups::{Group, Kind, Names};
use super::interval::{WrittenChange, in_percent, in_unit};
use super::words::outcomes;
use crate::bar::change_bar;
use crate::figure::number;
use crate::grid::{self, Cell, Column, Fitted, Grid, fits_a_name, wide};
use crate::line::{Line, look, wrapped};
use compare::{Change, Row, RowSide, Unit, Verdict};

/// The widest entry that operations are moved to the right for.
const ALIGNED: usize = 20;

/// Columns of the mark before a name, with the blank behind it; and blanks behind an entry.
const MARK: usize = 2;
const BEHIND_ENTRY: usize = 2;

/// What stands behind a text that goes on.
const CUT: &str = " …";

/// Where what became of a row goes on.
const BELOW: usize = 6;

/// Blanks between columns.
const GAP: usize = 1;

/// What is left out first on a narrow terminal. How sure a change is comes before its picture, which needs all figures beside it.
const PERCENT_ERROR: u8 = 4;
const NEW: u8 = 3;
const BASE: u8 = 2;
const ERROR: u8 = 1;

/// Above columns that the legend explains.
pub(super) const ERRORS: &str = "±";
pub(super) const BARS: &str = "log";

/// The unit of all figures; none where they differ.
pub(super) fn unit(groups: &[Group]) -> Option<Unit> {
    let changed = groups.iter().flat_map(|group| &group.rows).filter(|row| row.change.is_some());
    let mut units = changed.filter_map(|row| row.unit);
    let first = units.next()?;
    units.all(|unit| unit == first).then_some(first)
}

/// All rows, in the order of their groups, with room for the groups' headings.
pub(super) fn grid(groups: &[Group], headings: &[String], names: &Names, width: usize) -> Grid {
    let unit = unit(groups);
    let of_group = groups.iter().map(|group| group.rows.iter().map(|row| (group.kind, *row)));
    let rows: Vec<(Kind, &Row)> = of_group.flatten().collect();
    let entries = rows.iter().map(|(_, row)| wide(&row.entry)).filter(|entry| *entry <= ALIGNED);
    let entry = entries.max().unwrap_or(0);
    let headings =
        headings.iter().map(|heading| wide(heading)).filter(|heading| fits_a_name(*heading, width));
    let marked = |(kind, row): &(Kind, &Row)| Cell::Marked {
        mark: mark(*kind),
        names: [row.entry.clone(), names.operation(row)],
        second: MARK + entry.max(wide(&row.entry)) + BEHIND_ENTRY,
    };
    let number = |heading: &str| Column::number(heading).gap(GAP).look(look::FAINT);
    let bold = |heading: &str| number(heading).look(look::NAME);
    let plain = |heading: &str| number(heading).look(look::PLAIN);
    let percent = |change: &Change| in_percent(change).map(|WrittenChange { change, .. }| change);
    let percent_error = |change: &Change| in_percent(change).map(|WrittenChange { beside, .. }| beside);
    Grid::of(&rows)
        .column(Column::name("").least(headings.max().unwrap_or(0)), marked)
        .column(plain("base").spare(BASE), |(_, row)| figure(row, |_| estimate(&row.base)))
        .column(plain("new").spare(NEW), |(_, row)| figure(row, |_| estimate(&row.new)))
        .column(bold("change"), |(_, row)| {
            let unit = if unit.is_some() { "" } else { row.unit.map_or("", short) };
            figure(row, |change| Some(format!("{}{unit}", in_unit(change).change)))
        })
        .column(number(ERRORS).spare(ERROR), |(_, row)| error(row, |change| Some(in_unit(change).beside)))
        .column(bold("%"), |(_, row)| figure(row, percent))
        .column(number(ERRORS).spare(PERCENT_ERROR), |(_, row)| error(row, percent_error))
        .column(Column::bar(BARS).spare(NEW).gap(GAP).look(look::BAR), |(_, row)| {
            let change = row.change.as_ref().and_then(|change| change.percent);
            change.map_or_else(|| "".into(), |percent| Cell::Bar(percent, change_bar))
        })
        .grid()
}

fn estimate(side: &Option<RowSide>) -> Option<String> {
    side.as_ref().and_then(|side| side.estimate).map(number)
}

/// Nothing where words stand instead.
fn figure(row: &Row, text: impl Fn(&Change) -> Option<String>) -> Cell {
    row.change.as_ref().map_or_else(|| "".into(), |change| text(change).into())
}

/// What is counted has no interval.
fn error(row: &Row, text: impl Fn(&Change) -> Option<String>) -> Cell {
    if row.unit == Some(Unit::Instructions) { "".into() } else { figure(row, text) }
}

/// A row: mark, name, and its figures or what became of it; the latter whole, or on one line.
pub(super) fn lines(table: &Fitted, cells: &grid::Row, row: &Row, is_whole: bool) -> Vec<Line> {
    if row.change.is_some() {
        return table.row(cells);
    }
    let (mut lines, mut line) = table.named(cells);
    line.blank(GAP);
    // On one line, it leaves room for the mark that says so.
    let width = table.width - if is_whole { 0 } else { wide(CUT) };
    let became = wrapped(line, look::PLAIN, &outcomes(row), width, BELOW);
    lines.extend(if is_whole { became } else { cut(became) });
    lines
}

/// The first of the lines, with a mark where there are more.
fn cut(mut lines: Vec<Line>) -> Vec<Line> {
    if lines.len() > 1 {
        lines.truncate(1);
        lines[0].push(look::FAINT, CUT);
    }
    lines
}

/// Behind a number among numbers of other units.
pub(super) fn short(unit: Unit) -> &'static str {
    match unit {
        Unit::Cycles => "c",
        Unit::Ns => "ns",
        Unit::Instructions => "i",
    }
}

/// What stands before a row, and how it looks.
fn mark(kind: Kind) -> (&'static str, anstyle::Style) {
    match (kind.verdict, kind.is_within) {
        (Verdict::Closed, _) => ("×", look::WRONG),
        (Verdict::Opened, _) => ("○", look::GOOD),
        (Verdict::CauseChanged, _) => ("≠", look::CLOSED),
        (Verdict::Slower, false) => ("▲", look::WRONG),
        (Verdict::Slower, true) => ("△", look::WARNING),
        (Verdict::Faster, false) => ("▼", look::GOOD),
        (Verdict::Faster, true) => ("▽", look::GOOD),
        (Verdict::Inconclusive, _) => ("?", look::WARNING),
        (Verdict::Same, _) => ("=", look::FAINT),
        (Verdict::NoFigure | Verdict::StillClosed | Verdict::Absent, _) => ("-", look::FAINT),
    }
}

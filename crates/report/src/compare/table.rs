//! The table of a text report: its columns, how wide they are, and the lines of a row.

use super::groups::{Group, Kind, Names};
use super::interval::{UNCERTAIN, in_percent, in_unit, is_uncertain, of_row};
use super::words::outcomes;
use crate::bar::change_bar;
use crate::figure::{ABSENT, number};
use crate::line::{Line, look, wrapped};
use crate::plain::plain;
use compare::{Row, RowSide, Unit, Verdict};
use unicode_width::UnicodeWidthStr;

/// Columns of a bar.
const BAR: std::ops::RangeInclusive<usize> = 6..=24;

/// The widest entry that operations are moved to the right for.
const ALIGNED: usize = 20;

/// Columns of the mark before a name, with the blank behind it.
const MARK: usize = 2;

/// What stands behind a text that goes on.
const CUT: &str = " …";

/// Blanks between columns.
const GAP: usize = 1;

/// One column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Base,
    New,
    Change,
    /// How far the change's interval reaches, or its ends.
    Error,
    Percent,
    PercentError,
    Bar,
}

/// From the richest table to the poorest: the first that fits is taken.
const CHOICES: [&[Column]; 7] = {
    use Column::{Bar, Base, Change, Error, New, Percent, PercentError};
    [
        &[Base, New, Change, Error, Percent, PercentError, Bar],
        // How sure a change is comes before its picture.
        &[Base, New, Change, Error, Percent, PercentError],
        &[Base, New, Change, Error, Percent, Bar],
        &[Base, New, Change, Error, Percent],
        &[Base, Change, Error, Percent],
        &[Change, Error, Percent],
        &[Change, Percent],
    ]
};

impl Column {
    fn heading(self) -> &'static str {
        match self {
            Column::Base => "base",
            Column::New => "new",
            Column::Change => "change",
            Column::Error | Column::PercentError => "±",
            Column::Percent => "%",
            Column::Bar => "log",
        }
    }

    fn look(self) -> anstyle::Style {
        match self {
            Column::Change | Column::Percent => look::NAME,
            Column::Bar => look::BAR,
            Column::Error | Column::PercentError => look::FAINT,
            Column::Base | Column::New => look::PLAIN,
        }
    }
}

/// The table of some groups.
pub(super) struct Table<'a> {
    names: &'a Names<'a>,
    /// The unit of all figures; none where they differ.
    unit: Option<Unit>,
    width: usize,
    /// Width of the entries, behind which the operations are aligned.
    entry: usize,
    /// Width of mark and name.
    name: usize,
    columns: Vec<(Column, usize)>,
}

impl<'a> Table<'a> {
    /// Of groups with these headings.
    pub fn of(groups: &[Group], labels: &[String], names: &'a Names<'a>, width: usize) -> Table<'a> {
        let rows: Vec<&Row> = groups.iter().flat_map(|group| &group.rows).copied().collect();
        let units: Vec<Unit> =
            rows.iter().filter(|row| row.change.is_some()).filter_map(|row| row.unit).collect();
        let unit = units.first().copied().filter(|first| units.iter().all(|unit| unit == first));
        let entries = rows.iter().map(|row| plain(&row.entry).width()).filter(|width| *width <= ALIGNED);
        let entry = entries.max().unwrap_or(0);
        let mut table = Table { names, unit, width, entry, name: 0, columns: Vec::new() };
        let of_rows = rows.iter().map(|row| MARK + table.name(row).width());
        let widths = of_rows.chain(labels.iter().map(|label| label.width()));
        table.name = widths.filter(|name| *name <= width * 55 / 100).max().unwrap_or(0);
        let choices = CHOICES.map(|columns| table.fitted(columns, &rows));
        let fits = |columns: &&Vec<(Column, usize)>| table.needs(columns) <= width;
        table.columns = choices.iter().find(fits).unwrap_or(&choices[CHOICES.len() - 1]).clone();
        let spare = width.saturating_sub(table.needs(&table.columns));
        if let Some((_, bar)) = table.columns.iter_mut().find(|(column, _)| *column == Column::Bar) {
            *bar = (*bar + spare).min(*BAR.end());
        }
        table
    }

    /// Columns with the width of their widest cell.
    fn fitted(&self, columns: &[Column], rows: &[&Row]) -> Vec<(Column, usize)> {
        let width = |column: Column| {
            let changed = rows.iter().filter(|row| row.change.is_some());
            let cells = changed.map(|row| self.cell(column, row, *BAR.start()).width()).max().unwrap_or(0);
            let least = if column == Column::Bar { *BAR.start() } else { column.heading().width() };
            cells.max(least)
        };
        columns.iter().map(|column| (*column, width(*column))).collect()
    }

    fn needs(&self, columns: &[(Column, usize)]) -> usize {
        self.name + columns.iter().map(|(_, width)| GAP + width).sum::<usize>()
    }

    pub fn has(&self, column: Column) -> bool {
        self.columns.iter().any(|(had, _)| *had == column)
    }

    /// Whether a change has no percent.
    pub fn lacks_percent(&self, rows: &[&Row]) -> bool {
        let lacks = |row: &&Row| row.change.as_ref().is_some_and(|change| change.percent.is_none());
        self.has(Column::Percent) && rows.iter().any(lacks)
    }

    /// The unit of all figures; none where they differ.
    pub fn unit(&self) -> Option<Unit> {
        self.unit
    }

    /// The entry, and behind it, aligned, the operation.
    fn name(&self, row: &Row) -> String {
        let (entry, operation) = (plain(&row.entry), plain(&self.names.operation(row)));
        let gap = self.entry.saturating_sub(entry.width());
        format!("{entry}{}  {operation}", " ".repeat(gap))
    }

    fn cell(&self, column: Column, row: &Row, width: usize) -> String {
        let Some(change) = &row.change else { return ABSENT.to_owned() };
        let estimate = |side: &Option<RowSide>| side.as_ref().and_then(|side| side.estimate).map(number);
        let unit = if self.unit.is_some() { "" } else { row.unit.map_or("", short) };
        let text = match column {
            Column::Base => estimate(&row.base),
            Column::New => estimate(&row.new),
            Column::Change if is_uncertain(row, change) => Some(UNCERTAIN.to_owned()),
            Column::Change => Some(format!("{}{unit}", in_unit(change).change)),
            // What is counted has no interval.
            Column::Error | Column::PercentError if row.unit == Some(Unit::Instructions) => {
                Some(String::new())
            }
            Column::Error => Some(of_row(row, change, in_unit(change)).beside),
            Column::Percent => in_percent(change).map(|written| of_row(row, change, written).change),
            Column::PercentError => in_percent(change).map(|written| of_row(row, change, written).beside),
            Column::Bar if is_uncertain(row, change) => Some(String::new()),
            Column::Bar => Some(change.percent.map(|percent| change_bar(percent, width)).unwrap_or_default()),
        };
        text.unwrap_or_else(|| ABSENT.to_owned())
    }

    /// What a group is called, and the columns' names.
    pub fn heading(&self, label: &str, kind: Kind) -> Line {
        let mut line = Line::new(look::HEADING, label);
        // A heading that is too long stands alone; others have the columns' names.
        if kind.has_change() && line.width() <= self.name {
            line.blank_to(self.name);
            for (column, width) in &self.columns {
                line.blank(GAP);
                if *column == Column::Bar {
                    line.push(look::FAINT, column.heading());
                } else {
                    line.push_right(look::FAINT, column.heading(), *width);
                }
            }
        }
        line
    }

    /// A row: mark, name, and its figures or what became of it; the latter whole, or on one line.
    pub fn row(&self, row: &Row, kind: Kind, is_whole: bool) -> Vec<Line> {
        let (mark, look) = mark(kind);
        let name = self.name(row);
        let mut line = Line::new(look, mark);
        line.blank(1);
        let (mut lines, mut line) = if MARK + name.width() <= self.name {
            line.push(look::PLAIN, &name);
            line.blank_to(self.name);
            (Vec::new(), line)
        } else {
            let mut next = Line::default();
            next.blank_to(self.name);
            (
                wrapped(
                    line,
                    look::PLAIN,
                    &format!("{} {}", row.entry, self.names.operation(row)),
                    self.width,
                    4,
                ),
                next,
            )
        };
        if row.change.is_some() {
            self.figures(&mut line, row);
            lines.push(line);
        } else {
            line.blank(GAP);
            // On one line, it leaves room for the mark that says so.
            let width = if is_whole { self.width } else { self.width - CUT.width() };
            let became = wrapped(line, look::PLAIN, &outcomes(row), width, 6);
            lines.extend(if is_whole { became } else { cut(became) });
        }
        lines
    }

    fn figures(&self, line: &mut Line, row: &Row) {
        for (column, width) in &self.columns {
            line.blank(GAP);
            let cell = self.cell(*column, row, *width);
            if *column == Column::Bar {
                line.push(column.look(), &cell);
            } else {
                line.push_right(column.look(), &cell, *width);
            }
        }
    }
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

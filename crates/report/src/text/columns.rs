//! Columns of the table of a report: which there are, how wide they are, and what stands in them.
//!
//! It is no `grid`: a cost and its interval are two columns below one name, which is the unit of each group; gaps become narrower before a
//! column is left out, and details are shown all or not at all; titles, reasons and remarks stand between rows. A grid would need a switch for
//! each of these, which no other table has.

use super::names::NameColumn;
use super::suffix;
use crate::Style;
use crate::arrange::Group;
use crate::bar;
use crate::cells::{DETAILS, Figures, RunColumn, error, estimate, has_figures};
use crate::figure::{Unit, shown};
use crate::grid::fits_a_name;
use crate::line::{Line, look};
use document::{Path, Row};
use unicode_width::UnicodeWidthStr;

/// What stands above the bars where it fits.
const BAR_HEADING: &str = "logarithmic";

/// The columns of an ordinary report. The first screen has no percentile, and a verbose report has [`DETAILS`], too.
const USUAL: [RunColumn; 7] = [
    RunColumn::Where,
    RunColumn::Cost,
    RunColumn::Ns,
    RunColumn::ToSyscall,
    RunColumn::ToCall,
    RunColumn::Bar,
    RunColumn::P99,
];

/// What a report goes without on a narrow screen, one after the other until the rest fits.
const DISPENSABLE: [Dispensable; 6] = [
    Dispensable::Column(RunColumn::ToCall),
    Dispensable::Column(RunColumn::Bar),
    Dispensable::Column(RunColumn::P99),
    Dispensable::Column(RunColumn::ToSyscall),
    Dispensable::Column(RunColumn::Ns),
    Dispensable::Interval,
];

/// The same of the first screen.
const DISPENSABLE_FIRST: [Dispensable; 5] = [
    Dispensable::Column(RunColumn::ToCall),
    Dispensable::Column(RunColumn::Bar),
    Dispensable::Column(RunColumn::ToSyscall),
    Dispensable::Column(RunColumn::Ns),
    Dispensable::Interval,
];

/// What is left out.
#[derive(Debug, Clone, Copy)]
enum Dispensable {
    Column(RunColumn),
    /// The cost's.
    Interval,
}

/// Some columns, and whether the cost has its interval.
#[derive(Debug, Clone, PartialEq)]
struct Choice {
    columns: Vec<RunColumn>,
    interval: bool,
}

impl Choice {
    /// From the richest to the poorest: the first that fits is taken.
    fn all(is_first_screen: bool, verbose: bool) -> Vec<Choice> {
        let details = Choice { columns: [&USUAL[..], &DETAILS].concat(), interval: true };
        let mut all: Vec<Choice> = verbose.then_some(details).into_iter().collect();
        let usual = USUAL.into_iter().filter(|column| !is_first_screen || *column != RunColumn::P99);
        let mut choice = Choice { columns: usual.collect(), interval: true };
        let dispensable = if is_first_screen { DISPENSABLE_FIRST.as_slice() } else { &DISPENSABLE };
        for without in dispensable {
            all.push(choice.clone());
            match without {
                Dispensable::Column(column) => choice.columns.retain(|had| had != column),
                Dispensable::Interval => choice.interval = false,
            }
        }
        all.push(choice);
        all
    }
}

/// The rows that have numbers, each with its group's unit, and what makes cells of them.
struct Cells<'a> {
    rows: Vec<(&'a Row, Option<Unit>)>,
    figures: &'a Figures<'a>,
}

impl<'a> Cells<'a> {
    fn of(groups: &[Group<'a>], figures: &'a Figures) -> Self {
        let rows = groups.iter().flat_map(|group| {
            let unit = group.unit;
            let rows = group.blocks.iter().flat_map(|block| block.rows.iter());
            rows.map(move |row| (*row, unit))
        });
        Self { rows: rows.filter(|(row, _)| has_figures(row)).collect(), figures }
    }

    fn widest(&self, cell: impl Fn(&Row, Option<Unit>) -> String) -> usize {
        let widths = self.rows.iter().map(|(row, unit)| cell(row, *unit).width());
        widths.max().unwrap_or(0)
    }

    /// What a column needs; nothing where it has nothing to say.
    fn width(&self, column: RunColumn) -> usize {
        match column {
            RunColumn::Cost => self.cost(true).0,
            column if !self.figures.has(column) => 0,
            column if self.figures.are_counted() && !column.is_of_counts() => 0,
            RunColumn::Bar => *bar::COLUMNS.start(),
            _ => {
                let cells = self.widest(|row, _| self.figures.cell(column, row));
                cells.max(column.heading().width())
            }
        }
    }

    /// What an estimate and its interval need, with room for the unit's name above them: in full when both are there.
    fn cost(&self, with_error: bool) -> (usize, usize) {
        let estimate =
            self.widest(|row, unit| estimate(row, shown(row).map_or("", |shown| suffix(unit, shown.unit))));
        if self.figures.are_counted() {
            return (estimate.max(Unit::Instructions.name().len()), 0);
        }
        if !with_error {
            return (estimate.max(Unit::Cycles.short().len()), 0);
        }
        let error = self.widest(|row, _| error(row));
        let units = self.rows.iter().filter_map(|(_, unit)| *unit);
        let heading = units.map(|unit| unit.name().len()).max().unwrap_or(0);
        (estimate.max(heading.saturating_sub(1 + error)).max(1), error)
    }
}

/// The columns of a report.
pub(super) struct Layout {
    /// Width of the names.
    pub name: usize,
    /// Blanks between columns.
    pub gap: usize,
    estimate: usize,
    error: usize,
    columns: Vec<(RunColumn, usize)>,
}

impl Layout {
    /// The richest layout that fits, and within it the widest bar.
    pub fn of(groups: &[Group], figures: &Figures, style: &Style) -> Self {
        let width = style.columns();
        let cells = Cells::of(groups, figures);
        let make =
            |columns: &[RunColumn], error, gap| Self::with(&cells, columns, error, gap).named(groups, width);
        let is_first_screen = groups.iter().any(|group| group.name.is_empty());
        let choices = Choice::all(is_first_screen, style.verbose);
        let mut layouts =
            choices.iter().flat_map(|choice| [2, 1].map(|gap| make(&choice.columns, choice.interval, gap)));
        let fitting = layouts.find(|layout| layout.width() <= width);
        let mut layout = fitting.unwrap_or_else(|| make(&[RunColumn::Cost], false, 1));
        let spare = width.saturating_sub(layout.width());
        let mut columns = layout.columns.iter_mut();
        if let Some((_, width)) = columns.find(|(column, _)| *column == RunColumn::Bar) {
            *width = (*width + spare).min(*bar::COLUMNS.end());
        }
        layout
    }

    fn with(cells: &Cells, columns: &[RunColumn], with_error: bool, gap: usize) -> Self {
        let (estimate, error) = cells.cost(with_error);
        let columns = columns.iter().map(|column| (*column, cells.width(*column)));
        Self { name: 0, gap, estimate, error, columns: columns.filter(|(_, width)| *width > 0).collect() }
    }

    /// With a column for the names; those that would take more than it may stand on a line of their own.
    fn named(mut self, groups: &[Group], width: usize) -> Self {
        let names = groups.iter().flat_map(|group| {
            group.blocks.iter().flat_map(move |block| {
                let joined = NameColumn::joined(group, block).map(|name| name.line().width());
                let operations = block.shown().iter().map(|row| NameColumn::operation(row).line().width());
                joined.map_or_else(|| operations.collect(), |joined| vec![joined])
            })
        });
        let headings = groups.iter().map(|group| group.name.width());
        self.name = names.chain(headings).filter(|name| fits_a_name(*name, width)).max().unwrap_or(0);
        self
    }

    fn width(&self) -> usize {
        let column = |(column, width): &(RunColumn, usize)| match column {
            RunColumn::Cost => self.gap + self.cost(),
            _ => self.gap + width,
        };
        self.name + self.columns.iter().map(column).sum::<usize>()
    }

    /// Width of the estimate with its interval.
    fn cost(&self) -> usize {
        self.estimate + if self.error > 0 { 1 + self.error } else { 0 }
    }

    pub fn has(&self, column: RunColumn) -> bool {
        self.columns.iter().any(|(had, _)| *had == column)
    }

    pub fn has_error(&self) -> bool {
        self.error > 0
    }

    pub fn has_details(&self) -> bool {
        self.has(RunColumn::Min)
    }

    /// The columns' names, behind a group's.
    pub fn heading(&self, line: &mut Line, unit: Option<Unit>) {
        line.blank_to(self.name);
        for (column, width) in &self.columns {
            line.blank(self.gap);
            match column {
                RunColumn::Cost => line.push_right(look::FAINT, self.unit_heading(unit), self.cost()),
                RunColumn::Where => line.blank(*width),
                RunColumn::Bar => {
                    let end = line.width() + width;
                    let fits = BAR_HEADING.len() <= *width;
                    line.push(look::FAINT, if fits { BAR_HEADING } else { "log" });
                    line.blank_to(end);
                }
                _ => line.push_right(look::FAINT, column.heading(), *width),
            }
        }
    }

    fn unit_heading(&self, unit: Option<Unit>) -> &'static str {
        match unit {
            None => "cost",
            Some(unit) if unit.name().len() <= self.cost() => unit.name(),
            Some(unit) => unit.short(),
        }
    }

    /// A row's cells, behind its name.
    pub fn row(&self, line: &mut Line, row: &Row, figures: &Figures, suffix: &str) {
        for (column, width) in &self.columns {
            line.blank(self.gap);
            match column {
                RunColumn::Cost => self.cost_cell(line, row, suffix),
                RunColumn::Where => {
                    let end = line.width() + width;
                    line.push(place_look(row), figures.place(row));
                    line.blank_to(end);
                }
                RunColumn::Bar => {
                    let bar = shown(row).map(|shown| bar::bar(shown.cost.estimate, *width));
                    let bar = bar.unwrap_or_default();
                    line.push(look::BAR, &bar);
                    line.blank(width - bar.width());
                }
                _ => line.push_right(look::PLAIN, &figures.cell(*column, row), *width),
            }
        }
    }

    fn cost_cell(&self, line: &mut Line, row: &Row, suffix: &str) {
        line.push_right(look::NAME, &estimate(row, suffix), self.estimate);
        if self.error > 0 {
            line.push_right(look::FAINT, &error(row), 1 + self.error);
        }
    }
}

/// A function that stays in user space stands out: that is what one looks for.
pub(super) fn place_look(row: &Row) -> anstyle::Style {
    if row.path == Some(Path::User) { look::GOOD } else { look::FAINT }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_has_less_than_the_one_before_and_the_last_has_the_cost() {
        for (is_first_screen, verbose) in [(false, false), (true, false), (false, true)] {
            let all = Choice::all(is_first_screen, verbose);
            let content = |choice: &Choice| choice.columns.len() + usize::from(choice.interval);
            assert!(all.is_sorted_by(|richer, poorer| content(richer) > content(poorer)), "{all:?}");
            let last = Choice { columns: vec![RunColumn::Where, RunColumn::Cost], interval: false };
            assert_eq!(all.last(), Some(&last));
            let percentile = all.iter().any(|choice| choice.columns.contains(&RunColumn::P99));
            assert_eq!(percentile, !is_first_screen);
        }
    }
}

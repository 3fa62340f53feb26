//! Several configurations of the lab side by side: a line for each operation, a column for each configuration.

use super::names::NameColumn;
use super::notes::mark;
use super::{Report, suffix};
use crate::Style;
use crate::arrange::{Block, Group, configurations};
use crate::cells::{estimate, has_figures};
use crate::figure::{ABSENT, Unit, shown};
use crate::lab::switches;
use crate::line::{Line, look};
use document::{Document, Row};
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthStr;

/// Blanks between columns.
const GAP: usize = 2;

/// The columns, and what their marks mean.
pub(super) struct Matrix<'a> {
    configurations: Vec<&'a BTreeMap<String, String>>,
    groups: Vec<Group<'a>>,
    reasons: Vec<String>,
    name: usize,
    figure: usize,
    mark: usize,
}

impl<'a> Matrix<'a> {
    /// None when there is nothing to compare, or no room for it.
    pub fn of(document: &'a Document, groups: &[Group<'a>], style: &Style) -> Option<Self> {
        let configurations = configurations(document);
        let are_compared = configurations.len() > 1 && configurations.iter().all(|all| !all.is_empty());
        if style.verbose || !are_compared {
            return None;
        }
        let (name, figure, mark) = (0, letter(configurations.len() - 1).len(), 0);
        let groups = groups.iter().map(joined).collect();
        let mut matrix = Self { configurations, groups, reasons: Vec::new(), name, figure, mark };
        matrix.measure();
        (matrix.width() <= style.columns()).then_some(matrix)
    }

    fn measure(&mut self) {
        let mut reasons: Vec<String> = Vec::new();
        for group in &self.groups {
            self.name = self.name.max(group.name.width());
            for block in group.blocks.iter().filter(|block| block.closed().is_none()) {
                let names =
                    operations(block).into_iter().map(|name| name_of(block, group, name).line().width());
                self.name = self.name.max(names.max().unwrap_or(0));
                let widths = block.rows.iter().map(|row| text(row, group.unit()).width());
                self.figure = self.figure.max(widths.max().unwrap_or(0));
                let new = block.rows.iter().filter_map(|row| reason(block, row));
                new.for_each(|reason| {
                    if !reasons.contains(&reason) {
                        reasons.push(reason);
                    }
                });
            }
        }
        self.mark = (0..reasons.len()).map(|index| 1 + mark(index).len()).max().unwrap_or(0);
        self.reasons = reasons;
    }

    fn width(&self) -> usize {
        self.name + self.configurations.len() * (GAP + self.figure + self.mark)
    }

    /// The columns' letters, behind a group's name.
    fn heading(&self, line: &mut Line, unit: Option<Unit>, width: usize) {
        line.blank_to(self.name);
        for index in 0..self.configurations.len() {
            line.blank(GAP);
            line.push_right(look::FAINT, &letter(index), self.figure);
            line.blank(self.mark);
        }
        let unit = format!("  {}", unit.map_or("cost", Unit::name));
        if line.has_room(&unit, width) {
            line.push(look::FAINT, &unit);
        }
    }

    fn row(&self, line: &mut Line, block: &Block, operation: &str, unit: Option<Unit>) {
        line.blank_to(self.name);
        for configuration in &self.configurations {
            let here = |row: &&&Row| row.operation == operation && row.configuration == **configuration;
            let row = block.rows.iter().find(here);
            line.blank(GAP);
            line.push_right(look::NAME, &row.map_or(String::new(), |row| text(row, unit)), self.figure);
            let end = line.width() + self.mark;
            if let Some(mark) = row.and_then(|row| self.mark_of(block, row)) {
                line.push(look::FAINT, &format!(" {mark}"));
            }
            line.blank_to(end);
        }
    }

    fn mark_of(&self, block: &Block, row: &Row) -> Option<String> {
        let reason = reason(block, row)?;
        self.reasons.iter().position(|known| *known == reason).map(mark)
    }
}

impl Report<'_> {
    /// What the letters above the columns stand for, the rows, and what the marks mean.
    pub(super) fn matrix(&self, matrix: &Matrix) -> Vec<Line> {
        let mut lines = vec![Line::default()];
        for (index, configuration) in matrix.configurations.iter().enumerate() {
            lines.extend(self.labelled(&letter(index), &switches(configuration)));
        }
        for group in &matrix.groups {
            lines.push(Line::default());
            let mut heading = Line::new(look::HEADING, group.name);
            matrix.heading(&mut heading, group.unit(), self.width);
            lines.push(heading);
            lines.extend(group.blocks.iter().flat_map(|block| self.compared(matrix, group, block)));
        }
        let marks = matrix.reasons.iter().enumerate();
        let legend: Vec<Line> =
            marks.flat_map(|(index, reason)| self.labelled(&mark(index), reason)).collect();
        if !legend.is_empty() {
            lines.push(Line::default());
            lines.extend(legend);
        }
        lines
    }

    fn compared(&self, matrix: &Matrix, group: &Group, block: &Block) -> Vec<Line> {
        if let Some(row) = block.closed() {
            return self.collapsed(block, row);
        }
        let operations = operations(block);
        let mut lines = if operations.len() > 1 { self.title(block) } else { Vec::new() };
        for operation in operations {
            let name = name_of(block, group, operation);
            let mut line = name.line();
            if !line.has_room("", matrix.name) {
                lines.extend(name.wrapped(self.width));
                line = Line::default();
            }
            matrix.row(&mut line, block, operation, group.unit());
            lines.push(line);
        }
        lines.extend(common(block).into_iter().flat_map(|reason| self.below(reason)));
        lines
    }
}

/// `A` to `Z`, then `A1`, `B1`, …
fn letter(index: usize) -> String {
    mark(index).to_uppercase()
}

/// With one block for each entry, of all its configurations.
fn joined<'a>(group: &Group<'a>) -> Group<'a> {
    let mut blocks: Vec<Block<'a>> = Vec::new();
    for block in &group.blocks {
        match blocks.iter_mut().find(|known| known.entry == block.entry) {
            Some(known) => known.rows.extend(&block.rows),
            None => blocks.push(Block {
                entry: block.entry,
                title: block.title,
                rows: block.rows.clone(),
                configuration: String::new(),
            }),
        }
    }
    Group { name: group.name, blocks }
}

fn operations<'a>(block: &Block<'a>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for row in &block.rows {
        if !names.contains(&row.operation.as_str()) {
            names.push(&row.operation);
        }
    }
    names
}

/// Beside its entry when it is the only one, with the operations of a group's such entries aligned.
fn name_of<'a>(block: &Block<'a>, group: &Group, operation: &'a str) -> NameColumn<'a> {
    if operations(block).len() > 1 {
        return NameColumn::named(operation);
    }
    let alone = group.blocks.iter().filter(|block| operations(block).len() == 1 && block.closed().is_none());
    NameColumn::single(block.entry, alone.map(|block| block.entry.width()).max().unwrap_or(0), operation)
}

fn text(row: &Row, group_unit: Option<Unit>) -> String {
    if !has_figures(row) {
        return ABSENT.to_owned();
    }
    estimate(row, shown(row).map_or("", |shown| suffix(group_unit, shown.unit)))
}

/// What a mark at a row stands for; nothing when it is said of the whole entry.
fn reason(block: &Block, row: &Row) -> Option<String> {
    let words = row.reason.as_deref();
    match (has_figures(row), words) {
        (true, words) => words.filter(|_| common(block).is_none()).map(str::to_owned),
        (false, words) => Some(format!("{}: {}", row.outcome.name(), words.unwrap_or(ABSENT))),
    }
}

/// The reason that all measured rows of an entry have.
fn common<'a>(block: &Block<'a>) -> Option<&'a str> {
    let mut reasons = block.rows.iter().filter(|row| has_figures(row)).map(|row| row.reason.as_deref());
    let first = reasons.next()??;
    reasons.all(|reason| reason == Some(first)).then_some(first)
}

//! Several configurations side by side: a line for each operation, a column for each configuration of the lab's switches,
//! or for each kind of core. It is no `grid`, as the other table of a run is none (`columns`): all of its columns are as wide as the widest,
//! are called by letters where their names are too long, and are either all shown or none.

use super::columns::place_look;
use super::configurations::{Configuration, closed_for_one_reason, letter};
use super::names::NameColumn;
use super::rows::word_look;
use super::{Report, after_blank, suffix};
use crate::Style;
use crate::arrange::{Block, Group};
use crate::cells::{Figures, estimate, has_figures};
use crate::configuration::Compared;
use crate::figure::{ABSENT, Unit, shown};
use crate::grid::fits_a_name;
use crate::line::{Line, look, wrapped};
use document::{Document, Outcome, Row};
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthStr;

/// Blanks between columns.
const GAP: usize = 2;

/// The longest label that stands above a column.
const LABEL: usize = 16;

/// The columns, and the rows in them.
pub(super) struct Matrix<'a> {
    columns: Vec<Configuration>,
    compared: &'a Compared<'a>,
    groups: Vec<Group<'a>>,
    name: usize,
    /// Width of the word that says where a row is served; none in the lab, whose kernel serves all but a few.
    place: usize,
    figure: usize,
}

/// The rows of an operation.
struct Cells<'a> {
    /// One that works.
    works: Option<&'a Row>,
    /// The first row of each column.
    columns: Vec<Option<&'a Row>>,
}

impl<'a> Matrix<'a> {
    /// None when there is nothing to compare, or no room for it.
    pub fn of(
        document: &'a Document,
        groups: &[Group<'a>],
        compared: &'a Compared<'a>,
        figures: &Figures,
        style: &Style,
    ) -> Option<Self> {
        let rows: Vec<&Row> = document.results.iter().collect();
        let labels = compared.all(&rows);
        let are_compared = labels.len() > 1 && labels.iter().all(|label| !label.is_empty());
        // Columns for which there is no room whatever is in them need not be made.
        if style.verbose || !are_compared || labels.len() * (GAP + 1) > style.columns() {
            return None;
        }
        let closed =
            |label: &String| closed_for_one_reason(rows.iter().filter(|row| compared.of(row) == *label));
        let column = |label: &String| Configuration {
            label: label.clone(),
            heading: label.clone(),
            closed: closed(label),
        };
        let columns = labels.iter().map(column).collect();
        let groups: Vec<Group> = groups.iter().map(joined).collect();
        let place = if document.is_of_lab() { 0 } else { GAP + figures.widest_place(&rows) };
        let mut matrix = Self { columns, compared, groups, name: 0, place, figure: 0 };
        matrix.measure(style.columns());
        if matrix.width() > style.columns() || labels.iter().any(|label| label.width() > LABEL) {
            for (index, column) in matrix.columns.iter_mut().enumerate() {
                column.heading = letter(index);
            }
            matrix.measure(style.columns());
        }
        (matrix.width() <= style.columns()).then_some(matrix)
    }

    /// Names that would take too much of the width stand on lines of their own.
    fn measure(&mut self, width: usize) {
        self.name = 0;
        self.figure = self.columns.iter().map(|column| column.heading.width()).max().unwrap_or(0);
        for group in &self.groups {
            self.name = self.name.max(group.name.width());
            for block in group.blocks.iter().filter(|block| block.closed().is_none()) {
                let operations = block.operations();
                let is_only = operations.len() == 1;
                let names = operations.iter().map(|name| name_of(block, group, is_only, name).line().width());
                self.name = self.name.max(names.filter(|name| fits_a_name(*name, width)).max().unwrap_or(0));
                let widths = block.rows.iter().map(|row| self.text(row, group.unit).width());
                self.figure = self.figure.max(widths.max().unwrap_or(0));
            }
        }
    }

    fn width(&self) -> usize {
        self.name + self.place + self.columns.len() * (GAP + self.figure)
    }

    /// The columns' letters, behind a group's name.
    fn heading(&self, line: &mut Line, unit: Option<Unit>, width: usize) {
        line.blank_to(self.name + self.place);
        for column in &self.columns {
            line.blank(GAP);
            line.push_right(look::FAINT, &column.heading, self.figure);
        }
        let unit = format!("  {}", unit.map_or("cost", Unit::name));
        if line.has_room(&unit, width) {
            line.push(look::FAINT, &unit);
        }
    }

    /// Where a row's figure belongs.
    fn column(&self, row: &Row) -> Option<usize> {
        let label = self.compared.of(row);
        self.columns.iter().position(|column| column.label == label)
    }

    /// The rows of a block by operation, each in its column.
    fn rows<'b>(&self, block: &Block<'b>) -> BTreeMap<&'b str, Cells<'b>> {
        let mut rows = BTreeMap::new();
        for row in &block.rows {
            let empty = || Cells { works: None, columns: vec![None; self.columns.len()] };
            let cells = rows.entry(row.operation.as_str()).or_insert_with(empty);
            if row.outcome == Outcome::Ok {
                cells.works.get_or_insert(*row);
            }
            if let Some(column) = self.column(row) {
                cells.columns[column].get_or_insert(*row);
            }
        }
        rows
    }

    fn row(&self, line: &mut Line, cells: &Cells, unit: Option<Unit>, figures: &Figures) {
        line.blank_to(self.name);
        if let Some(row) = cells.works.filter(|_| self.place > 0) {
            line.blank(GAP);
            line.push(place_look(row), figures.place(row));
        }
        line.blank_to(self.name + self.place);
        for row in &cells.columns {
            let look =
                row.map_or(look::NAME, |row| if has_figures(row) { look::NAME } else { word_look(row) });
            line.blank(GAP);
            line.push_right(look, &row.map_or(String::new(), |row| self.text(row, unit)), self.figure);
        }
    }

    /// A figure, or in a word why there is none; nothing where that is said of the whole column.
    fn text(&self, row: &Row, group_unit: Option<Unit>) -> String {
        if has_figures(row) {
            return estimate(row, shown(row).map_or("", |shown| suffix(group_unit, shown.unit)));
        }
        match self.column(row).is_some_and(|column| self.columns[column].closed.is_some()) {
            true => ABSENT.to_owned(),
            false if row.outcome == Outcome::Ok => {
                if row.noise.is_some() { "noisy" } else { "works" }.to_owned()
            }
            false => row.outcome.name().to_owned(),
        }
    }

    /// Why cells of an entry hold words: each reason once, behind the letters of its columns.
    fn reasons(&self, block: &Block, figures: &Figures) -> Vec<String> {
        let mut reasons: Vec<(String, Vec<usize>)> = Vec::new();
        let mut places = BTreeMap::new();
        for row in block.rows.iter().filter(|row| !has_figures(row)) {
            let Some(index) = self.column(row) else { continue };
            if self.columns[index].closed.is_some() {
                continue;
            }
            let (word, words) = figures.instead(row);
            let reason = match row.outcome {
                Outcome::Ok => format!("{} {word}: {words}", row.operation),
                _ => format!("{word}: {words}"),
            };
            let place = *places.entry(reason.clone()).or_insert(reasons.len());
            match reasons.get_mut(place) {
                Some((_, columns)) if columns.contains(&index) => {}
                Some((_, columns)) => columns.push(index),
                None => reasons.push((reason, vec![index])),
            }
        }
        let open = self.columns.iter().filter(|column| column.closed.is_none()).count();
        let everywhere = |columns: &[usize]| columns.len() == open;
        let written = reasons.into_iter().map(|(reason, columns)| match everywhere(&columns) {
            true => reason,
            false => {
                let headings = columns.into_iter().map(|index| self.columns[index].heading.as_str());
                format!("{}: {reason}", headings.collect::<Vec<_>>().join(", "))
            }
        });
        written.collect()
    }
}

impl Report<'_> {
    /// What the letters above the columns stand for, and the rows.
    pub(super) fn matrix(&self, matrix: &Matrix) -> Vec<Line> {
        let mut lines = Vec::new();
        for column in &matrix.columns {
            match &column.closed {
                // The label above the column says it all.
                None if column.heading == column.label => {}
                None => lines.extend(self.labelled(&column.heading, &column.label)),
                Some(why) if column.heading == column.label => {
                    let text = format!("{}: {why}", column.label);
                    lines.extend(wrapped(Line::default(), look::FAINT, &text, self.width, 2));
                }
                Some(why) => {
                    lines.extend(self.labelled(&column.heading, &format!("{}; {why}", column.label)))
                }
            }
        }
        let mut lines = after_blank(lines);
        for group in &matrix.groups {
            lines.push(Line::default());
            let mut heading = Line::new(look::HEADING, group.name);
            matrix.heading(&mut heading, group.unit, self.width);
            lines.push(heading);
            lines.extend(group.blocks.iter().flat_map(|block| self.compared(matrix, group, block)));
        }
        lines
    }

    fn compared(&self, matrix: &Matrix, group: &Group, block: &Block) -> Vec<Line> {
        if let Some(row) = block.closed() {
            return self.collapsed(block, row);
        }
        let operations = block.operations();
        let mut lines = if operations.len() > 1 { self.title(block) } else { Vec::new() };
        let (is_only, rows) = (operations.len() == 1, matrix.rows(block));
        for operation in operations {
            let Some(cells) = rows.get(operation) else { continue };
            let name = name_of(block, group, is_only, operation);
            let mut line = name.line();
            if !line.has_room("", matrix.name) {
                lines.extend(name.wrapped(self.width));
                line = Line::default();
            }
            matrix.row(&mut line, cells, group.unit, &self.figures);
            lines.push(line);
        }
        lines.extend(block.common_remarks().iter().flat_map(|remark| self.below(remark)));
        lines.extend(matrix.reasons(block, &self.figures).iter().flat_map(|reason| self.below(reason)));
        lines
    }
}

/// With one block for each entry (on the first screen: for each of its operations), of all configurations.
fn joined<'a>(group: &Group<'a>) -> Group<'a> {
    let mut blocks: Vec<Block<'a>> = Vec::new();
    let mut places = BTreeMap::new();
    let is_first_screen = group.name.is_empty();
    for block in &group.blocks {
        let operations = is_first_screen.then(|| block.operations());
        let place = *places.entry((block.entry, operations)).or_insert(blocks.len());
        match blocks.get_mut(place) {
            Some(known) => known.rows.extend(&block.rows),
            None => blocks.push(Block {
                entry: block.entry,
                title: block.title,
                rows: block.rows.clone(),
                configuration: String::new(),
            }),
        }
    }
    let alone = blocks.iter().filter(|block| block.operations().len() == 1 && block.closed().is_none());
    let single = alone.map(|block| block.entry.width()).max().unwrap_or(0);
    Group { single, ..Group::new(group.name, blocks) }
}

/// Beside its entry when it is the only one, with the operations of a group's such entries aligned.
fn name_of<'a>(block: &Block<'a>, group: &Group, is_only: bool, operation: &'a str) -> NameColumn<'a> {
    if is_only {
        NameColumn::single(block.entry, group.single, operation)
    } else {
        NameColumn::named(operation)
    }
}

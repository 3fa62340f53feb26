//! The report for a terminal.

mod columns;
mod legend;
mod matrix;
mod names;
mod notes;
mod rows;

use crate::arrange::{Block, Group, groups};
use crate::cells::{Figures, has_figures};
use crate::figure::Unit;
use crate::line::{Line, look, wrapped};
use crate::{Style, head};
use columns::Layout;
use document::{Document, Row};
use matrix::Matrix;
use notes::Notes;
use table::Table;

/// Where the texts of the head and of the legend begin.
const TEXT_COLUMN: usize = 13;

/// Everything that the lines of one report are made from.
struct Report<'a> {
    document: &'a Document,
    groups: Vec<Group<'a>>,
    matrix: Option<Matrix<'a>>,
    notes: Notes<'a>,
    figures: Figures,
    layout: Layout,
    width: usize,
    verbose: bool,
}

pub(crate) fn render(document: &Document, table: &Table, style: &Style) -> Vec<u8> {
    let mut out = String::new();
    for line in Report::new(document, table, style).lines() {
        line.write(style.color, &mut out);
    }
    out.into_bytes()
}

impl<'a> Report<'a> {
    fn new(document: &'a Document, table: &'a Table, style: &Style) -> Self {
        let groups = groups(document, table);
        let notes = Notes::of(document);
        let figures = Figures::of(document);
        let layout = Layout::of(&groups, &figures, &notes, style);
        let matrix = Matrix::of(document, &groups, style);
        let (width, verbose) = (style.columns(), style.verbose);
        Self { document, groups, matrix, notes, figures, layout, width, verbose }
    }

    fn lines(&self) -> Vec<Line> {
        let mut lines = self.partial();
        lines.extend(self.head());
        lines.extend(match &self.matrix {
            Some(matrix) => self.matrix(matrix),
            None => self.table(),
        });
        let foot = self.foot();
        if !foot.is_empty() {
            lines.push(Line::default());
            lines.extend(foot);
        }
        lines.extend(self.partial());
        lines
    }

    /// The rows one below the other, and what their columns and marks mean.
    fn table(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for group in &self.groups {
            lines.push(Line::default());
            lines.push(self.heading(group));
            lines.extend(group.blocks.iter().flat_map(|block| self.block(group, block)));
        }
        let legend = self.legend();
        if !legend.is_empty() {
            lines.push(Line::default());
            lines.extend(legend);
        }
        lines
    }

    fn partial(&self) -> Vec<Line> {
        if !self.document.measurement.partial {
            return Vec::new();
        }
        wrapped(Line::default(), look::WARNING, head::PARTIAL, self.width, 0)
    }

    fn head(&self) -> Vec<Line> {
        let facts = head::facts(self.document, self.verbose).into_iter();
        facts.flat_map(|fact| self.labelled(fact.label, &fact.text)).collect()
    }

    fn foot(&self) -> Vec<Line> {
        let disturbance = head::disturbance(self.document);
        let mut lines = disturbance.map_or_else(Vec::new, |text| self.labelled("disturbance", &text));
        for warning in &self.document.measurement.warnings {
            let start = Line::new(look::WARNING, "warning: ");
            lines.extend(wrapped(start, look::PLAIN, &warning.to_string(), self.width, 9));
        }
        lines
    }

    fn labelled(&self, label: &str, text: &str) -> Vec<Line> {
        let mut start = Line::new(look::FAINT, label);
        start.blank_to(TEXT_COLUMN);
        wrapped(start, look::PLAIN, text, self.width, TEXT_COLUMN)
    }

    fn heading(&self, group: &Group) -> Line {
        let mut line = Line::new(look::HEADING, group.name);
        if group.blocks.iter().flat_map(Block::shown).any(|row| has_figures(row)) {
            self.layout.heading(&mut line, group.unit());
        }
        line
    }
}

impl Block<'_> {
    /// The rows that have a line of their own.
    fn shown(&self) -> &[&Row] {
        if self.closed().is_some() { &[] } else { &self.rows }
    }
}

/// How a group's costs are marked: not at all when they are of one unit.
fn suffix(group_unit: Option<Unit>, unit: Unit) -> &'static str {
    if group_unit.is_some() { "" } else { unit.letter() }
}

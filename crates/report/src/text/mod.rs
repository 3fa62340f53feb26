//! The report for a terminal.

mod columns;
mod configurations;
mod curve;
mod legend;
mod matrix;
mod names;
mod rows;
mod screen;
mod verdicts;

use crate::arrange::{Block, Group, groups};
use crate::cells::{COUNTED, Figures, has_figures};
use crate::configuration::Compared;
use crate::figure::Unit;
use crate::first_screen::{self, FirstScreen};
use crate::grid::Grid;
use crate::line::{Line, labelled, look, wrapped, written};
use crate::{Style, head, history, loops};
use columns::Layout;
use curve::Curve;
use document::{Document, Row};
pub(crate) use legend::POPULATION;
use matrix::Matrix;
use table::Table;
pub(crate) use verdicts::{level_look, units_stay};

/// Where the texts of the head and of the legend begin.
pub(crate) const TEXT_COLUMN: usize = 13;

/// Everything that the lines of one report are made from.
struct Report<'a> {
    document: &'a Document,
    groups: Vec<Group<'a>>,
    matrix: Option<Matrix<'a>>,
    curves: Vec<Curve<'a>>,
    screen: Option<FirstScreen<'a>>,
    figures: Figures<'a>,
    layout: Layout,
    /// Rows as UnixBench counts them.
    turns: Grid,
    style: Style,
    width: usize,
    verbose: bool,
}

pub(crate) fn render(document: &Document, table: &Table, style: &Style) -> Vec<u8> {
    let compared = Compared::of_document(document);
    written(&Report::new(document, table, &compared, style).lines(), style)
}

impl<'a> Report<'a> {
    fn new(document: &'a Document, table: &'a Table, compared: &'a Compared<'a>, style: &Style) -> Self {
        let groups = groups(document, table, style.selection, compared);
        let figures = Figures::of(document, table, compared);
        let layout = Layout::of(&groups, &figures, style);
        let matrix = Matrix::of(document, &groups, compared, &figures, style);
        let curves = Curve::all(document, compared, style);
        let screen = first_screen::of(document, style.selection);
        let turns = loops::grid(&groups, compared);
        let (width, verbose) = (style.columns(), style.verbose);
        Self {
            document,
            groups,
            matrix,
            curves,
            screen,
            figures,
            layout,
            turns,
            style: *style,
            width,
            verbose,
        }
    }

    fn lines(&self) -> Vec<Line> {
        if let Some(screen) = &self.screen {
            return self.first_screen(screen);
        }
        let mut lines = self.head();
        lines.extend(after_blank(self.verdicts()));
        lines.extend(self.table());
        lines.extend(self.partial());
        lines
    }

    /// The rows one below the other, or configurations side by side, and what the columns mean.
    fn table(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        if self.figures.are_counted() {
            lines.extend(after_blank(wrapped(Line::default(), look::FAINT, COUNTED, self.width, 0)));
        }
        lines.extend(self.figures_table());
        lines.extend(after_blank(self.turns()));
        lines.extend(after_blank(self.history()));
        lines.extend(after_blank(self.legend()));
        lines
    }

    fn turns(&self) -> Vec<Line> {
        if self.turns.is_empty() { Vec::new() } else { self.turns.lines(self.width) }
    }

    /// What kernel after kernel changed.
    fn history(&self) -> Vec<Line> {
        let lines = history::lines(self.document, self.verbose);
        lines.iter().flat_map(|text| self.labelled("changes", text)).collect()
    }

    fn figures_table(&self) -> Vec<Line> {
        if !self.curves.is_empty() {
            return self.curves(&self.curves);
        }
        if let Some(matrix) = &self.matrix {
            return self.matrix(matrix);
        }
        self.groups.iter().flat_map(|group| self.group(group)).collect()
    }

    fn group(&self, group: &Group) -> Vec<Line> {
        let mut lines = vec![Line::default()];
        lines.extend(Some(self.heading(group)).filter(|heading| heading.width() > 0));
        lines.extend(group.blocks.iter().flat_map(|block| self.block(group, block)));
        lines
    }

    fn partial(&self) -> Vec<Line> {
        if !self.document.measurement.partial {
            return Vec::new();
        }
        wrapped(Line::default(), look::WARNING, head::PARTIAL, self.width, 0)
    }

    fn head(&self) -> Vec<Line> {
        let facts = head::facts(self.document, &self.style).into_iter();
        facts.flat_map(|fact| self.labelled(fact.label, &fact.text)).collect()
    }

    fn labelled(&self, label: &str, text: &str) -> Vec<Line> {
        labelled(Line::new(look::FAINT, label), look::PLAIN, text, self.width, TEXT_COLUMN)
    }

    fn heading(&self, group: &Group) -> Line {
        let mut line = Line::new(look::HEADING, group.name);
        if group.blocks.iter().flat_map(Block::shown).any(|row| has_figures(row)) {
            self.layout.heading(&mut line, group.unit);
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

/// A text behind what it is about; nothing where there is none.
pub(crate) fn fact(label: &str, text: &str, width: usize) -> Vec<Line> {
    if text.is_empty() {
        return Vec::new();
    }
    labelled(Line::new(look::FAINT, label), look::PLAIN, &units_stay(text), width, TEXT_COLUMN)
}

/// Lines set off by a blank one, if there are any.
pub(crate) fn after_blank(lines: Vec<Line>) -> Vec<Line> {
    if lines.is_empty() {
        return lines;
    }
    std::iter::once(Line::default()).chain(lines).collect()
}

/// How a group's costs are marked: not at all when they are of one unit.
fn suffix(group_unit: Option<Unit>, unit: Unit) -> &'static str {
    if group_unit.is_some() { "" } else { unit.letter() }
}

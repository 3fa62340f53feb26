//! The lines of one entry.

use super::names::NameColumn;
use super::{Report, suffix};
use crate::arrange::{Block, Group};
use crate::cells::{DETAILS, RunColumn, has_figures, modes, two_costs};
use crate::figure::{ABSENT, shown};
use crate::line::{Line, NO_BREAK, look, wrapped};
use document::{Outcome, Row};

/// Where a text below a row begins.
const BELOW: usize = 6;

/// The least room beside the names for a text of several lines; with less it goes on below the name.
const ROOM: usize = 40;

impl Report<'_> {
    pub(super) fn block(&self, group: &Group, block: &Block) -> Vec<Line> {
        if let Some(row) = block.closed().filter(|_| !self.verbose) {
            return self.collapsed(block, row);
        }
        if let Some(name) = NameColumn::joined(group, block) {
            return self.row_with(group, block.rows[0], &name, &[]);
        }
        let mut lines = self.title(block);
        let common = block.common_remarks();
        lines.extend(common.iter().flat_map(|remark| self.below(remark)));
        for row in &block.rows {
            lines.extend(self.row_with(group, row, &NameColumn::operation(row), common));
        }
        lines
    }

    /// The entry, and in a few words what it is.
    pub(super) fn title(&self, block: &Block) -> Vec<Line> {
        let words = [block.title.unwrap_or_default().to_owned(), block.configuration.clone()];
        let words: Vec<String> = words.into_iter().filter(|words| !words.is_empty()).collect();
        let mut lines = wrapped(Line::default(), look::NAME, block.entry, self.width, 2);
        if let Some(mut last) = lines.pop() {
            last.blank(2);
            lines.extend(wrapped(last, look::FAINT, &words.join("; "), self.width, 4));
        }
        lines
    }

    /// An entry that is closed as a whole.
    pub(super) fn collapsed(&self, block: &Block, row: &Row) -> Vec<Line> {
        let mut lines = wrapped(Line::default(), look::NAME, block.entry, self.width, 2);
        let mut start = lines.pop().unwrap_or_default();
        start.blank(2);
        let mut text = match block.operations().len() {
            1 => format!("({}): ", row.operation),
            many => format!("(all {many} operations): "),
        };
        text.push_str(row.reason.as_deref().unwrap_or(ABSENT));
        if !block.configuration.is_empty() {
            text = format!("({}) {text}", block.configuration);
        }
        if !start.has_room(row.outcome.name(), self.width) {
            lines.push(std::mem::take(&mut start));
            start.blank(4);
        }
        start.push(word_look(row), row.outcome.name());
        start.blank(1);
        lines.extend(wrapped(start, look::PLAIN, &text, self.width, 4));
        lines
    }

    /// A row, and below it what only it has to say: not the remarks that are said of the whole entry.
    fn row_with(&self, group: &Group, row: &Row, name: &NameColumn, said: &[String]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut start = name.line();
        if !start.has_room("", self.layout.name) {
            lines = name.wrapped(self.width);
            start = Line::default();
        }
        start.blank_to(self.layout.name);
        if has_figures(row) {
            lines.extend(self.figures(group, row, start));
        } else {
            lines.extend(self.without_figures(row, start));
        }
        let remarks = row.remarks.iter().filter(|remark| !said.contains(remark) && self.screen.is_none());
        lines.extend(remarks.flat_map(|remark| self.below(remark)));
        lines
    }

    /// Why there are none: in a word, and in words.
    fn without_figures(&self, row: &Row, mut start: Line) -> Vec<Line> {
        let beside = self.layout.name + self.layout.gap;
        start.blank_to(beside);
        let (word, words) = self.figures.instead(row);
        start.push(word_look(row), word);
        start.push(word_look(row), ": ");
        let indent = if self.width < beside + ROOM { BELOW } else { beside };
        wrapped(start, look::PLAIN, &words, self.width, indent)
    }

    fn figures(&self, group: &Group, row: &Row, mut line: Line) -> Vec<Line> {
        let unit = shown(row).map_or("", |shown| suffix(group.unit, shown.unit));
        self.layout.row(&mut line, row, &self.figures, unit);
        let mut lines = vec![line];
        if !self.verbose {
            lines.extend(two_costs(row).iter().flat_map(|words| self.below(words)));
        }
        if self.verbose {
            if !self.layout.has_details() {
                lines.extend(self.below(&self.details(row)));
            }
            lines.extend(modes(row).iter().flat_map(|modes| self.below(modes)));
            let withheld = row.throughput_withheld.iter();
            lines.extend(withheld.flat_map(|why| self.below(&format!("no throughput: {why}"))));
        }
        lines
    }

    /// The columns of a verbose report when there is no room for them.
    fn details(&self, row: &Row) -> String {
        let detail = |column: RunColumn| {
            let cell = self.figures.cell(column, row);
            format!("{}{NO_BREAK}{cell}", column.heading())
        };
        let told = DETAILS.into_iter().filter(|column| self.figures.has(*column));
        told.map(detail).collect::<Vec<_>>().join("  ")
    }

    pub(super) fn below(&self, text: &str) -> Vec<Line> {
        let mut start = Line::default();
        start.blank(BELOW);
        wrapped(start, look::FAINT, text, self.width, BELOW)
    }
}

/// What is closed on purpose looks calmer than what went wrong.
pub(super) fn word_look(row: &Row) -> anstyle::Style {
    match row.outcome {
        Outcome::Ok if row.noise.is_none() => look::FAINT,
        Outcome::Ok => look::WARNING,
        Outcome::Unsupported | Outcome::Refused => look::CLOSED,
        Outcome::Fault | Outcome::Mismatch | Outcome::Timeout | Outcome::Error => look::WRONG,
    }
}

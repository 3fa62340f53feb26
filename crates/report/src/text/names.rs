//! The first column.

use crate::arrange::{Block, Group};
use crate::line::{Line, look, wrapped};
use document::Row;

/// What stands in the first column: an entry's only operation beside its name, or an operation below it.
pub(super) struct NameColumn<'a> {
    entry: Option<(&'a str, usize)>,
    operation: &'a str,
}

impl<'a> NameColumn<'a> {
    pub fn operation(row: &'a Row) -> Self {
        Self::named(&row.operation)
    }

    /// For an entry with one row, and nothing else to say about it; the operations of a group's such entries are
    /// aligned.
    pub fn joined(group: &Group, block: &Block<'a>) -> Option<Self> {
        block.is_alone().then(|| Self::single(block.entry, group.single, &block.rows[0].operation))
    }

    /// For an entry with one operation, whose name is aligned to a width.
    pub fn single(entry: &'a str, width: usize, operation: &'a str) -> Self {
        Self { entry: Some((entry, width)), operation }
    }

    /// For an operation below its entry.
    pub fn named(operation: &'a str) -> Self {
        Self { entry: None, operation }
    }

    pub fn line(&self) -> Line {
        let mut line = Line::default();
        if let Some((entry, width)) = self.entry {
            line.push(look::NAME, entry);
            line.blank_to(width);
        }
        line.blank(2);
        line.push(look::PLAIN, self.operation);
        line
    }

    /// For a name that is too long for its column.
    pub fn wrapped(&self, width: usize) -> Vec<Line> {
        let entry = self.entry.map(|(entry, _)| format!("{entry} "));
        let text = format!("{}{}", entry.unwrap_or_default(), self.operation);
        let mut start = Line::default();
        start.blank(if self.entry.is_some() { 0 } else { 2 });
        wrapped(start, look::PLAIN, &text, width, 4)
    }
}

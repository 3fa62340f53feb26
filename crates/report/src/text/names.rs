//! The first column.

use crate::arrange::{Block, Group};
use crate::line::{Line, look, wrapped};
use document::Row;
use unicode_width::UnicodeWidthStr;

/// The widest entry that the operations beside other entries are moved to the right for.
const ALIGNED: usize = 20;

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
        let alone = |block: &Block| block.rows.len() == 1 && block.configuration.is_empty();
        let names = group.blocks.iter().filter(|block| alone(block)).map(|block| block.entry.width());
        let width = names.filter(|width| *width <= ALIGNED).max().unwrap_or(0);
        alone(block).then(|| Self::single(block.entry, width, &block.rows[0].operation))
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

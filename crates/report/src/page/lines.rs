//! The rows of all runs, each once: the same row of several runs stands in one line.

use super::PageRun;
use crate::Selection;
use crate::arrange::{self, groups};
use crate::configuration::Compared;
use crate::plain::plain;
use document::{Document, Identity, Outcome, Row};
use std::collections::HashMap;
use table::Table;

/// A row of the page.
pub(super) struct Line<'a> {
    /// Its number, by which the page's data knows it.
    pub number: usize,
    pub group: &'a str,
    pub entry: &'a str,
    /// What the entry is, where the table knows it.
    pub title: Option<&'a str>,
    pub operation: &'a str,
    /// What tells it apart from other lines of its entry.
    pub configuration: String,
    /// The row of each run; none of those that do not have it.
    pub rows: Vec<Option<&'a Row>>,
}

impl Line<'_> {
    /// Whether it works in some run.
    pub fn is_open(&self) -> bool {
        self.rows.iter().flatten().any(|row| row.outcome == Outcome::Ok)
    }
}

/// All lines, in the table's order.
pub(super) fn all<'a>(runs: &'a [PageRun], table: &'a Table, compared: &Compared) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    let mut known: HashMap<Identity, usize> = HashMap::new();
    for (run, PageRun { document, .. }) in runs.iter().enumerate() {
        for (group, title, row) in rows(document, table, compared) {
            let identity = document.identity(table, row);
            let same = known.get(&identity).and_then(|number| lines.get_mut(*number));
            // A document may have a row twice; then each has a line.
            if let Some(place) = same.and_then(|line| line.rows.get_mut(run)).filter(|place| place.is_none())
            {
                *place = Some(row);
                continue;
            }
            known.insert(identity, lines.len());
            let mut rows = vec![None; runs.len()];
            rows[run] = Some(row);
            let (number, configuration) = (lines.len(), plain(&compared.of(row)));
            let (entry, operation) = (&row.entry, &row.operation);
            lines.push(Line { number, group, entry, title, operation, configuration, rows });
        }
    }
    in_order(&mut lines, table);
    lines
}

/// The rows of a document in the order of its report, each with the heading of its group and the title of its entry.
fn rows<'a>(
    document: &'a Document,
    table: &'a Table,
    compared: &Compared,
) -> Vec<(&'a str, Option<&'a str>, &'a Row)> {
    let mut all = Vec::new();
    for group in groups(document, table, Selection::All, compared) {
        for block in group.blocks {
            all.extend(block.rows.iter().map(|row| (group.name, block.title, *row)));
        }
    }
    all
}

/// Rows that only a later run has stand with their group and entry; entries that the table lacks stand last.
fn in_order(lines: &mut [Line], table: &Table) {
    let groups = arrange::names(table);
    let entries: Vec<&str> = table.entries.iter().map(|entry| entry.name.as_str()).collect();
    let place =
        |names: &[&str], name: &str| names.iter().position(|known| *known == name).unwrap_or(usize::MAX);
    lines.sort_by_cached_key(|line| (place(&groups, line.group), place(&entries, line.entry)));
}

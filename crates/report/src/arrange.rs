//! The rows of a document under the headings of the table.

use crate::figure::{Unit, shown};
use crate::lab::switches;
use crate::plain::plain;
use document::{Document, Outcome, Row, Timing};
use std::collections::{BTreeMap, BTreeSet};
use table::Table;

/// The heading of entries that the table does not know: the document is of another version.
const OTHER: &str = "other";

/// Rows under one heading.
pub(crate) struct Group<'a> {
    pub name: &'a str,
    pub blocks: Vec<Block<'a>>,
}

/// Rows of one entry in one configuration.
pub(crate) struct Block<'a> {
    pub entry: &'a str,
    pub title: Option<&'a str>,
    pub rows: Vec<&'a Row>,
    /// The lab's switches, `pcid=on pti=off`; empty where there is nothing to tell apart by them.
    pub configuration: String,
}

impl Group<'_> {
    /// The unit of all its costs; none when they differ.
    pub fn unit(&self) -> Option<Unit> {
        let rows = self.blocks.iter().flat_map(|block| &block.rows);
        let mut units = rows.filter_map(|row| Some(shown(row)?.unit));
        let emulated =
            self.blocks.iter().flat_map(|block| &block.rows).any(|row| row.timing == Timing::Emulated);
        let first = units.next().unwrap_or(if emulated { Unit::Instructions } else { Unit::Cycles });
        units.all(|unit| unit == first).then_some(first)
    }
}

impl Block<'_> {
    /// How many operations its rows have; more rows are of several configurations.
    pub fn operations(&self) -> usize {
        self.rows.iter().map(|row| row.operation.as_str()).collect::<BTreeSet<_>>().len()
    }

    /// The row that stands for all when every one is closed for the same cause.
    pub fn closed(&self) -> Option<&Row> {
        let (first, rest) = self.rows.split_first()?;
        let same = |row: &&Row| row.outcome == first.outcome && row.reason == first.reason;
        (first.outcome != Outcome::Ok && !rest.is_empty() && rest.iter().all(same)).then_some(first)
    }
}

/// The configurations of the lab's switches that there are, in the order of the rows; a host's is empty.
pub(crate) fn configurations(document: &Document) -> Vec<&BTreeMap<String, String>> {
    let mut all = Vec::new();
    for row in &document.results {
        if !all.contains(&&row.configuration) {
            all.push(&row.configuration);
        }
    }
    all
}

/// Groups in the table's order, and in each the rows in the document's order.
pub(crate) fn groups<'a>(document: &'a Document, table: &'a Table) -> Vec<Group<'a>> {
    let mut blocks = blocks(document, table);
    let mut groups = Vec::new();
    for name in names(table).into_iter().chain([OTHER]) {
        let here = |block: &mut Block| group_of(table, block.entry) == name;
        let blocks: Vec<Block> = blocks.extract_if(.., here).collect();
        if !blocks.is_empty() {
            groups.push(Group { name, blocks });
        }
    }
    groups
}

/// The headings, in the order of their first entries; but the table begins with the floor, `call`, of the last group.
pub(crate) fn names(table: &Table) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for entry in table.entries.iter().skip(1).chain(table.entries.first()) {
        if !names.contains(&entry.group.as_str()) {
            names.push(&entry.group);
        }
    }
    names
}

fn group_of<'a>(table: &'a Table, entry: &str) -> &'a str {
    table.entry(entry).map_or(OTHER, |entry| &entry.group)
}

fn blocks<'a>(document: &'a Document, table: &'a Table) -> Vec<Block<'a>> {
    let same = |a: &Row, b: &Row| a.entry == b.entry && a.configuration == b.configuration;
    let chunks = document.results.chunk_by(same);
    let are_compared = configurations(document).len() > 1;
    let configuration = |row: &Row| are_compared.then(|| plain(&switches(&row.configuration)));
    let block = |rows: &'a [Row]| Block {
        entry: &rows[0].entry,
        title: table.entry(&rows[0].entry).map(|entry| entry.title.as_str()),
        configuration: configuration(&rows[0]).unwrap_or_default(),
        rows: rows.iter().collect(),
    };
    chunks.map(block).collect()
}

//! The rows of a document under the headings of the table.

use crate::configuration::Compared;
use crate::figure::{Unit, shown};
use crate::plain::plain;
use crate::{Selection, first_screen};
use document::{Document, Outcome, Row, Timing};
use std::collections::BTreeSet;
use table::Table;
use unicode_width::UnicodeWidthStr;

/// The heading of entries that the table does not know: the document is of another version.
const OTHER: &str = "other";

/// The widest entry that the operations beside other entries are moved to the right for.
const ALIGNED: usize = 20;

/// The smallest call that does something.
const FLOOR: &str = "getppid";

/// Rows under one heading.
pub(crate) struct Group<'a> {
    /// The heading; empty on the first screen, whose rows are of all groups.
    pub name: &'a str,
    pub blocks: Vec<Block<'a>>,
    /// The unit of all its costs; none when they differ.
    pub unit: Option<Unit>,
    /// The width of the widest entry that stands on one line with its only row.
    pub single: usize,
}

/// Rows of one entry in one configuration; on the first screen, of one operation.
pub(crate) struct Block<'a> {
    pub entry: &'a str,
    pub title: Option<&'a str>,
    pub rows: Vec<&'a Row>,
    /// What tells it apart from other blocks of the entry, `pcid=on pti=off`; empty where nothing has to.
    pub configuration: String,
}

impl<'a> Group<'a> {
    /// Every line of a group needs to know what is so of all its rows: that is found once.
    pub fn new(name: &'a str, blocks: Vec<Block<'a>>) -> Self {
        let alone = blocks.iter().filter(|block| block.is_alone()).map(|block| block.entry.width());
        let single = alone.filter(|width| *width <= ALIGNED).max().unwrap_or(0);
        Self { name, unit: unit(&blocks), single, blocks }
    }
}

fn unit(blocks: &[Block]) -> Option<Unit> {
    let rows = || blocks.iter().flat_map(|block| &block.rows);
    let mut units = rows().filter_map(|row| Some(shown(row)?.unit));
    let emulated = rows().any(|row| row.timing == Timing::Emulated);
    let first = units.next().unwrap_or(if emulated { Unit::Instructions } else { Unit::Cycles });
    units.all(|unit| unit == first).then_some(first)
}

impl<'a> Block<'a> {
    /// Whether its entry has one row, and there is nothing else to say about it.
    pub fn is_alone(&self) -> bool {
        self.rows.len() == 1 && self.configuration.is_empty()
    }

    /// Its operations, in the order of its rows; of several configurations each once.
    pub fn operations(&self) -> Vec<&'a str> {
        let mut seen = BTreeSet::new();
        let names = self.rows.iter().map(|row| row.operation.as_str());
        names.filter(|name| seen.insert(*name)).collect()
    }

    /// The row that stands for all when every one is closed for the same cause.
    pub fn closed(&self) -> Option<&'a Row> {
        let (first, rest) = self.rows.split_first()?;
        let same = |row: &&Row| row.outcome == first.outcome && row.reason == first.reason;
        (first.outcome != Outcome::Ok && !rest.is_empty() && rest.iter().all(same)).then_some(first)
    }

    /// The remarks that all its measured rows have.
    pub fn common_remarks(&self) -> &'a [String] {
        let mut measured = self.rows.iter().filter(|row| row.outcome == Outcome::Ok);
        let Some(first) = measured.next() else { return &[] };
        if measured.all(|row| row.remarks == first.remarks) { &first.remarks } else { &[] }
    }
}

/// Groups in the table's order, and in each the rows in the document's order; of the first screen one group.
pub(crate) fn groups<'a>(
    document: &'a Document,
    table: &'a Table,
    selection: Selection,
    compared: &Compared,
) -> Vec<Group<'a>> {
    match first_screen::of(document, selection) {
        Some(screen) => {
            let single = |row: &&'a Row| block(&[*row], table, plain(&compared.of(row)));
            vec![Group::new("", screen.rows.iter().map(single).collect())]
        }
        None => under_headings(blocks(document, table, compared), table),
    }
}

fn under_headings<'a>(mut blocks: Vec<Block<'a>>, table: &'a Table) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    for name in names(table).into_iter().chain([OTHER]) {
        let here = |block: &mut Block| group_of(table, block.entry) == name;
        let blocks: Vec<Block> = blocks.extract_if(.., here).collect();
        if !blocks.is_empty() {
            groups.push(Group::new(name, blocks));
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

/// Whether a number that no call has costs less than the smallest call on its way in: with `stack=minimum`, the lab refuses it
/// before it has saved a register.
fn refuses_early(document: &Document) -> bool {
    let is_minimum = |row: &Row| row.configuration.get("stack").is_some_and(|value| value == "minimum");
    document.results.iter().any(is_minimum)
}

/// The rows of a block; `getppid` is its floor, and stands first, where `none` is no whole crossing.
fn blocks<'a>(document: &'a Document, table: &'a Table, compared: &Compared) -> Vec<Block<'a>> {
    let mut rows: Vec<&Row> = document.results.iter().collect();
    let same = |a: &&Row, b: &&Row| a.entry == b.entry && compared.of(a) == compared.of(b);
    if refuses_early(document) {
        rows.chunk_by_mut(same).for_each(|rows| rows.sort_by_key(|row| row.operation != FLOOR));
    }
    rows.chunk_by(same).map(|rows| block(rows, table, plain(&compared.of(rows[0])))).collect()
}

fn block<'a>(rows: &[&'a Row], table: &'a Table, configuration: String) -> Block<'a> {
    Block {
        entry: &rows[0].entry,
        title: table.entry(&rows[0].entry).map(|entry| entry.title.as_str()),
        rows: rows.to_vec(),
        configuration,
    }
}

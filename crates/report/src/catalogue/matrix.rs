//! Tables of machines by entries, or by the operations of one entry.

use super::cell::Cell;
use super::facts::Facts;
use super::machine::{Line, Machine};
use super::measure::Measure;
use super::path;
use crate::plain::plain;
use document::Outcome;
use std::collections::BTreeSet;
use summary::Row;
use table::Table;

/// A table.
pub(super) struct Matrix {
    pub measure: Measure,
    pub columns: Vec<Column>,
    pub lines: Vec<Shown>,
    /// Entries without a column, since they work nowhere here: their names, and their pages.
    pub closed: Vec<(String, String)>,
}

/// A column: one operation of one entry.
pub(super) struct Column {
    pub name: String,
    /// What the column's figures are of, below its name.
    pub detail: String,
    /// The page that tells more, from the folder of the page.
    pub href: Option<String>,
    /// What the entry is.
    pub title: String,
}

/// A line.
pub(super) struct Shown {
    pub facts: Facts,
    pub href: String,
    pub cells: Vec<Cell>,
}

/// The operation that a table of entries shows: the smallest that does something, where the entry has it.
const FLOOR: &str = "getppid";

/// An entry's operation.
type Key<'a> = (&'a str, &'a str);

/// The entries of all runs, in the table's order; those that it lacks stand last.
pub(super) fn entries<'a>(machines: &'a [Machine], table: &'a Table) -> Vec<&'a str> {
    let found: BTreeSet<&str> = rows(machines).map(|row| row.entry.as_str()).collect();
    let known = table.entries.iter().map(|entry| entry.name.as_str());
    let unknown = found.iter().copied().filter(|entry| table.entry(entry).is_none());
    known.filter(|entry| found.contains(entry)).chain(unknown).collect()
}

/// Of all entries, each by one operation.
pub(super) fn of_entries(machines: &[Machine], table: &Table, measure: Measure) -> Matrix {
    let all = entries(machines, table);
    let keys = all.iter().filter_map(|entry| {
        let operations = operations(machines, table, entry, measure);
        let floor = operations.iter().find(|operation| **operation == FLOOR);
        floor.or(operations.first()).map(|operation| (*entry, *operation))
    });
    let (keys, closed): (Vec<Key>, Vec<Key>) = keys.partition(|(entry, _)| {
        rows(machines).any(|row| row.entry == *entry && measure.is_of(row) && row.outcome == Outcome::Ok)
    });
    let column = |(entry, operation): &Key| Column {
        name: plain(entry),
        detail: plain(operation),
        href: Some(path::of_entry(table, entry)),
        title: table.entry(entry).map(|entry| entry.title.clone()).unwrap_or_default(),
    };
    let columns = keys.iter().map(column).collect();
    let closed = closed.iter().map(|(entry, _)| (plain(entry), path::of_entry(table, entry))).collect();
    Matrix { measure, columns, lines: lines(machines, measure, &keys, ""), closed }
}

/// Of one entry, all operations.
pub(super) fn of_operations(machines: &[Machine], table: &Table, entry: &str, measure: Measure) -> Matrix {
    let keys: Vec<Key> =
        operations(machines, table, entry, measure).into_iter().map(|operation| (entry, operation)).collect();
    let column = |(_, operation): &Key| {
        let title = table.operation(operation).map(|operation| operation.what.clone()).unwrap_or_default();
        Column { name: plain(operation), detail: String::new(), href: None, title }
    };
    let columns = keys.iter().map(column).collect();
    Matrix { measure, columns, lines: lines(machines, measure, &keys, "../"), closed: Vec::new() }
}

fn rows<'a>(machines: &'a [Machine]) -> impl Iterator<Item = &'a Row> {
    machines.iter().flat_map(|machine| &machine.summary.rows)
}

/// The operations of an entry, in the table's order; those that it lacks stand last.
fn operations<'a>(machines: &'a [Machine], table: &'a Table, entry: &str, measure: Measure) -> Vec<&'a str> {
    let own = rows(machines).filter(|row| row.entry == entry && measure.is_of(row));
    let found: BTreeSet<&str> = own.map(|row| row.operation.as_str()).collect();
    let known = table.operations.iter().map(|operation| operation.name.as_str());
    let unknown = found.iter().copied().filter(|name| table.operation(name).is_none());
    known.filter(|name| found.contains(name)).chain(unknown).collect()
}

/// The configurations that have a row of these.
fn lines(machines: &[Machine], measure: Measure, keys: &[Key], up: &str) -> Vec<Shown> {
    let all = machines.iter().flat_map(|machine| machine.lines.iter().map(move |line| (machine, line)));
    all.filter_map(|(machine, line)| shown(machine, line, measure, keys, up)).collect()
}

fn shown(machine: &Machine, line: &Line, measure: Measure, keys: &[Key], up: &str) -> Option<Shown> {
    let href = format!("{up}{}", path::of_page(&machine.slug));
    let found = |(entry, operation): &Key| {
        line.rows
            .iter()
            .find(|(_, row)| row.entry == *entry && row.operation == *operation && measure.is_of(row))
    };
    let rows: Vec<Option<&(usize, &Row)>> = keys.iter().map(found).collect();
    let is_there = rows.iter().any(Option::is_some);
    let cells = rows.into_iter().map(|row| Cell::of(row.copied(), measure, &href)).collect();
    is_there.then(|| Shown { facts: Facts::of(machine, line, measure), href, cells })
}

//! Configurations: the lab's switches, or the kind of core. A row carries all of them; a reader needs those that differ.

use document::{Document, FOOTPRINT, Row};
use std::collections::{BTreeMap, BTreeSet};
use table::Table;

/// The switches that rows are compared by: those of which one entry has rows with several values. A switch that an entry
/// fixes for itself, as an interrupt gate does, tells nothing apart.
#[derive(Debug, Default)]
pub(crate) struct Compared<'a> {
    names: BTreeSet<&'a str>,
}

impl<'a> Compared<'a> {
    pub fn of_document(document: &'a Document) -> Self {
        Self::of_rows(&document.results)
    }

    pub fn of_rows(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut values = BTreeMap::<(&str, &str), &str>::new();
        let mut names = BTreeSet::new();
        for row in rows {
            for (name, value) in &row.configuration {
                if *values.entry((&row.entry, name)).or_insert(value) != value {
                    names.insert(name.as_str());
                }
            }
        }
        Self { names }
    }

    /// `pcid=off pti=on`: the switches of a row that others differ in.
    pub fn of(&self, row: &Row) -> String {
        written(row.configuration.iter().filter(|(name, _)| self.names.contains(name.as_str())))
    }

    /// The same without the row's footprint.
    pub fn but_footprint(&self, row: &Row) -> String {
        let switches = row.configuration.iter().filter(|(name, _)| *name != FOOTPRINT);
        written(switches.filter(|(name, _)| self.names.contains(name.as_str())))
    }

    /// Whether there are any.
    pub fn any(&self) -> bool {
        !self.names.is_empty()
    }

    /// The different configurations of some rows, in the rows' order.
    pub fn all(&self, rows: &[&Row]) -> Vec<String> {
        let mut seen = BTreeSet::new();
        rows.iter().map(|row| self.of(row)).filter(|label| seen.insert(label.clone())).collect()
    }
}

/// What all rows have in common of the keys that are wanted, but for values that their entries always run with, `pcid=off pti=on`.
pub(crate) fn common(document: &Document, wanted: impl Fn(&str) -> bool) -> String {
    written(shared(document).filter(|(name, _)| wanted(name)))
}

/// The keys and values that all rows have in common. A value that an entry of the lab always runs with says nothing of the other rows, and
/// counts only where all rows have such a value.
fn shared(document: &Document) -> impl Iterator<Item = (&String, &String)> {
    let names = document.results.first().into_iter().flat_map(|first| first.configuration.keys());
    names.filter_map(|name| {
        let fixes = |row: &&Row| Table::get().entry(&row.entry).is_some_and(|entry| entry.fixes(name));
        let has_its_own = |row: &&Row| document.is_of_lab() && fixes(row);
        let free = || document.results.iter().filter(|row| !has_its_own(row));
        let are_all_fixed = free().next().is_none();
        let mut rows = document.results.iter().filter(|row| are_all_fixed || !has_its_own(row));
        let value = rows.next()?.configuration.get(name)?;
        rows.all(|row| row.configuration.get(name) == Some(value)).then_some((name, value))
    })
}

/// The switches of a row that are neither the lab's defaults on that machine nor the same for all; of a document that does not tell its
/// defaults, and of kinds of core, all. `pti=on`
pub(crate) fn telling(document: &Document, row: &Row) -> String {
    let defaults = document.environment.lab.as_ref().map(|lab| &lab.switches);
    let compared = Compared::of_document(document);
    let is_telling = |(name, value): &(&String, &String)| {
        let is_default = defaults.is_some_and(|defaults| defaults.get(*name) == Some(*value));
        !is_default || compared.names.contains(name.as_str())
    };
    written(row.configuration.iter().filter(is_telling))
}

/// What all rows have in common and is not the lab's default on that machine, `pti=on`.
pub(crate) fn common_changes(document: &Document, defaults: &BTreeMap<String, String>) -> String {
    written(shared(document).filter(|(name, value)| defaults.get(*name) != Some(*value)))
}

/// `pcid=off pti=on`, `append='quiet pti=on'`
pub(crate) fn written<'a>(switches: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    let quoted = |value: &String| match value.is_empty() || value.contains(char::is_whitespace) {
        true => format!("'{value}'"),
        false => value.clone(),
    };
    switches.map(|(name, value)| format!("{name}={}", quoted(value))).collect::<Vec<_>>().join(" ")
}

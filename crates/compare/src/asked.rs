//! Which rows a run was asked for, and the options that ask for them: what runs between a row's rounds is in its figure, so runs that are
//! compared, or that are to settle a comparison, measure the same rows.

use document::{Counter, Document, Machine, row_in_words};
use std::collections::BTreeSet;
use table::special::is_on_first_screen;
use table::{Kernel, Table};

/// An option names so many entries, or so many operations, at most.
const FEW: usize = 3;

/// Every row that a document has, in words, whatever became of it: a closed one is asked for, too. Nothing of a guest whose instructions
/// are counted, where no row knows of another.
pub(crate) fn rows(document: &Document) -> BTreeSet<String> {
    if document.counter() == Counter::Instructions {
        return BTreeSet::new();
    }
    let words = |row: &document::Row| row_in_words(&row.entry, &row.operation, &row.configuration);
    document.results.iter().map(words).collect()
}

/// The options with which this version measures just these rows on a machine's own Linux: nothing for the first screen, `--all`, or a few
/// entries and operations. None where that takes more, or the rows are not such.
pub(crate) fn options(document: &Document) -> Option<String> {
    let place = &document.measurement.place;
    let is_host = place.machine.known() == Some(Machine::Host) && place.kernel.known() == Some(Kernel::Linux);
    let is_plain = document.results.iter().all(|row| row.configuration.is_empty());
    if !is_host || !is_plain {
        return None;
    }
    let asked: BTreeSet<(&str, &str)> =
        document.results.iter().map(|row| (&*row.entry, &*row.operation)).collect();
    let chosen = |is: &dyn Fn(&str, &str) -> bool| -> BTreeSet<(&str, &str)> {
        let rows = Table::get().rows(Kernel::Linux);
        let names = rows.map(|(entry, operation)| (&*entry.name, &*operation.name));
        names.filter(|(entry, operation)| is(entry, operation)).collect()
    };
    let entries: BTreeSet<&str> = asked.iter().map(|(entry, _)| *entry).collect();
    let operations: BTreeSet<&str> = asked.iter().map(|(_, operation)| *operation).collect();
    let named = |option: &str, names: &BTreeSet<&str>| -> Option<String> {
        let is_few = (1..=FEW).contains(&names.len());
        is_few.then(|| names.iter().map(|name| format!(" {option} {name}")).collect())
    };
    if asked == chosen(&is_on_first_screen) {
        return Some(String::new());
    }
    if asked == chosen(&|_, _| true) {
        return Some(" --all".into());
    }
    if asked == chosen(&|entry, _| entries.contains(entry)) {
        return named("--entry", &entries);
    }
    if asked == chosen(&|_, operation| operations.contains(operation)) {
        return named("--operation", &operations);
    }
    let both = asked == chosen(&|entry, operation| entries.contains(entry) && operations.contains(operation));
    both.then(|| Some(named("--entry", &entries)? + &named("--operation", &operations)?)).flatten()
}

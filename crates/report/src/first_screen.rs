//! Which rows the first screen shows: the entries that programs use. The rest is a flag away.

use crate::Selection;
use document::{Document, Outcome, Row};
use std::collections::BTreeSet;

/// The rows of the first screen, in its order: the floor, then what a 64-bit program uses, a 32-bit one, and what the kernel
/// does unasked.
const ROWS: [(&str, &str); 14] = [
    ("call", "none"),
    ("syscall-x86_64", "none"),
    ("syscall-x86_64", "getppid"),
    ("syscall-x86_64", "clock_gettime-monotonic"),
    ("vdso-x86_64", "clock_gettime-monotonic"),
    ("libc", "clock_gettime-monotonic"),
    ("vdso-x86_64", "getrandom"),
    ("libc", "getrandom"),
    ("vsyscall", "gettimeofday"),
    ("int80-i386", "getppid"),
    ("sysenter-i386", "getppid"),
    ("vdso-i386", "clock_gettime-monotonic"),
    ("page-fault", "minor-fault"),
    ("ud", "signal"),
];

/// A document with fewer rows is shown whole.
const FEW: usize = 24;

/// The first screen of a document.
pub(crate) struct FirstScreen<'a> {
    /// Those that work, by entry and operation, of each configuration one after the other.
    pub rows: Vec<&'a Row>,
    /// Entries of which no row works, and rows of this screen that do not, with their outcome.
    pub closed: Vec<(String, Outcome)>,
}

/// None where everything is shown: it was asked for, the document is of the lab, or there is not much.
pub(crate) fn of(document: &Document, selection: Selection) -> Option<FirstScreen<'_>> {
    let is_long = document.results.len() > FEW && !document.is_of_lab();
    if selection == Selection::All || !is_long {
        return None;
    }
    let named = |(entry, operation): &(&str, &str)| {
        let (entry, operation) = (*entry, *operation);
        let rows = document.results.iter();
        rows.filter(move |row| row.entry == entry && row.operation == operation).collect::<Vec<_>>()
    };
    let rows: Vec<&Row> = ROWS.iter().flat_map(named).filter(|row| row.outcome == Outcome::Ok).collect();
    // A document of another version may have none of them.
    (!rows.is_empty()).then(|| FirstScreen { rows, closed: closed(document) })
}

fn closed(document: &Document) -> Vec<(String, Outcome)> {
    let works = |row: &&Row| row.outcome == Outcome::Ok;
    let open: BTreeSet<&str> = document.results.iter().filter(works).map(|row| row.entry.as_str()).collect();
    let mut closed: Vec<(String, Outcome)> = Vec::new();
    for row in document.results.iter().filter(|row| row.outcome != Outcome::Ok) {
        let name = if !open.contains(row.entry.as_str()) {
            row.entry.clone()
        } else if ROWS.contains(&(&row.entry, &row.operation)) {
            format!("{} {}", row.entry, row.operation)
        } else {
            continue;
        };
        if closed.iter().all(|(known, _)| *known != name) {
            closed.push((name, row.outcome));
        }
    }
    closed
}

/// `syscall-i386, mapped-time-perf (unsupported); lcall7-i386 (fault)`
pub(crate) fn closed_in_words(closed: &[(String, Outcome)]) -> String {
    let of = |outcome: Outcome| {
        let names = closed.iter().filter(move |(_, found)| *found == outcome).map(|(name, _)| name.as_str());
        let names: Vec<&str> = names.collect();
        (!names.is_empty()).then(|| format!("{} ({})", names.join(", "), outcome.name()))
    };
    Outcome::ALL.into_iter().filter_map(of).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use table::Table;

    #[test]
    fn every_row_of_the_first_screen_is_in_the_table() {
        for (entry, operation) in ROWS {
            let known = Table::get().entry(entry).unwrap();
            assert!(known.operations.iter().any(|name| name == operation), "{entry} {operation}");
        }
    }

    #[test]
    fn closed_entries_are_sorted_by_outcome() {
        let closed = [("a", Outcome::Fault), ("b", Outcome::Unsupported), ("c", Outcome::Unsupported)];
        let closed = closed.map(|(name, outcome)| (name.to_owned(), outcome));
        assert_eq!(closed_in_words(&closed), "b, c (unsupported); a (fault)");
        assert_eq!(closed_in_words(&[]), "");
    }
}

//! Which rows the first screen shows: the entries that programs use. The rest is a flag away.

use crate::Selection;
use document::{Document, Outcome, Row};
use std::collections::BTreeSet;
use table::special::{FIRST_SCREEN, RowName};

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
    let named = |name: RowName| document.results.iter().filter(move |row| row.is(name));
    let rows = FIRST_SCREEN.into_iter().flat_map(named).filter(|row| row.outcome == Outcome::Ok);
    let rows: Vec<&Row> = rows.collect();
    // A document of another version may have none of them.
    (!rows.is_empty()).then(|| FirstScreen { rows, closed: closed(document) })
}

fn closed(document: &Document) -> Vec<(String, Outcome)> {
    let works = |row: &&Row| row.outcome == Outcome::Ok;
    let open: BTreeSet<&str> = document.results.iter().filter(works).map(|row| row.entry.as_str()).collect();
    let (mut closed, mut known) = (Vec::new(), BTreeSet::new());
    for row in document.results.iter().filter(|row| row.outcome != Outcome::Ok) {
        let name = if !open.contains(row.entry.as_str()) {
            row.entry.clone()
        } else if FIRST_SCREEN.into_iter().any(|name| row.is(name)) {
            format!("{} {}", row.entry, row.operation)
        } else {
            continue;
        };
        if known.insert(name.clone()) {
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
mod tests {
    use super::*;

    #[test]
    fn closed_entries_are_sorted_by_outcome() {
        let closed = [("a", Outcome::Fault), ("b", Outcome::Unsupported), ("c", Outcome::Unsupported)];
        let closed = closed.map(|(name, outcome)| (name.to_owned(), outcome));
        assert_eq!(closed_in_words(&closed), "b, c (unsupported); a (fault)");
        assert_eq!(closed_in_words(&[]), "");
    }
}

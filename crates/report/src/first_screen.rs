//! Which rows the first screen shows: the entries that programs use. The rest is a flag away.

use crate::Selection;
use document::{Document, Outcome, Row};
use std::collections::BTreeSet;
use table::special::{FIRST_SCREEN, RowName, is_on_first_screen};

/// The first screen of a document.
pub(crate) struct FirstScreen<'a> {
    /// Those that work, by entry and operation, of each configuration one after the other.
    pub rows: Vec<&'a Row>,
    /// Entries of which no row works, and rows of this screen that do not, with their outcome.
    pub closed: Vec<(String, Outcome)>,
}

/// None where everything is shown: it was asked for, the document is of the lab, or it lacks most rows of the first screen, because
/// others were asked for.
pub(crate) fn of(document: &Document, selection: Selection) -> Option<FirstScreen<'_>> {
    let named = |name: RowName| document.results.iter().filter(move |row| row.is(name));
    let known = FIRST_SCREEN.into_iter().filter(|name| named(*name).next().is_some()).count();
    if selection == Selection::All || document.is_of_lab() || 2 * known <= FIRST_SCREEN.len() {
        return None;
    }
    let rows = FIRST_SCREEN.into_iter().flat_map(named).filter(|row| row.outcome == Outcome::Ok);
    let rows: Vec<&Row> = rows.collect();
    // All of them may be closed.
    (!rows.is_empty()).then(|| FirstScreen { rows, closed: closed(document) })
}

/// Whether no other rows were measured.
pub(crate) fn is_all_of(document: &Document) -> bool {
    document.results.iter().all(|row| is_on_first_screen(&row.entry, &row.operation))
}

fn closed(document: &Document) -> Vec<(String, Outcome)> {
    let works = |row: &&Row| row.outcome == Outcome::Ok;
    let open: BTreeSet<&str> = document.results.iter().filter(works).map(|row| row.entry.as_str()).collect();
    let (mut closed, mut known) = (Vec::new(), BTreeSet::new());
    for row in document.results.iter().filter(|row| row.outcome != Outcome::Ok) {
        let name = if !open.contains(row.entry.as_str()) {
            row.entry.clone()
        } else if is_on_first_screen(&row.entry, &row.operation) {
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

//! What a run is of, in few words.

use document::Document;
use std::collections::BTreeSet;
use table::special::{FIRST_SCREEN, is_on_first_screen};
use table::{Kernel, Table};

/// `first screen`, `all`, `int80-i386 getppid`, `syscall-x86_64, 5 rows`, `getppid, 6 entries`, `12 entries, 31 rows`; of a run with several
/// configurations, how many there are: `syscall-x86_64 × 18`. None of a document without rows.
pub(crate) fn covers(document: &Document) -> Option<String> {
    let names = || document.results.iter().map(|row| (row.entry.as_str(), row.operation.as_str()));
    let rows: BTreeSet<(&str, &str)> = names().collect();
    let entries: BTreeSet<&str> = names().map(|(entry, _)| entry).collect();
    let operations: BTreeSet<&str> = names().map(|(_, operation)| operation).collect();
    let (entry, operation) = (entries.iter().next()?, operations.iter().next()?);
    let of_entries =
        if entries.len() == 1 { (*entry).to_owned() } else { format!("{} entries", entries.len()) };
    let configurations: BTreeSet<_> = document.results.iter().map(|row| &row.configuration).collect();
    Some(match configurations.len() {
        0 | 1 if rows.len() == 1 => format!("{entry} {operation}"),
        0 | 1 if is_all(document, &rows) => "all".to_owned(),
        0 | 1 if is_first_screen(&rows) => "first screen".to_owned(),
        0 | 1 if operations.len() == 1 => format!("{operation}, {of_entries}"),
        0 | 1 => format!("{of_entries}, {} rows", rows.len()),
        several if is_all(document, &rows) => format!("all × {several}"),
        several => format!("{of_entries} × {several}"),
    })
}

/// Whether it has every row that this version has of that kernel.
fn is_all(document: &Document, rows: &BTreeSet<(&str, &str)>) -> bool {
    let kernel: Option<Kernel> = document.measurement.place.kernel.known();
    let has = |kernel| {
        let mut all = Table::get().rows(kernel);
        all.all(|(entry, operation)| rows.contains(&(entry.name.as_str(), operation.name.as_str())))
    };
    kernel.is_some_and(has)
}

fn is_first_screen(rows: &BTreeSet<(&str, &str)>) -> bool {
    rows.len() == FIRST_SCREEN.len()
        && rows.iter().all(|(entry, operation)| is_on_first_screen(entry, operation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::{Machine, Place, Row};

    fn of(rows: &[(&str, &str)], configurations: &[&str]) -> Option<String> {
        let mut document = Document::empty();
        document.measurement.place = Place::new(Machine::Host, Kernel::Linux);
        for value in configurations {
            let configuration = [("pti".to_owned(), (*value).to_owned())];
            document.results.extend(rows.iter().map(|(entry, operation)| Row {
                configuration: configuration.clone().into(),
                ..Row::unmeasured(entry, operation, 64)
            }));
        }
        covers(&document)
    }

    #[test]
    fn a_run_is_told_by_what_its_rows_have_in_common() {
        let said = |rows: &[(&str, &str)]| of(rows, &["off"]).unwrap();
        assert_eq!(said(&[("int80-i386", "getppid")]), "int80-i386 getppid");
        assert_eq!(said(&[("int80-i386", "getppid"), ("int80-i386", "time")]), "int80-i386, 2 rows");
        assert_eq!(said(&[("int80-i386", "getppid"), ("syscall-x86_64", "getppid")]), "getppid, 2 entries");
        assert_eq!(said(&[("int80-i386", "getppid"), ("ud", "signal")]), "2 entries, 2 rows");
        let two = of(&[("ud", "signal")], &["on", "off"]);
        assert_eq!(two.as_deref(), Some("ud × 2"));
        assert_eq!(of(&[], &["off"]), None);
    }

    #[test]
    fn the_first_screen_and_all_rows_are_known() {
        let first: Vec<(&str, &str)> = FIRST_SCREEN.iter().map(|row| (row.entry, row.operation)).collect();
        assert_eq!(of(&first, &["off"]).as_deref(), Some("first screen"));
        let all = Table::get().rows(Kernel::Linux);
        let all: Vec<(&str, &str)> =
            all.map(|(entry, operation)| (entry.name.as_str(), operation.name.as_str())).collect();
        assert_eq!(of(&all, &["off"]).as_deref(), Some("all"));
        assert_ne!(of(&all[1..], &["off"]).as_deref(), Some("all"));
    }
}

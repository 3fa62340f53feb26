//! Which rows a command line asks for.

use crate::error::Error;
use glob::Pattern;
use table::{Entry, Kernel, Operation, Table};

/// A row of the table.
pub type Row<'a> = (&'a Entry, &'a Operation);

/// The rows whose entry matches one of `entries` and whose operation one of `operations`; no pattern matches all.
///
/// # Errors
/// [`Error::Usage`], naming the nearest when a pattern matches nothing, and what there is when no row is left.
pub fn rows<'a>(table: &'a Table, entries: &[String], operations: &[String]) -> Result<Vec<Row<'a>>, Error> {
    let entry_names: Vec<&str> = table.entries.iter().map(|entry| entry.name.as_str()).collect();
    let operation_names: Vec<&str> =
        table.operations.iter().map(|operation| operation.name.as_str()).collect();
    let entries = patterns("entry", entries, &entry_names)?;
    let operations = patterns("operation", operations, &operation_names)?;
    let is_wanted = |patterns: &[Pattern], name: &str| {
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name))
    };
    let rows: Vec<Row> = table
        .rows(Kernel::Linux)
        .filter(|(entry, operation)| {
            is_wanted(&entries, &entry.name) && is_wanted(&operations, &operation.name)
        })
        .collect();
    if rows.is_empty() { Err(nothing_left(table, &entries)) } else { Ok(rows) }
}

/// The entry of that name.
///
/// # Errors
/// [`Error::Usage`], naming the nearest.
pub fn entry<'a>(table: &'a Table, name: &str) -> Result<&'a Entry, Error> {
    table
        .entry(name)
        .ok_or_else(|| unknown("entry", name, table.entries.iter().map(|entry| entry.name.as_str())))
}

fn patterns(what: &str, texts: &[String], names: &[&str]) -> Result<Vec<Pattern>, Error> {
    let parse = |text: &String| {
        let pattern = Pattern::new(text)
            .map_err(|error| Error::Usage(format!("--{what} {text}: not a glob: {}", error.msg)))?;
        let matches_any = names.iter().any(|name| pattern.matches(name));
        if matches_any { Ok(pattern) } else { Err(unknown(what, text, names.iter().copied())) }
    };
    texts.iter().map(parse).collect()
}

fn unknown<'a>(what: &str, asked: &str, names: impl Iterator<Item = &'a str>) -> Error {
    let nearest =
        names.map(|name| (strsim::jaro_winkler(asked, name), name)).max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = match nearest {
        Some((likeness, name)) if likeness > 0.7 => format!("; did you mean {name}?"),
        _ => String::new(),
    };
    Error::Usage(format!("there is no {what} {asked:?}{hint} (`kentry list` shows what there is)"))
}

fn nothing_left(table: &Table, entries: &[Pattern]) -> Error {
    let asked =
        table.entries.iter().filter(|entry| entries.iter().any(|pattern| pattern.matches(&entry.name)));
    let serves: Vec<String> =
        asked.map(|entry| format!("{} serves {}", entry.name, entry.operations.join(", "))).collect();
    Error::Usage(format!("no entry that was asked for serves such an operation: {}", serves.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(entries: &[&str], operations: &[&str]) -> Result<Vec<String>, String> {
        let owned = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
        let rows =
            rows(Table::get(), &owned(entries), &owned(operations)).map_err(|error| error.to_string())?;
        Ok(rows.iter().map(|(entry, operation)| format!("{}/{}", entry.name, operation.name)).collect())
    }

    #[test]
    fn globs_select_in_the_tables_order() {
        let rows = names(&["vdso-*", "syscall-x86_64"], &["time"]).unwrap();
        assert_eq!(rows, ["syscall-x86_64/time", "vdso-x86_64/time", "vdso-i386/time"]);
        assert_eq!(names(&[], &[]).unwrap().len(), Table::get().rows(Kernel::Linux).count());
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        let error = names(&["sysenter"], &[]).unwrap_err();
        assert!(error.contains("did you mean sysenter-i386?"), "{error}");
        let error = names(&[], &["clock_gettime_monotonic"]).unwrap_err();
        assert!(error.contains("did you mean clock_gettime-monotonic?"), "{error}");
        let error = names(&["zzz"], &[]).unwrap_err();
        assert!(!error.contains("did you mean"), "{error}");
        assert!(names(&["[a"], &[]).unwrap_err().contains("not a glob"));
    }

    #[test]
    fn a_pair_that_does_not_exist_says_what_does() {
        let error = names(&["ud"], &["getppid"]).unwrap_err();
        assert_eq!(error, "no entry that was asked for serves such an operation: ud serves signal");
    }
}

//! Which rows a command line names.

use crate::error::Error;
use crate::messages::note;
use clap::{Args, ValueHint};
use measure::{TableRow, select};
use table::special::{FIRST_SCREEN, is_on_first_screen};
use table::{Entry, Kernel, Operation, Table};

/// The rows that a command is about.
#[derive(Debug, Clone, Default, Args)]
pub struct RowArgs {
    /// Only rows of entries of this name, short name (syscall) or glob (*, ?, [...]); may be given several times
    #[arg(short, long, value_name = "NAME", value_hint = ValueHint::Other)]
    pub entry: Vec<String>,
    /// Only rows of operations of this name, C function or glob (*, ?, [...]); may be given several times
    #[arg(short, long, value_name = "NAME", value_hint = ValueHint::Other)]
    pub operation: Vec<String>,
}

impl RowArgs {
    /// Whether any are named; then all of them are shown.
    pub fn are_named(&self) -> bool {
        !self.entry.is_empty() || !self.operation.is_empty()
    }

    /// The rows to measure on this Linux: those that are named, or those of the first screen unless all are asked for.
    ///
    /// # Errors
    /// [`Error::Usage`] when a name matches no row.
    pub fn of_linux<'a>(&self, table: &'a Table, all: bool) -> Result<Vec<TableRow<'a>>, Error> {
        let mut rows = select::rows(table, Kernel::Linux, &self.entry, &self.operation)?;
        if !all && !self.are_named() {
            rows.retain(|(entry, operation)| is_on_first_screen(&entry.name, &operation.name));
        }
        Ok(rows)
    }

    /// Notes what short names stood for on a kernel, where the word itself does not tell.
    pub fn note_short_names(&self, table: &Table, kernel: Kernel) {
        let of_entries = self.entry.iter().filter_map(|word| self.other_entries(table, kernel, word));
        let of_operations = self.operation.iter().filter_map(|word| other_operation(table, word));
        of_entries.chain(of_operations).for_each(|text| note(&text));
    }

    /// Which entry of a family a word stood for, if no word names another that a plain run shows.
    fn other_entries(&self, table: &Table, kernel: Kernel, word: &str) -> Option<String> {
        let meant = table.entry_of(word, kernel).filter(|entry| entry.name != word)?;
        let is_named = |entry: &Entry| {
            self.entry.iter().any(|word| select::glob(word).is_ok_and(|pattern| pattern.matches(&entry.name)))
        };
        let is_usual = |entry: &Entry| FIRST_SCREEN.iter().any(|row| row.entry == entry.name);
        let is_left_out = |entry: &&Entry| {
            *entry != meant && entry.kernels.contains(&kernel) && is_usual(entry) && !is_named(entry)
        };
        let others: Vec<&str> =
            table.family(word).into_iter().filter(is_left_out).map(|entry| entry.name.as_str()).collect();
        let also = match others.as_slice() {
            [] => return None,
            [one] => format!("There is also {one}"),
            several => format!("There are also {}", several.join(" and ")),
        };
        Some(format!("{word} is {}. {also}; --entry '{word}-*' names them all", meant.name))
    }
}

/// Which operation a C function stood for, if its name is another.
fn other_operation(table: &Table, word: &str) -> Option<String> {
    let is_another = |operation: &&Operation| !operation.name.starts_with(word);
    let operation = table.operations_of(word).into_iter().find(is_another)?;
    let what = if operation.loops.is_some() { ", a turn of UnixBench's loop" } else { "" };
    Some(format!("{word}: {}{what}", operation.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn getpid_was_unixbenchs_without_a_word() {
        let said = |word| other_operation(Table::get(), word);
        assert_eq!(said("getpid").unwrap(), "getpid: unixbench-getpid, a turn of UnixBench's loop");
        for word in ["getppid", "clock_gettime", "time", "unixbench-*", "unixbench-getpid"] {
            assert_eq!(said(word), None, "{word}");
        }
    }

    #[test]
    fn a_short_name_names_the_entries_that_it_leaves_out() {
        let said = |words: &[&str], kernel| {
            let entry: Vec<String> = words.iter().map(ToString::to_string).collect();
            RowArgs { entry, operation: Vec::new() }.other_entries(Table::get(), kernel, words[0])
        };
        let int80 = "int80 is int80-x86_64. There is also int80-i386; --entry 'int80-*' names them all";
        assert_eq!(said(&["int80"], Kernel::Linux).unwrap(), int80);
        assert_eq!(said(&["syscall"], Kernel::Linux), None, "few ask for the others");
        assert_eq!(said(&["sysenter"], Kernel::Linux), None, "Linux has the one of i386 alone");
        assert!(said(&["sysenter"], Kernel::Lab).unwrap().contains("also sysenter-i386"));
        for words in [&["int80-i386"][..], &["int80", "int80-i386"], &["int80", "*-i386"], &["int3"], &["*"]]
        {
            assert_eq!(said(words, Kernel::Linux), None, "{words:?}");
        }
    }
}

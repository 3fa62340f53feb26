//! What the argument of `kentry explain` means.

use crate::error::Error;
use measure::select::{glob, nearest};
use table::{Entry, Kernel, Operation, Table};

/// Something that can be explained.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject<'a> {
    /// A way into the kernel.
    Entry(&'a Entry),
    /// An operation.
    Operation(&'a Operation),
}

/// What a word means, and other meanings that it could have.
#[derive(Debug, PartialEq)]
pub struct Meaning<'a> {
    /// What it means.
    pub subjects: Vec<Subject<'a>>,
    /// The other entries that a short name could mean.
    pub others: Vec<&'a Entry>,
}

/// Tries an entry, an operation, a short name, and a glob, in this order.
///
/// # Errors
/// [`Error::Usage`], naming the nearest of all names.
pub fn meaning<'a>(table: &'a Table, word: &str) -> Result<Meaning<'a>, Error> {
    let only = |subjects| Meaning { subjects, others: Vec::new() };
    let of_name: Vec<Subject> =
        [table.entry(word).map(Subject::Entry), table.operation(word).map(Subject::Operation)]
            .into_iter()
            .flatten()
            .collect();
    if !of_name.is_empty() {
        return Ok(only(of_name));
    }
    let on = |kernel| table.entry_of(word, kernel);
    if let Some(entry) = on(Kernel::Linux).or_else(|| on(Kernel::Lab)) {
        let others = table.family(word).into_iter().filter(|other| *other != entry).collect();
        return Ok(Meaning { subjects: vec![Subject::Entry(entry)], others });
    }
    let of_function = table.operations_of(word);
    if !of_function.is_empty() {
        return Ok(only(of_function.into_iter().map(Subject::Operation).collect()));
    }
    let pattern = glob(word).map_err(Error::Usage)?;
    let entries = table.entries.iter().filter(|entry| pattern.matches(&entry.name)).map(Subject::Entry);
    let operations = table.operations.iter().filter(|known| pattern.matches(&known.name));
    let matching: Vec<Subject> = entries.chain(operations.map(Subject::Operation)).collect();
    if matching.is_empty() { Err(unknown(table, word)) } else { Ok(only(matching)) }
}

fn unknown(table: &Table, word: &str) -> Error {
    let entries = table.entries.iter().map(|entry| entry.name.as_str());
    let operations = table.operations.iter().map(|operation| operation.name.as_str());
    let hint = nearest(word, entries.chain(operations).chain(table.short_names()));
    let word = report::plain(word);
    Error::Usage(format!(
        "there is no entry or operation \"{word}\"{hint} (`kentry list` shows what there is)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(word: &str) -> Result<Vec<String>, String> {
        let meaning = meaning(Table::get(), word).map_err(|error| error.to_string())?;
        let name = |subject: &Subject| match subject {
            Subject::Entry(entry) => entry.name.clone(),
            Subject::Operation(operation) => operation.name.clone(),
        };
        let others = meaning.others.iter().map(|entry| format!("also {}", entry.name));
        Ok(meaning.subjects.iter().map(name).chain(others).collect())
    }

    #[test]
    fn a_word_is_a_name_a_short_name_a_function_or_a_glob() {
        assert_eq!(names("getppid").unwrap(), ["getppid"]);
        assert_eq!(names("int3").unwrap(), ["int3"]);
        assert_eq!(names("syscall").unwrap(), ["syscall-x86_64", "also syscall-i386", "also syscall-x32"]);
        assert_eq!(names("sysenter").unwrap(), ["sysenter-i386", "also sysenter-x86_64"]);
        assert_eq!(names("call-gate").unwrap(), ["call-gate-x86_64", "also call-gate-i386"]);
        assert!(names("clock_gettime").unwrap().contains(&"clock_gettime-realtime".to_string()));
        assert_eq!(names("rdtsc*").unwrap(), ["rdtsc", "rdtscp"]);
        let all = names("*").unwrap().len();
        assert_eq!(all, Table::get().entries.len() + Table::get().operations.len());
    }

    #[test]
    fn the_nearest_of_all_names_is_suggested() {
        for (word, near) in [("sysentre-i386", "sysenter-i386"), ("getpid", "getppid"), ("syscal", "syscall")]
        {
            let error = names(word).unwrap_err();
            assert!(error.contains(&format!("did you mean {near}?")), "{error}");
        }
        assert!(names("[").unwrap_err().contains("not a glob"));
        assert!(names("\u{1b}[2J*").unwrap_err().chars().all(|c| !c.is_control()));
    }
}

//! What `kentry explain` prints.

mod anatomy;
pub mod elsewhere;
mod fault;
mod finding;
mod like_here;
mod opening;
mod operation;
mod parameter;
mod part;
mod run;
mod section;
mod subject;
mod switch;
pub mod topic;

pub use run::run;

use crate::error::Error;
use crate::options::output::Color;
use crate::prices::LabRuns;
use clap::{Args, ValueHint};
use document::{Document, Outcome, Row};
use std::path::PathBuf;
use subject::{Meaning, Subject, meaning};
use table::{Entry, Kernel, Table, Whose};

/// Options of `explain`.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// An entry, an operation, a short name (syscall, clock_gettime), a switch of the lab or one of its values (pti=on), what people call
    /// an attack or a protection (Meltdown, KPTI, "Spectre v2", CVE-2017-5754; also what Linux calls it in
    /// /sys/devices/system/cpu/vulnerabilities), a profile (linux-6.1), a parameter of guests (seccomp), a part of an anatomy
    /// (kernel-stack), a finding (clock-served), or a glob; `kentry list`, `kentry linux --help` and `kentry anatomy --help` show all names
    #[arg(value_name = "NAME", value_hint = ValueHint::Other)]
    pub name: String,
    /// Print a complete small program that says hello through this entry
    #[arg(long)]
    pub example: bool,
    /// Show the figures of this run, and not those of the latest that has them: its name, id, latest, or a file that was saved with
    /// --output FILE.json; - is standard input
    #[arg(long, value_name = "RUN", value_hint = ValueHint::FilePath, conflicts_with = "example")]
    pub run: Option<PathBuf>,
    /// Add the parts of a path through this entry: of a file that `kentry anatomy` has saved with --output FILE.json, or, without FILE,
    /// of one that is followed now, as `kentry anatomy NAME` follows it; stands behind NAME then
    #[arg(long, value_name = "FILE", num_args = 0..=1, value_hint = ValueHint::FilePath, conflicts_with = "example")]
    pub anatomy: Option<Option<PathBuf>>,
    /// When to use color; NO_COLOR is respected too
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_short_help = true)]
    pub color: Color,
}

include!(concat!(env!("OUT_DIR"), "/texts.rs"));

/// What a word means, to be explained.
pub struct Explained<'a> {
    table: &'a Table,
    word: &'a str,
    meaning: Meaning<'a>,
}

impl<'a> Explained<'a> {
    /// Looks it up.
    ///
    /// # Errors
    /// [`Error::Usage`] when it means nothing.
    pub fn of(table: &'a Table, word: &'a str) -> Result<Explained<'a>, Error> {
        Ok(Explained { table, word, meaning: meaning(table, word)? })
    }

    /// What the latest run is called that may have rows of it: of the lab, if only the lab has such entries. None where it has no rows, as a
    /// switch.
    pub fn latest(&self) -> Option<&'static str> {
        let on_linux = |subject: &Subject| match subject {
            Subject::Entry(entry) => Some(entry.kernels.contains(&Kernel::Linux)),
            Subject::Operation(operation) => {
                Some(self.table.rows(Kernel::Linux).any(|(_, served)| served.id == operation.id))
            }
            _ => None,
        };
        let mut of_rows = self.meaning.subjects.iter().filter_map(on_linux).peekable();
        of_rows.peek()?;
        Some(if of_rows.any(|on_linux| on_linux) { "latest" } else { "latest:lab" })
    }

    /// Whether a run has a row of it.
    pub fn is_in(&self, document: &Document) -> bool {
        let is_of = |row: &Row| {
            self.meaning.subjects.iter().any(|subject| match subject {
                Subject::Entry(entry) => entry.name == row.entry,
                Subject::Operation(operation) => operation.name == row.operation,
                _ => false,
            })
        };
        document.results.iter().any(is_of)
    }

    /// The texts of everything that it means, in Markdown; with figures of a document, and prices of runs of the lab.
    pub fn text(&self, document: Option<&Document>, runs: &LabRuns) -> String {
        let table = self.table;
        let text = |subject: &Subject| match subject {
            Subject::Entry(entry) => explain_entry(entry, document),
            Subject::Operation(operation) => operation::explain(table, operation, document),
            Subject::Switch(known) => switch::explain(table, known, runs),
            Subject::Known(name, switches) => switch::explain_known(table, name, switches, runs),
            Subject::Setting(setting) => switch::explain_setting(table, setting, runs),
            Subject::Profile(profile) => switch::explain_profile(table, profile),
            Subject::Parameter(known) => parameter::explain(known),
            Subject::Part(part) => part::explain(*part),
            Subject::Event(event) => part::explain_event(*event),
            Subject::Elsewhere(fault) => elsewhere::explain(table, fault, runs),
            Subject::Topic(topic) => topic::explain(table, topic),
            Subject::Finding(id) => finding::explain(*id),
        };
        let texts: Vec<String> = self.meaning.subjects.iter().map(text).collect();
        also(self.word, &self.meaning.others) + &texts.join("\n")
    }
}

/// The complete small program (`docs/examples/`) of the entry that a word means.
///
/// # Errors
/// [`Error::Usage`] when it means nothing, an operation, or several entries.
pub fn example(table: &Table, word: &str) -> Result<&'static str, Error> {
    let wrong = |why: &str| Err(Error::Usage(format!("--example: {} {why}", report::plain(word))));
    let subjects = meaning(table, word)?.subjects;
    let entries: Vec<&Entry> = subjects.iter().filter_map(Subject::entry).collect();
    match (entries.as_slice(), subjects.as_slice()) {
        ([entry], _) => Ok(find(entry).map_or("", |(_, _, example)| example)),
        ([], [Subject::Operation(_), ..]) => wrong("is an operation; only an entry has an example program"),
        ([], _) => wrong("is no entry; only an entry has an example program"),
        (several, _) => wrong(&format!("names {} entries; name one", several.len())),
    }
}

/// The other entries that a short name could mean.
fn also(word: &str, others: &[&Entry]) -> String {
    let names: Vec<String> = others.iter().map(|entry| format!("`{}`", entry.name)).collect();
    let names = match names.as_slice() {
        [] => return String::new(),
        [one] => format!("is also {one}"),
        several => format!("are also {}", several.join(" and ")),
    };
    format!("There {names}; `kentry explain '{word}-*'` explains them all.\n\n")
}

/// The entry's text (`docs/entries/`), and its rows of a run where there is one.
fn explain_entry(entry: &Entry, document: Option<&Document>) -> String {
    let mut text = find(entry).map_or(String::new(), |(_, text, _)| text.to_string());
    text.push_str("\n## Measured\n\n");
    let Some(document) = document else {
        return text + &without_run(&commands(entry).join("\n    "));
    };
    origin(document, &mut text);
    text.push_str(&rows(entry, document));
    text.push_str(&exports(entry, document));
    text
}

/// How to measure on this machine.
fn without_run(command: &str) -> String {
    format!("No run of this machine is kept. Measure one, and its figures stand here:\n\n    {command}\n")
}

/// The command that measures an entry, where there is one.
fn command(entry: &Entry) -> String {
    format!("{} --entry {}", measuring(|whose| !entry.operations_of(whose).is_empty()), entry.name)
}

/// That command, and that of the lab's kernel for protected mode where it is another.
fn commands(entry: &Entry) -> Vec<String> {
    let of_i386 = format!("kentry lab --lab-kernel i386 --entry {}", entry.name);
    let is_there = !entry.operations_on(Kernel::LabI386).is_empty();
    let mut all = vec![command(entry)];
    all.extend(Some(of_i386).filter(|of_i386| is_there && !all.contains(of_i386)));
    all
}

/// The command that measures the first rows of those that have it.
fn measuring(has: impl Fn(Whose) -> bool) -> &'static str {
    match Whose::ALL.into_iter().find(|whose| has(*whose)) {
        Some(Whose::Linux) => "kentry",
        Some(Whose::Mach) => "kentry lab --personality mach",
        Some(Whose::LabI386) => "kentry lab --lab-kernel i386",
        Some(Whose::MachI386) => "kentry lab --lab-kernel i386 --personality mach",
        _ => "kentry lab",
    }
}

/// Where the numbers come from.
fn origin(document: &Document, text: &mut String) {
    report::origin(document).iter().for_each(|line| text.push_str(&format!("{line}\n")));
    text.push('\n');
}

/// A line for each row of the entry; those that are closed for the same reason share one.
fn rows(entry: &Entry, document: &Document) -> String {
    let rows: Vec<&Row> = document.results.iter().filter(|row| row.entry == entry.name).collect();
    let closed = |row: &&&Row| row.outcome != Outcome::Ok && row.reason == rows[0].reason;
    match rows.as_slice() {
        [] => {
            format!("The run has no row of this entry; `{}` measures it.\n", commands(entry).join("` or `"))
        }
        [first, _, ..] if rows.iter().filter(closed).count() == rows.len() => {
            let why = report::plain(first.reason.as_deref().unwrap_or("-"));
            format!("- all {} operations: {}: {why}\n", rows.len(), first.outcome.name())
        }
        rows => rows.iter().map(|row| format!("- {}\n", report::summary_of_row(document, row))).collect(),
    }
}

/// All functions of the vDSO image that the entry uses, whether or not kentry times them.
fn exports(entry: &Entry, document: &Document) -> String {
    let is_looked_up = entry.closed.contains_key("no-auxv") && entry.closed.contains_key("no-symbol");
    let image = document.vdso.get(&entry.bits().to_string()).filter(|_| is_looked_up);
    let mut text = image.map_or(String::new(), |_| "\nThe image exports:\n\n".into());
    for export in image.into_iter().flatten() {
        text.push_str(&report::plain(&format!("- {}@{}", export.name, export.version)));
        text.push('\n');
    }
    text
}

fn find(entry: &Entry) -> Option<&'static (&'static str, &'static str, &'static str)> {
    TEXTS.iter().find(|(name, _, _)| *name == entry.name)
}

fn capitalized(text: &str) -> String {
    if text.split(' ').next().is_some_and(|word| word.contains('_')) {
        return text.into(); // a name in C
    }
    let mut rest = text.chars();
    rest.next().map_or(String::new(), |first| first.to_uppercase().chain(rest).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_gnu_machs_alone_was_measured_by_a_command_that_refuses_it() {
        let of = |name: &str| command(Table::get().entry(name).unwrap());
        assert_eq!(of("entry-page-i386"), "kentry lab --personality mach --entry entry-page-i386");
        assert_eq!(of("mapped-time-mach"), "kentry lab --personality mach --entry mapped-time-mach");
        assert_eq!(of("trapgate-i386"), "kentry lab --entry trapgate-i386");
        assert_eq!(of("lcall7-i386"), "kentry --entry lcall7-i386");
    }

    #[test]
    fn an_entry_that_the_kernel_for_protected_mode_has_too_names_its_command() {
        let of = |name: &str| commands(Table::get().entry(name).unwrap());
        let int3 = ["kentry lab --entry int3-i386", "kentry lab --lab-kernel i386 --entry int3-i386"];
        assert_eq!(of("int3-i386"), int3);
        assert_eq!(of("task-16"), ["kentry lab --lab-kernel i386 --entry task-16"]);
        assert_eq!(of("syscall-x86_64"), ["kentry --entry syscall-x86_64"]);
    }
}

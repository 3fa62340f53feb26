//! Which rows a command line asks for.

use crate::{Error, TableRow};
use document::Document;
use glob::Pattern;
use table::{Kernel, Table, Whose, nearest};

/// The rows of a kernel whose entry matches one of `entries` and whose operation one of `operations`; no pattern matches
/// all.
///
/// # Errors
/// [`Error::Usage`]. If a pattern matches nothing, it names the most similar name, or the other kernel if only that one has
/// it; if no row is left, it lists what the chosen entries serve.
pub fn rows<'a>(
    table: &'a Table,
    whose: impl Into<Whose>,
    entries: &[String],
    operations: &[String],
) -> Result<Vec<TableRow<'a>>, Error> {
    let whose = whose.into();
    let kernel = whose.kernel();
    let entry = |word: &String| table.entry_of(word, kernel).map_or(word, |entry| &entry.name).clone();
    let entries: Vec<String> = entries.iter().map(entry).collect();
    let operations: Vec<String> = operations.iter().flat_map(|word| operation_names(table, word)).collect();
    let entries = patterns(table, whose, "entry", &entries, |(entry, _)| &entry.name)?;
    let operations = patterns(table, whose, "operation", &operations, |(_, operation)| &operation.name)?;
    let is_wanted = |patterns: &[Pattern], name: &str| {
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name))
    };
    let rows: Vec<TableRow> = table
        .rows(whose)
        .filter(|(entry, operation)| {
            is_wanted(&entries, &entry.name) && is_wanted(&operations, &operation.name)
        })
        .collect();
    if rows.is_empty() { Err(nothing_left(table, whose, &entries)) } else { Ok(rows) }
}

/// The operations that a word means, by name or C function; otherwise the word itself, which may be a glob.
fn operation_names(table: &Table, word: &str) -> Vec<String> {
    let named = table.operations_of(word);
    if named.is_empty() {
        return vec![word.to_string()];
    }
    named.iter().map(|operation| operation.name.clone()).collect()
}

/// Parses a glob.
///
/// # Errors
/// What is wrong, in words.
pub fn glob(word: &str) -> Result<Pattern, String> {
    let why = || format!("\"{}\" is not a glob: a [ needs its ], and ** stands alone", word);
    Pattern::new(word).map_err(|_| why())
}

/// Keeps those rows of a document that match one of the entries and one of the operations, by name, short name, C function
/// or glob; no pattern matches all. A short name means what it means where the document was measured: `sysenter` is another
/// entry in the lab than on Linux. For a kernel that this version does not know there are no short names.
///
/// # Errors
/// [`Error::Usage`] when a pattern is none, or no row is left.
pub fn keep(
    table: &Table,
    document: &mut Document,
    entries: &[String],
    operations: &[String],
) -> Result<(), Error> {
    let kernel = document.measurement.place.kernel.known();
    let with_comma =
        |what, texts: &[String]| texts.iter().find(|text| text.contains(',')).map(|text| several(what, text));
    let hint =
        with_comma("entry", entries).or_else(|| with_comma("operation", operations)).unwrap_or_default();
    let parse = |texts: Vec<String>| {
        texts.iter().map(|text| glob(text).map_err(Error::Usage)).collect::<Result<Vec<Pattern>, Error>>()
    };
    let entry = |word: &String| {
        let meant = kernel.and_then(|kernel| table.entry_of(word, kernel));
        meant.map_or(word, |entry| &entry.name).clone()
    };
    let entry_names: Vec<String> = entries.iter().map(entry).collect();
    let operation_names: Vec<String> =
        operations.iter().flat_map(|word| operation_names(table, word)).collect();
    let (entries, operations) = (parse(entry_names.clone())?, parse(operation_names.clone())?);
    let is_wanted = |patterns: &[Pattern], name: &str| {
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name))
    };
    let rows = &mut document.results;
    rows.retain(|row| is_wanted(&entries, &row.entry) && is_wanted(&operations, &row.operation));
    if !rows.is_empty() {
        return Ok(());
    }
    // A name that the table lacks, too, is a mistake; another one may just not have been measured.
    if let Some(kernel) = kernel.filter(|_| hint.is_empty()) {
        let whose = whose(table, kernel, &operation_names);
        patterns(table, whose, "entry", &entry_names, |(entry, _)| &entry.name)?;
        patterns(table, whose, "operation", &operation_names, |(_, operation)| &operation.name)?;
    }
    let is_linux = kernel == Some(Kernel::Linux) && hint.is_empty();
    let hint = if is_linux { format!("; {UNMEASURED}") } else { hint };
    Err(Error::Usage(format!("the document has no such row{hint}")))
}

/// Whose rows are meant on a kernel by names of operations: GNU Mach's, if one of them is.
pub fn whose(table: &Table, kernel: Kernel, operations: &[String]) -> Whose {
    let mut asked = operations.iter().filter_map(|name| Some(table.operation(name)?.whose(kernel)));
    asked.find(|whose| whose.is_machs()).unwrap_or(kernel.into())
}

/// Why a run may lack a row that Linux has, and what to do.
pub const UNMEASURED: &str = "its run did not measure it: without options kentry measures the rows of the first screen, with --all every \
                              row, and with --entry and --operation those that they name";

/// Parses patterns. Each must match the name of something that the kernel has.
fn patterns(
    table: &Table,
    whose: Whose,
    what: &str,
    texts: &[String],
    name: fn(TableRow) -> &str,
) -> Result<Vec<Pattern>, Error> {
    let kernel = whose.kernel();
    let is_meant = |word: &&str| match what {
        "entry" => table.entry_of(word, kernel).is_some(),
        _ => !table.operations_of(word).is_empty(),
    };
    let short_names = || table.short_names().into_iter().filter(is_meant);
    let parse = |text: &String| {
        let pattern = glob(text).map_err(|why| Error::Usage(format!("--{what}: {why}")))?;
        let is_of = |whose: Whose| table.rows(whose).any(|row| pattern.matches(name(row)));
        if is_of(whose) {
            return Ok(pattern);
        }
        let others: Vec<Whose> = Whose::ALL.into_iter().filter(|other| is_of(*other)).collect();
        match others.as_slice() {
            [] if is_of_other(table, what, text) => Err(Error::Usage(of_other(what, text))),
            [] => Err(unknown(what, text, kernel, table.rows(whose).map(name).chain(short_names()))),
            others if others.contains(&kernel.into()) => Err(not_machs(kernel.into(), what, text)),
            others => Err(elsewhere(others, kernel, what, text)),
        }
    };
    texts.iter().map(parse).collect()
}

/// Whether an entry was asked for by the name of an operation, or the other way round.
fn is_of_other(table: &Table, what: &str, word: &str) -> bool {
    match what {
        "entry" => !table.operations_of(word).is_empty(),
        _ => Kernel::ALL.into_iter().any(|kernel| table.entry_of(word, kernel).is_some()),
    }
}

/// What to write instead, whichever command was given it.
fn of_other(what: &str, word: &str) -> String {
    let (other, called) = if what == "entry" { ("operation", "an operation") } else { ("entry", "an entry") };
    format!("--{what} {word}: this is {called}; write --{other} {word}")
}

/// What to write instead of names with commas between them.
fn several(what: &str, asked: &str) -> String {
    let each: Vec<String> = asked.split(',').map(|name| format!("--{what} {}", name.trim())).collect();
    format!("; commas do not separate names: write {}, or a glob such as *-i386", each.join(" "))
}

/// Whose something is, in words for who asked this kernel, and the command that measures it.
fn owner(whose: Whose, asked: Kernel) -> (&'static str, &'static str) {
    match whose {
        Whose::Linux => ("Linux", "kentry measure"),
        Whose::Lab if asked == Kernel::LabI386 => ("the lab's kernel for long mode", "kentry lab"),
        Whose::Lab => ("the lab", "kentry lab"),
        Whose::Mach if asked == Kernel::LabI386 => {
            ("the lab's kernel for long mode with GNU Mach's calls", "kentry lab --personality mach")
        }
        Whose::Mach => ("the lab with GNU Mach's calls", "kentry lab --personality mach"),
        Whose::LabI386 => ("the lab's kernel for protected mode", "kentry lab --lab-kernel i386"),
        Whose::MachI386 => (
            "the lab's kernel for protected mode with GNU Mach's calls",
            "kentry lab --lab-kernel i386 --personality mach",
        ),
    }
}

/// What others have: by calls of Linux, if one of them has it so.
fn elsewhere(others: &[Whose], kernel: Kernel, what: &str, asked: &str) -> Error {
    let mut plain: Vec<Whose> = others.iter().copied().filter(|other| !other.is_machs()).collect();
    let of_kernel = Whose::machs(kernel).filter(|whose| others.contains(whose));
    plain.extend(of_kernel.or(others.first().copied()).filter(|_| plain.is_empty()));
    let owners = plain.into_iter().map(|whose| owner(whose, kernel));
    let named: Vec<String> = owners.clone().map(|(who, command)| format!("{who} (`{command}`)")).collect();
    match owners.collect::<Vec<_>>().as_slice() {
        [(who, command)] => Error::Usage(format!("--{what} {asked}: only {who} has it (`{command}`)")),
        _ => Error::Usage(format!(
            "--{what} {asked}: this kernel does not have it; {} do",
            named.join(" and ")
        )),
    }
}

/// What the same kernel has without the personality that was asked for.
fn not_machs(kernels: Whose, what: &str, asked: &str) -> Error {
    let (_, command) = owner(kernels, Kernel::Lab);
    let has_none = if what == "entry" { "serves no call of GNU Mach's" } else { "is no call of GNU Mach's" };
    Error::Usage(format!(
        "--{what} {asked}: it {has_none} (`{command}` without --personality mach measures it)"
    ))
}

fn unknown<'a>(what: &str, asked: &str, kernel: Kernel, names: impl Iterator<Item = &'a str>) -> Error {
    let hint = match asked {
        _ if asked.contains(',') => several(what, asked),
        // `-o run.json`
        _ if what == "operation" && asked.contains('.') => {
            format!("; a result is written to a file with --output {asked}")
        }
        _ => nearest(asked, names),
    };
    let list = match kernel {
        Kernel::Linux => "kentry list",
        Kernel::Lab => "kentry list --lab",
        Kernel::LabI386 => "kentry list --lab --lab-kernel i386",
    };
    Error::Usage(format!("there is no {what} \"{asked}\"{hint} (`{list}` shows what there is)"))
}

fn nothing_left(table: &Table, whose: Whose, entries: &[Pattern]) -> Error {
    let asked = table.entries.iter().filter(|entry| {
        !entry.operations_of(whose).is_empty() && entries.iter().any(|pattern| pattern.matches(&entry.name))
    });
    let serves = asked.map(|entry| {
        let operations = entry.operations_of(whose);
        format!("{} serves {}", entry.name, operations.join(", "))
    });
    let serves: Vec<String> = serves.collect();
    Error::Usage(format!("no entry that was asked for serves such an operation: {}", serves.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(entries: &[&str], operations: &[&str]) -> Result<Vec<String>, String> {
        names_on(Kernel::Linux, entries, operations)
    }

    fn names_on(
        whose: impl Into<Whose>,
        entries: &[&str],
        operations: &[&str],
    ) -> Result<Vec<String>, String> {
        let owned = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
        let rows = rows(Table::get(), whose, &owned(entries), &owned(operations));
        let rows = rows.map_err(|error| error.to_string())?;
        Ok(rows.iter().map(|(entry, operation)| format!("{}/{}", entry.name, operation.name)).collect())
    }

    #[test]
    fn globs_select_in_the_tables_order() {
        let rows = names(&["vdso-*", "syscall-x86_64"], &["time"]).unwrap();
        assert_eq!(rows, ["syscall-x86_64/time", "vdso-x86_64/time", "vdso-i386/time"]);
        assert_eq!(names(&[], &[]).unwrap().len(), Table::get().rows(Kernel::Linux).count());
    }

    #[test]
    fn short_names_select_what_the_kernel_has() {
        assert_eq!(names(&["sysenter"], &["time"]).unwrap(), ["sysenter-i386/time"]);
        assert_eq!(names_on(Kernel::Lab, &["sysenter"], &["time"]).unwrap(), ["sysenter-x86_64/time"]);
        let clocks = names(&["vdso"], &["clock_gettime"]).unwrap();
        assert!(clocks.len() > 3, "{clocks:?}");
        assert!(clocks.iter().all(|row| row.starts_with("vdso-x86_64/clock_gettime-")), "{clocks:?}");
    }

    /// A document of this kernel with these rows.
    fn document(kernel: &str, rows: &[(&str, &str)]) -> Document {
        let row = |(entry, operation): &(&str, &str)| document::Row::unmeasured(entry, operation, 64);
        let text = json!({
            "schema": document::SCHEMA, "id": "0", "environment": {}, "vdso": {}, "findings": [],
            "measurement": { "place": { "machine": "host", "kernel": kernel } },
            "results": rows.iter().map(row).collect::<Vec<_>>(),
        });
        document::load(&text.to_string()).unwrap()
    }

    /// What is kept of such a document.
    fn kept(
        kernel: &str,
        rows: &[(&str, &str)],
        entries: &[&str],
        operations: &[&str],
    ) -> Result<Vec<String>, String> {
        let owned = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
        let mut document = document(kernel, rows);
        keep(Table::get(), &mut document, &owned(entries), &owned(operations))
            .map_err(|error| error.to_string())?;
        Ok(document.results.iter().map(|row| format!("{}/{}", row.entry, row.operation)).collect())
    }

    #[test]
    fn a_document_is_asked_by_the_names_that_are_measured_by() {
        let all = [
            ("syscall-x86_64", "clock_gettime-monotonic"),
            ("vdso-x86_64", "clock_gettime-realtime"),
            ("vdso-x86_64", "time"),
        ];
        let kept = |entries: &[&str], operations: &[&str]| kept("linux", &all, entries, operations).unwrap();
        let clocks = ["syscall-x86_64/clock_gettime-monotonic", "vdso-x86_64/clock_gettime-realtime"];
        assert_eq!(kept(&[], &["clock_gettime"]), clocks);
        assert_eq!(kept(&["vdso"], &["clock_gettime", "time"]), [clocks[1], "vdso-x86_64/time"]);
        assert_eq!(kept(&["syscall"], &["clock_*"]), [clocks[0]]);
    }

    #[test]
    fn a_document_of_the_lab_was_asked_by_the_short_names_of_linux() {
        let all = [("sysenter-i386", "none"), ("call-gate-x86_64", "none"), ("sysenter-x86_64", "none")];
        let in_lab = |word| kept("lab", &all, &[word], &[]);
        assert_eq!(in_lab("sysenter").unwrap(), ["sysenter-x86_64/none"]);
        assert_eq!(in_lab("call-gate").unwrap(), ["call-gate-x86_64/none"]);
        assert_eq!(kept("linux", &all, &["sysenter"], &[]).unwrap(), ["sysenter-i386/none"]);
        let error = kept("linux", &all, &["syscal"], &[]).unwrap_err();
        assert!(error.contains("did you mean syscall?"), "{error}");
        let error = kept("linux", &all, &["sysenter"], &["tiem"]).unwrap_err();
        assert!(error.contains("did you mean time?"), "{error}");
        let unmeasured = kept("linux", &all, &["vsyscall"], &[]).unwrap_err();
        assert_eq!(unmeasured, format!("the document has no such row; {UNMEASURED}"));
        let of_mach = kept("lab", &[("lcall7-i386", "mach_print")], &[], &["mach_msg-null"]).unwrap_err();
        assert_eq!(of_mach, "the document has no such row");
        let of_later = |word| kept("hurd", &all, &[word], &[]);
        assert_eq!(of_later("sysenter-*").unwrap(), ["sysenter-i386/none", "sysenter-x86_64/none"]);
        assert_eq!(of_later("sysenter").unwrap_err(), "the document has no such row");
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        let error = names(&["sysentre-i386"], &[]).unwrap_err();
        assert!(error.contains("did you mean sysenter-i386?"), "{error}");
        let error = names(&[], &["clock_gettime_monotonic"]).unwrap_err();
        assert!(error.contains("did you mean clock_gettime-monotonic?"), "{error}");
        let file = names(&[], &["run.json"]).unwrap_err();
        assert!(file.contains("a result is written to a file with --output run.json"), "{file}");
        let error = names(&["syscal"], &[]).unwrap_err();
        assert!(error.contains("did you mean syscall?"), "{error}");
        let error = names_on(Kernel::Lab, &["callgate"], &[]).unwrap_err();
        assert!(error.contains("did you mean call-gate?"), "{error}");
        let error = names(&[], &["clock_getime"]).unwrap_err();
        assert!(error.contains("did you mean clock_gettime?"), "{error}");
        let error = names(&["zzz"], &[]).unwrap_err();
        assert!(!error.contains("did you mean"), "{error}");
        assert!(names(&["[a"], &[]).unwrap_err().contains("not a glob"));
    }

    #[test]
    fn an_operation_that_was_asked_for_as_an_entry_was_unknown() {
        for kernel in Kernel::ALL {
            let error =
                |entries: &[&str], operations: &[&str]| names_on(kernel, entries, operations).unwrap_err();
            assert_eq!(
                error(&["getppid"], &[]),
                "--entry getppid: this is an operation; write --operation getppid"
            );
            assert_eq!(
                error(&[], &["syscall"]),
                "--operation syscall: this is an entry; write --entry syscall"
            );
        }
    }

    #[test]
    fn names_with_commas_between_them_are_told_apart() {
        let error = names(&["call,rdtsc"], &[]).unwrap_err();
        assert!(error.contains("write --entry call --entry rdtsc, or a glob"), "{error}");
        let error = names(&[], &["none, getppid"]).unwrap_err();
        assert!(error.contains("write --operation none --operation getppid,"), "{error}");
        let error = kept("linux", &[], &["call,rdtsc"], &[]).unwrap_err();
        assert!(error.contains("no such row; commas do not separate names"), "{error}");
    }

    #[test]
    fn what_only_the_other_kernel_has_is_said_to_be_there() {
        let error = names(&["syscall-x86_64", "trapgate-x86_64"], &[]).unwrap_err();
        assert_eq!(error, "--entry trapgate-x86_64: only the lab has it (`kentry lab`)");
        let error = names_on(Kernel::Lab, &["libc"], &[]).unwrap_err();
        assert_eq!(error, "--entry libc: only Linux has it (`kentry measure`)");
        let error = names_on(Kernel::Lab, &[], &["signal"]).unwrap_err();
        assert_eq!(error, "--operation signal: only Linux has it (`kentry measure`)");
        assert_eq!(names_on(Kernel::Lab, &["trapgate-i386"], &["time"]).unwrap(), ["trapgate-i386/time"]);
    }

    #[test]
    fn what_gnu_mach_has_is_the_labs_with_that_personality() {
        let mach = |entries: &[&str], operations: &[&str]| names_on(Whose::Mach, entries, operations);
        let of_gate = mach(&["lcall7-i386"], &["mach_*"]).unwrap();
        assert_eq!(of_gate.len(), 9);
        assert!(of_gate.contains(&"lcall7-i386/mach_msg-rpc".to_string()), "{of_gate:?}");
        assert!(
            mach(&[], &[]).unwrap().iter().all(|row| row.contains("/mach_") || row.contains("mapped-time"))
        );
        assert!(!names_on(Kernel::Lab, &[], &[]).unwrap().iter().any(|row| row.contains("/mach_")));
        for kernel in [Kernel::Linux, Kernel::Lab] {
            assert_eq!(
                names_on(kernel, &[], &["mach_print"]).unwrap_err(),
                "--operation mach_print: only the lab with GNU Mach's calls has it (`kentry lab --personality mach`)"
            );
        }
        assert_eq!(
            names_on(Kernel::LabI386, &[], &["mach_print"]).unwrap_err(),
            "--operation mach_print: only the lab's kernel for protected mode with GNU Mach's calls has it \
             (`kentry lab --lab-kernel i386 --personality mach`)"
        );
        assert_eq!(
            names_on(Whose::MachI386, &["stub-gate-x86_64"], &[]).unwrap_err(),
            "--entry stub-gate-x86_64: only the lab's kernel for long mode with GNU Mach's calls has it \
             (`kentry lab --personality mach`)"
        );
        let none = |entries: &[&str], operations: &[&str]| mach(entries, operations).unwrap_err();
        assert_eq!(
            none(&["vsyscall"], &[]),
            "--entry vsyscall: it serves no call of GNU Mach's (`kentry lab` without --personality mach measures it)"
        );
        assert_eq!(
            none(&[], &["getppid"]),
            "--operation getppid: it is no call of GNU Mach's (`kentry lab` without --personality mach measures it)"
        );
        assert!(
            none(&["lcall7-i386"], &["mapped-time"])
                .contains("lcall7-i386 serves mach_print, mach_msg-null,")
        );
    }

    #[test]
    fn a_glob_takes_what_its_kernel_has() {
        assert_eq!(
            names(&["*gate*-x86_64", "ud"], &["*"]).unwrap_err(),
            "--entry *gate*-x86_64: only the lab has it (`kentry lab`)"
        );
        assert_eq!(names(&["sysenter-*"], &["time"]).unwrap(), ["sysenter-i386/time"]);
        assert_eq!(
            names_on(Kernel::Lab, &["sysenter-*", "ud"], &["time"]).unwrap(),
            ["sysenter-i386/time", "ud/time", "sysenter-x86_64/time"]
        );
    }

    #[test]
    fn a_pair_that_does_not_exist_says_what_does() {
        let error = names(&["ud"], &["getppid"]).unwrap_err();
        assert_eq!(error, "no entry that was asked for serves such an operation: ud serves signal");
    }
}

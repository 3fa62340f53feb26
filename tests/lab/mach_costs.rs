//! The counts of docs/mach.md against those of a run.

use crate::build::root;
use crate::guest::{Answer, Emulator, Script};
use places::lab::Mode;
use std::collections::BTreeMap;
use table::Table;

/// By entry and operation.
type Counts = BTreeMap<(String, String), f64>;

/// Whether the kernel is that of the document. Another compiler's services count otherwise, by up to half; what a path, a stub and the page
/// add to them is assembly, and the same.
fn is_of_document() -> bool {
    places::probes::COMPILER.contains("(Debian 12.2.")
}

/// Figures are told with one decimal at most.
fn is_as_told(counted: f64, told: f64) -> bool {
    (counted - told).abs() <= 0.05
}

/// The lines of each table whose head begins so, in cells.
fn tables(head: &str) -> Vec<Vec<Vec<String>>> {
    let text = std::fs::read_to_string(root().join("docs/mach.md")).unwrap();
    let cells = |line: &str| {
        let inner = line.trim_start_matches('|').trim_end_matches('|');
        inner.split('|').map(|cell| cell.trim().replace(['`', '*'], "")).collect()
    };
    let lines: Vec<&str> = text.lines().collect();
    let begins = (0..lines.len()).filter(|at| lines[*at].starts_with(head));
    let table =
        |at: usize| lines[at..].iter().take_while(|line| line.starts_with('|')).map(|line| cells(line));
    begins.map(|at| table(at).collect()).collect()
}

/// Counts each row in each configuration, one after the other.
fn counted(
    mode: Mode,
    emulator: Emulator,
    configurations: &[&str],
    rows: &[(String, String)],
) -> Option<Vec<Counts>> {
    let mut script = Script::in_mode(mode);
    for configuration in configurations {
        script.set(&format!("personality=mach {configuration}"));
        for (entry, operation) in rows {
            script.row(Table::get().entry(entry).unwrap(), Table::get().operation(operation).unwrap());
        }
    }
    let session = script.boot(emulator)?;
    assert_eq!(session.ran.len(), configurations.len() * rows.len());
    let count = |(ran, row): (&crate::guest::Ran, &(String, String))| {
        assert_eq!(ran.answer(), Answer::Ok, "{}", ran.label);
        (row.clone(), ran.cost() as f64)
    };
    Some(session.ran.chunks(rows.len()).map(|ran| ran.iter().zip(rows).map(count).collect()).collect())
}

/// What the document tells of a mode's rows; the mapped time has entries of its own.
fn told_rows(mode: Mode) -> Counts {
    let head = match mode {
        Mode::Long => "| | `syscall-x86_64` |",
        Mode::Protected => "| in protected mode | `lcall7-i386` |",
    };
    let [table] = &tables(head)[..] else { panic!("docs/mach.md has one table of rows in each mode") };
    let mut told = Counts::new();
    for line in &table[2..] {
        let operation = &line[0];
        for (entry, cell) in table[0].iter().zip(line).skip(1).filter(|(_, cell)| *cell != "-") {
            let entry = match (operation.as_str(), entry.as_str()) {
                ("mapped-time", "syscall-x86_64") => "mapped-time-mach",
                ("mapped-time", "lcall7-i386") => "mapped-time-mach-i386",
                (_, entry) => entry,
            };
            told.insert((entry.into(), operation.clone()), cell.parse().unwrap());
        }
    }
    told
}

/// The count of a service by the entry that the others of the width are compared with.
fn by_the_plainest(counts: &Counts, (entry, operation): &(String, String)) -> Option<f64> {
    let plainest = if entry.ends_with("i386") { "lcall7-i386" } else { "syscall-x86_64" };
    // A server's loop is C, too.
    let is_alone = !operation.contains("rpc");
    counts.get(&(plainest.to_string(), operation.clone())).copied().filter(|_| is_alone)
}

#[test]
fn the_document_tells_what_the_rows_count() {
    check_rows(Mode::Long);
}

pub fn check_rows(mode: Mode) {
    let told = told_rows(mode);
    assert!(told.len() >= 30, "{told:?}");
    let rows: Vec<(String, String)> = told.keys().cloned().collect();
    let Some(counted) = counted(mode, Emulator::TcgIntel, &[""], &rows) else { return };
    let mut wrong = Vec::new();
    for (row, told_count) in &told {
        let count = counted[0][row];
        let bases = by_the_plainest(&counted[0], row).zip(by_the_plainest(&told, row));
        let holds = match bases {
            _ if is_of_document() => is_as_told(count, *told_count),
            Some((base, told_base)) => is_as_told(count - base, told_count - told_base),
            None => true,
        };
        if !holds {
            wrong.push(format!("{} {}: {count} are counted, {told_count} told", row.0, row.1));
        }
    }
    assert!(wrong.is_empty(), "docs/mach.md: {wrong:#?}");
}

/// The parts of a round trip by an entry, in the order of their lines.
fn parts(counts: &Counts, entry: &str) -> [f64; 7] {
    let of = |operation: &str| counts[&(entry.to_string(), operation.to_string())];
    let [null, own, rpc] = ["mach_msg-null", "mach_msg-send-receive", "mach_msg-rpc"].map(of);
    let spaces = rpc - of("mach_msg-rpc-thread");
    let of_1024 = (of("mach_msg-rpc-4096") - of("mach_msg-rpc-1024")) / 3.0;
    [2.0 * null, 2.0 * (own - null), rpc - 2.0 * own, rpc, spaces, of_1024, of("mach_msg-rpc-right") - rpc]
}

const OPERATIONS: [&str; 7] = [
    "mach_msg-null",
    "mach_msg-send-receive",
    "mach_msg-rpc",
    "mach_msg-rpc-thread",
    "mach_msg-rpc-1024",
    "mach_msg-rpc-4096",
    "mach_msg-rpc-right",
];

/// The last columns of both tables: two of QEMU, and three of Bochs, which has PCID.
const COLUMNS: [(Emulator, &[&str]); 2] = [
    (Emulator::TcgIntel, &["pti=off", "pti=on"]),
    (Emulator::Bochs, &["pti=off", "pti=on", "pti=on pcid=keep"]),
];

/// What a table tells of a part: in the columns of an emulator, the first of which is `before` the end.
fn told_parts(line: &[String], before: usize, columns: usize) -> Vec<f64> {
    let from = line.len() - before;
    line[from..from + columns].iter().map(|cell| cell.parse().unwrap()).collect()
}

/// All columns; of another compiler's kernel, what isolation adds to a part.
fn are_as_told(counted: &[f64], told: &[f64]) -> bool {
    if is_of_document() {
        return counted.iter().zip(told).all(|(counted, told)| is_as_told(*counted, *told));
    }
    is_as_told(counted[1] - counted[0], told[1] - told[0])
}

#[test]
fn the_document_tells_the_parts_of_a_message() {
    // The third is of parts by place (tests/lab_cli.rs).
    let mut tables = tables("| part |");
    tables.retain(|table| !table[0][1].contains("-rpc"));
    assert_eq!(tables.len(), 2, "of either width");
    let entries = ["syscall-x86_64", "lcall7-i386"];
    let row = |entry: &str| OPERATIONS.map(|operation| (entry.to_string(), operation.to_string()));
    let rows: Vec<(String, String)> = entries.into_iter().flat_map(row).collect();
    let (mut before, mut wrong) = (5, Vec::new());
    for (emulator, configurations) in COLUMNS {
        let Some(counted) = counted(Mode::Long, emulator, configurations, &rows) else { return };
        for (table, entry) in tables.iter().zip(entries) {
            let columns: Vec<[f64; 7]> = counted.iter().map(|counts| parts(counts, entry)).collect();
            for (place, line) in table[2..].iter().enumerate() {
                let counted: Vec<f64> = columns.iter().map(|parts| parts[place]).collect();
                let told = told_parts(line, before, configurations.len());
                if !are_as_told(&counted, &told) {
                    wrong.push(format!("{entry}, {}: {counted:?} are counted, {told:?} told", line[0]));
                }
            }
        }
        before -= configurations.len();
    }
    assert!(wrong.is_empty(), "docs/mach.md: {wrong:#?}");
}

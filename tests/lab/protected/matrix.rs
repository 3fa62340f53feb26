//! Every entry in every emulator: its outcome, its answer, and how many instructions it counts.

use crate::guest::{Answer, Emulator, Ran, Script};
use crate::matrix::{CountRow, TCG};
use std::collections::{BTreeMap, BTreeSet};
use table::{Entry, Kernel, Operation, Table};

const SIGILL: u64 = 4;
const SIGSEGV: u64 = 11;

/// What is not ok: where, which entry and operation (none: all), how, and why.
type Row = (&'static [Emulator], &'static str, Option<&'static str>, Answer, &'static str);

const ALL: &[Emulator] = &Emulator::ALL;

const CLOSED: &[Row] = &[
    (
        ALL,
        "syscall-i386",
        None,
        Answer::Signal(SIGILL),
        "AMD's is open with events-by=task alone (syscall.rs)",
    ),
    (TCG, "v86-int-redirected", None, Answer::Signal(SIGSEGV), "CR4.VME redirects no interrupt there"),
    (
        TCG,
        "limit-fault",
        None,
        Answer::Signal(SIGSEGV),
        "no limits are checked: the kernel keeps no such segment",
    ),
];

/// Instructions that are counted in an emulator, and not in the others, as in the matrix of the kernel for long mode.
const COUNTED_OTHERWISE: &[CountRow] = &[
    (TCG, Some("div0-i386"), None, -1, "a division that faults is not counted"),
    (TCG, Some("bound"), None, -1, "a comparison with bounds that faults is not counted"),
    (TCG, Some("np-fault"), None, -1, "a load of FS that faults is not counted"),
    (TCG, Some("ss-fault"), None, -1, "a load of SS that faults is not counted"),
    (TCG, Some("double-fault-task"), None, -1, "an access that faults is not counted"),
    (
        TCG,
        Some("into"),
        None,
        2,
        "what stands behind into is counted before it, and behind the call once more (entries.toml)",
    ),
];

fn counted_otherwise(
    emulator: Emulator,
    (entry, operation): (&Entry, &Operation),
) -> Option<&'static CountRow> {
    COUNTED_OTHERWISE.iter().find(|(emulators, name, only, ..)| {
        emulators.contains(&emulator)
            && name.is_none_or(|name| name == entry.name)
            && only.is_none_or(|only| only == operation.name)
    })
}

/// How many more instructions of a row are counted in an emulator than are begun there.
pub fn miscounted(emulator: Emulator, row: (&Entry, &Operation)) -> i64 {
    counted_otherwise(emulator, row).map_or(0, |row| row.3)
}

/// Each configuration has other steps, or other page tables.
const CONFIGURATIONS: [&str; 4] = [
    "pti=off",
    "pti=on exit=iret stack=minimum smap=off",
    "pti=trampoline copy-frame=on global=on flush-by=pge smep=off umip=off",
    "paging=classic pti=on copy-frame=on",
];

pub fn expected(emulator: Emulator, entry: &str, operation: &str) -> Answer {
    let row = CLOSED.iter().find(|(emulators, name, only, ..)| {
        emulators.contains(&emulator) && *name == entry && only.is_none_or(|only| only == operation)
    });
    row.map_or(Answer::Ok, |(.., answer, _)| *answer)
}

fn rows() -> Vec<(&'static Entry, &'static Operation)> {
    Table::get().rows(Kernel::LabI386).collect()
}

/// What becomes of these rows in each configuration; none where the emulator is not here.
fn boot(emulator: Emulator, rows: &[(&Entry, &Operation)]) -> Option<Vec<Ran>> {
    let mut script = Script::protected();
    for switches in CONFIGURATIONS {
        script.set(switches);
        rows.iter().for_each(|(entry, operation)| _ = script.row(entry, operation));
    }
    Some(script.boot(emulator)?.ran)
}

/// All four at once. Bochs, which is slow, has few operations.
#[test]
fn every_entry_answers_and_counts_alike_in_four_emulators() {
    let few = ["none", "getppid", "gettimeofday"];
    let (mut rows, others): (Vec<_>, Vec<_>) =
        rows().into_iter().partition(|(_, operation)| few.contains(&operation.name.as_str()));
    let of_bochs = rows.len();
    rows.extend(others);
    let rows_of = |emulator: Emulator| if emulator.is_tcg() { &rows[..] } else { &rows[..of_bochs] };
    let booted: Vec<(Emulator, Vec<Ran>)> = std::thread::scope(|scope| {
        let threads =
            Emulator::ALL.map(|emulator| (emulator, scope.spawn(move || boot(emulator, rows_of(emulator)))));
        let ran = threads.into_iter().map(|(emulator, thread)| Some((emulator, thread.join().unwrap()?)));
        ran.flatten().collect()
    });
    let (mut wrong, mut used, mut counts) =
        (Vec::new(), BTreeSet::new(), BTreeMap::<(usize, usize), BTreeMap<i64, Vec<&str>>>::new());
    for (emulator, ran) in &booted {
        let rows = rows_of(*emulator);
        for (at, ran) in ran.iter().enumerate() {
            let (configuration, index) = (at / rows.len(), at % rows.len());
            let (row, answer) = (rows[index], ran.answer());
            if answer != expected(*emulator, &row.0.name, &row.1.name) {
                wrong.push(format!("{} in {}: {answer:x?}", ran.label, emulator.name()));
            }
            if answer == Answer::Ok {
                used.extend(counted_otherwise(*emulator, row).map(|row| row.4));
                let count = ran.cost() as i64 - miscounted(*emulator, row);
                let of_row = counts.entry((configuration, index)).or_default();
                of_row.entry(count).or_default().push(emulator.name());
            }
        }
    }
    for ((configuration, index), counts) in counts.iter().filter(|(_, counts)| counts.len() > 1) {
        let ((entry, operation), switches) = (rows[*index], CONFIGURATIONS[*configuration]);
        wrong.push(format!("{} {} with {switches}: {counts:?}", entry.name, operation.name));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let is_used = |row: &CountRow| used.contains(row.4) || booted.len() < Emulator::ALL.len();
    assert!(COUNTED_OTHERWISE.iter().all(is_used), "{used:?}");
}

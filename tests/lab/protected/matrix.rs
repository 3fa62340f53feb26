//! Every entry in every emulator: its outcome, its answer, and how many instructions it counts.

use crate::guest::{Answer, Emulator};
use crate::matrix::{CountRow, TCG, check_counts};
use crate::whole::is_whole;
use places::lab::Mode;
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
pub const COUNTED_OTHERWISE: &[CountRow] = &[
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

/// Each configuration has other steps, or other page tables.
const CONFIGURATIONS: [&str; 4] = [
    "pti=off",
    "pti=on exit=iret stack=minimum smap=off",
    "pti=trampoline copy-frame=on global=on flush-by=pge smep=off umip=off",
    "paging=classic pti=on copy-frame=on",
];

/// On models of Intel's processors alone: on AMD's it opens an entry (syscall.rs).
const BY_TASKS: &str = "events-by=task";

/// All of them on models of Intel's processors; on AMD's the first two, or with `KENTRY_WHOLE=1` all but the last.
fn configurations(emulator: Emulator) -> Vec<&'static str> {
    match (emulator.is_amd(), is_whole()) {
        (false, _) => [&CONFIGURATIONS[..], &[BY_TASKS]].concat(),
        (true, false) => CONFIGURATIONS[..2].to_vec(),
        (true, true) => CONFIGURATIONS.to_vec(),
    }
}

pub fn expected(emulator: Emulator, entry: &str, operation: &str) -> Answer {
    let row = CLOSED.iter().find(|(emulators, name, only, ..)| {
        emulators.contains(&emulator) && *name == entry && only.is_none_or(|only| only == operation)
    });
    row.map_or(Answer::Ok, |(.., answer, _)| *answer)
}

fn rows() -> Vec<(&'static Entry, &'static Operation)> {
    Table::get().rows(Kernel::LabI386).collect()
}

/// Bochs, which is slow, has few operations.
#[test]
fn every_entry_answers_and_counts_alike_in_four_emulators() {
    let few = ["none", "gettimeofday"];
    let is_meant = |emulator: Emulator, operation: &Operation| {
        emulator.is_tcg() || few.contains(&operation.name.as_str())
    };
    let rows = |emulator| rows().into_iter().filter(|row| is_meant(emulator, row.1)).collect();
    check_counts(Mode::Protected, rows, configurations);
}

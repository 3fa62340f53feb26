//! Every entry in every emulator: its outcome and its answer.

use crate::guest::{Answer, Emulator, Ran, Script};
use table::{Entry, Kernel, Operation, Table};

const SIGILL: u64 = 4;
const SIGSEGV: u64 = 11;

/// What is not ok: where, which entry and operation (none: all), how, and why.
type Row = (&'static [Emulator], &'static str, Option<&'static str>, Answer, &'static str);

const ALL: &[Emulator] = &Emulator::ALL;

const TCG: &[Emulator] = &[Emulator::TcgIntel, Emulator::TcgAmd];

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

/// What answers otherwise than is expected.
fn wrong(emulator: Emulator, switches: &[&str], rows: &[(&Entry, &Operation)]) -> Vec<String> {
    let mut script = Script::protected();
    for switches in switches {
        script.set(switches);
        rows.iter().for_each(|(entry, operation)| _ = script.row(entry, operation));
    }
    let Some(session) = script.boot(emulator) else { return Vec::new() };
    let rows = rows.iter().cycle();
    let is_wrong = |(ran, (entry, operation)): &(&Ran, &(&Entry, &Operation))| {
        ran.answer() != expected(emulator, &entry.name, &operation.name)
    };
    let wrong = session.ran.iter().zip(rows).filter(is_wrong);
    wrong.map(|(ran, _)| format!("{} in {}: {:x?}", ran.label, emulator.name(), ran.answer())).collect()
}

#[test]
fn every_entry_and_operation_answers_in_every_configuration() {
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd] {
        let wrong = wrong(emulator, &CONFIGURATIONS, &rows());
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

#[test]
fn every_entry_answers_in_bochs() {
    let few = ["none", "getppid", "gettimeofday"];
    let rows: Vec<_> =
        rows().into_iter().filter(|(_, operation)| few.contains(&operation.name.as_str())).collect();
    for emulator in [Emulator::Bochs, Emulator::BochsAmd] {
        let wrong = wrong(emulator, &CONFIGURATIONS, &rows);
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

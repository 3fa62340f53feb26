//! paging=off: programs without page tables, in segments with limits, which of the emulators Bochs alone checks.

use crate::build::freestanding;
use crate::guest::{Answer, Emulator, Script};
use crate::protected::matrix::expected;
use crate::protected::segments::Ends;
use crate::whole::is_whole;
use record::{Verdict, abi};
use table::{Entry, Kernel, Operation, Table};

const BOCHS: [Emulator; 2] = [Emulator::Bochs, Emulator::BochsAmd];

/// What paging=off requires.
pub const OFF: &str = "paging=off segments=limited exit=iret pti=off smap=off smep=off global=off";

const SIGBUS: u64 = 7;
const SIGSEGV: u64 = 11;

/// What needs page tables, and how it ends without: docs/lab-i386.md says of each why.
const CLOSED: [(&str, u64); 5] = [
    ("sysenter-i386", SIGSEGV),
    ("v86-int", SIGSEGV),
    ("v86-int-redirected", SIGSEGV),
    ("code16-int", SIGBUS),
    ("double-fault-task", SIGSEGV),
];

pub fn expected_without(emulator: Emulator, entry: &str, operation: &str) -> Answer {
    let closed = CLOSED.iter().find(|(name, _)| *name == entry);
    closed.map_or_else(|| expected(emulator, entry, operation), |(_, signal)| Answer::Signal(*signal))
}

const OPERATIONS: [&str; 3] = ["none", "map-unmap", "gettimeofday"];

/// Configurations of each processor, and how many of these operations are tried there, without `KENTRY_WHOLE=1`.
const CONFIGURATIONS: [(Emulator, &[(&str, usize)]); 2] = [
    (Emulator::Bochs, &[("", 2)]),
    (
        Emulator::BochsAmd,
        &[("stack=minimum", 1), ("stack=frame gate=trap work=on filter=10 events-by=task", 1)],
    ),
];

/// Programs with page tables run between those without: each finds its own world, in both forms.
#[test]
fn every_entry_answers_without_page_tables_and_with_them_afterwards() {
    let table = Table::get();
    for (emulator, configurations) in CONFIGURATIONS {
        let (mut script, mut rows) = (Script::protected(), Vec::new());
        script.set(OFF);
        for (switches, operations) in configurations {
            for form in ["off", "classic", "wide"] {
                script.set(&format!("{switches} paging={form}"));
                for (entry, operation) in table.rows(Kernel::LabI386) {
                    let most = if is_whole() { OPERATIONS.len() } else { *operations };
                    let is_meant = OPERATIONS[..most].contains(&operation.name.as_str());
                    if is_meant && (form == "off" || entry.name == "int80-i386") {
                        rows.push((script.row(entry, operation), entry, operation, form));
                    }
                }
            }
        }
        let Some(session) = script.boot(emulator) else { continue };
        let is_wrong = |(number, entry, operation, form): &&(usize, &Entry, &Operation, &str)| {
            let expected = if *form == "off" { expected_without } else { expected };
            session.ran[*number].answer() != expected(emulator, &entry.name, &operation.name)
        };
        let wrong: Vec<String> = rows
            .iter()
            .filter(is_wrong)
            .map(|(number, ..)| {
                format!("{}: {:x?}", session.ran[*number].label, session.ran[*number].answer())
            })
            .collect();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", emulator.name());
    }
}

/// Cases of segments32.S: 208 MiB are the program's, and nothing behind them, neither by its segments nor by one that it makes. Inside,
/// each finds its own bytes.
const CASES: [(&str, Ends); 11] = [
    ("limit cffffff", Ends::Exit(0)),
    ("read cffffff", Ends::Exit(0)),
    ("read d000000", Ends::Vector(13)),
    ("write d000000", Ends::Vector(13)),
    ("write fffffffc", Ends::Vector(13)),
    ("read c0100000", Ends::Vector(13)),
    ("jump d000000", Ends::Vector(13)),
    ("push d000004", Ends::Vector(12)),
    ("own-read cffd000", Ends::Exit(0)),
    ("own-read d000000", Ends::Vector(13)),
    ("own-inside 0", Ends::Exit(0)),
];

/// Not by a row that is closed: the bit itself.
#[test]
fn there_is_no_paging_while_a_program_runs() {
    let (program, mut script) = (freestanding(32, &["segments32.S"]), Script::protected());
    script.set(&format!("umip=off {OFF}"));
    for (form, bit) in [("off", "0"), ("classic", "1"), ("off", "0"), ("wide", "1")] {
        script.set(&format!("paging={form}"));
        script.exec(&program, &["paging", bit]);
    }
    let Some(session) = script.boot(Emulator::Bochs) else { return };
    let ends: Vec<Ends> = session.ran.iter().map(|ran| Ends::from(ran.end)).collect();
    assert_eq!(ends, [Ends::Exit(0); 4]);
}

/// Both need a second address space.
#[test]
fn a_copy_and_a_second_address_space_are_refused() {
    const EAGAIN: u64 = 11;
    let (table, mut script) = (Table::get(), Script::protected());
    script.set(OFF);
    for operation in ["copy-space", "switch", "map-unmap"] {
        script.row(table.entry("int80-i386").unwrap(), table.operation(operation).unwrap());
    }
    let Some(session) = script.boot(Emulator::Bochs) else { return };
    for ran in &session.ran {
        match ran.answer() {
            Answer::Verdict(Verdict { outcome: abi::OUTCOME_REFUSED, cause: abi::CAUSE_ERRNO, detail }) => {
                assert!(!ran.label.contains("map-unmap"), "{}", ran.label);
                assert_eq!(detail[0], EAGAIN, "{}", ran.label);
            }
            answer => assert!(ran.label.contains("map-unmap") && answer == Answer::Ok, "{answer:?}"),
        }
    }
}

#[test]
fn a_program_cannot_name_an_address_outside_of_its_block() {
    let program = freestanding(32, &["segments32.S"]);
    for emulator in BOCHS {
        let mut script = Script::protected();
        script.set(OFF);
        CASES.iter().for_each(|(words, _)| _ = script.exec(&program, &words.split(' ').collect::<Vec<_>>()));
        let Some(session) = script.boot(emulator) else { continue };
        for (ran, (_, expected)) in session.ran.iter().zip(&CASES) {
            assert_eq!(Ends::from(ran.end), *expected, "{} in {}", ran.label, emulator.name());
        }
    }
}

/// There is one block: a second program beside the first is refused, and the next one alone runs.
#[test]
fn a_second_program_at_once_has_no_block() {
    let program = freestanding(32, &["segments32.S"]);
    let mut script = Script::protected();
    script.set(OFF);
    script.beside(&program, &["own-inside", "0"]);
    script.exec(&program, &["own-inside", "0"]);
    script.exec(&program, &["own-inside", "0"]);
    let Some(session) = script.boot(Emulator::Bochs) else { return };
    let ends: Vec<_> = session.ran.iter().map(|ran| Ends::from(ran.end)).collect();
    const ENOMEM: u64 = 12;
    assert_eq!(ends, [Ends::Other(places::lab::End::NotLoaded(ENOMEM)), Ends::Exit(0)]);
}

//! Indirect branch tracking in the kernel of protected mode, in Bochs: each way in begins with endbr32, and so does the service.

use crate::build::freestanding;
use crate::faults::TF;
use crate::guest::{Answer, Emulator, Script};
use crate::protected::matrix::expected;
use crate::protected::unpaged::expected_without;
use places::lab::End;
use table::{Kernel, Table};

/// With what rows need besides, so that no row changes it.
const CONFIGURATIONS: [&str; 4] = [
    "espfix=on smap=off pti=off exit=natural stack=frame",
    "espfix=on smap=off pti=on exit=natural stack=minimum paging=classic",
    "espfix=on smap=off pti=trampoline exit=iret stack=frame trace=on audit=on filter=3 canary=on work=on",
    "trace=off audit=off filter=0 work=off segments=limited paging=off pti=off smep=off",
];

const SIGSEGV: u64 = 11;

/// A task with a TSS of 16 bits has no gate with it (docs/lab-i386.md).
fn expected_with(entry: &str) -> Answer {
    if entry == "task-16" { Answer::Signal(SIGSEGV) } else { expected(Emulator::Bochs, entry, "getppid") }
}

/// The way in, the service; and what lies between: other rings, another task, code behind a gate of 16 bits.
fn more(entry: &str) -> u64 {
    match entry {
        "task-nested" | "ring2-i386" => 4,
        "ring1-i386" | "call-gate-16-0" | "call-gate-16-1" | "call-gate-16-8" => 3,
        _ => 2,
    }
}

#[test]
fn every_entry_answers_with_it_and_executes_endbr32_besides() {
    let getppid = Table::get().operation("getppid").unwrap();
    let rows: Vec<_> =
        Table::get().rows(Kernel::LabI386).filter(|(_, operation)| *operation == getppid).collect();
    let mut script = Script::protected();
    for switches in CONFIGURATIONS {
        for ibt in ["off", "on"] {
            script.set(&format!("{switches} ibt={ibt}"));
            rows.iter().for_each(|(entry, operation)| _ = script.row(entry, operation));
        }
    }
    // A task that serves debug traps goes on, when it is entered again, behind its iret.
    script.set("paging=wide segments=flat exit=natural pti=on events-by=task");
    let program = freestanding(32, &["faults32.S"]);
    let stepping = [(); 2].map(|()| script.exec(&program, &["flags-sysenter", &format!("{TF:x}")]));
    let Some(session) = script.boot(Emulator::Bochs) else { return };
    for number in stepping {
        assert_eq!(session.ran[number].end, End::Exited(0), "{}", session.ran[number].label);
    }
    for both in session.ran[..stepping[0]].chunks(2 * rows.len()) {
        let (off, on) = both.split_at(rows.len());
        for ((off, on), (entry, _)) in off.iter().zip(on).zip(&rows) {
            let (without, with) = if off.label.contains("paging=off") {
                let same = expected_without(Emulator::Bochs, &entry.name, "getppid");
                (same, if entry.name == "task-16" { expected_with(&entry.name) } else { same })
            } else {
                (expected(Emulator::Bochs, &entry.name, "getppid"), expected_with(&entry.name))
            };
            assert_eq!(off.answer(), without, "{}", off.label);
            assert_eq!(on.answer(), with, "{}", on.label);
            if on.answer() == Answer::Ok {
                assert_eq!(on.cost(), off.cost() + more(&entry.name), "{}", on.label);
            }
        }
    }
}

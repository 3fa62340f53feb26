//! Shadow stacks of programs, in Bochs, which is the only emulator here that has them.

use crate::build::freestanding;
use crate::guest::{Answer, Emulator, Script};
use crate::mach;
use crate::together::Programs;
use places::lab::End;
use record::abi;
use table::{Kernel as Kernels, Table};

const ENTRIES: &[&str] =
    &["syscall", "sysenter", "call_gate", "ud", "lock_nop", "int3", "div0", "int80", "call_gate_i386"];

const SEGMENTATION_FAULT: u64 = 11;
/// SEGV_CPERR, and the vector of #CP.
const CONTROL: (u64, u64) = (10, 21);
/// SEGV_ACCERR, and the vector of #PF.
const ACCESS: (u64, u64) = (2, 14);

const CONFIGURATIONS: &[&str] = &[
    "shadow-stack=on pti=off exit=natural stack=frame",
    "shadow-stack=on pti=on exit=natural stack=minimum gate=trap",
    "shadow-stack=on pti=on exit=iret stack=frame swapgs=on canary=on",
];

/// More threads are made than a task has room for shadow stacks.
#[test]
fn a_thread_of_machs_that_ends_gives_its_shadow_stack_back() {
    let mut script = Script::new();
    script.set("shadow-stack=on personality=mach");
    mach::run(&mut script, &mach::program(64, "mach_threads.c"), 0, &[]);
    let Some(session) = mach::boot(&script, Emulator::Bochs) else { return };
    assert_eq!(session.ran[0].text(), mach::of_threads(64));
}

#[test]
fn returns_go_where_they_were_called_from_or_nowhere() {
    let program = freestanding(64, &["shadow64.S"]);
    let mut script = Script::new();
    let off = script.run(&program, &["has", "0"]);
    let unnoticed = script.run(&program, &["written-over", "0"]);
    let mut expected = Vec::new();
    for switches in CONFIGURATIONS {
        script.set(switches);
        let mut case = |words: &[&str], end: Option<(u64, u64)>| {
            expected.push((script.run(&program, words), end));
        };
        case(&["has", "0"], None);
        for entry in ENTRIES {
            // The deepest is on another page of the shadow stack than the first.
            ["1", "2", "20", "500"].iter().for_each(|depth| case(&[entry, depth], None));
        }
        case(&["vsyscall", "3"], None);
        case(&["read", "0"], None);
        case(&["make-writable", "0"], None);
        case(&["write", "0"], Some(ACCESS));
        case(&["written-over", "0"], Some(CONTROL));
    }
    let Some(session) = script.boot(Emulator::Bochs) else { return };
    assert!(session.boot.features >> abi::FEATURE_SHSTK & 1 == 1, "{:x}", session.boot.features);
    assert_eq!((session.ran[off].end, session.ran[unnoticed].end), (End::Exited(1), End::Exited(0)));
    for (number, end) in expected {
        let ran = &session.ran[number];
        match (end, ran.end) {
            (None, found) => assert_eq!(found, End::Exited(0), "{}", ran.label),
            (Some((code, vector)), End::Fault([SEGMENTATION_FAULT, found, trap, _])) => {
                assert_eq!((found, trap >> 32), (code, vector), "{}: {:x?}", ran.label, ran.end);
            }
            (Some(_), found) => panic!("{}: {found:?}", ran.label),
        }
    }
}

#[test]
fn programs_beside_each_other_have_shadow_stacks_of_their_own() {
    let program = freestanding(64, &["shadow64.S"]);
    let programs = Programs::on(Emulator::Bochs);
    let mut script = Script::new();
    for switches in CONFIGURATIONS {
        script.set(switches);
        for pair in ENTRIES.windows(2) {
            script.beside(&program, &[pair[0], "3"]);
            script.beside(&program, &["syscall", "256"]);
            script.run(&program, &[pair[1], "20"]);
        }
        programs.run_all(&mut script);
    }
    let Some(session) = script.boot(Emulator::Bochs) else { return };
    let wrong: Vec<_> = session.ran.iter().filter(|ran| ran.end != End::Exited(0)).collect();
    assert!(!session.ran.is_empty() && wrong.is_empty(), "{wrong:#x?}");
}

#[test]
fn every_row_is_measured_with_a_shadow_stack_and_costs_the_same_instructions() {
    let mut script = Script::new();
    for switches in ["shadow-stack=off smap=on espfix=off", "shadow-stack=on smap=on espfix=off"] {
        script.set(switches);
        for (entry, operation) in Table::get().rows(Kernels::Lab) {
            if ["none", "getppid", "gettimeofday", "minor-fault"].contains(&operation.name.as_str()) {
                script.row(entry, operation);
            }
        }
    }
    let Some(session) = script.boot(Emulator::Bochs) else { return };
    let (off, on) = session.ran.split_at(session.ran.len() / 2);
    assert!(off.len() > 50);
    for (off, on) in off.iter().zip(on) {
        // 32-bit code has no shadow stack above 4 GiB: a far transfer to it is #GP.
        if ["far-call-x86_64", "far-jump-x86_64"].iter().any(|name| on.label.starts_with(name)) {
            assert_eq!(
                (off.answer(), on.answer()),
                (Answer::Ok, Answer::Signal(SEGMENTATION_FAULT)),
                "{}",
                on.label
            );
            continue;
        }
        assert_eq!(on.answer(), off.answer(), "{}", on.label);
        // The emulation of a function returns on both stacks.
        if on.answer() == Answer::Ok && !on.label.starts_with("vsyscall") {
            assert_eq!(on.cost(), off.cost(), "{}", on.label);
        }
    }
}

#[test]
fn a_processor_without_shadow_stacks_cannot_have_the_switch() {
    let program = freestanding(64, &["shadow64.S"]);
    let mut script = Script::new();
    script.set("shadow-stack=on");
    script.run(&program, &["has", "0"]);
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    assert!(matches!(session.ran[0].end, End::Unsupported(..)), "{:?}", session.ran[0].end);
}

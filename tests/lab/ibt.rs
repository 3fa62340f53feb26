//! Indirect branch tracking in the kernel, in Bochs, which is the only emulator here that has it.

use crate::guest::{Answer, Emulator, Ran, Script};
use crate::kernel::{Kernel, templates};
use crate::silicon::boot_in_bochs;
use crate::steps::PATHS;
use crate::together::Programs;
use iced_x86::{Code, FlowControl};
use places::lab::End;
use record::abi;
use std::collections::BTreeSet;
use table::{Kernel as Kernels, Table};

const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

const OTHERS: &[&str] = &[
    "pti=off exit=natural stack=frame gate=interrupt",
    "pti=on exit=natural stack=minimum gate=trap",
    "pti=on exit=iret stack=frame swapgs=on trace=on audit=on filter=3 canary=on work=on shadow-stack=on",
];

#[test]
fn a_call_executes_endbr64_at_its_entry_and_at_its_service() {
    let mut script = Script::new();
    let operations = ["none", "getppid"].map(|name| Table::get().operation(name).unwrap());
    // With a frame, no call leaves early.
    for others in OTHERS.iter().filter(|others| others.contains("stack=frame")) {
        for ibt in ["off", "on"] {
            script.set(&format!("{others} ibt={ibt}"));
            for (name, _) in PATHS.iter() {
                operations.iter().for_each(|operation| {
                    script.row(Table::get().entry(name).unwrap(), operation);
                });
            }
        }
    }
    let Some(session) = script.boot(Emulator::Bochs) else { return };
    assert!(session.boot.features >> abi::FEATURE_IBT & 1 == 1, "{:x}", session.boot.features);
    for both in session.ran.chunks(4 * PATHS.len()) {
        let (off, on) = both.split_at(both.len() / 2);
        for (place, (off, on)) in off.iter().zip(on).enumerate() {
            assert_eq!(on.answer(), off.answer(), "{}", on.label);
            // A number that does not exist has no service.
            let more = 1 + place as u64 % 2;
            if on.answer() == Answer::Ok {
                assert_eq!(on.cost(), off.cost() + more, "{}", on.label);
            }
        }
        assert!(on.iter().filter(|ran| ran.answer() == Answer::Ok).count() > 20);
    }
}

#[test]
fn every_entry_and_programs_that_yield_in_every_way_run_with_it() {
    let programs = Programs::on(Emulator::Bochs);
    let (mut script, mut rows) = (Script::new(), Vec::new());
    for others in OTHERS {
        for ibt in ["off", "on"] {
            script.set(&format!("{others} ibt={ibt}"));
            let is_meant = |name: &str| ["gettimeofday", "minor-fault"].contains(&name);
            for (entry, operation) in Table::get().rows(Kernels::Lab).filter(|row| is_meant(&row.1.name)) {
                rows.push((script.row(entry, operation), ibt));
            }
        }
        programs.run_most(&mut script, 0);
        programs.run_most(&mut script, 8);
    }
    let Some(session) = script.boot(Emulator::Bochs) else { return };
    let answers = |which: &str| -> Vec<Answer> {
        let of = rows.iter().filter(|(_, ibt)| *ibt == which);
        of.map(|(number, _)| session.ran[*number].answer()).collect()
    };
    assert_eq!(answers("on"), answers("off"));
    let numbers: BTreeSet<usize> = rows.iter().map(|(number, _)| *number).collect();
    let together = session.ran.iter().enumerate().filter(|(number, _)| !numbers.contains(number));
    let wrong: Vec<&Ran> = together.map(|(_, ran)| ran).filter(|ran| ran.end != End::Exited(0)).collect();
    assert!(wrong.is_empty(), "{wrong:#x?}");
}

const PAGE_FAULT: u64 = 14;
const STUB_BYTES: u64 = 32;

/// The kernel in which the stub of page faults has a nop instead of endbr64.
fn without_endbr64() -> Vec<u8> {
    let (kernel, mut file) = (Kernel::read(), places::lab::kernel(places::lab::Mode::Long).to_vec());
    let at = kernel.place(kernel.symbol("landing_stubs") + PAGE_FAULT * STUB_BYTES);
    assert_eq!(file[at..at + ENDBR64.len()], ENDBR64);
    // A nop that is as long.
    file[at..at + ENDBR64.len()].copy_from_slice(&[0x0f, 0x1f, 0x40, 0x00]);
    file
}

#[test]
fn a_way_in_without_endbr64_is_a_fault() {
    let mut script = Script::new();
    script.set("ibt=on");
    script.row(Table::get().entry("syscall-x86_64").unwrap(), Table::get().operation("getppid").unwrap());
    let boot = std::panic::catch_unwind(|| boot_in_bochs("tigerlake", &script, without_endbr64()));
    let Err(why) = boot else {
        assert!(boot.unwrap().is_none(), "it ran");
        return;
    };
    let why = why.downcast_ref::<String>().unwrap();
    assert!(why.contains("an exception in the kernel: vector 21"), "{why}");
}

/// Functions that call or jump through pointers: to paths, all of which begin with endbr64; or only while no program runs.
const TO_PATHS: &[&str] =
    &["space_enter", "space_new", "user_put_16", "user_put_4", "user_put_8", "user_read", "user_write"];
const WHILE_NONE_RUNS: &[&str] = &[
    "boot_read",
    "efi_levels",
    "efi_prepare",
    "efi_resume",
    "efi_write_file",
    "give_up",
    "multiboot2_memory",
    "path_list_steps",
    "pvh_memory",
    "ring_test",
    "table_run",
    "tables_are_blind",
    "verdict_of",
];

#[test]
fn no_other_function_branches_indirectly() {
    let found: BTreeSet<String> = Kernel::read().functions_that(|code| {
        matches!(code.flow_control(), FlowControl::IndirectBranch | FlowControl::IndirectCall)
    });
    let known: BTreeSet<String> =
        TO_PATHS.iter().chain(WHILE_NONE_RUNS).map(|name| name.to_string()).collect();
    let unknown: Vec<&String> = found.difference(&known).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(TO_PATHS.iter().filter(|name| found.contains(**name)).count() > 3, "{found:?}");
}

#[test]
fn every_path_and_every_stub_for_it_begins_with_endbr64() {
    let kernel = Kernel::read();
    let (_, paths) = templates(places::lab::Mode::Long);
    for path in &paths.paths {
        let first = &path.own.steps[0];
        assert_eq!(first.code, ENDBR64, "{}", path.name);
        assert!(!first.is_on(&[]) && first.is_on(&[("ibt", "on")]), "{}", path.name);
    }
    for vector in 0..256 {
        let at = kernel.place(kernel.symbol("landing_stubs") + STUB_BYTES * vector);
        assert_eq!(places::lab::kernel(places::lab::Mode::Long)[at..at + ENDBR64.len()], ENDBR64, "{vector}");
    }
    // Nothing else of the kernel comes by one.
    let with: BTreeSet<String> = kernel.functions_that(|code| code.code() == Code::Endbr64);
    assert_eq!(with, BTreeSet::new());
}

//! A program can do nothing to the kernel, whatever it does with descriptors: random uses, in every kind of configuration (`uses32.S`).

use super::gates::boot;
use super::unpaged;
use crate::build::{compile_once, freestanding, root};
use crate::every_instruction::{STUB_BYTES, jump};
use crate::guest::{Answer, Emulator, Script};
use crate::kernel::Kernel;
use crate::whole::is_whole;
use places::lab::{End, Mode};
use record::abi;
use std::collections::BTreeSet;
use table::Table;

/// Instructions that a program gets: it makes at most 64 uses.
const SHORT: u64 = 1_500_000;

/// Seeds of all configurations of an emulator.
const SEEDS: usize = 2600;

/// What an emulator is to have tried in one run of this test.
const USES: usize = 10_000;

/// Bochs takes several times as long for it as QEMU, and tries the first of so many, or with `KENTRY_WHOLE=1` all.
const PARTS_IN_BOCHS: usize = 4;

/// How uses end: #TS, #NP, #SS, #GP, #PF; and by flags and code that selectors lead to, #DB, #OF, #UD.
const MUST_COME: [u64; 5] = [10, 11, 12, 13, 14];
const MAY_COME: [u64; 3] = [1, 4, 6];

/// What uses32.S leaves out in QEMU.
const CALLS_NO_JUMP_GATE: u32 = 1 << 31;

const CONFIGURATIONS: [&str; 5] = [
    "pti=off",
    "pti=on exit=iret stack=minimum smap=off",
    "pti=trampoline copy-frame=on global=on flush-by=pge smep=off umip=off exit=natural stack=frame smap=on",
    "paging=classic pti=on gate=trap",
    "paging=wide pti=on copy-frame=off work=on trace=on",
];

/// The first of vectors whose stubs nobody needs.
const UNUSED: u64 = 0x50;

/// The kernel with a check that sums up its descriptors (descriptors32.S) in place of that of isolation.
fn kernel_that_sums() -> Vec<u8> {
    let (kernel, mut file) =
        (Kernel::in_mode(Mode::Protected), places::lab::kernel(Mode::Protected).to_vec());
    let at = kernel.symbol("exception_stubs") + UNUSED * STUB_BYTES;
    let linked = format!("-Wl,-Ttext={at:#x},--oformat=binary,--build-id=none");
    let flags = ["-m32", "-nostdlib", "-static", "-no-pie", &linked].map(String::from);
    let code = compile_once("descriptors", &flags, &[root().join("tests/lab/descriptors32.S")]).bytes;
    assert!((64..48 * STUB_BYTES as usize).contains(&code.len()), "{}", code.len());
    let check = kernel.symbol("tables_check_isolation");
    for (address, code) in [(at, &code[..]), (check, &jump(check, at))] {
        let place = kernel.place(address);
        file[place..place + code.len()].copy_from_slice(code);
    }
    file
}

/// Programs by seeds, and behind each configuration a row that shows what is left of the kernel; before and behind, a sum of its descriptors.
fn try_in(emulator: Emulator, more: &[&str]) {
    let program = freestanding(32, &["uses32.S"]);
    let (entry, operation) =
        (Table::get().entry("int80-i386").unwrap(), Table::get().operation("getppid").unwrap());
    let mut script = Script::protected();
    script.limit(SHORT);
    let parts = if emulator.is_tcg() || is_whole() { 1 } else { PARTS_IN_BOCHS };
    let wanted = USES / parts;
    let each = (SEEDS / parts).div_ceil(CONFIGURATIONS.len() + more.len());
    for (switches, first) in CONFIGURATIONS.iter().chain(more).zip((0..).step_by(each)) {
        script.set(switches);
        // The first row has what a configuration's first program changes.
        script.row(entry, operation);
        script.check("pti");
        for seed in first..first + each {
            let number = seed as u32 | if emulator.is_tcg() { CALLS_NO_JUMP_GATE } else { 0 };
            script.exec(&program, &["uses", &format!("{number:x}")]);
        }
        script.row(entry, operation);
        script.check("pti");
    }
    let Some(all) = boot(emulator, &kernel_that_sums(), &script) else { return };
    let sums: Vec<End> = all.iter().filter(|ran| ran.label.starts_with("check")).map(|ran| ran.end).collect();
    for sums in sums.chunks(2) {
        assert!(matches!(sums[0], End::Checked(_, [one, other, _]) if one != 0 && other != 0), "{sums:x?}");
        assert_eq!(sums[0], sums[1], "descriptors, or the TSS, in {}", emulator.name());
    }
    let (mut uses, mut before, mut vectors) = (0, 0, BTreeSet::new());
    let mut is_first = false;
    for ran in &all {
        uses += ran.text().bytes().filter(|byte| *byte == b'.').count();
        match ran.end {
            End::Checked(..) => {}
            _ if ran.label.starts_with("int80-i386") => {
                assert_eq!(ran.answer(), Answer::Ok, "{}", ran.label);
                is_first = !is_first;
                if is_first {
                    continue;
                }
                assert!(uses - before >= wanted / 10, "{} uses before {}", uses - before, ran.label);
                before = uses;
            }
            End::Fault([_, _, trap, _]) => _ = vectors.insert(trap >> 32),
            End::Exited(0) | End::Runaway(_) => {}
            end => panic!("{} in {}: {end:x?}", ran.label, emulator.name()),
        }
        assert!(ran.log.is_empty(), "{}: {:?}", ran.label, ran.log);
    }
    assert!(uses >= wanted, "{uses} uses in {}", emulator.name());
    assert!(MUST_COME.iter().all(|vector| vectors.contains(vector)), "{vectors:?} in {}", emulator.name());
    assert!(vectors.is_subset(&MUST_COME.into_iter().chain(MAY_COME).collect()), "{vectors:?}");
}

#[test]
fn ten_thousand_uses_of_descriptors_with_an_intel_model() {
    try_in(Emulator::TcgIntel, &["events-by=task paging=classic"]);
}

#[test]
fn ten_thousand_uses_of_descriptors_with_an_amd_model() {
    try_in(Emulator::TcgAmd, &["events-by=task pti=off", "pti=on exit=natural", "paging=classic exit=iret"]);
}

#[test]
fn thousands_of_uses_of_descriptors_in_bochs() {
    try_in(Emulator::Bochs, &["segments=limited exit=iret", unpaged::OFF]);
    try_in(Emulator::BochsAmd, &["events-by=task", "segments=limited exit=iret", unpaged::OFF]);
}

/// A task that usually returns by iret is entered by a jump, and one that usually returns by a jump, by a call: each goes back as it was entered.
#[test]
fn a_task_is_gone_back_from_as_it_was_entered() {
    let program = freestanding(32, &["segments32.S"]);
    let (entry, operation) =
        (Table::get().entry("int80-i386").unwrap(), Table::get().operation("getppid").unwrap());
    for emulator in Emulator::ALL {
        let mut script = Script::protected();
        for switches in ["pti=off", "pti=on", "stack=minimum exit=iret"] {
            script.set(switches);
            for (case, selector) in [
                ("jump-to-task", abi::SELECTOR_GATE_TASK),
                ("jump-to-task", abi::SELECTOR_GATE_TASK_NESTED),
                ("call-task", abi::SELECTOR_GATE_TASK_JMP),
            ] {
                script.exec(&program, &[case, &format!("{selector:x}")]);
                script.row(entry, operation);
            }
        }
        let Some(session) = script.boot(emulator) else { continue };
        for runs in session.ran.chunks(2) {
            assert_eq!(runs[0].end, End::Exited(0), "{} in {}", runs[0].label, emulator.name());
            assert_eq!(runs[1].answer(), Answer::Ok, "{}", runs[1].label);
        }
    }
}

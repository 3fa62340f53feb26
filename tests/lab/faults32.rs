//! What a 32-bit program must not do: faults32.S.

use crate::build::freestanding;
use crate::faults::{BAD_CODE, BAD_DATA, LEAVES_FLAGS, TASKS_TO_LOAD, flags, image};
use crate::guest::intel_has_syscall_32;
use crate::trial::*;

/// The last page stays free.
pub const USER_END_32: u64 = 0xffff_e000;

/// Entries of faults32.S, and whether they keep the program's stack pointer in a register of their own.
pub const ENTRIES_32: &[(&str, bool)] = &[
    ("int80", false),
    ("sysenter", true),
    ("syscall", true),
    ("gateway", true),
    ("call_gate", false),
    ("lcall7", false),
    ("ud", false),
    ("lock_nop", false),
    ("int3", false),
    ("div0", false),
];

/// Those that Intel's model has in QEMU.
pub fn entries_32() -> impl Iterator<Item = &'static (&'static str, bool)> {
    ENTRIES_32.iter().filter(|(entry, _)| *entry != "syscall" || intel_has_syscall_32())
}

/// Selectors that a program may not load, into CS or into another register; and descriptors of its own, which it may.
pub fn selectors_32(bad_code: &[u64], bad_data: &[u64]) -> Vec<Case> {
    let mut cases = Vec::new();
    for selector in bad_code {
        cases.extend(["lcall", "ljmp"].map(|way| case(format!("{way}-selector {selector:x}"), Vector(13))));
        cases.extend(["lret", "iret"].map(|way| case(format!("{way}-selector {selector:x}"), Taken)));
    }
    for selector in bad_data {
        let registers = ["ds", "es", "fs", "gs", "ss"];
        cases.extend(registers.map(|register| case(format!("load-{register} {selector:x}"), Vector(13))));
    }
    cases.push(case("load-ss 0", Vector(13)));
    let gone = ["int80", "call_gate", "lcall7"].map(|entry| format!("stack-segment-gone-{entry}"));
    cases.extend(gone.map(|words| case(words, Vector(13))));
    cases.extend((0..4).map(|rpl| case(format!("emptied-segment {rpl}"), Exit(0))));
    cases.extend(["sixteen-bit-segment", "code-segment"].map(|words| case(words, Exit(0))));
    cases.extend([2, 8, 10, 15, 19, 8191].map(|entry| case(format!("other-descriptor {entry:x}"), Exit(0))));
    cases
}

fn addresses_and_selectors_32() -> Vec<Case> {
    let mut cases = Vec::new();
    for at in [0u64, USER_END_32, 0xffff_ffff, 0xc000_0000] {
        cases.extend(["read", "write", "jump"].map(|way| case(format!("{way} {at:x}"), Page(at))));
    }
    cases.push(case("stack 0", Page(0xffff_fffc)));
    // What the landing pad pops.
    cases.extend([0, USER_END_32].map(|at| case(format!("sysenter-stack {at:x}"), Page(at))));
    cases.extend([1u64, 0xf, 0x7fff].map(|upper| case(format!("read-above {upper:x}"), Page(upper << 32))));
    for (name, upper, expected) in [
        ("read-above", 0x8000u64, Vector(13)),
        ("read-above", 0xffff_8880, Page(0xffff_8880_0000_0000)),
        ("jump-above", 0x8000, Address),
        ("jump-above", 0xffff_8880, Page(0xffff_8880_0000_0000)),
    ] {
        cases.push(case(format!("{name} {upper:x}"), expected));
    }
    cases.extend(selectors_32(&BAD_CODE, &BAD_DATA));
    // TCG checks no limits.
    cases.push(case("segment-limit fff", Exit(0)));
    cases
}

fn instructions_32() -> Vec<Case> {
    let mut cases: Vec<Case> = ["hlt", "cli", "out", "read-cr0"].map(|name| case(name, Vector(13))).into();
    // AMD's sysexit and Intel's sysret are #UD before they are anything else, the latter in a QEMU that knows.
    cases.push(case("sysexit", Vector(13)));
    cases.push(case("sysret", Vector(if intel_has_syscall_32() { 13 } else { 6 })));
    cases.extend(TASKS_TO_LOAD.map(|task| case(format!("ltr {task:x}"), Code(13, 0))));
    cases.push(case("iret-nested", Code(13, 0)));
    cases.push(case("ud2", Vector(6)));
    cases.push(case("aam", Vector(0)));
    cases.push(case("bound", Vector(5)));
    // Only int3 and int 0x80 have gates that programs may use; into is an int 4.
    cases.push(case("into", Vector(13)));
    cases.extend([0, 1, 4, 6, 13, 32, 0x81].map(|vector| case(format!("int {vector:x}"), Vector(13))));
    cases.push(case("int 3", Vector(3)));
    cases.push(case("int 80", Exit(0)));
    cases.push(case("overflow", Vector(14)));
    cases.extend(["reserve 1000", "reserve b0000000", "break f0000000"].map(|words| case(words, Exit(0))));
    cases.extend(
        ["syscall", "int80", "sysenter"].map(|entry| case(format!("{entry}-from-64-bit-code"), Exit(0))),
    );
    cases
}

fn flags_and_stacks_32(switches: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for (entry, has_pad) in entries_32() {
        if !has_pad {
            let stacks = [0u64, 1, 0x0010_0003, 0xffff_ffff];
            cases.extend(stacks.map(|stack| case(format!("stack-{entry} {stack:x}"), Exit(0))));
        }
        cases.extend(flags(entry, switches));
        let trap = if LEAVES_FLAGS.contains(entry) { Exit(0) } else { Vector(1) };
        if *entry != "gateway" {
            cases.push(case(format!("late-trap-{entry}"), trap));
            cases.push(case(format!("upper-halves-{entry}"), Exit(0)));
        }
        if *has_pad && *entry != "gateway" {
            cases.extend(image(entry, switches));
        }
    }
    cases
}

#[test]
fn forbidden_addresses_selectors_and_instructions_of_32_bit_code() {
    let program = freestanding(32, &["faults32.S"]);
    for_each_configuration(|trial| {
        addresses_and_selectors_32().iter().for_each(|case| trial.exec(&program, case));
        instructions_32().iter().for_each(|case| trial.exec(&program, case));
    });
}

#[test]
fn hostile_flags_and_stack_pointers_before_every_entry_of_32_bit_code() {
    let program = freestanding(32, &["faults32.S"]);
    for_each(PATHS, |trial, switches| {
        flags_and_stacks_32(switches).iter().for_each(|case| trial.run(&program, case));
    });
}

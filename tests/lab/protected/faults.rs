//! What a program must not do: faults32.S, where the kernel has the last of four GiB, and descriptors as protected mode has them.

use crate::build::{Program, freestanding_with};
use crate::faults::{flags, image};
use crate::faults32::{ENTRIES_32, selectors_32};
use crate::guest::{Emulator, LIMIT};
use crate::isolation::kernel_ranges;
use crate::kernel::Kernel;
use crate::trial::*;
use places::lab::{End, Mode};

/// The end of programs' addresses (`lab/i386/mm/addresses.h`), whose last page stays free.
const USER_END: u64 = 0xbfff_f000;
/// Memory behind the kernel.
const MEMORY: u64 = 0xc410_0000;

/// The kernel's code where it may be written (IMAGE_ALIAS of `lab/i386/mm/addresses.h`).
fn alias(kernel: &Kernel) -> u64 {
    kernel.symbol("kernel_start") - 0xc000_0000 + 0xee00_0000
}

/// With two levels of page tables, and with three; in which an NT that `iret` meets is a return to another task, and there is none.
const PATHS: &[&str] = &[
    "pti=off smap=off stack=minimum exit=natural",
    "pti=on smap=on stack=minimum exit=natural",
    "pti=off smap=on stack=frame exit=iret paging=classic",
    "pti=on smap=off stack=frame exit=iret gate=trap",
    "pti=on copy-frame=on smap=on stack=frame exit=natural paging=classic",
];

fn program() -> Program {
    freestanding_with(32, &["faults32.S"], &["-DPROTECTED=1"])
}

fn kernel() -> Kernel {
    Kernel::in_mode(Mode::Protected)
}

/// Entries that this kernel serves.
fn entries() -> impl Iterator<Item = &'static (&'static str, bool)> {
    ENTRIES_32.iter().filter(|(entry, _)| *entry != "syscall")
}

fn addresses() -> Vec<Case> {
    let (mut cases, kernel) = (Vec::new(), kernel());
    let own = ["kernel_start", "trampoline_start", "rodata_end", "cpu_area_start", "kernel_cr3", "gdt"];
    let mut places: Vec<u64> = own.map(|name| kernel.symbol(name)).into();
    places.extend([MEMORY, alias(&kernel), USER_END, 0, 0xffff_ffff, 0xf000_0000, 0xfe00_0000, 0xfe10_4000]);
    for at in places {
        cases.extend(["read", "write", "jump"].map(|way| case(format!("{way} {at:x}"), Page(at))));
    }
    cases.push(case("stack 0", Page(0xffff_fffc)));
    // What the landing pad pops.
    cases.extend([0, USER_END].map(|at| case(format!("sysenter-stack {at:x}"), Page(at))));
    cases
}

/// Selectors of the kernel, of rings 1 and 2, of system segments, of nothing. Behind them are those that tests of their own have.
const BAD_CODE: [u64; 12] = [0, 3, 0x10, 0x13, 0x18, 0x1b, 0x2b, 0x43, 0x4b, 0x83, 0xa1, 0xfffb];
const BAD_DATA: [u64; 9] = [0x10, 0x13, 0x18, 0x1b, 0x43, 0x4b, 0x63, 0x83, 0xfffb];

fn instructions() -> Vec<Case> {
    let mut cases: Vec<Case> =
        ["hlt", "cli", "out", "read-cr0", "sysexit"].map(|name| case(name, Vector(13))).into();
    cases.push(case("ud2", Vector(6)));
    cases.push(case("aam", Vector(0)));
    cases.extend([0, 1, 6, 8, 10, 13, 32, 0x81].map(|vector| case(format!("int {vector:x}"), Vector(13))));
    cases.push(case("int 3", Vector(3)));
    cases.push(case("int 80", Exit(0)));
    cases.push(case("overflow", Vector(14)));
    cases.extend(["reserve 1000", "reserve a0000000", "break f0000000"].map(|words| case(words, Exit(0))));
    cases
}

/// As with the other kernel, but for NT.
fn flags_and_stacks(switches: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for (entry, has_pad) in entries() {
        if !has_pad {
            let stacks = [0u64, 1, 0x0010_0003, 0xffff_ffff];
            cases.extend(stacks.map(|stack| case(format!("stack-{entry} {stack:x}"), Exit(0))));
        }
        let task = |expected| if expected == Vector(13) { Vector(10) } else { expected };
        cases.extend(flags(entry, switches).into_iter().map(|(words, expected)| (words, task(expected))));
        if *entry == "sysenter" {
            cases.extend(image(entry, switches));
        }
    }
    cases
}

#[test]
fn forbidden_addresses_selectors_and_instructions() {
    let program = program();
    for_each_in(Trial::protected(Emulator::TcgIntel), &PATHS[..3], |trial, _| {
        let cases = addresses().into_iter().chain(selectors_32(&BAD_CODE, &BAD_DATA)).chain(instructions());
        cases.for_each(|case| trial.exec(&program, &case));
    });
}

#[test]
fn hostile_flags_and_stack_pointers_before_every_entry() {
    let program = program();
    for_each_in(Trial::protected(Emulator::TcgIntel), PATHS, |trial, switches| {
        flags_and_stacks(switches).iter().for_each(|case| trial.run(&program, case));
    });
}

/// Where the kernel is, a program under isolation finds nothing, whichever way it last came back from the kernel.
#[test]
fn every_way_back_from_the_kernel_leads_to_the_programs_page_tables() {
    let (kernel, program) = (kernel(), program());
    let places = [kernel.symbol("kernel_start"), kernel.symbol("cpu_area_end"), alias(&kernel)];
    let mut trial = Trial::protected(Emulator::TcgIntel);
    for (switches, isolated) in [
        ("pti=on stack=minimum exit=natural", true),
        ("pti=on stack=frame exit=iret", true),
        ("pti=on stack=frame exit=natural copy-frame=on", true),
        ("pti=on stack=minimum exit=iret paging=classic", true),
        ("pti=off stack=minimum", false),
        ("pti=trampoline stack=minimum", false),
    ] {
        trial.script.set(switches);
        trial.script.limit(LIMIT);
        for (index, (way, _)) in entries().enumerate() {
            let place = places[index % places.len()];
            let expected = if isolated { Absent(place) } else { Present(place) };
            trial.run(&program, &case(format!("read-after-{way} {place:x}"), expected));
        }
    }
    trial.check();
}

#[test]
fn the_kernels_own_check_counts_the_pages_that_the_linker_has_placed() {
    let ranges = kernel_ranges(&kernel());
    let all = ranges.iter().map(|(start, end)| (end - start) / 4096).sum();
    for emulator in [Emulator::TcgIntel, Emulator::Bochs] {
        let mut script = crate::guest::Script::protected();
        let on = ["pti=on", "pti=on paging=classic", "pti=on copy-frame=on global=on", "pti=on paging=wide"];
        let off = ["pti=off", "pti=trampoline"];
        for switches in on.iter().chain(&off) {
            script.set(switches);
            script.check("pti");
        }
        for switches in ["smep=on", "smep=off"] {
            script.set(switches);
            script.check("smep");
        }
        let Some(session) = script.boot(emulator) else { continue };
        let ends: Vec<End> = session.ran.iter().map(|ran| ran.end).collect();
        let expected = [true, true, true, true, false, false].map(|on| End::Checked(on, [all, 0, on.into()]));
        assert_eq!(ends[..6], expected);
        assert_eq!(ends[6..], [true, false].map(|held| End::Checked(held, [0; 3])));
    }
}

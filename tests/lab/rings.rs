//! Rings 1 and 2 on the way to the kernel (lab/entry/rings.S): in Bochs, whose call gates lead there with the privileges of these rings;
//! and that the gates are closed in QEMU, whose do not.

use crate::build::freestanding;
use crate::every_instruction::{Interrupt, kernel_with};
use crate::faults::flags;
use crate::guest::{Answer, Emulator, Script, Session};
use crate::kernel::Kernel;
use crate::silicon::boot_in_bochs;
use crate::steps::{entering, entry, taken};
use crate::trial::Trial;
use places::lab::End;
use table::Table;

const ROWS: [&str; 3] = ["call-gate-x86_64", "ring1-x86_64", "ring2-x86_64"];

const CONFIGURATIONS: [&[(&str, &str)]; 5] = [
    &[("pti", "off"), ("stack", "minimum"), ("exit", "natural"), ("smap", "off"), ("swapgs", "off")],
    &[("pti", "on"), ("stack", "minimum"), ("exit", "natural"), ("smap", "on"), ("swapgs", "on")],
    &[("pti", "off"), ("stack", "frame"), ("exit", "iret"), ("smap", "on"), ("swapgs", "fence")],
    &[("pti", "on"), ("stack", "frame"), ("exit", "iret"), ("smap", "off"), ("swapgs", "fence")],
    &[("pti", "trampoline"), ("stack", "frame"), ("exit", "natural"), ("smap", "on"), ("swapgs", "on")],
];

fn text(configuration: &[(&str, &str)]) -> String {
    configuration.iter().map(|(name, value)| format!("{name}={value} ")).collect()
}

#[test]
fn each_boundary_costs_the_instructions_of_its_stub() {
    let (kernel, none) = (Kernel::read(), Table::get().operation("none").unwrap());
    let path = kernel.path("call_gate_x86_64");
    for emulator in [Emulator::Bochs, Emulator::BochsAmd] {
        let (mut script, mut expected) = (Script::new(), Vec::new());
        for configuration in CONFIGURATIONS {
            script.set(&text(configuration));
            for name in ROWS {
                script.row(entry(name), none);
                expected.push(path.walk(configuration, taken(name, "none")) + entering(name));
            }
        }
        let Some(session) = script.boot(emulator) else { continue };
        for (ran, expected) in session.ran.iter().zip(&expected) {
            assert_eq!((ran.answer(), ran.cost()), (Answer::Ok, *expected), "{} {emulator:?}", ran.label);
        }
        // A call and a return for each ring.
        assert!(
            expected.chunks(3).all(|rows| rows[1] == rows[0] + 2 && rows[2] == rows[0] + 4),
            "{expected:?}"
        );
    }
}

#[test]
fn where_a_gate_leads_to_no_other_privileges_it_is_closed() {
    let program = freestanding(64, &["faults64.S"]);
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd] {
        let mut script = Script::new();
        for name in ["flags-ring1", "flags-ring2"] {
            script.exec(&program, &[name, "0"]);
        }
        let Some(session) = script.boot(emulator) else { continue };
        for (ran, gate) in session.ran.iter().zip([0xb0, 0xc0]) {
            let End::Fault([signal, _, error, _]) = ran.end else { panic!("{}: {:?}", ran.label, ran.end) };
            assert_eq!((signal, error), (11, 13 << 32 | gate), "{}", ran.label);
        }
    }
}

/// Flags that a program has set, and a program that steps: a #DB in ring 1 is one of a program, which it ends.
#[test]
fn flags_and_stacks_of_programs_that_go_through_rings() {
    let program = freestanding(64, &["faults64.S"]);
    for configuration in CONFIGURATIONS {
        let switches = text(configuration);
        let mut trial = Trial::new(Emulator::Bochs);
        trial.script.set(&switches);
        for entry in ["ring1", "ring2"] {
            flags(entry, &switches).iter().for_each(|case| trial.exec(&program, case));
            for stack in [0, 1, Kernel::read().symbol("kernel_start")] {
                trial.exec(
                    &program,
                    &crate::trial::case(format!("stack-{entry} {stack:x}"), crate::trial::Exit(0)),
                );
            }
        }
        trial.check();
    }
}

/// Programs that keep their base of GS while ticks come all the time, so that some come in rings 1 and 2. Tables and stacks are
/// those of a program then, or it would not go on.
fn often(kernel: Vec<u8>) -> Option<(Session, Vec<&'static str>)> {
    let program = freestanding(64, &["bases64.S"]);
    let (mut script, mut ran) = (Script::new(), Vec::new());
    script.limit(0);
    for switches in ["swapgs=on pti=on", "swapgs=fence pti=trampoline copy-frame=on", "swapgs=on pti=off"] {
        script.set(switches);
        for entry in ["call_gate", "ring1", "ring2"] {
            script.run(&program, &[&format!("often-{entry}"), "7fff12345000"]);
            ran.push(entry);
        }
    }
    Some((boot_in_bochs("tigerlake", &script, kernel)?, ran))
}

#[test]
fn a_tick_in_ring_1_finds_a_program() {
    let Some((session, _)) = often(kernel_with(Interrupt::Tick)) else { return };
    for ran in &session.ran {
        assert_eq!(ran.end, End::Exited(0), "{}", ran.label);
    }
}

/// `testb $3, 24(%rsp)` of the step that swaps GS, with 2 in place of 3: ring 1 is taken for the kernel's, and ring 3 is not.
#[test]
fn a_kernel_that_took_ring_1_for_its_own_would_keep_the_programs_base() {
    let mut kernel = kernel_with(Interrupt::Tick);
    for at in Kernel::read()
        .places_in_steps("swapgs: to the kernel's base, from a program", &[0xf6, 0x44, 0x24, 24, 3])
    {
        kernel[at + 4] = 2;
    }
    let Some((session, entries)) = often(kernel) else { return };
    let wrong = |entry: &str| {
        let mut of_entry = session.ran.iter().zip(&entries).filter(|(_, name)| **name == entry);
        of_entry.any(|(ran, _)| ran.end != End::Exited(0))
    };
    assert!(!wrong("call_gate") && wrong("ring1"), "{:?}", session.ran);
}

//! AMD's `syscall` in protected mode: what comes at any time does not use the program's stack pointer (`lab/i386/cpu/events.h`).

use crate::build::freestanding;
use crate::faults::{IN_AN_IMAGE, VM};
use crate::guest::{Answer, Emulator, Script};
use crate::kernel::Kernel;
use places::lab::{End, Mode};
use table::{Kernel as Kernels, Table};

const TF: u64 = 0x100;
const DF: u64 = 0x400;
const NT: u64 = 0x4000;
const AC: u64 = 0x40000;

const TASK: u64 = 10; // #TS
const PROTECTION: u64 = 13;
const PAGE: u64 = 14;

const CONFIGURATIONS: [&str; 5] = [
    "events-by=task pti=off",
    "pti=on stack=minimum",
    "pti=trampoline copy-frame=on exit=iret stack=frame",
    "paging=classic pti=on exit=natural",
    "pti=on exit=iret stack=minimum",
];

/// Flags that a program has set come into the kernel, and do nothing there. With NT, its own iret is a return to another task, and ends it. No program may use
/// `sysret`, whatever the configuration.
#[test]
fn flags_of_programs() {
    let program = freestanding(32, &["faults32.S"]);
    for emulator in [Emulator::TcgAmd, Emulator::BochsAmd] {
        let (mut script, mut expected) = (Script::protected(), Vec::new());
        let mut by_iret = false;
        for switches in CONFIGURATIONS {
            script.set(switches);
            by_iret = if switches.contains("exit=") { switches.contains("exit=iret") } else { by_iret };
            for flags in [TF, DF, AC, NT, DF | AC | NT] {
                script.exec(&program, &["flags-syscall", &format!("{flags:x}")]);
                expected.push(if by_iret && flags & NT != 0 { Some((TASK, 0)) } else { None });
            }
            // EFER.SCE is set here: what is left to refuse is ring 3 (APM vol. 3, SYSRET). Without SCE it is #UD (gates.rs).
            script.exec(&program, &["sysret", "0"]);
            expected.push(Some((PROTECTION, 0)));
            // TCG takes VM of it.
            if !emulator.is_tcg() {
                script.exec(&program, &["image-syscall", &format!("{:x}", IN_AN_IMAGE | VM)]);
                expected.push(None);
            }
        }
        let Some(session) = script.boot(emulator) else { continue };
        for (ran, expected) in session.ran.iter().zip(expected) {
            match (ran.end, expected) {
                (End::Exited(0), None) => {}
                (End::Fault(fault), Some((vector, error))) if fault[2] == vector << 32 | error => {}
                (end, _) => panic!("{} in {}: {end:x?}", ran.label, emulator.name()),
            }
        }
    }
}

/// Where the program points, its first word would be a descriptor of all programs' code.
#[test]
fn a_trap_in_ring_0_does_not_write_where_the_program_points() {
    let (program, kernel) = (freestanding(32, &["segments32.S"]), Kernel::in_mode(Mode::Protected));
    let (entry, operation) =
        (Table::get().entry("int80-i386").unwrap(), Table::get().operation("getppid").unwrap());
    for emulator in [Emulator::TcgAmd, Emulator::BochsAmd] {
        let mut script = Script::protected();
        for switches in CONFIGURATIONS {
            script.set(switches);
            script.exec(&program, &["trap-on-stack", &format!("{:x}", kernel.symbol("gdt") + 0x2c)]);
            script.row(entry, operation);
        }
        let Some(session) = script.boot(emulator) else { continue };
        for runs in session.ran.chunks(2) {
            let End::Fault(fault) = runs[0].end else { panic!("{}: {:?}", runs[0].label, runs[0].end) };
            // At the landing pad, in ring 3.
            assert_eq!((fault[2] >> 32, fault[3]), (PAGE, kernel.symbol("gdt") + 0x30), "{}", runs[0].label);
            assert_eq!(runs[1].answer(), Answer::Ok, "{}", runs[1].label);
        }
    }
}

#[test]
fn every_operation_answers() {
    let table = Table::get();
    let rows = || table.rows(Kernels::LabI386).filter(|(entry, _)| entry.name == "syscall-i386");
    for emulator in [Emulator::TcgAmd, Emulator::BochsAmd] {
        let mut script = Script::protected();
        for switches in CONFIGURATIONS {
            script.set(switches);
            rows().for_each(|(entry, operation)| _ = script.row(entry, operation));
        }
        let Some(session) = script.boot(emulator) else { continue };
        assert!(session.ran.len() > 5 * 10);
        for ran in &session.ran {
            assert_eq!(ran.answer(), Answer::Ok, "{} in {}", ran.label, emulator.name());
        }
    }
}

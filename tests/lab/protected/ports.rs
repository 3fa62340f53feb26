//! The bitmap of ports, and the flags of IOPL: which ports a program may use, and what the processor says of the others
//! (docs/must-fault-i386.md).

use super::gates::boot;
use super::tasks::{ARCH_PRCTL, with_poke};
use crate::build::freestanding_with;
use crate::guest::{Answer, Emulator, Script};
use places::lab::End;
use table::Table;

const GP: u64 = 13;

/// Those that go through, and those that are #GP(0). The last leaves the bitmap as the kernel has it.
const OPEN: [&str; 4] = ["open", "four-open", "open-across-bytes", "popf"];
const CLOSED: [&str; 10] = [
    "bit-is-1",
    "across-a-bit",
    "across-a-bit-of-the-next-byte",
    "no-ones-behind",
    "beyond-the-limit",
    "no-bitmap",
    "output",
    "cli",
    "sti",
    "closed",
];

#[test]
fn a_port_is_open_where_all_of_its_bits_are_0_within_the_limit() {
    let (kernel, file) = with_poke();
    let flags = [format!("-DTSS={:#x}", kernel.symbol("tss")), format!("-DPOKE={ARCH_PRCTL}")];
    let program = freestanding_with(32, &["ports32.S"], &flags.each_ref().map(String::as_str));
    let (entry, operation) =
        (Table::get().entry("int80-i386").unwrap(), Table::get().operation("getppid").unwrap());
    for emulator in Emulator::ALL {
        let mut script = Script::protected();
        let own = script.exec(&program, &["kernels-own"]);
        for switches in ["pti=off", "pti=on"] {
            script.set(switches);
            for case in OPEN.iter().chain(&CLOSED) {
                script.exec(&program, &[case]);
            }
            script.row(entry, operation);
        }
        let Some(ran) = boot(emulator, &file, &script) else { continue };
        assert_eq!(ran[own].end, End::Exited(0), "{} in {}", ran[own].label, emulator.name());
        for ran in ran[own + 1..].chunks(OPEN.len() + CLOSED.len() + 1) {
            let (row, cases) = ran.split_last().unwrap();
            let (open, closed) = cases.split_at(OPEN.len());
            for ran in open {
                assert_eq!(ran.end, End::Exited(0), "{} in {}", ran.label, emulator.name());
            }
            for ran in closed {
                let End::Fault([_, _, trap, _]) = ran.end else {
                    panic!("{} in {}: {:x?}", ran.label, emulator.name(), ran.end)
                };
                assert_eq!((trap >> 32, trap & 0xffff_ffff), (GP, 0), "{} in {}", ran.label, emulator.name());
            }
            assert_eq!(row.answer(), Answer::Ok, "{}", emulator.name());
        }
    }
}

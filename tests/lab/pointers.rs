//! Pointers that are none, in every call that takes one, through every entry: EFAULT, and nothing is written.

use crate::build::freestanding;
use crate::guest::{Emulator, Script, intel_has_syscall_32};
use places::lab::End;

/// Lets the program try the entries that this emulator has, by their order in pointers.c.
fn try_everything(emulator: Emulator, ways64: &str, ways32: &str) {
    let program = |bits| freestanding(bits, &["pointers.c", &format!("ways{bits}.S")]);
    let programs = [(program(64), ways64), (program(32), ways32)];
    let mut script = Script::new();
    for switches in ["pti=off smap=off", "pti=on smap=off", "pti=off smap=on", "pti=on smap=on"] {
        script.set(switches);
        for (program, ways) in &programs {
            script.run(program, &[ways]);
        }
    }
    let Some(session) = script.boot(emulator) else { return };
    for ran in session.ran {
        assert_eq!((ran.end, ran.log.len()), (End::Exited(0), 0), "{}: {}", ran.label, ran.text());
        // Calls are more than a thousand, and each has answered.
        let tried =
            ran.text().lines().last().unwrap().strip_prefix("tried ").map(|hex| u64::from_str_radix(hex, 16));
        assert!(tried.unwrap().unwrap() > 1000, "{}: {}", ran.label, ran.text());
    }
}

#[test]
fn no_pointer_reaches_the_kernel_with_an_intel_model() {
    // Without syscall, where QEMU knows that an Intel has none.
    let ways32 = if intel_has_syscall_32() { "1111111111" } else { "1110111111" };
    try_everything(Emulator::TcgIntel, "111111111", ways32);
}

#[test]
fn no_pointer_reaches_the_kernel_with_an_amd_model() {
    // Without sysenter.
    try_everything(Emulator::TcgAmd, "101111111", "1101111111");
}

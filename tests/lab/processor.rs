//! What only a processor, or an emulator that is closer to one than TCG, does; and the worst of what TCG does, too.

use crate::build::freestanding;
use crate::faults::{AC, DF, FAST, IN_AN_IMAGE, TF, USER_END, VM};
use crate::faults32::{ENTRIES_32, USER_END_32};
use crate::guest::{Emulator, intel_has_syscall_32};
use crate::kernel::Kernel;
use crate::trial::*;

/// On AMD's processors `sysretl` leaves the limit and the size of the stack segment as they were in the kernel. There, an
/// exception's `iretq` has taken them from the kernel's descriptor.
///
/// And ring 3 is refused the ways back of fast calls.
#[test]
fn an_exception_in_a_call_leaves_32_bit_code_its_stack_and_no_program_goes_back_as_the_kernel_does() {
    let program = freestanding(32, &["faults32.S"]);
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd, Emulator::Bochs, Emulator::BochsAmd] {
        let mut trial = Trial::new(emulator);
        for switches in ["pti=off exit=natural", "pti=on exit=natural", "pti=off exit=iret"] {
            trial.script.set(switches);
            for (entry, _) in ENTRIES_32.iter().filter(|(entry, _)| is_there(emulator, entry)) {
                trial.run(&program, &case(format!("untouched-{entry}"), Exit(0)));
            }
        }
        ways_back(emulator).iter().for_each(|case| trial.exec(&program, case));
        trial.check();
    }
}

/// Entries of faults32.S on this processor: Intel's have no `syscall` in 32-bit code, and AMD's no `sysenter`.
fn is_there(emulator: Emulator, entry: &str) -> bool {
    let is_intel = matches!(emulator, Emulator::TcgIntel | Emulator::Bochs);
    !matches!((entry, is_intel), ("syscall", true) | ("sysenter", false))
}

/// Intel's `sysret` is none in 32-bit code, but TCG's model of Intel does what AMD's do where it has `syscall` there. AMD's `sysexit` is none in long
/// mode, by APM vol. 3; the emulators have it in 32-bit code.
fn ways_back(emulator: Emulator) -> [Case; 2] {
    let (invalid, refused) = (Code(6, 0), Code(13, 0));
    let has_sysret = emulator.is_amd() || emulator.is_tcg() && intel_has_syscall_32();
    [case("sysexit", refused), case("sysret", if has_sysret { refused } else { invalid })]
}

#[test]
fn faults_on_bochs() {
    let (program64, program32) = (freestanding(64, &["faults64.S"]), freestanding(32, &["faults32.S"]));
    let mut trial = Trial::new(Emulator::Bochs);
    let kernel = Kernel::read();
    let code = kernel.symbol("kernel_start");
    for (switches, cases) in [("pti=on pcid=keep smap=on", real_faults(code)), ("exit=iret", real_exits())] {
        trial.script.set(switches);
        cases.iter().for_each(|case| trial.run(&program64, case));
    }
    for words in ["lret-selector 10", "iret-selector 53", "segment-limit fff", "into", "bound", "load-ss 10"]
    {
        let vector = if words == "bound" { 5 } else { 13 };
        trial.exec(&program32, &case(words, Vector(vector)));
    }
    trial.exec(&program32, &case("stack-segment-gone-int80", Vector(13)));
    trial.exec(&program32, &case(format!("flags-sysenter {:x}", TF | AC), Exit(0)));
    trial.exec(&program32, &case("late-trap-sysenter", Exit(0)));
    trial.exec(&program32, &case(format!("image-sysenter {:x}", IN_AN_IMAGE | VM), Exit(0)));
    trial.exec(&program32, &case("iret-nested", Code(13, 0)));
    trial.exec(&program32, &case("sysenter-stack ffffe000", Page(USER_END_32)));
    trial.check();
}

fn real_faults(code: u64) -> Vec<Case> {
    let at = |way: &str, address: u64| format!("{way} {address:x}");
    vec![
        case("misaligned-with-ac", Vector(17)),
        case("sse-exception", Vector(19)),
        case("x87-exception", Vector(16)),
        case("x87-exception-pending", Exit(0)),
        case("int1", Vector(1)),
        case("movaps", Vector(13)),
        case(at("read", code), Page(code)),
        case(at("jump", code), Page(code)),
        case(at("stack", 1 << 63), Vector(12)),
        case(at("return", 1 << 63), Vector(13)),
        case(at("iret-address", 1 << 63), Vector(13)),
        case(at("sysenter-back", 1 << 63), Vector(13)),
        case(at("sysenter-stack", 1 << 63), Vector(13)),
        case(at("sysenter-back", code), Page(code)),
        case("lret-selector 10", Vector(13)),
        case("iret-selector 10", Vector(13)),
        case("iret-stack-selector 18", Vector(13)),
        case("iret-stack-selector 28", Code(13, 0x28)),
        case("iret-selector 2b", Code(13, 0x28)),
        case("iret-selector 3", Code(13, 0)),
        case("iret-nested", Code(13, 0)),
        case("ltr 40", Code(13, 0)),
        case("sysretq", Code(13, 0)),
        case("sysretl", Code(13, 0)),
        case("sysexitq", Code(13, 0)),
        case("sysexitl", Code(13, 0)),
        case(format!("last-syscall {USER_END:x}"), Page(USER_END)),
        case("lcall-selector 5b", Vector(13)),
        case("lcall-selector 27", Vector(13)),
        case("ljmp-selector 53", Vector(13)),
        case("stack-segment-gone-int80", Vector(13)),
        case("stack-segment-gone-call_gate_i386", Vector(13)),
        case("use-after-protect 2000", Vector(14)),
        case("execute-anonymous 2000", Vector(14)),
        case("reserve 400000000000", Exit(0)),
    ]
}

/// With every flag that a program can set, at the entries that leave flags alone, and back by iret.
fn real_exits() -> Vec<Case> {
    let mut cases: Vec<Case> =
        FAST.map(|entry| case(format!("image-{entry} {:x}", IN_AN_IMAGE | VM), Exit(0))).into();
    for entry in ["syscall", "sysenter", "call_gate", "int80"] {
        cases.push(case(format!("flags-{entry} {:x}", DF | AC), Exit(0)));
        let kept = ["syscall", "int80"].contains(&entry);
        cases.push(case(format!("late-trap-{entry}"), if kept { Vector(1) } else { Exit(0) }));
        cases.push(case(format!("stack-{entry} {:x}", u64::MAX), Exit(0)));
    }
    cases
}

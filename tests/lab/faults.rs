//! What a 64-bit program must not do: faults64.S.

use crate::build::freestanding;
use crate::guest::{Emulator, LIMIT, intel_has_syscall_32, qemu_is_before};
use crate::kernel::Kernel;
use crate::trial::*;

/// Where nothing of a program can be.
const NON_CANONICAL: [u64; 3] = [0x8000_0000_0000, 0xffff_7fff_ffff_ffff, 1 << 63];
const DIRECT_MAP: u64 = 0xffff_8880_0010_0000;
const VSYSCALL: u64 = 0xffff_ffff_ff60_0000;
pub const USER_END: u64 = 0x7fff_ffff_f000;

fn addresses(kernel: &Kernel) -> Vec<Case> {
    let mut cases = Vec::new();
    let own = ["kernel_start", "trampoline_start", "rodata_end", "cpu_area_start", "kernel_cr3", "gdt"];
    let mut places: Vec<u64> = own.map(|name| kernel.symbol(name)).into();
    places.extend([DIRECT_MAP, USER_END, VSYSCALL + 0x1000, 0, 8, u64::MAX]);
    for at in places {
        cases.extend(["read", "write", "jump", "return"].map(|way| case(format!("{way} {at:x}"), Page(at))));
        cases.push(case(
            format!("stack {at:x}"),
            if at == USER_END { Exit(0) } else { Page(at.wrapping_sub(8)) },
        ));
    }
    for at in NON_CANONICAL {
        cases.extend(["read", "write"].map(|way| case(format!("{way} {at:x}"), Vector(13))));
        cases.push(case(format!("stack {at:x}"), if at == 0x8000_0000_0000 { Page(at - 8) } else { Stack }));
        let jumps = ["jump", "return", "iret-address", "sysenter-back"];
        cases.extend(jumps.map(|way| case(format!("{way} {at:x}"), Address)));
        // A processor raises #GP, which TCG does not look for; nothing uses that stack afterwards.
        cases.push(case(format!("sysenter-stack {at:x}"), Exit(0)));
    }
    cases.push(case(format!("read {VSYSCALL:x}"), Exit(0)));
    cases.push(case(format!("write {VSYSCALL:x}"), Page(VSYSCALL)));
    cases.push(case(format!("call {:x}", VSYSCALL + 1), Page(VSYSCALL + 1)));
    cases.push(case(format!("call {:x}", VSYSCALL + 0x400), Exit(0)));
    cases.push(case(
        format!("sysenter-back {:x}", kernel.symbol("kernel_start")),
        Page(kernel.symbol("kernel_start")),
    ));
    cases.push(case(format!("sysenter-stack {:x}", kernel.symbol("kernel_start")), Exit(0)));
    cases
}

/// Selectors: of the kernel, of rings 1 and 2, of gates and their second halves, of system segments, of nothing.
pub const BAD_CODE: [u64; 19] = [
    0, 3, 0x10, 0x13, 0x18, 0x2b, 0x3b, 0x40, 0x43, 0x4b, 0x5b, 0x6b, 0x73, 0x83, 0xa1, 0xa3, 0xaa, 0xab,
    0xfffb,
];
pub const BAD_DATA: [u64; 10] = [0x10, 0x18, 0x1b, 0x43, 0x4b, 0x53, 0x63, 0x73, 0x83, 0xfffb];

fn selectors() -> Vec<Case> {
    let mut cases = Vec::new();
    for selector in BAD_CODE {
        cases.extend(["lcall", "ljmp"].map(|way| case(format!("{way}-selector {selector:x}"), Vector(13))));
        cases.extend(["lret", "iret"].map(|way| case(format!("{way}-selector {selector:x}"), Taken)));
    }
    // To a gate there is a way by a call alone; entry 1 of the LDT is the second half of its gate. From ring 1 to the kernel there is
    // one of DPL 1.
    for gate in [0x53, 0x63, 0x07, 0x0f, 0xb3, 0xc3, 0xd1, 0xd3] {
        cases.push(case(format!("ljmp-selector {gate:x}"), Vector(13)));
        cases.extend(["lret", "iret"].map(|way| case(format!("{way}-selector {gate:x}"), Taken)));
    }
    cases.extend([0x0f, 0xd1, 0xd3].map(|gate| case(format!("lcall-selector {gate:x}"), Vector(13))));
    for selector in BAD_DATA {
        for register in ["ds", "es", "fs", "gs", "ss"] {
            cases.push(case(format!("load-{register} {selector:x}"), Vector(13)));
        }
        cases.push(case(format!("iret-stack-selector {selector:x}"), Taken));
    }
    // The data segment of programs with each RPL that is not theirs.
    for selector in [0x28, 0x29, 0x2a] {
        cases.push(case(format!("load-ss {selector:x}"), Code(13, 0x28)));
        cases.push(case(format!("iret-stack-selector {selector:x}"), Taken));
    }
    cases.push(case("iret-nested", Code(13, 0)));
    cases.extend(["ds", "es", "fs", "gs"].map(|register| case(format!("load-{register} 0"), Exit(0))));
    cases.push(case("load-ss 0", Vector(13)));
    cases.push(case("iret-stack-selector 0", Taken));
    // The addresses to go back to are those of 64-bit code, or nobody's.
    cases.push(case("sysenter-from-32-bit-code", Vector(14)));
    cases.push(case("syscall-from-32-bit-code", Vector(if intel_has_syscall_32() { 14 } else { 6 })));
    cases.push(case("stack-segment-gone-int80", Vector(13)));
    cases.push(case("stack-segment-gone-call_gate_i386", Vector(13)));
    cases
}

const PRIVILEGED: &[&str] = &[
    "hlt",
    "cli",
    "sti",
    "in",
    "out",
    "read-cr0",
    "write-cr3",
    "write-cr4",
    "write-cr8",
    "write-dr7",
    "clts",
    "lmsw",
    "rdmsr",
    "wrmsr",
    "lgdt",
    "lidt",
    "lldt",
    "invlpg",
    "swapgs",
    "sysretq",
    "sysexitq",
    "sysretl",
    "sysexitl",
    "xsetbv",
];
/// What UMIP, which this model has, takes from ring 3, and the kernel answers; and what programs may do by CR4.
const ALLOWED: &[&str] = &["sgdt", "sidt", "sldt", "str", "smsw", "wrfsbase"];
/// The kernel does not write for a program where that may not.
const ANSWERED_NOWHERE: &[&str] = &["sgdt-kernel", "smsw-nowhere"];

/// For `ltr`, which asks for the ring first: nothing, the TSS in use, the same as ring 3's, one that is not there.
pub const TASKS_TO_LOAD: [u64; 4] = [0, 0x40, 0x43, 0x1e0];

fn instructions() -> Vec<Case> {
    let forbidden = PRIVILEGED.iter().chain(ANSWERED_NOWHERE).map(|name| case(*name, Vector(13)));
    let mut cases: Vec<Case> = forbidden.chain(ALLOWED.iter().map(|name| case(*name, Exit(0)))).collect();
    cases.extend(["stac", "clac", "ud2", "lock-nop", "ud-foreign"].map(|name| case(name, Vector(6))));
    cases.extend(["div0", "div-foreign"].map(|name| case(name, Vector(0))));
    cases.extend(TASKS_TO_LOAD.map(|task| case(format!("ltr {task:x}"), Code(13, 0))));
    cases.push(case("single-step", Vector(1)));
    cases.push(case("int3", Vector(3)));
    cases.push(case("movaps", Vector(13)));
    // From 9.1 on, TCG takes it for a nop without asking for the ring.
    cases.push(case("wbinvd", if qemu_is_before("9.1") { Vector(13) } else { Exit(0) }));
    // TCG checks no alignment, and raises no exception of SSE arithmetic.
    cases.extend(["misaligned-with-ac", "sse-exception"].map(|name| case(name, Exit(0))));
    cases.push(case("x87-exception", Vector(16)));
    cases.push(case("x87-exception-pending", Exit(0)));
    for vector in [0, 1, 2, 4, 5, 6, 8, 13, 14, 32, 33, 34, 127, 129, 255] {
        cases.push(case(format!("int {vector:x}"), Vector(13)));
    }
    cases.push(case("int 3", Vector(3)));
    cases.push(case("int 80", Exit(0)));
    cases
}

/// 64 TiB, of the 128 that there are.
pub const HUGE: &str = "400000000000";

fn memory() -> Vec<Case> {
    let mut cases: Vec<Case> = ["write-code", "write-constant", "execute-data", "execute-stack"]
        .map(|name| case(name, Vector(14)))
        .into();
    let mapped = ["execute-anonymous", "use-after-unmap", "use-after-protect"];
    cases.extend(mapped.map(|name| case(format!("{name} 2000"), Vector(14))));
    cases.push(case("overflow", Vector(14)));
    for words in
        ["reserve 2000", "reserve-and-move 2000", "reserve 400000000000", "reserve-and-move 100000000000"]
    {
        cases.push(case(words, Exit(0)));
    }
    for to in ["0", "1000", "7ffff0000000", "7fffffffe000", "ffffffffffffffff"] {
        cases.push(case(format!("break {to}"), Exit(0)));
    }
    cases
}

/// Entries of faults64.S.
pub const ENTRIES: &[&str] =
    &["syscall", "sysenter", "call_gate", "int80", "call_gate_i386", "ud", "lock_nop", "int3", "div0"];

fn flags_and_stacks(kernel: &Kernel, switches: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in ENTRIES {
        for stack in
            [0, 1, 0x8000_0000_0003, kernel.symbol("kernel_start"), kernel.symbol("cpu_area_end"), u64::MAX]
        {
            cases.push(case(format!("stack-{entry} {stack:x}"), Exit(0)));
        }
        cases.extend(flags(entry, switches));
        cases.push(case(format!("late-trap-{entry}"), stepping(entry)));
        cases.push(case(format!("upper-halves-{entry}"), Exit(0)));
    }
    cases.extend(FAST.iter().filter_map(|entry| image(entry, switches)));
    // sysret gets the address behind it, which is canonical, and no program's.
    cases.push(case(format!("last-syscall {USER_END:x}"), Page(USER_END)));
    cases
}

/// Entries that leave the program's flags as they are; of 32-bit code the gateway, too, which is a sysenter here.
pub const LEAVES_FLAGS: &[&str] =
    &["sysenter", "gateway", "call_gate", "call_gate_i386", "lcall7", "ring1", "ring2"];

/// What becomes of a program that steps into an entry: what keeps the flags goes back with them, and steps on. In rings 1 and 2 a
/// program steps as in ring 3.
fn stepping(entry: &str) -> Expected {
    if LEAVES_FLAGS.contains(&entry) && !entry.starts_with("ring") { Exit(0) } else { Vector(1) }
}

pub fn flags(entry: &str, switches: &str) -> Vec<Case> {
    let leaves = LEAVES_FLAGS.contains(&entry);
    // iret in 64-bit mode does not take it (SDM vol. 2): that program is ended.
    let nested = if leaves && switches.contains("exit=iret") { Vector(13) } else { Exit(0) };
    // Before the gateway's own instruction there are others.
    let trap = if entry == "gateway" { Vector(1) } else { stepping(entry) };
    [(DF, Exit(0)), (AC, Exit(0)), (NT, nested), (DF | AC | NT, nested), (TF, trap)]
        .map(|(flags, expected)| case(format!("flags-{entry} {flags:x}"), expected))
        .into()
}

/// Entries at which the hardware saves nothing to memory.
pub const FAST: [&str; 2] = ["syscall", "sysenter"];
/// Flags in an iret's image: RF, and IOPL, VIF and VIP, which no iret of ring 3 sets.
pub const IN_AN_IMAGE: u64 = 0x19_3000;
/// Nor does a processor set this one; TCG does, and enters virtual-8086 mode.
pub const VM: u64 = 0x2_0000;

/// An entry behind an iret with such an image, in QEMU, which reads the image as ring 0 would: SMAP forbids that.
pub fn image(entry: &str, switches: &str) -> Option<Case> {
    (!switches.contains("smap=on")).then(|| case(format!("image-{entry} {IN_AN_IMAGE:x}"), Exit(0)))
}

pub const TF: u64 = 0x100;
pub const DF: u64 = 0x400;
pub const NT: u64 = 0x4000;
pub const AC: u64 = 0x40000;

#[test]
fn forbidden_addresses() {
    let (program, kernel) = (freestanding(64, &["faults64.S"]), Kernel::read());
    for_each_configuration(|trial| addresses(&kernel).iter().for_each(|case| trial.exec(&program, case)));
}

#[test]
fn bad_selectors() {
    let program = freestanding(64, &["faults64.S"]);
    for_each_configuration(|trial| selectors().iter().for_each(|case| trial.exec(&program, case)));
}

#[test]
fn forbidden_instructions_and_exceptions() {
    let program = freestanding(64, &["faults64.S"]);
    for_each_configuration(|trial| instructions().iter().for_each(|case| trial.exec(&program, case)));
}

#[test]
fn memory_that_is_not_there_or_not_allowed() {
    let program = freestanding(64, &["faults64.S"]);
    for_each_configuration(|trial| memory().iter().for_each(|case| trial.exec(&program, case)));
}

#[test]
fn memory_that_runs_out() {
    let program = freestanding(64, &["faults64.S"]);
    let mut trial = Trial::new(Emulator::TcgIntel);
    trial.script.limit(10 * LIMIT);
    trial.script.set("pti=on");
    for way in ["exhaust", "exhaust-tables", "exhaust-reading", "exhaust-kernel"] {
        trial.exec(&program, &case(format!("{way} {HUGE}"), Killed));
    }
    trial.exec(&program, &case(format!("reserve {HUGE}"), Exit(0)));
    trial.check();
}

#[test]
fn hostile_flags_and_stack_pointers_before_every_entry() {
    let (program, kernel) = (freestanding(64, &["faults64.S"]), Kernel::read());
    for_each(PATHS, |trial, switches| {
        flags_and_stacks(&kernel, switches).iter().for_each(|case| trial.run(&program, case));
    });
}

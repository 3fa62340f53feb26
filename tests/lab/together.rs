//! Programs that run together, each in an address space of its own: whichever way they yield to each other, each finds its
//! registers, its memory and its settings as it has left them.

use crate::build::{Program, freestanding};
use crate::guest::{AMD_IN_BOCHS, Emulator, LIMIT, Script, Session};
use crate::kernel::Kernel;
use crate::silicon::{boot_in_bochs, boot_kernel, boot_with};
use crate::trial::SHORT;
use crate::whole::is_whole;
use places::lab::End;
use record::abi;

/// Ways to yield, as the programs name them. In 32-bit code `syscall` is AMD's and `sysenter` Intel's.
const WAYS_64: &[&str] =
    &["syscall", "sysenter", "call_gate", "ud", "lock_nop", "int3", "div0", "int80", "call_gate_i386"];
const WAYS_32: &[&str] =
    &["int80", "sysenter", "syscall", "gateway", "call_gate", "lcall7", "ud", "lock_nop", "int3", "div0"];

const CONFIGURATIONS: &[&str] = &[
    "pti=off smap=on stack=frame exit=natural",
    "pti=off smap=off stack=minimum exit=natural",
    "pti=on smap=on stack=frame exit=natural",
    "pti=on smap=on stack=minimum exit=natural",
    "pti=on smap=off stack=frame exit=iret",
    "pti=off smap=on stack=minimum exit=iret gate=trap",
    "pti=trampoline smap=on stack=minimum exit=natural gate=interrupt",
    "pti=trampoline copy-frame=on smap=on stack=minimum exit=natural",
    "pti=on copy-frame=on smap=off stack=frame exit=iret gate=trap",
];

/// Both programs, and the ways that this processor has.
pub struct Programs {
    programs: [Program; 2],
    ways: Vec<(usize, &'static str)>,
}

impl Programs {
    pub fn on(emulator: Emulator) -> Programs {
        let is_amd = matches!(emulator, Emulator::TcgAmd | Emulator::BochsAmd);
        // Bochs executes what a processor of the other vendor would not; QEMU's AMD models have no sysenter.
        let closed_64 = |way: &str| way == "sysenter" && is_amd;
        let closed_32 = |way: &str| way == if is_amd { "sysenter" } else { "syscall" };
        let ways_64 = WAYS_64.iter().filter(|way| !closed_64(way)).map(|way| (0, *way));
        let ways_32 = WAYS_32.iter().filter(|way| !closed_32(way)).map(|way| (1, *way));
        Programs {
            programs: [freestanding(64, &["together64.S"]), freestanding(32, &["together32.S"])],
            ways: ways_64.chain(ways_32).collect(),
        }
    }

    /// All of these together; the last begins.
    fn run(&self, script: &mut Script, ways: &[(usize, &str)]) -> usize {
        let (last, others) = ways.split_last().unwrap();
        for (number, (program, way)) in (1..).zip(others) {
            script.beside(&self.programs[*program], &[way, &format!("{number}")]);
        }
        script.run(&self.programs[last.0], &[last.1, &ways.len().to_string()])
    }

    /// Every way with every other.
    fn run_pairs(&self, script: &mut Script) {
        for (i, first) in self.ways.iter().enumerate() {
            for second in &self.ways[i..] {
                self.run(script, &[*first, *second]);
            }
        }
    }

    /// As many as can be alive, again and again.
    pub fn run_all(&self, script: &mut Script) {
        (0..self.ways.len()).for_each(|start| self.run_most(script, start));
    }

    /// As many as can be alive, from this way on.
    pub fn run_most(&self, script: &mut Script, start: usize) {
        self.run_some(script, start, MOST);
    }

    /// So many, from this way on.
    pub fn run_some(&self, script: &mut Script, start: usize, count: usize) {
        let ways: Vec<_> = (0..count).map(|i| self.ways[(start + i) % self.ways.len()]).collect();
        self.run(script, &ways);
    }
}

/// `MOST_THREADS` of `lab/entry/layout.h`.
pub const MOST: usize = 8;

fn check(session: &Session) {
    let wrong = session.ran.iter().filter(|ran| ran.end != End::Exited(0));
    let wrong: Vec<_> = wrong.map(|ran| (&ran.label, ran.end, &ran.log)).collect();
    assert!(
        !session.ran.is_empty() && wrong.is_empty(),
        "{} of {}: {wrong:#x?}",
        wrong.len(),
        session.ran.len()
    );
}

#[test]
fn each_finds_what_it_has_left_however_they_yield() {
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd] {
        let programs = Programs::on(emulator);
        let mut script = Script::new();
        let few = if emulator.is_amd() && !is_whole() { 3 } else { CONFIGURATIONS.len() };
        for switches in &CONFIGURATIONS[..few] {
            script.set(switches);
            programs.run_pairs(&mut script);
            programs.run_all(&mut script);
        }
        let Some(session) = script.boot(emulator) else { return };
        check(&session);
    }
}

#[test]
fn each_finds_what_it_has_left_with_identifiers_of_address_spaces() {
    let programs = Programs::on(Emulator::Bochs);
    let mut script = Script::new();
    for switches in [
        "pti=on pcid=keep smap=on",
        "pti=on pcid=off",
        "pti=off",
        "pti=on pcid=lazy copy-frame=on global=on",
        "pti=off pcid=keep copy-frame=off flush-by=invpcid",
    ] {
        script.set(switches);
        programs.run_all(&mut script);
    }
    let Some(session) = script.boot(Emulator::Bochs) else { return };
    check(&session);
}

#[test]
fn each_finds_what_it_has_left_on_a_processor_without_xsave() {
    let programs = Programs::on(Emulator::TcgIntel);
    let mut script = Script::new();
    programs.run_all(&mut script);
    let Some(session) = boot_with(&script, "-cpu max,vendor=GenuineIntel,-xsave") else { return };
    assert!(session.boot.features >> abi::FEATURE_XSAVE & 1 == 0);
    check(&session);
}

#[test]
fn there_may_be_fewer_identifiers_than_address_spaces() {
    let programs = Programs::on(Emulator::Bochs);
    let mut script = Script::new();
    for switches in ["pti=on pcid=keep asids=1", "asids=2", "pcid=lazy asids=3", "pti=off pcid=keep asids=1"]
    {
        script.set(switches);
        programs.run_all(&mut script);
    }
    let Some(session) = script.boot(Emulator::Bochs) else { return };
    check(&session);
}

/// On AMD's processors `sysret` changes nothing of SS but its selector, and a gate leaves SS null.
fn amd_stacks() -> Script {
    let programs = Programs::on(Emulator::BochsAmd);
    let mut script = Script::new();
    for switches in ["pti=off exit=natural", "pti=on exit=natural"] {
        script.set(switches);
        for way in ["int80", "call_gate", "ud"] {
            programs.run(&mut script, &[(1, "syscall"), (1, way)]);
            programs.run(&mut script, &[(1, way), (1, "syscall")]);
        }
    }
    script
}

#[test]
fn a_program_that_has_entered_by_syscall_keeps_its_stack_beside_one_that_came_by_a_gate() {
    let Some(session) = amd_stacks().boot(Emulator::BochsAmd) else { return };
    check(&session);
}

/// The kernel, not loading SS when it switches threads.
fn without_stack_segment() -> Vec<u8> {
    const MOV_EAX_SS: [u8; 2] = [0x8e, 0xd0];
    const NOPS: [u8; 2] = [0x90, 0x90];
    Kernel::read().changed("thread_switch", &MOV_EAX_SS, &NOPS)
}

#[test]
fn a_switch_that_leaves_the_stack_segment_as_it_is_would_be_noticed() {
    let Some(session) = boot_in_bochs(AMD_IN_BOCHS, &amd_stacks(), without_stack_segment()) else { return };
    assert!(session.ran.iter().any(|ran| ran.end != End::Exited(0)));
}

/// The kernel with a function that does nothing.
fn without(function: &str) -> Vec<u8> {
    const RET: u8 = 0xc3;
    let kernel = Kernel::read();
    let mut file = places::lab::kernel(places::lab::Mode::Long).to_vec();
    file[kernel.place(kernel.symbol(function))] = RET;
    file
}

#[test]
fn a_switch_that_leaves_registers_as_they_are_would_be_noticed() {
    let programs = Programs::on(Emulator::TcgIntel);
    let mut script = Script::new();
    programs.run(&mut script, &[(0, "syscall"), (0, "int80")]);
    let Some(session) = boot_kernel(&script, &without("fpu_load"), "") else { return };
    assert!(matches!(session.ran[0].end, End::Exited(1..100)), "{:?}", session.ran[0].end);
}

const SIGKILL: u64 = 9;
const SEGMENTATION_FAULT: u64 = 11;
const EAGAIN: u64 = 11;
const ENOEXEC: u64 = 8;

#[test]
fn they_take_turns_and_end_together() {
    let programs = Programs::on(Emulator::TcgIntel);
    let mut script = Script::new();
    script.limit(SHORT);
    let say = programs.run(&mut script, &[(0, "say"); 3]);
    let alone = programs.run(&mut script, &[(0, "say")]);
    let fault = programs.run(&mut script, &[(0, "fault"), (0, "stay")]);
    let status = programs.run(&mut script, &[(0, "stay"), (0, "status"), (0, "stay")]);
    let stay = programs.run(&mut script, &[(0, "stay"), (0, "say")]);
    let too_many = programs.run(&mut script, &[(0, "say"); MOST + 1]);
    let nothing = Program { name: "nothing".into(), bytes: Vec::new() };
    script.beside(&nothing, &[]);
    let unloaded = programs.run(&mut script, &[(0, "say")]);
    // What was to run beside one that was not found runs beside no other.
    script.beside(&programs.programs[0], &["say", "5"]);
    script.exec_missing("missing");
    let after = programs.run(&mut script, &[(0, "say")]);
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    let end = |which: usize| session.ran[which].end;
    assert_eq!((end(say), session.ran[say].text().as_str()), (End::Exited(0), "312312312"));
    assert_eq!((end(alone), session.ran[alone].text().as_str()), (End::Exited(0), "111"));
    assert!(matches!(end(fault), End::Fault([SEGMENTATION_FAULT, .., 0])), "{:?}", end(fault));
    assert_eq!(end(status), End::Exited(2));
    assert!(session.ran[status].log[0].contains("process 4 "), "{:?}", session.ran[status].log);
    assert!(matches!(end(stay), End::Runaway(_)), "{:?}", end(stay));
    assert_eq!((end(too_many), end(unloaded)), (End::NotLoaded(EAGAIN), End::NotLoaded(ENOEXEC)));
    assert_eq!((end(after), session.ran[after].text().as_str()), (End::Exited(0), "111"));
}

#[test]
fn who_ends_gives_its_memory_back_to_the_others() {
    let programs = Programs::on(Emulator::TcgIntel);
    let mut script = Script::new();
    script.limit(10 * LIMIT);
    script.set("pti=on");
    // Each needs more than a third of the guest's memory.
    programs.run(&mut script, &[(0, "hoard"); 4]);
    programs.run_all(&mut script);
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    assert!((100 << 20..300 << 20).contains(&session.boot.memory), "{}", session.boot.memory);
    check(&session);
    let session = boot_kernel(&script, &without("tables_end_space"), "").unwrap();
    assert!(matches!(session.ran[0].end, End::Fault([SIGKILL, ..])), "{:?}", session.ran[0].end);
}

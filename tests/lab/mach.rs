//! Programs of GNU Mach (docs/mach.md): their traps through every entry, of both widths, with the protections; tasks that send each
//! other messages; what they get wrong.

use crate::build::{Program, freestanding_with};
use crate::guest::{Emulator, Script, Session};
use places::lab::End;

/// Ways in, in the order of mach64.S.
const WAYS_64: [&str; 9] =
    ["syscall", "sysenter", "call_gate", "ud", "lock_nop", "int3", "div0", "int80", "call_gate_i386"];

/// In the order of mach32.S. `syscall` of 32-bit code is AMD's, `sysenter` Intel's.
const WAYS_32: [&str; 9] =
    ["lcall7", "int80", "sysenter", "syscall", "call_gate", "ud", "lock_nop", "int3", "div0"];

pub const CONFIGURATIONS: [&str; 8] = [
    "pti=off stack=frame exit=natural smap=on",
    "pti=off stack=minimum exit=natural smap=off",
    "pti=on stack=frame exit=natural",
    "pti=on stack=minimum exit=iret gate=trap",
    "pti=trampoline copy-frame=on stack=frame exit=iret",
    "pti=on copy-frame=on stack=minimum exit=natural gate=trap",
    "pti=off stack=frame exit=natural clear-registers=on stack-offset=on canary=on index-mask=on dispatch=retpoline returns=thunk",
    "pti=off stack=frame exit=natural work=on trace=on filter=3 audit=on dispatch=direct swapgs=on",
];

const ALL_OFF: &str = "gate=interrupt copy-frame=off clear-registers=off stack-offset=off canary=off index-mask=off \
                       dispatch=table returns=plain work=off trace=off filter=0 audit=off swapgs=off smap=on pti=off";

/// A program of this folder for GNU Mach.
pub fn program(bits: u8, source: &str) -> Program {
    let assembly = format!("mach{bits}.S");
    freestanding_with(bits, &[source, "mach.c", &assembly], &["-Wno-unused-function"])
}

/// The ways that an emulator's processor has, by their numbers.
fn ways(bits: u8, emulator: Emulator) -> Vec<usize> {
    let is_amd = emulator == Emulator::TcgAmd;
    let all: &[&str] = if bits == 64 { &WAYS_64 } else { &WAYS_32 };
    let has = |way: &str| match way {
        "sysenter" => !is_amd,
        "syscall" => bits == 64 || is_amd,
        _ => true,
    };
    (0..all.len()).filter(|number| has(all[*number])).collect()
}

/// Its words are the ports, which entry its traps take, and these.
pub fn run(script: &mut Script, program: &Program, way: usize, words: &[&str]) {
    let way = way.to_string();
    let all: Vec<&str> = ["${host-port}", "${device-port}", &way].iter().chain(words).copied().collect();
    script.run(program, &all);
}

pub fn boot(script: &Script, emulator: Emulator) -> Option<Session> {
    let session = script.boot(emulator)?;
    for ran in &session.ran {
        assert_eq!(ran.end, End::Exited(0), "{}: {}\n{:?}", ran.label, ran.text(), ran.log);
    }
    Some(session)
}

/// What mach_hello.c must say. One register is lost where `sysexit` takes the address from it.
fn hello(bits: u8, words: &str, lost: usize) -> String {
    let bits = if bits == 64 { "40" } else { "20" };
    format!(
        "hello {bits}\n{words}\nnull 0\nbad 1\nkernel 1\nedge\nxxxxxxendless 1\ntrap 31 4\ntrap 10 0\ntrap 129 4\ntask 3\n\
         task again 3\nthread 4\nhost 5\nreply 6\nevc_wait 4\nswtch 0\nswtch_pri 0\nthread_switch 0\nthread_switch 3 4\n\
         thread_switch wait 0\nmach_msg 0\nchanged {lost}\nchanged by none {lost}\n"
    )
}

#[test]
fn every_trap_answers_through_every_entry_with_every_protection() {
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd] {
        let mut script = Script::new();
        let mut expected = Vec::new();
        let programs = [64, 32].map(|bits| (bits, program(bits, "mach_hello.c")));
        for configuration in CONFIGURATIONS {
            script.set(&format!("{ALL_OFF} {configuration} personality=mach"));
            for (bits, program) in &programs {
                for way in ways(*bits, emulator) {
                    run(&mut script, program, way, &["a", "b c"]);
                    let is_lost =
                        *bits == 64 && WAYS_64[way] == "sysenter" && configuration.contains("exit=natural");
                    expected.push(hello(*bits, "[a][b c]", usize::from(is_lost)));
                }
            }
        }
        let Some(session) = boot(&script, emulator) else { return };
        assert_eq!(session.ran.len(), expected.len());
        for (ran, expected) in session.ran.iter().zip(expected) {
            assert_eq!(ran.text(), expected, "{}", ran.label);
        }
    }
}

//! Entries by faults, call gates and conforming code, which protected mode alone has: registers behind them, hello by each, and what must fault
//! (SDM vol. 2, CALL, JMP, MOV, INT; vol. 3, 5.8, 6.13, 6.15).

use crate::build::{Program, compile_once, freestanding, root};
use crate::every_instruction::{STUB_BYTES, jump};
use crate::guest::{Answer, Boots, Emulator, Ran, Script, changed_bochs, limits, qemu_is_before};
use crate::kernel::Kernel;
use crate::trial::{Code, is_as};
use iced_x86::{Decoder, DecoderOptions};
use places::lab::{Accelerator, Bochs, End, Mode, Qemu};
use std::path::Path;
use table::Table;

/// Rows of which each use enters the kernel, and their cases in gates32.S.
const ENTRIES: &[(&str, &str)] = &[
    ("into", "into"),
    ("bound", "bound"),
    ("np-fault", "absent_fs"),
    ("ss-fault", "absent_ss"),
    ("limit-fault", "limit"),
    ("call-gate-32-1", "gate_32_1"),
    ("call-gate-32-8", "gate_32_8"),
    ("call-gate-16-0", "gate_16_0"),
    ("call-gate-16-1", "gate_16_1"),
    ("call-gate-16-8", "gate_16_8"),
];

/// Those that enter no kernel.
const STAY: [&str; 3] = ["conforming", "jmp-gate", "jmp-gate-16"];

/// SMAP is off: QEMU's TCG before 9.1 reads what call gates copy as the kernel does.
const CONFIGURATIONS: [&str; 6] = [
    "smap=off pti=off",
    "smap=off pti=off stack=minimum",
    "smap=off pti=on exit=iret stack=frame",
    "smap=off pti=on exit=iret stack=minimum copy-frame=on",
    "smap=off pti=trampoline copy-frame=on exit=natural stack=frame",
    "smap=off paging=classic pti=on copy-frame=on stack=minimum",
];

fn wrong(ran: &[Ran]) -> Vec<String> {
    let wrong = ran.iter().filter(|ran| ran.end != End::Exited(0));
    wrong.map(|ran| format!("{}: {:x?}", ran.label, ran.end)).collect()
}

#[test]
fn registers_are_what_they_were_behind_each() {
    let program = freestanding(32, &["gates32.S"]);
    for emulator in Emulator::ALL {
        let mut script = Script::protected();
        for switches in CONFIGURATIONS {
            script.set(switches);
            for (_, case) in ENTRIES.iter().filter(|(_, case)| *case != "limit" || !emulator.is_tcg()) {
                script.run(&program, &[&format!("registers-{case}")]);
                script.run(&program, &[&format!("unknown-{case}")]);
            }
            for words in [0, 1, 8] {
                script.run(&program, &[&format!("stack-gate_16_{words}")]);
            }
            script.run(&program, &["conforming", "0"]);
        }
        let Some(session) = script.boot(emulator) else { continue };
        let wrong = wrong(&session.ran);
        assert!(wrong.is_empty(), "{}: {wrong:#?}", emulator.name());
    }
}

/// In QEMU, exec.rs shows it.
#[test]
fn the_examples_say_hello_in_bochs() {
    let names = || ENTRIES.iter().map(|(row, _)| *row).chain(STAY);
    let flags = ["-m32", "-nostdlib", "-static", "-no-pie"];
    let hello = |name: &str| -> Program {
        compile_once(&format!("hello-{name}"), &flags, &[root().join(format!("docs/examples/{name}.S"))])
    };
    let mut script = Script::protected();
    // Bochs pushes as ring 0 where a far call in ring 3 leads to conforming code of ring 0.
    script.set("smap=off");
    names().for_each(|name| _ = script.run(&hello(name), &[]));
    let Some(session) = script.boot(Emulator::Bochs) else { return };
    for (ran, name) in session.ran.iter().zip(names()) {
        assert_eq!(ran.text(), format!("hello through {name}\n"), "{:x?}", ran.end);
        assert_eq!(ran.end, End::Exited(0));
    }
}

#[test]
fn each_has_a_listing() {
    let mut script = Script::protected();
    for (row, _) in ENTRIES {
        let entry = Table::get().entry(row).unwrap();
        script.list(&format!("{}_i386", entry.lab.as_deref().unwrap().replace('-', "_")));
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    for ran in &session.ran {
        assert!(ran.steps.len() > 5, "{}: {:?}", ran.label, ran.end);
    }
}

/// A kernel whose far returns behind the gates that copy eight words release only so many of them.
fn kernel_that_releases(words: u16) -> Vec<u8> {
    let kernel = Kernel::in_mode(Mode::Protected);
    let mut file = places::lab::kernel(Mode::Protected).to_vec();
    for (code, bytes) in [(&[0xca, 4 * 8, 0], 4 * words), (&[0xca, 2 * 8, 0], 2 * words)] {
        let places = kernel.places_in_steps("lret", code);
        assert_eq!(places.len(), 1);
        file[places[0] + 1..places[0] + 3].copy_from_slice(&bytes.to_le_bytes());
    }
    file
}

#[test]
fn gates_copy_every_word_to_its_place() {
    let program = freestanding(32, &["gates32.S"]);
    for emulator in Emulator::KINDS {
        for words in [0, 2, 4, 6] {
            let mut script = Script::protected();
            script.set("smap=off");
            script.run(&program, &["copied-32", &format!("{:x}", 4 * words)]);
            script.run(&program, &["copied-16", &format!("{:x}", 2 * words)]);
            let Some(ran) = boot(emulator, &kernel_that_releases(words), &script) else { continue };
            assert!(wrong(&ran).is_empty(), "{words} in {}: {:#?}", emulator.name(), wrong(&ran));
        }
    }
}

/// Boots another kernel.
pub fn boot(emulator: Emulator, kernel: &[u8], script: &Script) -> Option<Vec<Ran>> {
    let kernel = || kernel.to_vec().into();
    let model = emulator.model();
    let boot = |archive: &[u8], programs, limits: &_| match emulator.is_tcg() {
        true => {
            Qemu { kernel: kernel(), ..Qemu::new(Accelerator::Tcg, model) }.boot(archive, programs, limits)
        }
        false => Bochs { kernel: kernel(), ..Bochs::new(model) }.boot(archive, programs, limits),
    };
    let hertz = if emulator.is_tcg() { Qemu::TCG_HERTZ } else { Bochs::HERTZ };
    Some(script.boot_in(&boot, hertz)?.ran)
}

/// What the program faults32.S does, and the exception and the error code that follow by the manuals.
pub type Case<'a> = (&'a str, u64, u64);

const UD: u64 = 6;
const TS: u64 = 10;
const NP: u64 = 11;
const SS: u64 = 12;
const GP: u64 = 13;

/// With the descriptors that the kernel has. In the GDT: 10 and 18, code and data of ring 0; 20 and 28, of ring 3; 40, the TSS; 60, a call gate of
/// DPL 3 to 10; 70, the LDT; 98, data that is not writable; a0, code of ring 1; b0, a gate to it; d0, a gate of DPL 1; e0, data that is not
/// present; f0 and 100, gates with and without parameters; 128, code that the latter lead to.
const CASES: &[Case] = &[
    ("int 0", GP, 2),
    ("int 5", GP, 8 * 5 + 2),
    ("int 6", GP, 8 * 6 + 2),
    ("int 8", GP, 8 * 8 + 2),
    ("int b", GP, 8 * 0xb + 2),
    ("int c", GP, 8 * 0xc + 2),
    ("int d", GP, 8 * 0xd + 2),
    ("int 40", GP, 8 * 0x40 + 2),
    ("int 81", GP, 8 * 0x81 + 2),
    ("int 4", 4, 0),
    ("into", 4, 0),
    ("bound", 5, 0),
    ("ud2", UD, 0),
    ("hlt", GP, 0),
    // In ring 3, whatever they would load or go back to. Intel's sysret is no instruction outside of 64-bit code, nor is AMD's unless EFER.SCE is set.
    ("sysexit", GP, 0),
    ("sysret", UD, 0),
    ("ltr 0", GP, 0),
    ("ltr 40", GP, 0),
    ("ltr 43", GP, 0),
    ("ltr 1e0", GP, 0),
    // Null, beyond the tables, no code and no gate, of another ring.
    ("lcall-selector 0", GP, 0),
    ("lcall-selector 3", GP, 0),
    ("ljmp-selector 3", GP, 0),
    ("lcall-selector 203", GP, 0x200),
    ("ljmp-selector fffb", GP, 0xfff8),
    ("lcall-selector 27", GP, 0x24),
    ("lcall-selector 2b", GP, 0x28),
    ("ljmp-selector 2b", GP, 0x28),
    ("lcall-selector e3", GP, 0xe0),
    ("lcall-selector 73", GP, 0x70),
    ("lcall-selector 43", GP, 0x40),
    ("lcall-selector 10", GP, 0x10),
    ("lcall-selector 13", GP, 0x10),
    ("ljmp-selector 13", GP, 0x10),
    ("lcall-selector a3", GP, 0xa0),
    ("lcall-selector 12b", GP, 0x128),
    // A gate of DPL 1.
    ("lcall-selector d3", GP, 0xd0),
    ("ljmp-selector d1", GP, 0xd0),
    // Through gates to more privilege: the code segment's selector, not the gate's.
    ("ljmp-selector 63", GP, 0x10),
    ("ljmp-selector 7", GP, 0x10),
    ("ljmp-selector f3", GP, 0x10),
    ("ljmp-selector 103", GP, 0x128),
    ("ljmp-selector b3", GP, 0xa0),
    // Back to an inner ring.
    ("lret-selector 10", GP, 0x10),
    ("iret-selector 10", GP, 0x10),
    ("iret-selector 0", GP, 0),
    ("iret-selector 3", GP, 0),
    ("iret-selector 13", GP, 0x10),
    ("iret-selector 20", GP, 0x20),
    ("iret-selector 2b", GP, 0x28),
    ("iret-selector 43", GP, 0x40),
    ("iret-selector 63", GP, 0x60),
    ("iret-selector 27", GP, 0x24),
    ("iret-selector a3", GP, 0xa0),
    ("iret-selector 203", GP, 0x200),
    ("iret-nested", TS, 0),
    ("lret-selector 0", GP, 0),
    ("lret-selector 2b", GP, 0x28),
    // Data.
    ("load-ds e3", NP, 0xe0),
    ("load-es e0", NP, 0xe0),
    ("load-gs e3", NP, 0xe0),
    ("load-ss e3", SS, 0xe0),
    ("load-ss e0", GP, 0xe0),
    ("load-ss 0", GP, 0),
    ("load-ss 3", GP, 0),
    ("load-ss 23", GP, 0x20),
    ("load-ss 18", GP, 0x18),
    ("load-ss 1b", GP, 0x18),
    ("load-ss 9b", GP, 0x98),
    ("load-ss 123", GP, 0x120),
    ("load-ds 18", GP, 0x18),
    ("load-ds 10", GP, 0x10),
    ("load-fs 43", GP, 0x40),
    ("load-gs 63", GP, 0x60),
    ("load-es 203", GP, 0x200),
];

/// Limits, which TCG does not check (docs/must-fault-i386.md): a jump beyond that of the conforming segment.
const BY_LIMITS: &[Case] = &[("lcall-selector 123", GP, 0), ("ljmp-selector 123", GP, 0)];

/// Cases in one boot. Each ends as it must, and the kernel goes on.
pub fn must_fault(emulator: Emulator, kernel: &[u8], cases: &[Case]) -> Vec<String> {
    must_fault_in(emulator, kernel, &[(&freestanding(32, &["faults32.S"]), cases)])
}

/// The same of several programs.
pub fn must_fault_in(emulator: Emulator, kernel: &[u8], programs: &[(&Program, &[Case])]) -> Vec<String> {
    let mut script = Script::protected();
    let cases = || programs.iter().flat_map(|(program, cases)| cases.iter().map(move |case| (program, case)));
    for switches in ["smap=off pti=off", "smap=off pti=on"] {
        script.set(switches);
        for (program, (words, ..)) in cases() {
            script.exec(program, &words.split(' ').collect::<Vec<_>>());
        }
    }
    let Some(ran) = boot(emulator, kernel, &script) else { return Vec::new() };
    let cases = cases().collect::<Vec<_>>().into_iter().cycle();
    let differs = ran.iter().zip(cases).filter_map(|(ran, (_, (_, vector, error)))| {
        let met = match ran.end {
            End::Fault([_, _, trap, _]) => Some((trap >> 32, trap & 0xffff_ffff)),
            _ => None,
        };
        (met != Some((*vector, *error)))
            .then(|| format!("{}: {:x?}, not {vector} with {error:#x}", ran.label, ran.end))
    });
    differs.collect()
}

/// A kernel with descriptors in places of the GDT that it leaves free, and other stack segments for rings 1 and 2.
struct Changed {
    descriptors: &'static [(usize, u64)],
    stacks: Option<(u32, u32)>,
    cases: &'static [Case<'static>],
}

/// A call gate of these rights, to a code segment.
const fn gate(rights: u64, code: u64) -> u64 {
    rights << 40 | code << 16
}

const CHANGED: &[Changed] = &[
    Changed {
        descriptors: &[
            (0x1e0, gate(0x6c, 0x10)),  // not present
            (0x30, gate(0xec, 0)),      // to nothing, ...
            (0x38, gate(0xec, 0x1000)), // ... beyond the table, ...
            (0x50, gate(0xec, 0x28)),   // ... to data, ...
            (0x58, gate(0xec, 0x68)),   // ... to code that is not present
            (0x68, 0x00cf_1b00_0000_ffff),
            (0x78, gate(0xcc, 0x10)), // of DPL 2
        ],
        stacks: None,
        cases: &[
            ("lcall-selector 1e3", NP, 0x1e0),
            ("ljmp-selector 1e3", NP, 0x1e0),
            ("lcall-selector 33", GP, 0),
            ("ljmp-selector 33", GP, 0),
            ("lcall-selector 3b", GP, 0x1000),
            ("lcall-selector 53", GP, 0x28),
            ("ljmp-selector 53", GP, 0x28),
            ("lcall-selector 5b", NP, 0x68),
            ("ljmp-selector 5b", GP, 0x68),
            ("lcall-selector 6b", GP, 0x68),
            ("lcall-selector 7b", GP, 0x78),
        ],
    },
    Changed {
        descriptors: &[
            (0x1e0, 0x00cf_7b00_0000_ffff), // code of ring 3 that is not present
            (0x30, 0x00cf_f900_0000_ffff),  // code that is not readable
            (0x38, 0x00cf_1f00_0000_ffff),  // conforming code that is not present
            (0x50, gate(0xed, 0x10)),       // a reserved type
            (0x58, gate(0xee, 0x10)),       // an interrupt gate
            (0x68, gate(0x64, 0x10)),       // a call gate of 16 bits that is not present
            (0x78, gate(0xe2, 0)),          // an LDT
        ],
        stacks: None,
        cases: &[
            ("lcall-selector 1e3", NP, 0x1e0),
            ("ljmp-selector 1e3", NP, 0x1e0),
            ("lret-selector 1e3", NP, 0x1e0),
            ("iret-selector 1e3", NP, 0x1e0),
            ("load-ds 33", GP, 0x30),
            ("load-ss 33", GP, 0x30),
            ("lcall-selector 3b", NP, 0x38),
            ("ljmp-selector 3b", NP, 0x38),
            ("lcall-selector 53", GP, 0x50),
            ("lcall-selector 5b", GP, 0x58),
            ("ljmp-selector 6b", NP, 0x68),
            ("lcall-selector 6b", NP, 0x68),
            ("lcall-selector 7b", GP, 0x78),
        ],
    },
    // Null; of another RPL; through the gates into rings 1 and 2.
    Changed {
        descriptors: &[],
        stacks: Some((0, 0xc8)),
        cases: &[("lcall-selector b3", TS, 0), ("lcall-selector c3", TS, 0xc8)],
    },
    // Of another ring; code.
    Changed {
        descriptors: &[],
        stacks: Some((0x29, 0xaa)),
        cases: &[("lcall-selector b3", TS, 0x28), ("lcall-selector c3", TS, 0xa8)],
    },
    // Not present; beyond the table.
    Changed {
        descriptors: &[(0x1e0, 0x00cf_3300_0000_ffff)],
        stacks: Some((0x1e1, 0x1002)),
        cases: &[("lcall-selector b3", SS, 0x1e0), ("lcall-selector c3", TS, 0x1000)],
    },
    // Beyond the LDT; without room for what a gate pushes.
    Changed {
        descriptors: &[(0x30, 0x0040_d300_0000_0000)],
        stacks: Some((0x25, 0x32)),
        cases: &[("lcall-selector b3", TS, 0x24), ("lcall-selector c3", SS, 0x30)],
    },
];

/// A stack, a case, and what TCG raises there: vector and error code, or nothing, where it goes on.
type InTcg = (u32, &'static str, Option<(u64, u64)>);

/// Where TCG does otherwise.
const IN_TCG: &[InTcg] =
    &[(0x1e1, "lcall-selector b3", Some((TS, 0x1e0))), (0x25, "lcall-selector c3", None)];

/// Selectors of stacks of rings 1 and 2 as the kernel writes them to its TSS.
const STACKS: [u32; 2] = [0xb9, 0xca];

/// Where a number is in code, as an operand of 32 bits.
fn immediates(code: &[u8], number: u32) -> Vec<usize> {
    let mut decoder = Decoder::new(32, code, DecoderOptions::NONE);
    let mut places = Vec::new();
    while decoder.can_decode() {
        let (start, instruction) = (decoder.position(), decoder.decode());
        let offsets = decoder.get_constant_offsets(&instruction);
        if offsets.immediate_size() == 4 && instruction.immediate32() == number {
            places.push(start + offsets.immediate_offset());
        }
    }
    places
}

fn changed(kernel: &Kernel, changed: &Changed) -> Vec<u8> {
    let mut file = places::lab::kernel(Mode::Protected).to_vec();
    let gdt = kernel.place(kernel.symbol("gdt"));
    for (selector, descriptor) in changed.descriptors {
        file[gdt + selector..gdt + selector + 8].copy_from_slice(&descriptor.to_le_bytes());
    }
    let Some((one, two)) = changed.stacks else { return file };
    let (from, code) = kernel.function("tables_load");
    for (old, new) in STACKS.into_iter().zip([one, two]) {
        let [at] = immediates(code, old)[..] else { panic!("tables_load has {old:#x} not once") };
        file[from + at..from + at + 4].copy_from_slice(&new.to_le_bytes());
    }
    file
}

#[test]
fn bad_descriptors_and_stacks_fault_as_the_manuals_say() {
    let kernel = Kernel::in_mode(Mode::Protected);
    for emulator in Emulator::ALL {
        for one in CHANGED {
            let in_tcg = |(words, vector, error): &Case<'static>| {
                let stack = one.stacks.map(|(stack, _)| stack);
                let known = IN_TCG.iter().find(|(ss, case, _)| Some(*ss) == stack && case == words);
                known.map_or(Some((*words, *vector, *error)), |(_, _, met)| met.map(|(v, e)| (*words, v, e)))
            };
            let cases: Vec<Case> = if emulator.is_tcg() {
                one.cases.iter().filter_map(in_tcg).collect()
            } else {
                one.cases.to_vec()
            };
            let differs = must_fault(emulator, &changed(&kernel, one), &cases);
            assert!(differs.is_empty(), "{}: {differs:#?}", emulator.name());
        }
    }
}

#[test]
fn what_must_fault_faults_as_the_manuals_say() {
    let kernel = places::lab::kernel(Mode::Protected);
    for emulator in Emulator::ALL {
        let by_limits = if emulator.is_tcg() { &[] } else { BY_LIMITS };
        let mut cases = [CASES, by_limits].concat();
        // With EFER.SCE = 0, QEMU 10.0 looks at the ring first, and 7.2 at SCE, as AMD's manual lists them.
        if emulator.is_tcg() && emulator.is_amd() && !qemu_is_before("10") {
            let sysret = cases.iter_mut().filter(|(words, ..)| *words == "sysret");
            sysret.for_each(|(_, vector, _)| *vector = GP);
        }
        let differs = must_fault(emulator, kernel, &cases);
        assert!(differs.is_empty(), "{}: {differs:#?}", emulator.name());
    }
}

/// The first of vectors whose stubs nobody needs.
const UNUSED: u64 = 0x50;

/// A kernel that does this at the end of its boot, in place of a function that it can do without.
fn kernel_that_boots_with(code: &[u8]) -> Vec<u8> {
    let (kernel, mut file) =
        (Kernel::in_mode(Mode::Protected), places::lab::kernel(Mode::Protected).to_vec());
    let (from, to) = (kernel.symbol("counters_find"), kernel.symbol("exception_stubs") + UNUSED * STUB_BYTES);
    for (address, code) in [(to, code), (from, &jump(from, to))] {
        let at = kernel.place(address);
        file[at..at + code.len()].copy_from_slice(code);
    }
    file
}

fn address(kernel: &Kernel, name: &str, offset: u32) -> [u8; 4] {
    (kernel.symbol(name) as u32 + offset).to_le_bytes()
}

/// Of the TSS, up to the stack of ring 0.
const SHORT_LIMIT: u8 = 11;

/// movw $SHORT_LIMIT, gdt + TSS; andb $~busy, gdt + TSS + 5; mov $TSS, %ax; ltr %ax; ret
fn load_a_short_tss(kernel: &Kernel) -> Vec<u8> {
    let [limit, rights] = [0x40, 0x45].map(|offset| address(kernel, "gdt", offset));
    let parts: [&[u8]; 5] = [
        &[0x66, 0xc7, 0x05],
        &limit,
        &[SHORT_LIMIT, 0, 0x80, 0x25],
        &rights,
        &[0xfd, 0x66, 0xb8, 0x40, 0, 0x0f, 0x00, 0xd8, 0xc3],
    ];
    parts.concat()
}

/// In place of tss_set_stacks: mov 4(%esp), %eax; mov %eax, ESP0; mov $absent, %eax; mov %eax, ESP1; mov %eax, ESP2; ret
fn set_absent_stacks(kernel: &Kernel) -> Vec<u8> {
    // The end of a page that is not mapped.
    let absent = (kernel.guard_pages()[0] as u32 + 4096).to_le_bytes();
    let [zero, one, two] = [4, 12, 20].map(|offset| address(kernel, "tss", offset));
    let parts: [&[u8]; 9] =
        [&[0x8b, 0x44, 0x24, 4, 0xa3], &zero, &[0xb8], &absent, &[0xa3], &one, &[0xa3], &two, &[0xc3]];
    parts.concat()
}

/// mov $SYSENTER_CS, %ecx
const TO_SYSENTER_CS: [u8; 5] = [0xb9, 0x74, 1, 0, 0];
/// SYSENTER_ESP, which is written behind it.
const TO_SYSENTER_ESP: [u8; 5] = [0xb9, 0x75, 1, 0, 0];

/// A kernel that boots with this in SYSENTER_CS, and does not write it afterwards: mov $SYSENTER_CS, %ecx; mov $value, %eax; xor %edx, %edx; wrmsr; ret
fn kernel_with_sysenter_cs(value: u8) -> Vec<u8> {
    let file = places::lab::kernel(Mode::Protected);
    let places = file.windows(5).enumerate().filter(|(_, code)| *code == TO_SYSENTER_CS);
    let places: Vec<usize> = places.map(|(at, _)| at).collect();
    assert!(places.len() >= 2, "{places:?}");
    let code = [&TO_SYSENTER_CS[..], &[0xb8, value, 0, 0, 0, 0x31, 0xd2, 0x0f, 0x30, 0xc3]].concat();
    let mut file = kernel_that_boots_with(&code);
    places.iter().for_each(|at| file[*at..at + 5].copy_from_slice(&TO_SYSENTER_ESP));
    file
}

/// Stacks of rings 1 and 2 that the TSS is too short for, or that are in no page: a write of the supervisor's. And sysenter without a code segment.
#[test]
fn stacks_that_are_not_there_and_sysenter_without_a_segment_fault_as_the_manuals_say() {
    const PF: u64 = 14;
    const WRITE: u64 = 2;
    let kernel = Kernel::in_mode(Mode::Protected);
    let beyond = kernel_that_boots_with(&load_a_short_tss(&kernel));
    let absent = kernel.beginning_with("tss_set_stacks", &set_absent_stacks(&kernel));
    let [null, low] = [0, 3].map(kernel_with_sysenter_cs);
    for emulator in Emulator::ALL {
        let all: [(&[u8], &[Case]); 4] = [
            (&beyond, &[("lcall-selector b3", TS, 0x40), ("lcall-selector c3", TS, 0x40)]),
            (&absent, &[("lcall-selector b3", PF, WRITE), ("lcall-selector c3", PF, WRITE)]),
            (&null, &[("sysenter-stack 1000", GP, 0)]),
            (&low, &[("sysenter-stack 1000", GP, 0)]),
        ];
        // TCG refuses 0 alone.
        let few = if emulator.is_tcg() { 3 } else { 4 };
        for (kernel, cases) in &all[..few] {
            let differs = must_fault(emulator, kernel, cases);
            assert!(differs.is_empty(), "{}: {differs:#?}", emulator.name());
        }
    }
}

/// By version: Bochs 2.7 lets only its generic model lack it, with what needs it; 3.0 has names of features.
fn bochs_without_sysenter(folder: &Path) -> Bochs {
    let is_old = Bochs::new(None).version(&limits()).is_ok_and(|version| version == "Bochs 2.7");
    let change = if is_old {
        r#"sed 's/model=[^,]*/model=bx_generic/' "$3" > "$folder/rc"
           echo 'cpuid: x86_64=0, vmx=0, sep=0' >> "$folder/rc""#
    } else {
        r#"sed 's/model=[^,]*/&, exclude_features=sysenter_sysexit/' "$3" > "$folder/rc""#
    };
    changed_bochs(folder, None, change, None).in_mode(Mode::Protected)
}

/// Processors without CPUID's SEP do not know the instruction. TCG executes it there, too: it is #GP, because the kernel does not write SYSENTER_CS.
#[test]
fn without_sep_there_is_no_sysenter() {
    let program = freestanding(32, &["faults32.S"]);
    let mut script = Script::protected();
    script.exec(&program, &["sysenter-stack", "1000"]);
    let (table, folder) = (Table::get(), tempfile::tempdir().unwrap());
    script.row(table.entry("int80-i386").unwrap(), table.operation("getppid").unwrap());
    let bochs = bochs_without_sysenter(folder.path());
    let qemu = Qemu::new(Accelerator::Tcg, Some("max,vendor=GenuineIntel,-sep")).in_mode(Mode::Protected);
    let in_bochs = |archive: &[u8], programs, limits: &_| bochs.boot(archive, programs, limits);
    let in_qemu = |archive: &[u8], programs, limits: &_| qemu.boot(archive, programs, limits);
    let all: [(&Boots, u64, u64); 2] = [(&in_bochs, Bochs::HERTZ, UD), (&in_qemu, Qemu::TCG_HERTZ, GP)];
    for (boot, hertz, vector) in all {
        let Some(session) = script.boot_in(boot, hertz) else { continue };
        assert_eq!(is_as(&session.ran[0], Code(vector, 0)), Ok(()));
        assert_eq!(session.ran[1].answer(), Answer::Ok);
    }
}

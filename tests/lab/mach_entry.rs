//! The device `entry` (docs/mach.md): a page with the entry that the kernel has chosen, or was told, for programs that have none of their own.

use crate::build::{Program, freestanding_with, root};
use crate::guest::{Emulator, Script};
use crate::kernel::Kernel;
use crate::mach::{
    ALL_OFF, CONFIGURATIONS, IMAGE, boot, code_of, enters, hello, program, run, run_by, widths,
};
use crate::mach_answers;
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, Register};
use object::{Object, ObjectSection, ObjectSymbol};
use places::lab::{End, Mode};
use std::collections::BTreeMap;
use std::process::Command;

/// What a processor of each vendor can be told, and by which instruction its page enters then: of 64 and of 32 bits.
const OF_INTEL: [(&str, [&str; 2]); 4] = [
    ("auto", ["f05", "f34"]),
    ("gate", ["f05", "9a"]),
    ("int80", ["cd80", "cd80"]),
    ("sysenter", ["f34", "f34"]),
];
const OF_AMD: [(&str, [&str; 2]); 4] = [
    ("auto", ["f05", "f05"]),
    ("gate", ["f05", "9a"]),
    ("int80", ["cd80", "cd80"]),
    ("syscall", ["f05", "f05"]),
];

/// In protected mode both vendors' have what Intel's has.
fn variants(mode: Mode, emulator: Emulator) -> [(&'static str, [&'static str; 2]); 4] {
    match emulator {
        Emulator::TcgAmd | Emulator::BochsAmd if mode == Mode::Long => OF_AMD,
        _ => OF_INTEL,
    }
}

/// Every trap through the page, with these configurations, and which instruction it has.
pub fn check_variants(mode: Mode, emulator: Emulator, configurations: &[&str]) {
    let (mut script, mut expected) = (Script::in_mode(mode), Vec::new());
    for configuration in configurations {
        for (variant, instructions) in variants(mode, emulator) {
            script.set(&format!("{ALL_OFF} {configuration} personality=mach entry-page={variant}"));
            for bits in widths(mode).iter().copied() {
                let [hellos, messages, how] =
                    ["mach_hello.c", "mach_messages.c", "mach_entry.c"].map(|source| program(bits, source));
                let (place, is_natural) = (usize::from(bits == 32), configuration.contains("exit=natural"));
                let lost = bits == 64 && variant == "sysenter" && is_natural;
                run_by(&mut script, &hellos, "entry", &["a", "b c"]);
                expected.push(hello(bits, "[a][b c]", usize::from(lost)));
                run_by(&mut script, &messages, "entry", &[]);
                expected.push([mach_answers::MESSAGES_64, mach_answers::MESSAGES_32][place].into());
                run(&mut script, &how, 0, &["h"]);
                expected.push(format!("mapped 0\nenters by {}\n", instructions[place]));
            }
        }
    }
    let Some(session) = boot(&script, emulator) else { return };
    assert_eq!(session.ran.len(), expected.len());
    for (ran, expected) in session.ran.iter().zip(expected) {
        assert_eq!(ran.text(), expected, "{}", ran.label);
    }
}

#[test]
fn every_trap_answers_alike_through_every_variant_of_the_page() {
    check_variants(Mode::Long, Emulator::TcgIntel, &CONFIGURATIONS);
    check_variants(Mode::Long, Emulator::TcgAmd, &CONFIGURATIONS);
}

#[test]
fn the_page_works_in_bochs() {
    for emulator in [Emulator::Bochs, Emulator::BochsAmd] {
        check_variants(Mode::Long, emulator, &[CONFIGURATIONS[0], CONFIGURATIONS[3]]);
    }
}

#[test]
fn an_entry_that_the_processor_lacks_is_refused() {
    for (emulator, variant) in [(Emulator::TcgIntel, "syscall"), (Emulator::TcgAmd, "sysenter")] {
        let mut script = Script::new();
        script.set(&format!("personality=mach entry-page={variant}"));
        run(&mut script, &program(64, "mach_entry.c"), 0, &["h"]);
        let Some(session) = script.boot(emulator) else { return };
        let switch = table::Table::get().switch("entry-page").unwrap();
        assert_eq!(session.ran[0].end, End::Unsupported(u64::from(switch.id)), "{variant}");
    }
}

/// A write is a fault of a page that is there (SEGV_ACCERR), also where Linux' mprotect was asked for more; and so is a fetch from a page that is only to be read.
#[test]
fn the_page_can_be_executed_and_never_written() {
    check_protection(Mode::Long);
}

pub fn check_protection(mode: Mode) {
    let mut script = Script::in_mode(mode);
    script.set("personality=mach");
    for bits in widths(mode) {
        let program = program(*bits, "mach_entry.c");
        ["w", "x", "h"].iter().for_each(|letter| run(&mut script, &program, 0, &[letter]));
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    for (place, ran) in session.ran.iter().enumerate() {
        let (text, fault) = (ran.text(), matches!(ran.end, End::Fault([11, 2, ..])));
        match place % 3 {
            0 => {
                let refused = "to write 2\nto write and execute 2\nto execute 0\nthe page is at ";
                assert!(fault && text.starts_with(refused), "{}: {:?} {text}", ran.label, ran.end);
                let at = u64::from_str_radix(text.lines().last().unwrap().rsplit(' ').next().unwrap(), 16);
                assert!(matches!(ran.end, End::Fault([_, _, _, address]) if Ok(address) == at), "{text}");
            }
            1 => assert!(fault && text == "to read 0\n", "{}: {:?} {text}", ran.label, ran.end),
            // What was tried has changed nothing.
            _ => assert!(text.contains("enters by ") && ran.end == End::Exited(0), "{}: {text}", ran.label),
        }
    }
}

/// A program that goes to the page for all that it asks for.
fn bare(bits: u8) -> Program {
    let start = format!("mach_start{bits}.S");
    let sources = ["mach_bare.c", "mach.c", IMAGE, "mach_bare.S", &start];
    freestanding_with(bits, &sources, &["-Wno-unused-function"])
}

#[test]
fn a_program_without_an_entering_instruction_makes_traps() {
    check_bare(Mode::Long);
}

pub fn check_bare(mode: Mode) {
    let of = |bits: &u8| (*bits, program(*bits, "mach_entry.c"), bare(*bits));
    let programs: Vec<(u8, Program, Program)> = widths(mode).iter().map(of).collect();
    for (bits, giver, bare) in &programs {
        assert!(code_of(&giver.bytes, *bits).iter().any(enters));
        let own: Vec<Instruction> = code_of(&bare.bytes, *bits).into_iter().filter(enters).collect();
        assert!(own.is_empty(), "{own:?}");
    }
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd] {
        let mut script = Script::in_mode(mode);
        for configuration in ["pti=off", "pti=on stack=minimum exit=iret"] {
            script.set(&format!("{configuration} personality=mach"));
            for (_, giver, bare) in &programs {
                script.beside(bare, &["0", "0", "b"]);
                run(&mut script, giver, 0, &["g"]);
            }
        }
        let Some(session) = boot(&script, emulator) else { return };
        for ran in &session.ran {
            assert_eq!(ran.text(), "given 0\nvm_map 0\nwait 0\nhost_get_time 0\n", "{}", ran.label);
        }
    }
}

/// Where the frame of a function's caller is, counted from the stack pointer, and which registers lie so far below.
type Frame = (u64, BTreeMap<String, u64>);

/// What `readelf` says of the frames of an image, from each address on that it names.
fn frames(image: &[u8]) -> BTreeMap<u64, Frame> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("image");
    std::fs::write(&file, image).unwrap();
    let output = Command::new("readelf").arg("-wF").arg(&file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (mut all, mut columns, mut first, mut common) = (BTreeMap::new(), Vec::new(), None, None);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(range) = words.iter().find_map(|word| word.strip_prefix("pc=")) {
            // A function that changes nothing has no line of its own.
            first = u64::from_str_radix(range.split("..").next().unwrap(), 16).ok();
            all.insert(first.unwrap(), Frame::clone(common.as_ref().unwrap()));
        } else if words.first() == Some(&"LOC") {
            columns = words.iter().map(|word| word.to_string()).collect();
        } else if words.len() == columns.len() && words.get(1).is_some_and(|word| word.contains("sp+")) {
            let number = |word: &str| word.rsplit(['+', '-']).next().unwrap().parse::<u64>().unwrap();
            let saved = columns.iter().zip(&words).skip(2).filter(|(_, word)| word.starts_with("c-"));
            let saved = saved.map(|(name, word)| (name.clone(), number(word))).collect();
            let frame = (number(words[1]), saved);
            match first {
                Some(_) => _ = all.insert(u64::from_str_radix(words[0], 16).unwrap(), frame),
                None => common = Some(frame),
            }
        }
    }
    all
}

/// What it must say: by what the code pushes and pops, from an address on to its end.
fn check_frames(name: &str, image: &[u8], start: u64, end: u64, bits: u8, begins: Frame) {
    let told = frames(image);
    let bytes = &image[start as usize..end as usize];
    let (word, mut frame) = (u64::from(bits) / 8, begins);
    for code in &mut Decoder::with_ip(bits.into(), bytes, start, DecoderOptions::NONE) {
        let (_, here) = told.range(..=code.ip()).next_back().unwrap_or_else(|| panic!("{name}: nothing"));
        assert_eq!(*here, frame, "{name} at {:x}", code.ip());
        let register = || format!("{:?}", code.op0_register()).to_lowercase();
        match code.mnemonic() {
            Mnemonic::Push => {
                frame.0 += word;
                frame.1.insert(register(), frame.0);
            }
            Mnemonic::Pop => {
                frame.0 -= word;
                frame.1.remove(&register());
            }
            _ => assert!(!matches!(code.op0_register(), Register::RSP | Register::ESP), "{code}"),
        }
    }
}

pub fn image(kernel: &Kernel, name: &str) -> &'static [u8] {
    let bytes = kernel.symbol(&format!("{name}_image_end")) - kernel.symbol(&format!("{name}_image"));
    kernel.data(&format!("{name}_image"), bytes as usize)
}

#[test]
fn an_unwinder_finds_its_way_from_every_instruction_of_the_page() {
    let kernel = Kernel::read();
    for (bits, variants) in
        [(64u8, &["syscall", "sysenter", "int80"][..]), (32, &["gate", "int80", "sysenter", "syscall"])]
    {
        for variant in variants {
            let (name, word) = (format!("entry{bits}_{variant}"), u64::from(bits) / 8);
            let image = image(&kernel, &name);
            let file = object::File::parse(image).unwrap();
            let call = file.dynamic_symbols().find(|symbol| symbol.name() == Ok("entry_call")).unwrap();
            assert!(image.len() <= 4096 && call.size() != 0, "{name}");
            let (start, end) = (call.address(), call.address() + call.size());
            check_frames(&name, image, start, end, bits, (word, BTreeMap::from([("ra".into(), word)])));
            assert_eq!(table_of(image), [start], "{name}");
        }
    }
}

/// Where those functions begin that the table for unwinders has (PT_GNU_EH_FRAME; Linux Standard Base, 10.6.2).
fn table_of(image: &[u8]) -> Vec<u64> {
    let file = object::File::parse(image).unwrap();
    let section = file.section_by_name(".eh_frame_hdr").unwrap();
    let (at, data) = (section.address(), section.data().unwrap());
    let number = |place: usize| i32::from_le_bytes(*data[place..].first_chunk().unwrap());
    // Version 1; the frames' address and the table by distances of four bytes, and their count.
    assert_eq!(data[..4], [1, 0x1b, 0x03, 0x3b]);
    let place = |entry: usize| 12 + 8 * entry;
    (0..number(8) as usize).map(|entry| at.wrapping_add_signed(number(place(entry)).into())).collect()
}

/// A number of `lab/vdso/gateway.h`.
fn of_gateway(name: &str) -> u64 {
    let text = std::fs::read_to_string(root().join("lab/vdso/gateway.h")).unwrap();
    let line = text.lines().find(|line| line.split_whitespace().nth(1) == Some(name)).unwrap();
    let word = line.split_whitespace().nth(2).unwrap();
    word.strip_prefix("0x").map_or_else(|| word.parse(), |digits| u64::from_str_radix(digits, 16)).unwrap()
}

/// Where `sysenter` and `syscall` of 32-bit code go on, whoever has entered by them: on the stack are three registers, and then where to
/// return.
#[test]
fn an_unwinder_finds_its_way_from_the_landing_pad() {
    let image = image(&Kernel::read(), "vdso32");
    let start = of_gateway("VDSO32_GATEWAY") + of_gateway("GATEWAY_LANDING");
    let code = Decoder::with_ip(32, &image[start as usize..], start, DecoderOptions::NONE).into_iter();
    let end = code.take_while(|code| code.mnemonic() != Mnemonic::Ret).last().unwrap().next_ip() + 1;
    let saved = [("ra", 4), ("ecx", 8), ("edx", 12), ("ebp", 16)];
    let begins = (16, saved.into_iter().map(|(name, place)| (name.into(), place)).collect());
    check_frames("vdso32", image, start, end, 32, begins);
    assert_eq!(table_of(image), [start]);
}

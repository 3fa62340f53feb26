//! Every register after every entry, in every configuration: what the ABI preserves is as it was, and what it does not has
//! nothing of the kernel.

use crate::build::freestanding;
use crate::guest::{Emulator, Ran, Script};
use places::lab::End;
use std::collections::BTreeMap;
use table::{REGISTERS, Table};

const FLAGS: usize = 16;
const SEGMENTS: [&str; 6] = ["cs", "ss", "ds", "es", "fs", "gs"];
const WORDS: usize = FLAGS + 1 + SEGMENTS.len();
const VECTORS: usize = 16;

const USER_DATA: u64 = 0x2b;
const USER_CODE_64: u64 = 0x33;
const USER_DATA_64: u64 = 0x3b;

/// Arithmetic flags, which no ABI preserves: CF, PF, AF, ZF, SF, OF.
const ARITHMETIC: u64 = 0x8d5;
const IF: u64 = 0x200;

/// Registers as the programs write them.
#[derive(Debug, Clone)]
struct Picture {
    words: Vec<u64>,
    vectors: Vec<u128>,
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect()
}

impl Picture {
    fn read(bytes: &[u8]) -> Picture {
        let (words_part, vectors) = bytes.split_at(8 * WORDS);
        let vectors = vectors.as_chunks().0.iter().map(|chunk| u128::from_le_bytes(*chunk)).collect();
        Picture { words: words(words_part), vectors }
    }

    fn of(&self, register: &str) -> u64 {
        self.words[REGISTERS.iter().position(|name| *name == register).unwrap()]
    }

    fn segment(&self, name: &str) -> u64 {
        self.words[FLAGS + 1 + SEGMENTS.iter().position(|segment| *segment == name).unwrap()]
    }
}

/// An entry of the programs: its row in the table, and its name there.
type Entry = (&'static str, &'static str);

const ENTRIES_64: &[Entry] = &[
    ("syscall-x86_64", "syscall"),
    ("sysenter-x86_64", "sysenter"),
    ("call-gate-x86_64", "call_gate"),
    ("ud", "ud"),
    ("lock-nop", "lock_nop"),
    ("int3", "int3"),
    ("div0", "div0"),
    ("int80-x86_64", "int80"),
    ("int80-x86_64", "call_gate_i386"),
];

const ENTRIES_32: &[Entry] = &[
    ("int80-i386", "int80"),
    ("sysenter-i386", "sysenter"),
    ("syscall-i386", "syscall"),
    ("gateway-i386", "gateway"),
    ("call-gate-i386", "call_gate"),
    ("lcall7-i386", "lcall7"),
    ("ud-i386", "ud"),
    ("lock-nop-i386", "lock_nop"),
    ("int3-i386", "int3"),
    ("div0-i386", "div0"),
];

/// Whether a result is the right one.
type Check = fn(u64) -> bool;

/// Operations: nothing, a number, and one that stores through a pointer and uses more of C.
const OPERATIONS: [(&str, Check); 3] = [
    ("none", |result| result == -38_i64 as u64),
    ("getppid", |result| result == 1),
    ("gettimeofday", |result| result == 0),
];

/// Steps that take registers, or leave values of the kernel in some if they are wrong.
const AGAINST_SPECULATION: [&str; 3] = [
    "ibrs=off verw=off bhb=off entry-ibpb=off returns=plain dispatch=table index-mask=off",
    "ibrs=on verw=on bhb=loop entry-ibpb=on returns=untrain dispatch=retpoline index-mask=on",
    "ibrs=on verw=off bhb=off entry-ibpb=off returns=thunk dispatch=direct index-mask=off",
];

/// Runs a program's entries with every operation in every configuration.
fn run(bits: u8, emulator: Emulator, entries: &[Entry], check: impl FnMut(&Ran, Entry, Check)) {
    run_with(bits, emulator, entries, &AGAINST_SPECULATION, check);
}

/// The same with these steps against speculation alone.
fn run_with(
    bits: u8,
    emulator: Emulator,
    entries: &[Entry],
    steps: &[&str],
    mut check: impl FnMut(&Ran, Entry, Check),
) {
    let program = freestanding(bits, &[&format!("registers{bits}.S")]);
    let (mut script, mut expected) = (Script::new(), Vec::new());
    script.harmless();
    let steps = steps.iter().flat_map(|steps| (0..1 << 4).map(move |bits| (steps, bits)));
    for (steps, bits) in steps {
        let on = |bit: u8, off: &'static str, on: &'static str| if bits >> bit & 1 == 1 { on } else { off };
        let stack = on(0, "minimum", "frame");
        let (exit, pti, smap) = (on(1, "natural", "iret"), on(2, "off", "on"), on(3, "off", "on"));
        script.set(&format!("stack={stack} exit={exit} pti={pti} smap={smap} {steps}"));
        for (row, name) in entries {
            let entry = Table::get().entry(row).unwrap();
            for (operation, is_right) in OPERATIONS {
                let numbers = entry.numbers(Table::get().operation(operation).unwrap());
                let number = numbers.first().copied().or(number_of(row, operation));
                script.run(&program, &[name, &format!("{:x}", number.unwrap())]);
                expected.push(((*row, *name), is_right));
            }
        }
    }
    let Some(session) = script.boot(emulator) else { return };
    for (ran, (entry, is_right)) in session.ran.iter().zip(expected) {
        assert_eq!(ran.end, End::Exited(0), "{}", ran.label);
        check(ran, entry, is_right);
    }
}

/// Exceptions take numbers in the lab alone.
fn number_of(row: &str, operation: &str) -> Option<u32> {
    let numbers: BTreeMap<String, u32> = Table::get().operation(operation).unwrap().numbers.clone();
    (!row.ends_with("-i386")).then(|| numbers["x86_64"])
}

fn preserved(row: &str) -> Vec<&'static str> {
    let mask = Table::get().entry(row).unwrap().preserved();
    // rax has the result, of exceptions too.
    let names = REGISTERS.iter().enumerate().filter(|(bit, name)| mask >> bit & 1 == 1 && **name != "rax");
    names.map(|(_, name)| *name).collect()
}

/// What the registers are that an entry loses: not the kernel's, but what the way back was made of.
fn lost(name: &str, before: &Picture, behind: u64) -> BTreeMap<&'static str, u64> {
    match name {
        "syscall" => [("rcx", behind), ("r11", before.words[FLAGS])].into(),
        "sysenter" => [("rcx", before.of("rsp")), ("rdx", behind), ("r11", behind)].into(),
        _ => BTreeMap::new(),
    }
}

#[test]
fn after_every_entry_of_64_bit_code() {
    run(64, Emulator::TcgIntel, ENTRIES_64, check_64);
}

#[test]
fn after_the_way_through_rings_1_and_2() {
    let entries = [("ring1-x86_64", "ring1"), ("ring2-x86_64", "ring2")];
    run_with(64, Emulator::Bochs, &entries, &AGAINST_SPECULATION[..1], check_64);
}

fn check_64(ran: &Ran, (row, name): Entry, is_right: Check) {
    let size = 8 * WORDS + 16 * VECTORS;
    let (before, rest) = ran.output.split_at(size);
    let (after, rest) = rest.split_at(size);
    let (before, after, behind) = (Picture::read(before), Picture::read(after), words(rest)[0]);
    for register in preserved(row) {
        assert_eq!(after.of(register), before.of(register), "{register} after {}", ran.label);
    }
    let lost = lost(name, &before, behind);
    for (register, value) in &lost {
        let found = after.of(register);
        // Some ways back leave it alone.
        let is_known = found == *value || found == before.of(register);
        assert!(is_known, "{register} = {found:#x} after {}", ran.label);
    }
    // Every register is one or the other.
    let known = |name: &&str| preserved(row).contains(name) || lost.contains_key(name) || *name == "rax";
    assert!(REGISTERS.iter().all(known), "{row}");
    assert!(is_right(after.of("rax")), "rax = {:#x} after {}", after.of("rax"), ran.label);
    check_rest(ran, &after, before.words[FLAGS]);
    assert_eq!(after.vectors, before.vectors, "{}", ran.label);
}

/// Flags and segment registers.
fn check_rest(ran: &Ran, after: &Picture, flags: u64) {
    let differ = (after.words[FLAGS] ^ flags) & !ARITHMETIC;
    assert_eq!(differ, 0, "flags {:#x} after {}", after.words[FLAGS], ran.label);
    let segments = SEGMENTS.map(|name| after.segment(name));
    let data = |selector: u64| selector == USER_DATA || selector == 0;
    // sysexitq takes the one behind its code.
    let stack =
        |selector| selector == USER_DATA || (ran.label.contains("sysenter") && selector == USER_DATA_64);
    assert!(segments[0] == USER_CODE_64 && stack(segments[1]), "{segments:x?} after {}", ran.label);
    assert!(segments[2..].iter().all(|selector| data(*selector)), "{segments:x?} after {}", ran.label);
}

/// What registers32.S puts in a register before an entry. Upper halves are none of 32-bit code's, and those of what it writes
/// are 0.
fn poison(name: &str, stack: u64) -> u64 {
    let index = REGISTERS.iter().position(|register| *register == name).unwrap() as u64;
    match name {
        "rcx" => 0,
        "rsp" => stack,
        _ if index < 8 => {
            let byte = [0, 1, 2, 3, 4, 5, 6][index as usize];
            0x5a00_5a00 | byte << 16 | byte
        }
        _ => 0x5a00_5a00_5a00_5a00 | index << 48 | index << 32 | index << 16 | index,
    }
}

fn check_32(ran: &Ran, (row, name): Entry, is_right: Check) {
    let (picture, stack) = ran.output.split_at(8 * WORDS);
    let (after, stack) = (Picture::read(picture), words(stack)[0]);
    // Of the 32-bit registers what the table says; 32-bit code knows no others, and finds them as they were.
    let kept = preserved(row).into_iter().chain(REGISTERS[8..].iter().copied());
    for register in kept.filter(|register| *register != "rbx") {
        let (found, wanted) = (after.of(register), poison(register, stack));
        // The instructions themselves: syscall puts the flags there, and the division is by 0.
        let is_flags =
            ["syscall", "gateway"].contains(&name) && register == "r11" && found & !ARITHMETIC == IF | 2;
        let is_divisor = (name, register, found) == ("div0", "rbp", 0);
        assert!(found == wanted || is_flags || is_divisor, "{register} = {found:#x} after {}", ran.label);
    }
    let flags = after.words[FLAGS];
    assert_eq!(flags & !ARITHMETIC, IF | 2, "{}", ran.label);
    // The answer's place is a low address.
    assert!((1..1 << 32).contains(&after.of("rbx")), "{}", ran.label);
    let result = after.of("rax") as u32;
    assert!(is_right(i64::from(result as i32) as u64), "rax = {result:#x} after {}", ran.label);
    let upper = after.of("rax") >> 32;
    assert!(upper == 0 || upper == u64::from(u32::MAX) && result as i32 <= 0, "{}", ran.label);
    check_rest(ran, &after, flags);
}

#[test]
fn after_every_entry_of_32_bit_code() {
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd] {
        let is_there = |(row, _): &Entry| !emulator.lacks(Table::get().entry(row).unwrap());
        let entries: Vec<Entry> = ENTRIES_32.iter().copied().filter(is_there).collect();
        run(32, emulator, &entries, check_32);
    }
}

/// Linux gives back some of r8 to r15, and clears others; 64-bit code, to which a far jump leads, reads them.
#[test]
fn after_entries_of_32_bit_code_in_linuxs_order_no_register_has_an_address_of_the_kernel() {
    const OF_KERNEL: u64 = 0x1ffff; // bits 47 to 63
    let program = freestanding(32, &["registers32.S"]);
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd] {
        let is_there = |(row, _): &&Entry| !emulator.lacks(Table::get().entry(row).unwrap());
        let mut script = Script::new();
        script.harmless();
        for order in ["linux-5.10", "linux-6.1", "linux-6.12"] {
            for clears in ["off", "on"] {
                script.set(&format!(
                    "order={order} clear-registers={clears} stack=frame exit=natural pti=on copy-frame=on"
                ));
                for (row, name) in ENTRIES_32.iter().filter(is_there) {
                    let getppid = Table::get().operation("getppid").unwrap();
                    let number = Table::get().entry(row).unwrap().numbers(getppid)[0];
                    script.run(&program, &[*name, format!("{number:x}").as_str()]);
                }
            }
        }
        let Some(session) = script.boot(emulator) else { continue };
        for ran in &session.ran {
            assert_eq!(ran.end, End::Exited(0), "{}", ran.label);
            let after = Picture::read(&ran.output[..8 * WORDS]);
            for register in &REGISTERS[8..] {
                let found = after.of(register);
                assert!(found >> 47 != OF_KERNEL, "{register} = {found:#x} after {}", ran.label);
            }
        }
    }
}

#[test]
fn a_program_begins_with_nothing_of_the_one_before() {
    let (begin64, begin32) = (freestanding(64, &["begin64.S"]), freestanding(32, &["begin32.S"]));
    let mut script = Script::new();
    script.harmless();
    for switches in ["pti=off stack=minimum", "pti=on stack=frame", "ibrs=on verw=on returns=untrain"] {
        script.set(switches);
        for _ in 0..2 {
            script.exec(&begin64, &["leave"]);
            script.exec::<&str>(&begin64, &[]);
            script.exec(&begin64, &["leave"]);
            script.exec::<&str>(&begin32, &[]);
        }
    }
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd] {
        let Some(session) = script.boot(emulator) else { continue };
        for four in session.ran.chunks(4) {
            assert!(four.iter().all(|ran| ran.end == End::Exited(0)), "{four:?}");
            check_begin_64(&four[1]);
            check_begin_32(&four[3]);
        }
        // The same for every run, whatever came before it.
        assert_eq!(session.ran[1].output, session.ran[5].output);
    }
}

fn check_begin_64(ran: &Ran) {
    let (picture, rest) = ran.output.split_at(8 * WORDS + 16 * VECTORS);
    let picture = Picture::read(picture);
    for register in REGISTERS.iter().filter(|name| **name != "rsp") {
        assert_eq!(picture.of(register), 0, "{register} in {}", ran.label);
    }
    assert_eq!(picture.of("rsp") % 16, 0);
    assert_eq!(picture.words[FLAGS] & !ARITHMETIC, IF | 2);
    assert!(picture.vectors.iter().all(|vector| *vector == 0), "{picture:x?}");
    let rest = words(rest);
    // mxcsr, x87 control and status word as Linux has them; bases; what memory held; the first free segment.
    assert_eq!(rest, [0x037f_0000_1f80, 0, 0, 0, 0, 16], "{rest:x?}");
}

fn check_begin_32(ran: &Ran) {
    let (picture, stack) = ran.output.split_at(8 * WORDS);
    let (picture, stack) = (Picture::read(picture), words(stack)[0]);
    for register in REGISTERS.iter().filter(|name| **name != "rsp") {
        assert_eq!(picture.of(register), 0, "{register} in {}", ran.label);
    }
    assert_eq!((picture.of("rsp"), stack % 16), (stack, 0));
    assert_eq!(picture.words[FLAGS] & !ARITHMETIC, IF | 2);
}

#[test]
fn where_a_program_lies_follows_from_the_seed() {
    let begin = freestanding(64, &["begin64.S"]);
    let stacks = [0, 1, 2, 0].map(|seed| {
        let mut script = Script::new();
        script.seed = seed;
        script.exec::<&str>(&begin, &[]);
        script.exec::<&str>(&begin, &[]);
        let session = script.boot(Emulator::TcgIntel)?;
        assert_eq!(session.ran[0].output, session.ran[1].output);
        Some(Picture::read(&session.ran[0].output[..8 * WORDS]).of("rsp"))
    });
    let [Some(zero), Some(one), Some(two), Some(again)] = stacks else { return };
    assert!(zero == again && zero != one && one != two, "{stacks:x?}");
}

//! Files that are no programs, or bad ones, and arguments that are too long: refused as execve would, or started and ended;
//! what runs afterwards runs.

use crate::build::{Program, freestanding};
use crate::guest::{Answer, Emulator, LIMIT, Ran, Script};
use crate::trial::working;
use places::lab::End;

const E2BIG: u64 = 7;
const ENOEXEC: u64 = 8;

/// Where the ELF header and a program header have what, by class: offset and bytes (System V ABI, ch. 4 and 5).
struct Layout {
    header: usize,
    kind: usize,
    machine: usize,
    entry: (usize, usize),
    segments_at: (usize, usize),
    segment_bytes: usize,
    segments: usize,
    segment: usize,
    flags: usize,
    offset: (usize, usize),
    address: (usize, usize),
    file_bytes: (usize, usize),
    memory_bytes: (usize, usize),
}

const ELF64: Layout = Layout {
    header: 64,
    kind: 16,
    machine: 18,
    entry: (24, 8),
    segments_at: (32, 8),
    segment_bytes: 54,
    segments: 56,
    segment: 56,
    flags: 4,
    offset: (8, 8),
    address: (16, 8),
    file_bytes: (32, 8),
    memory_bytes: (40, 8),
};

const ELF32: Layout = Layout {
    header: 52,
    kind: 16,
    machine: 18,
    entry: (24, 4),
    segments_at: (28, 4),
    segment_bytes: 42,
    segments: 44,
    segment: 32,
    flags: 24,
    offset: (4, 4),
    address: (8, 4),
    file_bytes: (16, 4),
    memory_bytes: (20, 4),
};

/// A file to change.
#[derive(Clone)]
struct File {
    bytes: Vec<u8>,
    layout: &'static Layout,
}

impl File {
    /// A program that does a system call and exits, when its arguments say so.
    fn good(bits: u8) -> File {
        let source = if bits == 64 { "faults64.S" } else { "faults32.S" };
        let layout = if bits == 64 { &ELF64 } else { &ELF32 };
        File { bytes: freestanding(bits, &[source]).bytes, layout }
    }

    fn number(&self, (at, bytes): (usize, usize)) -> u64 {
        self.bytes[at..at + bytes].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    fn put(&mut self, (at, bytes): (usize, usize), value: u64) {
        self.bytes[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
    }

    fn with(&self, field: (usize, usize), value: u64) -> File {
        let mut file = self.clone();
        file.put(field, value);
        file
    }

    fn cut(&self, bytes: usize) -> File {
        File { bytes: self.bytes[..bytes].to_vec(), layout: self.layout }
    }

    fn segments(&self) -> usize {
        self.number((self.layout.segments, 2)) as usize
    }

    /// The end of the program headers.
    fn headers_end(&self) -> usize {
        self.layout.header + self.segments() * self.layout.segment
    }

    /// A field of a program header.
    fn of(&self, segment: usize, (at, bytes): (usize, usize)) -> (usize, usize) {
        (self.layout.header + segment * self.layout.segment + at, bytes)
    }

    /// The first program header that is loaded, and has code.
    fn code(&self) -> usize {
        let is_code = |segment: &usize| {
            let flags = self.number(self.of(*segment, (self.layout.flags, 4)));
            self.number(self.of(*segment, (0, 4))) == PT_LOAD && flags & PF_X != 0
        };
        (0..self.segments()).find(is_code).unwrap()
    }

    /// The end of what is loaded, in the file.
    fn loaded_end(&self) -> usize {
        let end = |segment| {
            let loads = self.number(self.of(segment, (0, 4))) == PT_LOAD;
            let of = |field| self.number(self.of(segment, field));
            if loads { of(self.layout.offset) + of(self.layout.file_bytes) } else { 0 }
        };
        (0..self.segments()).map(end).max().unwrap() as usize
    }
}

const PT_LOAD: u64 = 1;
const PT_INTERP: u64 = 3;
const PF_X: u64 = 1;
const ET_REL: u64 = 1;
const ET_DYN: u64 = 3;
const ET_CORE: u64 = 4;

/// What must become of a file.
enum Fate {
    /// Not a program.
    Refused,
    /// As it was before it was changed.
    Runs,
    /// Started, and ended by a page fault.
    Faults,
    /// Anything but the kernel's end.
    Anything,
}
use Fate::*;

fn check_fate(ran: &Ran, fate: &Fate) -> Option<String> {
    let holds = match (fate, ran.end) {
        (Refused, end) => end == End::NotLoaded(ENOEXEC),
        (Runs, end) => end == End::Exited(0),
        (Faults, End::Fault(fault)) => fault[2] >> 32 == 14,
        (Faults, _) => false,
        (Anything, end) => !matches!(end, End::Unknown(_)),
    };
    (!holds).then(|| format!("{}: {:x?}", ran.label, ran.end))
}

/// Runs every file, and behind each a probe.
fn check(files: Vec<(String, File, Fate)>) {
    let (mut script, rows) = (Script::new(), working());
    script.set("pti=on");
    script.limit(LIMIT / 20);
    for (index, (name, file, _)) in files.iter().enumerate() {
        let program = Program { name: format!("file{index}"), bytes: file.bytes.clone() };
        script.exec_as(&program, &["int", "80"], name);
        let (entry, operation) = rows[index % rows.len()];
        script.row(entry, operation);
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    assert_eq!(session.ran.len(), 2 * files.len());
    let wrong: Vec<String> = session
        .ran
        .chunks(2)
        .zip(&files)
        .flat_map(|(pair, (.., fate))| {
            let afterwards = (pair[1].answer() != Answer::Ok)
                .then(|| format!("after {}: {}: {:?}", pair[0].label, pair[1].label, pair[1].answer()));
            [check_fate(&pair[0], fate), afterwards]
        })
        .flatten()
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_file_that_ends_early_is_no_program() {
    for bits in [64, 32] {
        let good = File::good(bits);
        let mut files = vec![("whole".into(), good.clone(), Runs)];
        let ends = (0..=good.headers_end()).chain([good.headers_end() + 1, good.loaded_end() - 1]);
        files.extend(ends.map(|end| (format!("ends at {end}"), good.cut(end), Refused)));
        files.push(("ends behind what is loaded".into(), good.cut(good.loaded_end()), Runs));
        check(files);
    }
}

#[test]
fn a_header_that_contradicts_itself_is_no_program() {
    for bits in [64, 32] {
        check(contradictions(&File::good(bits)));
    }
}

fn contradictions(good: &File) -> Vec<(String, File, Fate)> {
    let (layout, wide) = (good.layout, good.layout.header == 64);
    let code = good.code();
    let of = |field| good.of(code, field);
    let (address, memory, size) = (of(layout.address), of(layout.memory_bytes), of(layout.file_bytes));
    let most = if wide { u64::MAX } else { u64::from(u32::MAX) };
    let user_end: u64 = if wide { 0x7fff_ffff_f000 } else { 0xffff_e000 };
    let start = good.number(address);
    let mut files: Vec<(&str, File, Fate)> = vec![
        ("magic", good.with((0, 1), 0x7e), Refused),
        ("class 0", good.with((4, 1), 0), Refused),
        ("the other class", good.with((4, 1), if wide { 1 } else { 2 }), Refused),
        ("the other machine", good.with((layout.machine, 2), if wide { 3 } else { 62 }), Refused),
        ("x86-64 in 32 bits", good.with((layout.machine, 2), 62).with((4, 1), 1), Refused),
        ("big endian", good.with((5, 1), 2), Refused),
        ("relocatable", good.with((layout.kind, 2), ET_REL), Refused),
        ("core dump", good.with((layout.kind, 2), ET_CORE), Refused),
        ("no segments", good.with((layout.segments, 2), 0), Refused),
        ("65535 segments", good.with((layout.segments, 2), 0xffff), Refused),
        ("segments behind the file", good.with(layout.segments_at, good.bytes.len() as u64), Refused),
        ("segments at the end of everything", good.with(layout.segments_at, most), Refused),
        ("segments of no bytes", good.with((layout.segment_bytes, 2), 0), Refused),
        ("segments of a byte", good.with((layout.segment_bytes, 2), 1), Refused),
        ("segments of 65535 bytes", good.with((layout.segment_bytes, 2), 0xffff), Refused),
        ("an interpreter", good.with(good.of(0, (0, 4)), PT_INTERP), Refused),
        ("more bytes in the file than in memory", good.with(size, good.number(size) + 1), Refused),
        ("offset and size that wrap", good.with(of(layout.offset), most - 0xfff), Refused),
        (
            "a segment behind the file",
            good.with(of(layout.offset), good.bytes.len() as u64 + 0x1000),
            Refused,
        ),
        ("as much memory as there are numbers", good.with(memory, most), Refused),
        ("half of it", good.with(memory, most / 2 + 1), if wide { Refused } else { Runs }),
        ("memory to the end", good.with(memory, user_end - start), Anything),
        ("memory to behind the end", good.with(memory, user_end - start + 1), Refused),
        ("a segment that wraps", good.with(address, most - 0xfff), Refused),
        ("a segment at the end", good.with(address, user_end), Refused),
        ("a segment across the end", good.with(address, user_end - 0x10), Refused),
        ("entry nowhere", good.with(layout.entry, 0x1000), Faults),
        ("entry at 0", good.with(layout.entry, 0), Faults),
        ("entry at the end", good.with(layout.entry, user_end), Refused),
        ("entry behind everything", good.with(layout.entry, most), Refused),
        ("anywhere, but linked to be here", good.with((layout.kind, 2), ET_DYN), Anything),
        ("no rights", good.with(of((layout.flags, 4)), 0), Faults),
        ("no code", good.with(of((layout.flags, 4)), 4), Faults),
        ("all rights", good.with(of((layout.flags, 4)), 7), Runs),
        ("nothing to load", nothing_to_load(good), Refused),
        ("all segments at one place", at_one_place(good, start), Anything),
    ];
    if wide {
        files.extend([
            ("a segment in the kernel", good.with(address, 0xffff_ffff_8010_0000), Refused),
            ("a segment that is not canonical", good.with(address, 1 << 47), Refused),
            ("entry in the kernel", good.with(layout.entry, 0xffff_ffff_8010_0000), Refused),
            ("entry that is not canonical", good.with(layout.entry, 1 << 47), Refused),
            ("64 TiB", good.with(memory, 1 << 46), Anything),
            ("64 TiB, several times", several(good, 1 << 46), Anything),
        ]);
    }
    let mut files: Vec<_> =
        files.into_iter().map(|(name, file, fate)| (name.to_string(), file, fate)).collect();
    files.push(("65535 segments that are there".into(), many_segments(good), Anything));
    files
}

fn nothing_to_load(good: &File) -> File {
    (0..good.segments()).fold(good.clone(), |file, segment| file.with(good.of(segment, (0, 4)), 0))
}

fn at_one_place(good: &File, start: u64) -> File {
    let place = |file: File, segment| file.with(good.of(segment, good.layout.address), start);
    (0..good.segments()).fold(good.clone(), place)
}

/// Every segment of so much memory, one over the other.
fn several(good: &File, bytes: u64) -> File {
    let grow = |file: File, segment| file.with(good.of(segment, good.layout.memory_bytes), bytes);
    (0..good.segments()).fold(good.clone(), grow)
}

/// As many program headers as the header can count, each of a page of its own.
fn many_segments(good: &File) -> File {
    let layout = good.layout;
    let count = 0xffff;
    let mut file = good.with((layout.segments, 2), count).with(layout.segments_at, layout.header as u64);
    let model = good.of(good.code(), (0, layout.segment)).0;
    file.bytes.truncate(layout.header);
    for index in 0..count {
        let at = file.bytes.len();
        file.bytes.extend(&good.bytes[model..model + layout.segment]);
        for ((offset, bytes), value) in
            [(layout.address, 0x10_0000 + index * 0x2000), (layout.offset, 0), (layout.file_bytes, 16)]
        {
            file.put((at + offset, bytes), value);
        }
    }
    file
}

#[test]
fn no_byte_of_the_headers_takes_the_kernel_along() {
    for bits in [64, 32] {
        let good = File::good(bits);
        let flips = (0..good.headers_end()).flat_map(|at| [0xff, 0x01].map(|mask| (at, mask)));
        let flip = |(at, mask): (usize, u8)| {
            (format!("byte {at} ^ {mask:#x}"), good.with((at, 1), u64::from(good.bytes[at] ^ mask)), Anything)
        };
        check(flips.map(flip).collect());
    }
}

/// An argument list, and whether a program may have it.
fn lists() -> Vec<(&'static str, Vec<Vec<u8>>, bool)> {
    let of = |bytes: usize| vec![b'x'; bytes];
    // Linux's limits: MAX_ARG_STRLEN with the end of the text, and a quarter of the stack for all.
    let (longest, all) = (128 << 10, 2 << 20);
    vec![
        ("the longest argument", vec![of(longest - 1)], true),
        ("a byte more", vec![of(longest)], false),
        ("1 MiB in one argument", vec![of(1 << 20)], false),
        ("1 MiB in a thousand arguments", vec![of(1 << 10); 1000], true),
        ("as much as may be", vec![of(longest - 1); all / longest - 1], true),
        ("more", vec![of(longest - 1); all / longest], false),
        ("4000 empty arguments", vec![Vec::new(); 4000], true),
        ("5000 arguments", vec![of(1); 5000], false),
        ("100000 arguments", vec![of(10); 100_000], false),
        ("every byte but 0", vec![(1..=255).collect()], true),
    ]
}

/// As arguments.c computes it: FNV-1a, 32 bits, over the arguments and their ends.
fn checksum(list: &[Vec<u8>]) -> u32 {
    let bytes = list.iter().flat_map(|argument| argument.iter().chain(&[0]));
    bytes.fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[test]
fn arguments_arrive_or_are_refused() {
    let (mut script, rows) = (Script::new(), working());
    let programs = [64, 32].map(|bits| freestanding(bits, &["arguments.c"]));
    let mut expected = Vec::new();
    for program in &programs {
        for (name, list, fits) in lists() {
            script.exec_as(program, &list, name);
            expected.push((list, fits));
            let (entry, operation) = rows[expected.len() % rows.len()];
            script.row(entry, operation);
        }
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    for (pair, (list, fits)) in session.ran.chunks(2).zip(expected) {
        let expected = if fits { End::Exited((list.len() + 1) as u64 & 0xff) } else { End::NotLoaded(E2BIG) };
        assert_eq!(pair[0].end, expected, "{}", pair[0].label);
        let told = if fits { checksum(&list).to_le_bytes().to_vec() } else { Vec::new() };
        assert_eq!(pair[0].output, told, "{}: not as they were given", pair[0].label);
        assert_eq!(pair[1].answer(), Answer::Ok, "{} after {}", pair[1].label, pair[0].label);
    }
}

#[test]
fn a_file_that_is_not_there_is_not_found() {
    let (mut script, rows) = (Script::new(), working());
    let good = freestanding(64, &["faults64.S"]);
    script.exec(&good, &["int", "80"]);
    script.exec_missing("no-such-file");
    script.exec_missing("");
    script.row(rows[0].0, rows[0].1);
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    let ends: Vec<End> = session.ran.iter().map(|ran| ran.end).collect();
    assert_eq!(ends, [End::Exited(0), End::NotLoaded(2), End::NotLoaded(2), End::Exited(0)]);
}

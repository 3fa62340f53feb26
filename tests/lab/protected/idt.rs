//! Gates of the IDT that no program may come through, and what the processor says of each (docs/must-fault-i386.md).

use crate::build::{Program, freestanding};
use crate::every_instruction::{STUB_BYTES, jump};
use crate::guest::Emulator;
use crate::kernel::Kernel;
use crate::protected::gates::{Case, must_fault_in};
use crate::protected::virtual8086::{IOPL, giving};
use places::lab::Mode;

const BP: u64 = 3;
const TS: u64 = 10;
const NP: u64 = 11;
const GP: u64 = 13;

/// The first vector of a bad gate: the kernel gives it a stub and never looks at it again. faults32.S has `int` of so many.
const FIRST: u64 = 0x50;

/// Where the kernel gets the code that makes them: in place of stubs of other such vectors.
const UNUSED: u64 = 0x60;

/// A place of the GDT that the kernel leaves free, for code that is not present.
const FREE: usize = 0x1e0;
const ABSENT_CODE: u64 = 0x00cf_1b00_0000_ffff;

/// A selector of a TSS; QEMU's TCG raises #TS for it behind a task gate, as the 80386's manual has it.
const INTO_LDT: u64 = 0x1c;

/// Present, of 32 bits, DPL 3.
const OPEN: u64 = 0xee;

const CONFORMING: u64 = 0x120;
const RING_1: u64 = 0xa0;
const RING_2: u64 = 0xa8;
const RING_3: u64 = 0x20;

/// Rights and selector of each, and the exception with its error code; without one, that of the vector.
const GATES: [(u64, u64, u64, Option<u64>); 14] = [
    (0xec, 0x10, GP, None), // a call gate
    (0xfe, 0x10, GP, None), // code, or data
    (0x6e, 0x10, NP, None), // not present
    (0x0e, 0x10, GP, None), // not present, and DPL 0, which counts first
    (0x8e, 0x10, GP, None), // DPL 0
    (OPEN, 0, GP, Some(0)),
    (OPEN, 0x1000, GP, Some(0x1000)), // beyond the table
    (OPEN, 0x18, GP, Some(0x18)),     // data
    (OPEN, 0x40, GP, Some(0x40)),     // a TSS
    (OPEN, FREE as u64, NP, Some(FREE as u64)),
    (0xe6, 0x18, GP, Some(0x18)),         // of 16 bits
    (0xe5, 0x18, GP, Some(0x18)),         // a task gate to data
    (0xe5, INTO_LDT, GP, Some(INTO_LDT)), // a task gate
    (0xe5, 0x40, GP, Some(0x40)),         // a task gate to the TSS in use, which is busy
];

/// Behind them, those that only virtual-8086 mode may not come through (SDM vol. 2, INT; APM vol. 3, INT).
const IN_V86: [(u64, u64); 4] = [(OPEN, CONFORMING), (OPEN, RING_1), (OPEN, RING_2), (OPEN, RING_3)];

/// And the last, which leads behind the limit of the conforming segment. TCG goes there.
const BEYOND_LIMIT: (u64, u64, u64) = (OPEN, CONFORMING, 0x1000);
const LIMIT_CASE: Case = ("int 62", GP, 0);

/// `int n` of v86.S in that mode with IOPL 3: through an open gate; through one of DPL 0; through those of IN_V86.
const V86_CASES: [Case; 6] = [
    ("iopl-open", BP, 0),
    ("iopl-closed", GP, 8 * 0x40 + 2),
    ("iopl-conforming", GP, CONFORMING),
    ("iopl-ring-1", GP, RING_1),
    ("iopl-ring-2", GP, RING_2),
    ("iopl-ring-3", GP, RING_3),
];

/// With CR4.VME, which TCG has not.
const VME_CASE: Case = ("iopl-vme-closed", GP, 8 * 0x40 + 2);

/// In TCG, it enters the ring of the handler, whose address in these gates is 0: there is a page of the program's, where SMEP lets none but ring 3 execute.
const ENTERED: (u64, u64) = (14, 0x11);

fn gates() -> Vec<u64> {
    let of_all = GATES.map(|(rights, selector, ..)| (rights, selector));
    let at_0 = of_all.into_iter().chain(IN_V86).map(|(rights, selector)| (rights, selector, 0));
    let all = at_0.chain([BEYOND_LIMIT]);
    all.map(|(rights, selector, offset)| rights << 40 | selector << 16 | offset).collect()
}

fn v86_cases(emulator: Emulator) -> Vec<Case<'static>> {
    let mut cases = V86_CASES.to_vec();
    if !emulator.is_tcg() {
        cases.push(VME_CASE);
        return cases;
    }
    for (_, exception, error) in cases.iter_mut().filter(|(_, _, error)| [RING_1, RING_2].contains(error)) {
        (*exception, *error) = ENTERED;
    }
    cases
}

/// With these gates, and programs in virtual-8086 mode get IOPL 3 if they ask for it.
fn kernel() -> Vec<u8> {
    let kernel = Kernel::in_mode(Mode::Protected);
    let mut file = giving(&kernel, IOPL);
    let mut write = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    write(kernel.place(kernel.symbol("gdt")) + FREE, &ABSENT_CODE.to_le_bytes());
    let at = kernel.symbol("exception_stubs") + UNUSED * STUB_BYTES;
    // push esi, edi; sub $8, esp; sidt (esp); mov 2(esp), edi; add $8, esp
    let begin = [0x56, 0x57, 0x83, 0xec, 8, 0x0f, 0x01, 0x0c, 0x24, 0x8b, 0x7c, 0x24, 2, 0x83, 0xc4, 8];
    // rep movsl; pop edi, esi; ret
    let end = [0xf3, 0xa5, 0x5f, 0x5e, 0xc3];
    let add = [&[0x81, 0xc7][..], &(8 * FIRST as u32).to_le_bytes()].concat(); // to edi
    let gates = gates();
    let count = [&[0xb9][..], &(2 * gates.len() as u32).to_le_bytes()].concat(); // to ecx
    let from = at as u32 + (begin.len() + add.len() + count.len() + 5 + end.len()) as u32;
    let source = [&[0xbe][..], &from.to_le_bytes()].concat(); // to esi
    let gates: Vec<u8> = gates.into_iter().flat_map(u64::to_le_bytes).collect();
    let code = [&begin[..], &add, &count, &source, &end, &gates].concat();
    assert!(code.len() < 16 * STUB_BYTES as usize);
    write(kernel.place(at), &code);
    // Where the kernel looks for counters of the processor's, once all gates are there.
    let counters = kernel.symbol("counters_find");
    write(kernel.place(counters), &jump(counters, at));
    file
}

#[test]
fn bad_gates_fault_as_the_manuals_say() {
    let programs = ["faults32.S", "v86.S"].map(|source| freestanding(32, &[source]));
    let words: Vec<String> = (FIRST..).take(GATES.len()).map(|vector| format!("vector {vector:x}")).collect();
    for emulator in Emulator::ALL {
        let mut cases: Vec<Case> = Vec::new();
        for ((words, vector), (_, selector, exception, error)) in words.iter().zip(FIRST..).zip(&GATES) {
            let is_as_of_1985 = emulator.is_tcg() && *selector == INTO_LDT;
            let exception = if is_as_of_1985 { TS } else { *exception };
            cases.push((words, exception, error.unwrap_or(8 * vector + 2)));
        }
        cases.extend((!emulator.is_tcg()).then_some(LIMIT_CASE));
        let [of_ring_3, of_v86] = &programs;
        let all: [(&Program, &[Case]); 2] = [(of_ring_3, &cases), (of_v86, &v86_cases(emulator))];
        let differs = must_fault_in(emulator, &kernel(), &all);
        assert!(differs.is_empty(), "{}: {differs:#?}", emulator.name());
    }
}

//! What is between two clock reads is what the table says: a macro that swallowed the instruction, or a compiler that
//! moved it, would also print a plausible number.

use iced_x86::{
    Code, Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeSet;
use table::header::{TRAP_FORMS, sequence_symbol, trap_symbol};
use table::{Entry, Kind, Probe, Table, Whose};

/// The section of 16-bit code (`probe/i386/sixteen.inc`).
const SIXTEEN: &str = "sixteen";

/// Whether the timed code of an entry is of 16 bits.
fn is_sixteen(entry: &Entry) -> bool {
    ["v86-int", "v86-int-redirected", "code16-int"].contains(&entry.name.as_str())
}

/// The instructions of one function of a probe.
fn function(probe: Probe, name: &str) -> Vec<Instruction> {
    let file = object::File::parse(places::probes::image(probe)).unwrap();
    let symbol =
        file.symbols().find(|symbol| symbol.name() == Ok(name)).unwrap_or_else(|| panic!("no {name}"));
    let section = file.section_by_index(symbol.section_index().unwrap()).unwrap();
    let bytes = section.data_range(symbol.address(), symbol.size()).unwrap().unwrap();
    let bits = if section.name() == Ok(SIXTEEN) { 16 } else { u32::from(probe.bits()) };
    Decoder::with_ip(bits, bytes, symbol.address(), DecoderOptions::NONE).into_iter().collect()
}

/// Splits at the stamps: `lfence; rdtsc; lfence`, the two stores that keep the result, and `lfence`.
fn between_stamps(code: &[Instruction]) -> Vec<&[Instruction]> {
    let stamp =
        [Mnemonic::Lfence, Mnemonic::Rdtsc, Mnemonic::Lfence, Mnemonic::Mov, Mnemonic::Mov, Mnemonic::Lfence];
    let starts: Vec<usize> = (0..code.len())
        .filter(|at| {
            let window = code.get(*at..at + stamp.len()).unwrap_or_default();
            window.len() == stamp.len()
                && window.iter().zip(stamp).all(|(found, wanted)| found.mnemonic() == wanted)
        })
        .collect();
    starts.windows(2).map(|pair| &code[pair[0] + stamp.len()..pair[1]]).collect()
}

fn mnemonics(code: &[Instruction]) -> Vec<Mnemonic> {
    code.iter().map(Instruction::mnemonic).collect()
}

/// Is this the instruction that the row is about?
fn is_entry(entry: &Entry, instruction: &Instruction) -> bool {
    let call = instruction.mnemonic() == Mnemonic::Call && instruction.op0_kind() == OpKind::Memory;
    let is_int = |vector| instruction.code() == Code::Int_imm8 && instruction.immediate8() == vector;
    let int80 = is_int(0x80);
    match entry.name.as_str() {
        "syscall-x86_64" | "syscall-x32" | "syscall-i386" => instruction.mnemonic() == Mnemonic::Syscall,
        "int80-x86_64" | "intgate-x86_64" | "trapgate-x86_64" => int80,
        "int80-i386" | "intgate-i386" | "trapgate-i386" => int80,
        "v86-int" | "code16-int" => int80,
        "v86-int-redirected" => is_int(0x21),
        "interrupt" => is_int(0x40),
        "sysenter-x86_64" | "sysenter-i386" => instruction.mnemonic() == Mnemonic::Sysenter,
        "gateway-i386" => call,
        "lcall7-i386" => instruction.is_call_far() && instruction.far_branch_selector() == 7,
        "call-gate-i386" => instruction.is_call_far() && instruction.far_branch_selector() == 0x63,
        "call-gate-x86_64" => {
            instruction.code() == Code::Call_m1632
                && far_selector(entry.probe, instruction.memory_displacement64()) == 0x53
        }
        "far-call-x86_64" => {
            instruction.code() == Code::Call_m1632
                && far_selector(entry.probe, instruction.memory_displacement64()) == 0x23
        }
        "far-jump-x86_64" => {
            instruction.code() == Code::Jmp_m1632
                && far_selector(entry.probe, instruction.memory_displacement64()) == 0x23
        }
        "ring1-i386" => instruction.is_call_far() && instruction.far_branch_selector() == 0xb3,
        "ring2-i386" => instruction.is_call_far() && instruction.far_branch_selector() == 0xc3,
        "far-call-i386" => instruction.is_call_far() && instruction.far_branch_selector() == 0x33,
        "far-jump-i386" => instruction.is_jmp_far() && instruction.far_branch_selector() == 0x33,
        "task-gate-int" => is_int(0x41),
        "task-16" => is_int(0x42),
        "double-fault-task" => is_int(0x43),
        "task-gate-call" => instruction.is_call_far() && instruction.far_branch_selector() == 0x13b,
        "task-jmp" => instruction.is_jmp_far() && instruction.far_branch_selector() == 0x14b,
        "task-nested" => instruction.is_call_far() && instruction.far_branch_selector() == 0x15b,
        "ring1-x86_64" | "ring2-x86_64" => {
            let selector = if entry.name.starts_with("ring1") { 0xb3 } else { 0xc3 };
            instruction.code() == Code::Call_m1632
                && far_selector(entry.probe, instruction.memory_displacement64()) == selector
        }
        "call-gate-32-1" => instruction.is_call_far() && instruction.far_branch_selector() == 0xf3,
        "call-gate-32-8" => instruction.is_call_far() && instruction.far_branch_selector() == 0xfb,
        "call-gate-16-0" => is_jump_to_conforming(instruction, 0x30),
        "call-gate-16-1" => is_jump_to_conforming(instruction, 0x40),
        "call-gate-16-8" => is_jump_to_conforming(instruction, 0x50),
        "conforming" => instruction.is_call_far() && instruction.far_branch_selector() == 0x123,
        "jmp-gate" => instruction.is_jmp_far() && instruction.far_branch_selector() == 0x11b,
        "jmp-gate-16" => instruction.is_jmp_far() && instruction.far_branch_selector() == 0x1eb,
        "into" => instruction.mnemonic() == Mnemonic::Into,
        "bound" => instruction.mnemonic() == Mnemonic::Bound,
        "np-fault" => instruction.op0_register() == Register::FS,
        "ss-fault" => instruction.op0_register() == Register::SS,
        "limit-fault" => instruction.mnemonic() == Mnemonic::Lodsb,
        "ud" | "ud-i386" => instruction.mnemonic() == Mnemonic::Ud2,
        // lock nop is no instruction: that is the point.
        "lock-nop" | "lock-nop-i386" => instruction.is_invalid(),
        "int3" | "int3-i386" => instruction.mnemonic() == Mnemonic::Int3,
        "div0" | "div0-i386" => instruction.mnemonic() == Mnemonic::Div,
        "page-fault" => instruction.code() == Code::Mov_r8_rm8,
        "rdtsc" => instruction.mnemonic() == Mnemonic::Rdtsc,
        "rdtscp" => instruction.mnemonic() == Mnemonic::Rdtscp,
        "rdpid" => instruction.mnemonic() == Mnemonic::Rdpid,
        "rseq" => instruction.code() == Code::Mov_r32_rm32 && instruction.memory_displ_size() == 8,
        "rdrand" => instruction.mnemonic() == Mnemonic::Rdrand,
        "cpuid" => instruction.mnemonic() == Mnemonic::Cpuid,
        _ => matches!(entry.kind, Kind::Function | Kind::Memory) && call,
    }
}

/// To code of the lab's that calls a gate of 16 bits from there.
fn is_jump_to_conforming(instruction: &Instruction, offset: u32) -> bool {
    instruction.is_jmp_far()
        && (instruction.far_branch_selector(), instruction.far_branch32()) == (0x123, offset)
}

/// The selector of a far pointer that a probe keeps in its memory: behind an offset of four bytes.
fn far_selector(probe: Probe, address: u64) -> u16 {
    let file = object::File::parse(places::probes::image(probe)).unwrap();
    let mut found = file.sections().filter_map(|section| section.data_range(address + 4, 2).ok().flatten());
    u16::from_le_bytes(found.next().unwrap().try_into().unwrap())
}

/// In 32-bit code, what the vDSO's landing pad does in the kernel's stead, and the jump that its return lands on. A far return through a call
/// gate releases what the program has pushed for it; a call gate of 16 bits is called where a far jump leads, which comes back at once in the control.
fn landing_pad(entry: &Entry) -> &'static [Mnemonic] {
    match entry.name.as_str() {
        "sysenter-i386" | "syscall-i386" => &[Mnemonic::Pop, Mnemonic::Pop, Mnemonic::Pop, Mnemonic::Ret],
        "call-gate-32-1" | "call-gate-32-8" => &[Mnemonic::Lea],
        "call-gate-16-0" | "call-gate-16-1" | "call-gate-16-8" => &[Mnemonic::Jmp],
        _ => &[],
    }
}

/// The timed code of every entry: what its functions are called, without their endings, and how many calls one use makes. That is
/// one, and where the table has operations of several calls for the entry, the length of each.
fn timed_code() -> impl Iterator<Item = (&'static Entry, String, usize)> {
    let table = Table::get();
    table.entries.iter().flat_map(move |entry| {
        let lengths = table.sequence_lengths().into_iter().filter(|_| table.has_sequences(entry));
        let calls = std::iter::once(1).chain(lengths);
        let usual = calls.map(move |calls| (entry, sequence_symbol(entry, calls), calls));
        let traps = TRAP_FORMS.iter().filter(|_| entry.has_traps());
        usual.chain(traps.map(move |form| (entry, trap_symbol(entry, form), 1)))
    })
}

#[test]
fn an_operation_has_timed_code_of_its_own_length_at_every_entry_that_serves_it() {
    let table = Table::get();
    for (entry, operation) in Whose::ALL.into_iter().flat_map(|whose| table.rows(whose)) {
        let mut known = timed_code().filter(|(known, _, _)| known.id == entry.id);
        let is_of_form = |symbol: &str| match (operation.trap, operation.message) {
            (None, _) => TRAP_FORMS.iter().all(|form| *symbol != trap_symbol(entry, form)),
            (Some(_), message) => symbol == trap_symbol(entry, TRAP_FORMS[usize::from(message)]),
        };
        let found = known.any(|(_, symbol, calls)| calls == operation.length() && is_of_form(&symbol));
        assert!(found, "{} {}", entry.name, operation.name);
    }
    let several: Vec<usize> = timed_code().map(|(_, _, calls)| calls).filter(|calls| *calls > 1).collect();
    assert!(several.contains(&2) && several.contains(&5), "UnixBench's loops make two calls and five");
}

#[test]
fn a_sample_is_a_chain_a_control_and_one_entry_for_each_call() {
    for (entry, symbol, calls) in timed_code() {
        let code = function(entry.probe, &format!("{symbol}_timed"));
        let parts = between_stamps(&code);
        assert_eq!(parts.len(), 3, "{symbol}: three intervals between four stamps");
        assert_eq!(mnemonics(parts[0]), vec![Mnemonic::Imul; 256], "{}: the chain", entry.name);
        assert!(
            parts[0].iter().all(|imul| imul.op0_register() == imul.op1_register()),
            "{}: each imul depends on the one before",
            entry.name
        );
        check_twins(entry, parts[1], parts[2], calls);
    }
}

/// The address in the probe that the low half of each stamp is stored to.
fn stored_to(code: &[Instruction]) -> Vec<u64> {
    let stamps = code.windows(4).filter(|window| window[0].mnemonic() == Mnemonic::Rdtsc);
    let low = stamps
        .filter(|window| window[2].op1_register() == Register::EAX && window[2].op0_kind() == OpKind::Memory);
    low.map(|window| window[2].memory_displacement64()).collect()
}

#[test]
fn a_sample_of_several_uses_has_each_as_it_is_alone() {
    let table = Table::get();
    let several: Vec<&Entry> = table.entries.iter().filter(|entry| entry.uses > 1).collect();
    assert!(!several.is_empty());
    for entry in several {
        let (name, uses) = (&entry.name, entry.uses as usize);
        let alone = function(entry.probe, &format!("{}_timed", entry.symbol()));
        let code = function(entry.probe, &format!("{}_several", entry.symbol()));
        let (one, parts) = (between_stamps(&alone), between_stamps(&code));
        assert_eq!(parts.len(), 1 + 2 * uses, "{name}: a chain, controls and uses, each between two stamps");
        assert_eq!(mnemonics(parts[0]), mnemonics(one[0]), "{name}: the chain");
        let (controls, entries) = parts[1..].split_at(uses);
        let shapes = |code: &[Instruction]| code.iter().map(shape).collect::<Vec<_>>();
        for (control, with_entry) in controls.iter().zip(entries) {
            assert_eq!((shapes(control), shapes(with_entry)), (shapes(one[1]), shapes(one[2])), "{name}");
            check_twins(entry, control, with_entry, 1);
        }
        // Four stamps are kept, at the ends of chain, controls and uses; what is between two uses, all others overwrite.
        let (slots, kept) = (stored_to(&code), stored_to(&alone));
        assert_eq!((slots.len(), kept.len()), (2 + 2 * uses, 4), "{name}");
        let ends = [0, 1, 1 + uses, 1 + 2 * uses];
        assert_eq!(ends.map(|end| slots[end]).as_slice(), kept, "{name}");
        let between: BTreeSet<u64> =
            (0..slots.len()).filter(|at| !ends.contains(at)).map(|at| slots[at]).collect();
        assert_eq!(between.len(), 1, "{name}: {between:x?}");
        assert!(
            between.is_disjoint(&kept.into_iter().collect()),
            "{name}: a stamp that is kept is overwritten"
        );
    }
}

/// The address of a function of a probe.
fn address(probe: Probe, name: &str) -> u64 {
    function(probe, name)[0].ip()
}

/// What stands before the call that touches a footprint, which is the last in an interval.
fn before_touch(probe: Probe, code: &[Instruction]) -> &[Instruction] {
    let (last, before) = code.split_last().unwrap();
    assert_eq!(last.mnemonic(), Mnemonic::Call);
    assert_eq!(last.near_branch_target(), address(probe, "touch_footprint"));
    before
}

#[test]
fn each_load_of_a_footprint_waits_for_the_one_before() {
    for probe in Probe::ALL {
        let code = function(probe, "touch_footprint");
        let names =
            [Mnemonic::Lfence, Mnemonic::Mov, Mnemonic::Mov, Mnemonic::Test, Mnemonic::Jne, Mnemonic::Ret];
        assert_eq!(mnemonics(&code), names);
        let [_, first, load, test, back, _] = code.as_slice() else { unreachable!() };
        let pointer = first.op0_register();
        assert!(
            first.memory_base() == Register::None && first.memory_displacement64() > 0,
            "of static memory"
        );
        assert_eq!((load.op0_register(), load.memory_base()), (pointer, pointer));
        assert_eq!((load.memory_displacement64(), load.memory_index()), (0, Register::None));
        assert_eq!((test.op0_register(), test.op1_register()), (pointer, pointer));
        assert_eq!(back.near_branch_target(), load.ip());
    }
}

#[test]
fn a_footprint_is_touched_behind_control_and_entry_alike() {
    // Code of 16 bits cannot reach one, and the probe refuses it.
    for (entry, symbol, calls) in timed_code().filter(|(entry, ..)| !is_sixteen(entry)) {
        let among = function(entry.probe, &format!("{symbol}_among"));
        let timed = function(entry.probe, &format!("{symbol}_timed"));
        let (among, timed) = (between_stamps(&among), between_stamps(&timed));
        assert_eq!((among.len(), timed.len()), (3, 3), "{}", entry.name);
        let shapes = |code: &[Instruction]| code.iter().map(shape).collect::<Vec<_>>();
        assert_eq!(mnemonics(among[0]), mnemonics(timed[0]), "{}", entry.name);
        for part in [1, 2] {
            let branchless = |code| shapes(code).into_iter().filter(|line| !line.starts_with("Call "));
            assert!(
                branchless(before_touch(entry.probe, among[part])).eq(branchless(timed[part])),
                "{}",
                entry.name
            );
        }
        check_twins(entry, before_touch(entry.probe, among[1]), before_touch(entry.probe, among[2]), calls);
    }
}

/// The instructions of a function with their lengths and registers, but without addresses, which differ from build to build.
fn listing(probe: Probe, name: &str) -> String {
    let line = |one: &Instruction| {
        format!("{} {:?} {:?} {:?}", one.len(), one.code(), one.op0_register(), one.op1_register())
    };
    let lines: Vec<String> = function(probe, name).iter().map(line).collect();
    let runs = lines.chunk_by(|a, b| a == b);
    runs.map(|run| format!("{} x {}\n", run.len(), run[0])).collect()
}

#[test]
fn without_a_footprint_the_timed_code_is_what_it_was_before_there_were_any() {
    for (probe, name) in [(Probe::Probe64, "syscall_x86_64_timed"), (Probe::Probe32, "int80_i386_timed")] {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/timed/{name}.txt"));
        let kept = std::fs::read_to_string(path).unwrap();
        assert_eq!(listing(probe, name), kept, "{name}: earlier figures are those of other code");
    }
}

#[test]
fn a_burst_is_as_many_entries_as_it_says_without_a_fence() {
    for (entry, symbol, calls) in timed_code() {
        let code = function(entry.probe, &format!("{symbol}_burst"));
        let parts = between_stamps(&code);
        assert_eq!(parts.len(), 3, "{}: controls, nothing, entries", entry.name);
        assert!(parts[1].is_empty());
        assert!(!mnemonics(parts[2]).contains(&Mnemonic::Lfence), "{}", entry.name);
        check_twins(entry, parts[0], parts[2], 16 * calls);
    }
}

#[test]
fn a_loop_is_one_entry_a_turn_for_each_call_and_reads_no_clock() {
    for (entry, symbol, calls) in timed_code() {
        let code = function(entry.probe, &format!("{symbol}_loop"));
        let uses: Vec<u64> =
            code.iter().filter(|instruction| is_entry(entry, instruction)).map(Instruction::ip).collect();
        assert_eq!(uses.len(), calls, "{symbol}: entry instructions in a turn");
        let clocks = [Mnemonic::Lfence, Mnemonic::Imul];
        assert!(!mnemonics(&code).iter().any(|mnemonic| clocks.contains(mnemonic)), "{}", entry.name);
        let backwards =
            |one: &&Instruction| one.is_jcc_short_or_near() && one.near_branch_target() < one.ip();
        let turns: Vec<&Instruction> = code.iter().filter(backwards).collect();
        assert_eq!(turns.len(), 1, "{}: one jump back", entry.name);
        // Every turn passes all of them.
        let turn = turns[0].near_branch_target()..turns[0].ip();
        assert!(uses.iter().all(|at| turn.contains(at)), "{symbol}");
    }
}

/// The instructions that write memory, but for a push or call, which writes to the stack.
fn writes(code: &[Instruction]) -> Vec<Instruction> {
    let mut factory = InstructionInfoFactory::new();
    let mut is_write = |instruction: &Instruction| {
        factory.info(instruction).used_memory().iter().any(|memory| {
            let writes = [OpAccess::Write, OpAccess::CondWrite, OpAccess::ReadWrite, OpAccess::ReadCondWrite];
            writes.contains(&memory.access()) && ![Register::RSP, Register::ESP].contains(&memory.base())
        })
    };
    code.iter().filter(|instruction| is_write(instruction)).copied().collect()
}

/// How many times an interval loads arguments: never between the chain's stamps, or those that a burst has in a row.
fn uses_in(symbol: &str, kind: &str, part: &[Instruction]) -> usize {
    let is_empty = part.is_empty() || part.iter().all(|one| one.mnemonic() == Mnemonic::Imul);
    match kind {
        _ if is_empty => 0,
        "timed" => 1,
        "burst" => 16,
        _ => panic!("{symbol} {kind}"),
    }
}

/// What a trap of GNU Mach is given, whichever entry: registers, and words on the stack behind one that stands for a return address.
#[test]
fn a_trap_finds_its_arguments_where_a_stub_has_them() {
    let mut traps = 0;
    for (entry, symbol, _) in timed_code() {
        if !TRAP_FORMS.iter().any(|form| symbol.ends_with(&format!("_{form}"))) {
            continue;
        }
        traps += 1;
        let code = function(entry.probe, &format!("{symbol}_timed"));
        let control = between_stamps(&code)[1];
        let pushes: Vec<&Instruction> = control
            .iter()
            .take_while(|one| !one.is_call_near())
            .filter(|one| one.mnemonic() == Mnemonic::Push)
            .collect();
        let arguments = pushes.iter().filter(|one| one.op0_kind() == OpKind::Memory).count();
        assert_eq!(arguments, if entry.probe.bits() == 64 { 1 } else { 7 }, "{symbol}");
        // Behind the arguments is a word, or the return address of the call that the ABI asks for; or of the timed call of a stub, for
        // which 64-bit code has a word before them, to align the stack.
        let has_call = control.iter().any(Instruction::is_call_near);
        assert_eq!(has_call, ["sysenter-i386", "syscall-i386"].contains(&entry.name.as_str()), "{symbol}");
        let has_word = !has_call && (entry.kind == Kind::Number || entry.probe.bits() == 64);
        assert_eq!(pushes.len(), arguments + usize::from(has_word), "{symbol}");
        let is_last = pushes.last().is_some_and(|push| push.op0_kind() == OpKind::Memory);
        assert_eq!(is_last, has_call || entry.kind == Kind::Function, "{symbol}: what lies on top");
        let registers =
            [Register::RDI, Register::RSI, Register::RDX, Register::R10, Register::R8, Register::R9];
        let is_loaded = |register: &Register| {
            control.iter().any(|one| one.op0_register() == *register && one.op1_kind() == OpKind::Memory)
        };
        assert_eq!(registers.iter().all(is_loaded), entry.probe.bits() == 64, "{symbol}");
        let is_c = entry.probe.bits() == 64 && entry.kind == Kind::Function;
        assert_eq!(is_loaded(&Register::RCX), is_c, "{symbol}: C's fourth argument");
    }
    assert_eq!(traps, 24, "twelve entries, with a message and without");
}

/// The number, and by the table's name GNU Mach's own entry, or a jump to where the page's is kept.
#[test]
fn a_stub_of_gnu_mach_enters_as_its_row_says() {
    let of_gate = |probe: Probe| match probe.bits() {
        64 => vec![Mnemonic::Mov, Mnemonic::Mov, Mnemonic::Syscall, Mnemonic::Ret],
        _ => vec![Mnemonic::Mov, Mnemonic::Call, Mnemonic::Ret],
    };
    for probe in [Probe::Probe64, Probe::Probe32] {
        for (trap, number) in [("mach_msg", 25u32), ("mach_print", 30)] {
            let gate = function(probe, &format!("{trap}_gate"));
            let page = function(probe, &format!("{trap}_page"));
            assert_eq!(mnemonics(&gate), of_gate(probe), "{trap}");
            assert!(probe.bits() == 64 || gate[1].is_call_far() && gate[1].far_branch_selector() == 7);
            assert_eq!(mnemonics(&page), [Mnemonic::Mov, Mnemonic::Jmp], "{trap}");
            assert!(page[1].is_jmp_near_indirect() && page[1].op0_kind() == OpKind::Memory);
            let mut stubs = vec![gate, page];
            if probe.bits() == 32 {
                let sysenter = function(probe, &format!("{trap}_sysenter"));
                let [rest @ .., enter] = &mnemonics(&sysenter)[1..] else { unreachable!() };
                assert_eq!(rest, [Mnemonic::Push, Mnemonic::Push, Mnemonic::Push, Mnemonic::Mov], "{trap}");
                assert_eq!(*enter, Mnemonic::Sysenter, "{trap}");
                stubs.push(sysenter);
            }
            for stub in stubs {
                assert_eq!(stub[0].op0_register(), Register::EAX);
                assert_eq!(stub[0].immediate32(), number.wrapping_neg(), "{trap}");
            }
        }
    }
}

#[test]
fn a_sum_in_memory_hid_what_a_call_costs() {
    // Adding up a stride took longer than a call and its return, so a burst of calls read less than one of controls.
    for (entry, symbol, _) in timed_code() {
        let needs_fresh_pages = entry.operations.iter().any(|operation| operation == "minor-fault");
        for kind in ["burst", "timed"] {
            let code = function(entry.probe, &format!("{symbol}_{kind}"));
            let sums =
                code.iter().filter(|one| one.mnemonic() == Mnemonic::Add && !writes(&[**one]).is_empty());
            let expected = if !needs_fresh_pages {
                0
            } else if kind == "burst" {
                2 * 16
            } else {
                1
            };
            assert_eq!(sums.count(), expected, "{} {kind}", entry.name);
            // They write where the way back is, and the control writes the same.
            let writes_way_back =
                entry.name.starts_with("call-gate-16") || entry.name.starts_with("jmp-gate");
            if needs_fresh_pages || writes_way_back {
                continue;
            }
            for part in between_stamps(&code) {
                let rest: Vec<Instruction> =
                    part.iter().filter(|one| !is_entry(entry, one)).copied().collect();
                let found = writes(&rest);
                // But for headers of messages, which nothing but a trap reads.
                let headers =
                    if symbol.ends_with("_message") { uses_in(&symbol, kind, &rest) * 4 } else { 0 };
                assert_eq!(found.len(), headers, "{symbol} {kind}: memory is written between two stamps");
                assert!(found.iter().all(|one| one.mnemonic() == Mnemonic::Mov), "{symbol} {kind}");
            }
        }
    }
}

/// Each of several calls takes its arguments from memory of its own, all of them in the same order.
#[test]
fn each_of_several_calls_has_an_invocation_of_its_own() {
    for (entry, symbol, calls) in timed_code() {
        let code = function(entry.probe, &format!("{symbol}_timed"));
        let loads = between_stamps(&code)[2].iter().filter(|one| {
            let is_load = [Mnemonic::Mov, Mnemonic::Push].contains(&one.mnemonic());
            is_load && one.memory_base() == Register::None && one.memory_displacement64() > 0
        });
        let addresses: Vec<u64> = loads.map(Instruction::memory_displacement64).collect();
        if calls == 1 {
            continue;
        }
        assert!(!addresses.is_empty() && addresses.len().is_multiple_of(calls), "{symbol}: {addresses:?}");
        let each: Vec<&[u64]> = addresses.chunks(addresses.len() / calls).collect();
        let distances =
            each.windows(2).flat_map(|pair| pair[0].iter().zip(pair[1]).map(|(one, next)| next - one));
        let distances: BTreeSet<u64> = distances.collect();
        let size = 10 * u64::from(entry.probe.bits()) / 8;
        assert_eq!(distances, BTreeSet::from([size]), "{symbol}: {addresses:?}");
    }
}

/// The entry's code is the control's with the entry instruction put in, nothing else: the same instructions with the
/// same operands.
fn check_twins(entry: &Entry, control: &[Instruction], with_entry: &[Instruction], times: usize) {
    let found = with_entry.iter().filter(|instruction| is_entry(entry, instruction)).count();
    assert_eq!(found, times, "{}: entry instructions between two clock reads", entry.name);
    assert!(
        !control.iter().any(|instruction| is_entry(entry, instruction)),
        "{}: none in the control",
        entry.name
    );

    let rest = with_entry.iter().filter(|instruction| !is_entry(entry, instruction));
    let pad = landing_pad(entry).repeat(times);
    let control = without(control.iter().map(shape).collect(), &pad);
    assert_eq!(rest.map(shape).collect::<Vec<_>>(), control, "{}: otherwise the same code", entry.name);
}

/// An instruction as text, but for where a branch goes, or where sysenter or a far jump is told to come back to, in a register or in memory: control and entry
/// do not lie at the same address.
fn shape(instruction: &Instruction) -> String {
    let is_address = instruction.mnemonic() == Mnemonic::Lea && instruction.memory_base() == Register::None;
    let branches = instruction.is_jmp_short_or_near()
        || instruction.is_call_near()
        || instruction.is_jcc_short_or_near();
    let is_way_back = instruction.code() == Code::Mov_rm32_imm32;
    if is_way_back {
        format!("{:?} to {:x}", instruction.mnemonic(), instruction.memory_displacement64())
    } else if branches || is_address || instruction.is_ip_rel_memory_operand() {
        format!("{:?} {:?}", instruction.mnemonic(), instruction.op0_register())
    } else {
        format!("{:?} {instruction}", instruction.mnemonic())
    }
}

/// Takes each of `left_out` away once, the first that is found.
fn without(mut code: Vec<String>, left_out: &[Mnemonic]) -> Vec<String> {
    for mnemonic in left_out {
        let named = |found: &String| found.starts_with(&format!("{mnemonic:?} "));
        let at = code.iter().position(named).expect("the landing pad's work is in the control");
        code.remove(at);
    }
    code
}

#[test]
fn the_calibration_is_made_of_what_its_lengths_say() {
    for probe in Probe::ALL {
        let code = function(probe, "calibrate");
        let parts = between_stamps(&code);
        assert_eq!(parts.len(), 4);
        assert!(parts[0].is_empty());
        assert_eq!(mnemonics(parts[1]), vec![Mnemonic::Imul; 256]);
        assert_eq!(mnemonics(parts[2]), vec![Mnemonic::Xor; 768]);
        assert!(
            parts[2].iter().all(|xor| xor.op0_register() != xor.op1_register()),
            "a xor with itself is an idiom, not a dependency"
        );
        assert_eq!(mnemonics(parts[3]), [Mnemonic::Jmp], "to the canary's place");
    }
}

/// Offsets in a cache line at which the canary may stand (`probe/canary.S`).
const PLACES: [u64; 16] = [0, 1, 4, 7, 8, 10, 18, 21, 24, 27, 31, 32, 37, 40, 52, 58];

#[test]
fn every_place_of_the_canary_has_the_same_loop() {
    for probe in Probe::ALL {
        let done = function(probe, "calibrate").into_iter().map(|instruction| instruction.ip());
        let done: Vec<u64> = done.collect();
        for place in PLACES {
            let code = function(probe, &format!("place_{place}"));
            let [nots @ .., decrement, jump, back] = code.as_slice() else { panic!("{place}") };
            assert_eq!(mnemonics(nots), vec![Mnemonic::Not; 84]);
            let neighbours_differ = nots.windows(7).all(|window| {
                window[1..].iter().all(|other| other.op0_register() != window[0].op0_register())
            });
            assert!(neighbours_differ, "seven nots in a row are independent");
            assert_eq!((decrement.mnemonic(), decrement.op0_kind()), (Mnemonic::Dec, OpKind::Memory));
            assert_eq!((jump.mnemonic(), jump.near_branch_target()), (Mnemonic::Jne, nots[0].ip()));
            assert_eq!(back.mnemonic(), Mnemonic::Jmp);
            assert!(done.contains(&back.near_branch_target()), "back between the stamps");
            assert_eq!(nots[0].ip() % 64, place, "where its name says");
            assert_eq!(
                jump.ip() / 32,
                jump.next_ip() / 32,
                "Skylake's op cache takes no jump at the end of 32 bytes"
            );
        }
    }
}

#[test]
fn the_order_of_stamps_is_tested_with_one_chain_and_with_several() {
    for probe in Probe::ALL {
        let code = function(probe, "order");
        let parts = between_stamps(&code);
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [0, 256, 8 * 256]);
        for imul in parts[1].iter().chain(parts[2]) {
            assert_eq!(imul.mnemonic(), Mnemonic::Imul);
            assert_eq!(imul.op0_register(), imul.op1_register(), "each imul depends on the one before");
        }
    }
}

#[test]
fn the_probes_of_this_kernel_alone_need_no_loader() {
    for probe in Probe::ALL {
        let file = object::File::parse(places::probes::image(probe)).unwrap();
        let interpreter = file.section_by_name(".interp").map(|section| section.data().unwrap().to_vec());
        let expected = format!("{}\0", places::probes::LIBC_LOADER).into_bytes();
        assert_eq!(interpreter, (probe == Probe::Libc).then_some(expected), "{}", probe.name());
        assert_eq!(file.is_64(), probe.bits() == 64);
    }
}

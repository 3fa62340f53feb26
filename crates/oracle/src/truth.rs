//! What an instruction belongs to, by the names that the kernel's developers gave to its functions: a table of its own, which knows
//! nothing of how the anatomy comes to its answers.

use crate::debug::Debug;
use crate::frame::Frame;
use crate::functions::{self, begins};
use crate::held::Held;
use attribution::anatomy::{Anatomy, Instruction, Part};
use iced_x86::{Decoder, DecoderOptions, Mnemonic, OpKind, Register};
use std::collections::BTreeMap;
use std::rc::Rc;

/// X86_FEATURE_XENPV and X86_FEATURE_ALWAYS: code that is there for a guest of Xen, or that boot always replaces.
const XEN: u16 = 8 * 32 + 16;
const ALWAYS: u16 = 3 * 32 + 21;

/// Functions whose code behind the work of the exit decides how to return.
const CHECKED: &[&str] = &["do_syscall_64", "do_fast_syscall_32", "do_SYSENTER_32"];

/// What static keys are for.
const KEYS: &[(&str, Part)] = &[
    ("context_tracking", Part::Work),
    ("rseq_debug", Part::Work),
    ("randomize_kstack", Part::StackOffset),
    ("__tracepoint_", Part::Trace),
    ("mds_user_clear", Part::Verw),
    ("cpu_buf", Part::Verw),
    ("switch_mm_", Part::Ibpb),
];

/// Holds each instruction of a path against the kernel's own words: its debug information, sources and tables.
pub fn hold(anatomy: &Anatomy, debug: &Debug) -> Held {
    let anatomy = &unmoved(anatomy, debug);
    let mut held = Held::default();
    let mut calls: Vec<(u64, Rc<[Rc<Frame>]>)> = Vec::new();
    let mut lines = Lines::of(anatomy, debug);
    let switches = |one: &Instruction| one.function_name() == "__switch_to_asm";
    let first = anatomy.instructions.iter().position(switches).unwrap_or(usize::MAX);
    let last = anatomy.instructions.iter().rposition(switches).unwrap_or(0);
    let mut awaiting = Vec::new();
    for (place, one) in anatomy.instructions.iter().enumerate() {
        if one.ring == 3 {
            calls.clear();
            held.hold(one.part, None, Vec::new);
            continue;
        }
        // Other tasks.
        if place == first {
            awaiting = calls.clone();
        } else if place == last + 1 && !awaiting.is_empty() {
            calls = std::mem::take(&mut awaiting);
        }
        if let Some(at) = calls.iter().rposition(|(back, _)| *back == one.address) {
            // With what was jumped to in its place.
            let first =
                (0..at).rev().take_while(|before| calls[*before].0 == one.address).last().unwrap_or(at);
            calls.truncate(first);
        }
        let own = debug.frames(one.address);
        let mut frames = own.to_vec();
        calls.iter().rev().for_each(|(_, of_call)| frames.extend(of_call.iter().cloned()));
        lines.note(&frames, &own);
        let other_task = (first..=last).contains(&place).then(|| vec![Part::Schedule]);
        let told = truth(one, place, anatomy, &frames, &own, debug, &lines);
        let is_site = debug.keys.contains_key(&one.address)
            || told.as_ref().and_then(|told| told.first()).is_some_and(|part| SITES.contains(part));
        let other_task = other_task.map(|mut parts| {
            let also = told
                .iter()
                .flatten()
                .filter(|part| matches!(part, Part::Paravirt | Part::Canary | Part::Rsb));
            parts.extend(also.copied());
            parts
        });
        let told = other_task.filter(|_| !is_site && told.is_some()).or(told);
        let in_table = debug.tables.at(one).filter(|_| !debug.keys.contains_key(&one.address));
        let told = match (told, in_table) {
            (Some(told), Some(in_table)) => {
                Some(told.into_iter().filter(|part| in_table.contains(part)).collect())
            }
            (told, in_table) => told.or(in_table),
        };
        held.hold(one.part, told, || frames.iter().map(|frame| Frame::clone(frame)).collect());
        let length = one.bytes.len() as u64 / 2;
        let next = anatomy.instructions.get(place + 1).map(|next| next.address);
        if one.text.starts_with("call") && next != Some(one.address + length) {
            calls.push((one.address + length, own));
        } else if one.text.starts_with("jmp") && next.is_some_and(|next| debug.begins(next)) {
            // Called in the place of a return.
            let back = calls.last().map_or(0, |(back, _)| *back);
            calls.push((back, own));
        }
    }
    held
}

/// The path with the addresses that the linker gave, wherever the boot has put the kernel.
fn unmoved(anatomy: &Anatomy, debug: &Debug) -> Anatomy {
    let of_entry = anatomy.instructions.iter().find(|one| one.ring == 0 && one.function.is_some());
    let moved = of_entry.and_then(|one| {
        let place = one.function.as_ref()?;
        let linked = debug.symbols.iter().find(|(_, name)| *name == place.name)?.0 + place.offset;
        Some(one.address.wrapping_sub(linked))
    });
    let mut anatomy = anatomy.clone();
    for one in anatomy.instructions.iter_mut().filter(|one| one.ring == 0) {
        one.address = one.address.wrapping_sub(moved.unwrap_or(0));
    }
    anatomy
}

/// Parts of single places.
const SITES: &[Part] = &[
    Part::FunctionTrace,
    Part::StaticKeys,
    Part::Ibt,
    Part::Trace,
    Part::Verw,
    Part::Ibpb,
    Part::Canary,
    Part::Returns,
    Part::Retpoline,
    Part::Smap,
    Part::Swapgs,
    Part::Pti,
    Part::Pcid,
];

/// What stands in the lines of entries' C functions.
#[derive(Default)]
struct Lines {
    /// Where the work of the exit is done.
    exits: BTreeMap<String, u32>,
    /// What was inlined in a line: a condition there is made of it.
    inlined: BTreeMap<(String, u32), Vec<Part>>,
    audits: Vec<u32>,
}

impl Lines {
    /// Before a path is held: the lines in which audit's function is called, and the one before.
    fn of(anatomy: &Anatomy, debug: &Debug) -> Lines {
        let calls = anatomy.instructions.iter().filter(|one| one.text == "call syscall_enter_audit");
        let frame = |one: &Instruction| debug.frames(one.address).first().cloned();
        let audits = calls.filter_map(frame).map(|frame| frame.line).collect();
        Lines { audits, ..Lines::default() }
    }

    fn is_near_audit(&self, frame: &Frame) -> bool {
        self.audits.iter().any(|line| (line - 1..=*line).contains(&frame.line))
    }

    fn note(&mut self, frames: &[Rc<Frame>], own: &[Rc<Frame>]) {
        let exit = frames.windows(2).find(|pair| pair[0].function.starts_with("syscall_exit_to_user_mode"));
        if let Some([_, caller]) = exit {
            self.exits.insert(caller.function.clone(), caller.line);
        }
        let served = frames.windows(2).find(|pair| pair[0].function == "__do_fast_syscall_32");
        if let Some([_, caller]) = served {
            self.exits.insert(caller.function.clone(), caller.line);
        }
        if let (2.., Some(last)) = (own.len(), own.last()) {
            let parts = of_frames(&own[..own.len() - 1]).unwrap_or_default();
            self.inlined.entry((last.function.clone(), last.line)).or_default().extend(parts);
        }
    }
}

fn truth(
    one: &Instruction,
    place: usize,
    anatomy: &Anatomy,
    frames: &[Rc<Frame>],
    own: &[Rc<Frame>],
    debug: &Debug,
    lines: &Lines,
) -> Option<Vec<Part>> {
    let (address, text) = (one.address, one.text.as_str());
    let is_nop = text.starts_with("nop") || text.starts_with("xchg %ax, %ax");
    if debug.tables.traced.contains(&address) {
        return Some(vec![Part::FunctionTrace]);
    }
    if let Some(key) = debug.keys.get(&address) {
        let known = KEYS.iter().find(|(name, _)| key.starts_with(name));
        return Some(vec![known.map_or(Part::StaticKeys, |(_, part)| *part)]);
    }
    let features = debug.tables.features(address);
    if let Some(parts) = debug.tables.of_features(address) {
        return Some(parts.to_vec());
    }
    let is_function_start = debug.begins(address);
    if text.starts_with("endbr") || is_function_start && is_nop && features.is_empty() {
        return Some(vec![Part::Ibt]);
    }
    // What is stored there is the next task's.
    if is_guard(one) && !stores_guard(one) {
        return Some(vec![Part::Canary]);
    }
    let is_assembler = own.last().is_none_or(|frame| frame.file.ends_with(".S") || frame.function.is_empty());
    if is_assembler {
        let parts = of_assembler(one, own, frames, debug);
        let of_xen = is_nop && (features.contains(&XEN) || features.contains(&ALWAYS));
        return if of_xen { Some([parts.unwrap_or_default(), vec![Part::Paravirt]].concat()) } else { parts };
    }
    let mut expected = of_frames(frames)?;
    if is_nop && (features.contains(&XEN) || features.contains(&ALWAYS)) {
        expected.push(Part::Paravirt);
    }
    // Code that is reached by a jump over what is off.
    if !features.is_empty() {
        expected.extend([
            Part::Paravirt,
            Part::Ibpb,
            Part::Ibrs,
            Part::Verw,
            Part::Retpoline,
            Part::Returns,
            Part::StaticKeys,
        ]);
    }
    if is_nop && debug.tables.is_paravirt(address) {
        return Some(vec![Part::Paravirt]);
    }
    if text == "swapgs" {
        return Some(vec![Part::Swapgs]);
    }
    // What the service has called belongs to it, or to what it is for besides; so does an exception that it has raised.
    let is_call =
        |frame: &Rc<Frame>| frame.parts == Some(&[Part::Service]) && frame.function.contains("_sys_");
    let is_of_service = frames.iter().any(is_call);
    let is_exception = |frame: &Rc<Frame>| begins(&frame.function, &["exc_", "sysvec_"]);
    let may_be_service = is_of_service && (expected == [Part::Audit] || frames.iter().any(is_exception));
    // The stack of interrupts.
    let is_switch = text.starts_with("mov %rsp, (")
        || text == "pop %rsp"
        || text.starts_with("mov %r") && text.ends_with(", %rsp");
    if is_switch && expected == [Part::Handler] && !text.contains("%rbp") {
        return Some(vec![Part::KernelStack]);
    }
    if text == "call amd_clear_divider" {
        return Some(vec![Part::Divider]);
    }
    // Those of a lock, or of counting, are part of it.
    let is_due = own.last().is_some_and(|last| last.function.contains("irq_exit_rcu"));
    let is_entry = !is_due
        && matches!(
            of_frames(&own[own.len().saturating_sub(1)..]).as_deref(),
            Some([Part::Work | Part::Handler, ..])
        );
    let is_exception = own
        .last()
        .is_some_and(|last| begins(&last.function, &["do_user_addr_fault", "do_error_trap", "exc_"]));
    if matches!(text, "sti" | "cli") && (is_entry || is_exception) {
        expected = vec![Part::Interrupts];
    }
    if frames.iter().any(|frame| frame.function.starts_with("seccomp_cache_check_allow")) {
        expected.push(Part::IndexMask);
    }
    let is_in_exception = own.last().is_some_and(|last| begins(&last.function, &["exc_", "sysvec_"]));
    if is_in_exception && expected == [Part::Service] {
        expected.push(Part::Handler);
    }
    // Since 7.3 the test for a context is of the function that has the call, too.
    let is_trace = frames.first().is_some_and(|frame| base(&frame.function) == "syscall_trace_enter");
    if is_trace && lines.is_near_audit(&frames[0]) {
        expected.push(Part::Audit);
    }
    if is_of_stack_offset(own, debug) {
        expected = vec![Part::StackOffset];
    }
    if may_be_service {
        expected.push(Part::Service);
    }
    let innermost = frames.first()?;
    // What was loaded for several.
    if matches!(innermost.function.as_str(), "get_current" | "current_thread_info" | "current_top_of_stack") {
        expected.extend([Part::Handler, Part::Work]);
    }
    if text.starts_with("mov %gs:") && expected != [Part::Service] {
        expected.extend([Part::Handler, Part::Work]);
    }
    // The stack protector's word: what is loaded is stored or compared.
    if near_guard(anatomy, place) {
        expected.push(Part::Canary);
    }
    if expected.first() == Some(&Part::Handler) {
        of_own_code(one, own, lines, &mut expected);
    }
    if expected.contains(&Part::Dispatch) && text.starts_with("mov %rax, ") && text.ends_with(')') {
        expected = vec![Part::Handler];
    }
    // What the compiler has for every function of its own: part of what that is for, whoever has inlined it.
    Some(expected)
}

/// Assembler's code: thunks have their names, an entry's code the lines of its sources, and what C code has called is part of that.
fn of_assembler(
    one: &Instruction,
    own: &[Rc<Frame>],
    frames: &[Rc<Frame>],
    debug: &Debug,
) -> Option<Vec<Part>> {
    if let Some(parts) = functions::of_thunk(debug.function(one.address)) {
        return Some(parts.to_vec());
    }
    let line = own.last().map(|frame| (frame.file.as_str(), frame.line));
    let is_entry = line.is_some_and(|(file, line)| debug.sources.are_entered(file, line));
    // What boot has put there for a feature has no line of its own, but that of what stands before.
    let stands_in = ["nop", "xchg %ax, %ax", "jmp"].iter().any(|start| one.text.starts_with(start));
    if is_entry && stands_in && !debug.tables.features(one.address).is_empty() {
        return None;
    }
    if is_entry {
        return line.and_then(|(file, line)| debug.sources.parts(file, line, &one.text));
    }
    let is_called = line.is_some_and(|(file, _)| file.ends_with(".S")) && !is_entry;
    let mut parts = of_frames(&frames[own.len()..]).filter(|_| is_called)?;
    // The address that a program gives is masked, a switch fills the return stack, and what is there for other processors is not told.
    parts.extend([Part::IndexMask, Part::Rsb, Part::StaticKeys, Part::Paravirt]);
    if one.text.contains("%gs:") {
        parts.push(Part::Canary);
    }
    if matches!(one.text.as_str(), "swapgs" | "lfence") {
        parts.push(Part::Swapgs);
    }
    Some(parts)
}

/// Code of an entry's C function that is of no other.
fn of_own_code(one: &Instruction, own: &[Rc<Frame>], lines: &Lines, expected: &mut Vec<Part>) {
    let (Some(frame), text) = (own.last(), one.text.as_str()) else { return };
    let is_checked = CHECKED.contains(&frame.function.as_str());
    let is_frame = ["push", "pop", "ret", "lea -0x", "leave"].iter().any(|start| text.starts_with(start));
    if is_checked && !is_frame && lines.exits.get(&frame.function).is_some_and(|line| frame.line >= *line) {
        expected.push(Part::ReturnChecks);
    }
    // Until 5.16 the dispatch is of the function itself.
    if own.len() == 1 && frame.function == "do_syscall_64" && !is_frame {
        expected.extend([Part::Dispatch, Part::IndexMask]);
    }
    if own.len() == 1 && (text.starts_with("test") || text.starts_with('j')) {
        let inlined = lines.inlined.get(&(frame.function.clone(), frame.line));
        expected.extend(inlined.into_iter().flatten().copied());
    }
}

/// Whether a line of the macro that takes, or draws, the stack's offset is the first that has a meaning of its own.
fn is_of_stack_offset(own: &[Rc<Frame>], debug: &Debug) -> bool {
    let is_macro = |frame: &Frame| debug.stack_offset.contains(&(base(&frame.function), frame.line));
    let means = |frame: &&Rc<Frame>| {
        is_macro(frame) || frame.function.starts_with("arch_local_irq") || frame.parts.is_some()
    };
    own.iter().find(means).is_some_and(|frame| is_macro(frame))
}

fn base(function: &str) -> String {
    function.split('.').next().unwrap_or_default().to_string()
}

fn of_frames(frames: &[Rc<Frame>]) -> Option<Vec<Part>> {
    frames.iter().find_map(|frame| frame.parts).map(<[Part]>::to_vec)
}

fn near_guard(anatomy: &Anatomy, place: usize) -> bool {
    anatomy.instructions[place.saturating_sub(4)..].iter().take(7).any(is_guard)
}

/// Whether it has an operand in the stack protector's word.
fn is_guard(one: &Instruction) -> bool {
    let code = decoded(one);
    let is_fixed = code.memory_base() == Register::None && code.memory_displacement64() == 0x28;
    code.memory_segment() == Register::GS && (is_fixed || one.text.contains("__stack_chk_guard"))
}

fn stores_guard(one: &Instruction) -> bool {
    let code = decoded(one);
    code.mnemonic() == Mnemonic::Mov && code.op0_kind() == OpKind::Memory
}

fn decoded(one: &Instruction) -> iced_x86::Instruction {
    let bytes: Vec<u8> = (0..one.bytes.len() / 2)
        .map(|at| u8::from_str_radix(&one.bytes[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    Decoder::with_ip(64, &bytes, one.address, DecoderOptions::NONE).decode()
}

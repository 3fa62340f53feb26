//! Sequences that are known by what their instructions are, wherever the compiler has put them.

use crate::anatomy::code::{
    clears, decides, goes_back, has_memory, is_nop, is_own, jumps, loads_ecx, moves, reads_cr3, writes_cr3,
};
use crate::anatomy::functions::{self, Region};
use crate::anatomy::path::{Node, Path};
use crate::anatomy::{Confidence, Part, audit, stack_offset};
use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};

/// No sequence here has more instructions.
const LONGEST: usize = 24;

/// MSR 48h, IA32_SPEC_CTRL (SDM vol. 4).
const SPEC_CTRL: u32 = 0x48;

/// `%gs:0x28`, where GCC has the stack protector's word.
const CANARY: u64 = 0x28;

/// Where it is since Linux 6.15.
const GUARD: &str = "__stack_chk_guard";

/// Tells all sequences.
pub(crate) fn tell(path: &mut Path) {
    single(path);
    isolation(path);
    for place in 0..path.0.len() {
        spec_ctrl(path, place);
        index_mask(path, place);
        canary(path, place);
        division(path, place);
    }
    stack_offset::tell(path);
    nops(path);
    dispatch(path);
    no_such_call(path);
    external_check(path);
    audit::tell(path);
}

/// Instructions that say by themselves what they belong to.
fn single(path: &mut Path) {
    for place in 0..path.0.len() {
        let node = &path.0[place];
        let part = match node.code.mnemonic() {
            _ if node.ring == 3 => continue,
            Mnemonic::Swapgs => Part::Swapgs,
            Mnemonic::Stac | Mnemonic::Clac => Part::Smap,
            Mnemonic::Endbr64 | Mnemonic::Endbr32 => Part::Ibt,
            Mnemonic::Verw => Part::Verw,
            Mnemonic::Sti | Mnemonic::Cli if lets_in(node) || is_of_exception(path, place) => {
                Part::Interrupts
            }
            _ if goes_back(&node.code) => Part::Leaving,
            _ if node.is_in(Part::Handler) && switches_stack(&node.code) => Part::KernelStack,
            _ => continue,
        };
        path.tell(place, part, Confidence::Pattern);
    }
}

/// `mov %rsp, (register); mov register, %rsp`, and behind what was called `pop %rsp`: the stack of interrupts. A frame's pointer is rbp.
fn switches_stack(code: &Instruction) -> bool {
    let registers = code.op0_kind() == OpKind::Register && code.op1_kind() == OpKind::Register;
    let is_rsp = code.op0_register() == Register::RSP;
    match code.mnemonic() {
        Mnemonic::Pop => is_rsp,
        Mnemonic::Mov if registers => is_rsp && code.op1_register() != Register::RBP,
        Mnemonic::Mov => code.op0_kind() == OpKind::Memory && code.op1_register() == Register::RSP,
        _ => false,
    }
}

/// Whether it is in the entry's own code, in its C function, or in the work around that.
fn lets_in(node: &Node) -> bool {
    node.region == Some(Region::Entry) || node.is_around() && functions::is_around(node.name())
}

/// Whether `sti` or `cli` is of the function that handles an exception, and not of a sequence in it that saves the flag and restores it.
fn is_of_exception(path: &Path, place: usize) -> bool {
    let saves_flag = |at: usize| matches!(path.0[at].code.mnemonic(), Mnemonic::Pushf | Mnemonic::Pushfq);
    functions::handles(path.0[place].name()) && !path.before(place).any(saves_flag)
}

/// From the read of CR3 to its write; the register that is saved around it, also where isolation is off and a jump stands there; and the
/// jump back from where it has code of its own.
fn isolation(path: &mut Path) {
    let own: Vec<usize> =
        (0..path.0.len()).filter(|place| path.0[*place].region == Some(Region::Entry)).collect();
    own.iter().for_each(|place| cr3(path, *place));
    own.iter().for_each(|place| saved_for_cr3(path, *place));
    own.iter().for_each(|place| back_from_isolation(path, *place));
}

fn cr3(path: &mut Path, place: usize) {
    if !writes_cr3(&path.0[place].code) {
        return;
    }
    let read =
        (place.saturating_sub(LONGEST)..place).rev().find(|before| path.code(*before).is_some_and(reads_cr3));
    if let Some(read) = read {
        path.tell_pattern(read..=place, Part::Pti);
    }
}

fn is_of_pti(path: &Path, place: usize) -> bool {
    path.0.get(place).and_then(|node| node.part).is_some_and(|(part, _)| part == Part::Pti)
}

/// `push %rax` right before what is of isolation, and the `pop` of it right behind; idle where only a jump stands between them.
fn saved_for_cr3(path: &mut Path, place: usize) {
    let is_saved = |code: &Instruction, mnemonic| {
        code.mnemonic() == mnemonic
            && code.op0_kind() == OpKind::Register
            && code.op0_register() == Register::RAX
    };
    if !is_saved(&path.0[place].code, Mnemonic::Push) || !is_of_pti(path, place + 1) {
        return;
    }
    let end = (place + 1..(place + LONGEST).min(path.0.len()))
        .find(|behind| path.code(*behind).is_some_and(|code| is_saved(code, Mnemonic::Pop)));
    let Some(end) = end else { return };
    let is_idle = path.0[place + 1..end].iter().all(|node| node.is_idle);
    for at in [place, end] {
        if is_idle {
            path.tell_idle(at, Part::Pti);
        } else {
            path.tell(at, Part::Pti, Confidence::Pattern);
        }
    }
}

/// Where the table has put a jump because there is isolation: the jump from there to between the two.
fn back_from_isolation(path: &mut Path, place: usize) {
    let node = &path.0[place];
    if node.part != Some((Part::Pti, Confidence::Table)) || node.is_idle || !jumps(&node.code) {
        return;
    }
    let between = node.code.next_ip()..node.code.near_branch_target();
    let back = path.behind(place).find(|at| {
        let code = &path.0[*at].code;
        jumps(code) && between.contains(&code.near_branch_target())
    });
    back.into_iter().for_each(|at| path.tell(at, Part::Pti, Confidence::Pattern));
}

/// From the number of SPEC_CTRL to its write.
fn spec_ctrl(path: &mut Path, place: usize) {
    if path.0[place].code.mnemonic() != Mnemonic::Wrmsr {
        return;
    }
    let number = (place.saturating_sub(LONGEST)..place)
        .rev()
        .find(|before| path.code(*before).is_some_and(|code| loads_ecx(code, SPEC_CTRL)));
    if let Some(number) = number {
        path.tell_pattern(number..=place, Part::Ibrs);
    }
}

/// `cmp $bound, index; sbb mask, mask; and mask, index`, with the moves between them.
fn index_mask(path: &mut Path, place: usize) {
    let node = &path.0[place];
    let mask = node.code.op0_register();
    let is_mask = node.code.mnemonic() == Mnemonic::Sbb
        && mask == node.code.op1_register()
        && !node.is_in(Part::Service);
    if !is_mask {
        return;
    }
    let is_compare = |path: &Path, at: usize| path.0[at].code.mnemonic() == Mnemonic::Cmp;
    let compare = path.before(place).take(3).find(|at| is_compare(path, *at));
    let uses = |code: &Instruction| {
        let named = [code.op0_register().full_register(), code.op1_register().full_register()];
        let is_register = code.op1_kind() == OpKind::Register;
        let is_other = named[0] != named[1];
        code.mnemonic() == Mnemonic::And && is_register && is_other && named.contains(&mask.full_register())
    };
    let used = path.behind(place).take(6).find(|at| uses(&path.0[*at].code));
    let (Some(compare), Some(used)) = (compare, used) else { return };
    // The index is copied first, so that the comparison leaves it.
    let index = path.0[compare].code.op0_register().full_register();
    let copied = path.before(compare).next().filter(|at| {
        let code = &path.0[*at].code;
        code.mnemonic() == Mnemonic::Mov && code.op0_register().full_register() == index && !has_memory(code)
    });
    [copied, Some(compare), Some(place), Some(used)]
        .into_iter()
        .flatten()
        .for_each(|at| path.tell(at, Part::IndexMask, Confidence::Pattern));
}

/// The stack protector's word is loaded, put on the stack and cleared from the register; and loaded, compared, and decided by.
fn canary(path: &mut Path, place: usize) {
    let node = &path.0[place];
    let is_named = node.own.as_ref().is_some_and(|own| own.name == GUARD && own.offset == 0);
    let is_fixed = is_own(&node.code)
        && node.code.memory_base() == Register::None
        && node.code.memory_displacement64() == CANARY;
    let is_word = is_named || is_fixed;
    if !is_word || node.ring == 3 {
        return;
    }
    let register = node.code.op0_register().full_register();
    let is_of = |code: &Instruction| {
        let named = [code.op0_register(), code.op1_register()];
        named.iter().any(|named| named.full_register() == register) && register != Register::None
    };
    let near = if node.code.mnemonic() == Mnemonic::Mov {
        let put = |code: &Instruction| {
            is_of(code) && code.op0_kind() == OpKind::Memory || clears(code) && is_of(code)
        };
        path.behind(place).take(4).filter(|at| put(&path.0[*at].code)).take(2).collect::<Vec<_>>()
    } else {
        let load = |code: &Instruction| code.mnemonic() == Mnemonic::Mov && is_of(code) && has_memory(code);
        let loaded = path.before(place).take(1).filter(|at| load(&path.0[*at].code));
        loaded.chain(path.behind(place).take(1).filter(|at| decides(&path.0[*at].code))).collect()
    };
    std::iter::once(place).chain(near).for_each(|at| path.tell(at, Part::Canary, Confidence::Pattern));
}

/// What a division that clears the divider is of: it, or its nop, is known by the table, the numbers stand before it. Where it is a
/// function, all of that is there for it, and the call, too.
fn division(path: &mut Path, place: usize) {
    if path.0[place].part != Some((Part::Divider, Confidence::Table)) {
        return;
    }
    let is_off = is_nop(&path.0[place].code);
    let is_own = functions::own(path.0[place].name()) == Some(Part::Divider);
    let sets =
        |code: &Instruction| matches!(code.mnemonic(), Mnemonic::Mov | Mnemonic::Xor) && !has_memory(code);
    let first = path.before(place).last().unwrap_or(place);
    let around: Vec<usize> = if is_own {
        let caller = first.checked_sub(1).filter(|at| path.0[*at].code.is_call_near());
        let callee = path
            .behind(place)
            .chain(path.before(place))
            .filter(|at| path.0[*at].part.is_none_or(|(part, _)| part == Part::Divider));
        caller.into_iter().chain(callee).collect()
    } else {
        path.before(place).take(3).take_while(|at| sets(&path.0[*at].code)).collect()
    };
    for at in around {
        path.tell(at, Part::Divider, Confidence::Pattern);
        path.0[at].is_idle |= is_off;
    }
}

/// From the check of a call's number to the call of what knows its function, or of the function that a table has.
fn dispatch(path: &mut Path) {
    for call in 0..path.0.len() {
        let node = &path.0[call];
        let is_call = node.code.is_call_near() || node.code.is_call_near_indirect();
        let leads = is_call && node.is_in(Part::Handler) && path.called(call).is_some_and(is_dispatched);
        if !leads {
            continue;
        }
        let own: Vec<usize> = std::iter::once(call).chain(path.before(call).take(12)).collect();
        let bound = own.iter().position(|at| is_bound(&path.0[*at].code));
        let until = bound.map_or(0, |bound| bound + 1);
        own.into_iter().take(until + 1).for_each(|at| path.tell(at, Part::Dispatch, Confidence::Pattern));
    }
}

/// Whether it is the function of a call, or what knows it.
fn is_dispatched(called: &Node) -> bool {
    called.is_in(Part::Dispatch) || functions::serves(called.name())
}

/// The check of a number that no call has: between the work of entry and exit, comparisons with constants, the first of them with the bound.
/// A kernel that may have the calls of x32 has the branch of a static key among them, which is that key's.
fn no_such_call(path: &mut Path) {
    for place in 1..path.0.len() {
        let node = &path.0[place];
        if !(functions::is_of_calls(node.name()) && is_bound(&node.code)) {
            continue;
        }
        let bound = path.before(place).next().filter(|at| is_number_check(&path.0[*at].code));
        let Some(bound) = bound else { continue };
        let rest: Vec<usize> = path.behind(place).collect();
        let checks = |node: &Node| {
            is_number_check(&node.code)
                || node.code.flow_control() == FlowControl::ConditionalBranch
                || node.part == Some((Part::StaticKeys, Confidence::Table))
        };
        let more = rest.into_iter().take_while(|at| checks(&path.0[*at]));
        let all: Vec<usize> = [bound, place].into_iter().chain(more).collect();
        all.into_iter().for_each(|at| path.tell(at, Part::Dispatch, Confidence::Pattern));
    }
}

/// Whether it branches where a number is above another, or is not.
fn is_bound(code: &Instruction) -> bool {
    matches!(code.mnemonic(), Mnemonic::Ja | Mnemonic::Jbe)
}

/// `cmp $number, register`
fn is_number_check(code: &Instruction) -> bool {
    code.mnemonic() == Mnemonic::Cmp
        && code.op0_kind() == OpKind::Register
        && code.op1_kind() != OpKind::Memory
        && code.op1_kind() != OpKind::Register
}

/// The call of what reads the interrupt controller, with its arguments, and what is done with the answer.
fn external_check(path: &mut Path) {
    for place in 1..path.0.len() {
        let is_first =
            path.0[place].is_in(Part::ExternalCheck) && !path.0[place - 1].is_in(Part::ExternalCheck);
        let depth = path.0[place].call.depth;
        let is_caller =
            |path: &Path, at: usize| path.0[at].is_in(Part::Handler) && path.0[at].call.depth + 1 == depth;
        if !is_first {
            continue;
        }
        let Some(call) = (0..place).rev().take(LONGEST).find(|at| is_caller(path, *at)) else { continue };
        let sets = |code: &Instruction| code.mnemonic() == Mnemonic::Mov;
        let arguments: Vec<usize> =
            path.before(call).take(4).take_while(|at| sets(&path.0[*at].code)).collect();
        let reads = |code: &Instruction| decides(code) || code.mnemonic() == Mnemonic::And;
        let answer: Vec<usize> =
            path.behind(call).take(4).take_while(|at| reads(&path.0[*at].code)).collect();
        std::iter::once(call)
            .chain(arguments)
            .chain(answer)
            .for_each(|at| path.tell(at, Part::ExternalCheck, Confidence::Pattern));
    }
}

/// What stands at the beginnings of functions, also of such as are told by their names: `endbr64`, and nops.
pub(crate) fn beginnings(path: &mut Path) {
    for place in 0..path.0.len() {
        let node = &path.0[place];
        let is_first = node.place.as_ref().is_some_and(|place| place.offset == 0 || place.offset == 4);
        // Entry code has labels, not functions, but for those that it jumps to.
        let is_function = node.region != Some(Region::Entry) || functions::own(node.name()).is_some();
        let may_be = node.ring != 3 && is_first && !node.is_alternative && is_function;
        let part = match node.code.mnemonic() {
            _ if !may_be => continue,
            Mnemonic::Endbr64 | Mnemonic::Endbr32 => Part::Ibt,
            _ if !is_nop(&node.code) => continue,
            // In the place of endbr64 of a function that is never called through a pointer.
            _ if node.code.len() == 4 => {
                path.tell_idle(place, Part::Ibt);
                continue;
            }
            _ if node.code.len() == 5 => Part::FunctionTrace,
            _ => continue,
        };
        path.tell(place, part, Confidence::Pattern);
    }
}

/// Nops that are no padding by their length: they stand where a call or a jump could. Those of a compiled filter are the filter's: what has
/// compiled it puts them there, and no static key is in it.
fn nops(path: &mut Path) {
    for place in 0..path.0.len() {
        let node = &path.0[place];
        let is_compiled = node.place.is_none() && node.is_in(Part::Filter);
        let can_be =
            node.ring != 3 && !node.is_alternative && node.region != Some(Region::Entry) && !is_compiled;
        if can_be && is_nop(&node.code) && matches!(node.code.len(), 2 | 5) {
            path.tell(place, Part::StaticKeys, Confidence::Pattern);
        }
    }
}

/// Whether a register is moved that is the stack's or the frame's.
pub(crate) fn is_frame_argument(code: &Instruction) -> bool {
    let first = moves(code, Register::RSP, Register::RDI) || moves(code, Register::ESP, Register::EAX);
    first || moves(code, Register::RSP, Register::RSI)
}

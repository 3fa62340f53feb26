//! The random distance by which each call moves the stack (`include/linux/randomize_kstack.h`): taken on the way in, drawn for the next
//! call on the way out, each behind the branch of a static key.

use crate::anatomy::code::{calls, computes, has_memory, is_nop, jumps, loads_own};
use crate::anatomy::path::Path;
use crate::anatomy::{Confidence, Part};
use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};

/// No sequence here has more instructions.
const LONGEST: usize = 16;

/// With what counts how deep the CPU is in code that must not be interrupted.
const LONGEST_KEYED: usize = 28;

/// So far behind it is looked for what else uses the task that was loaded.
const USED_WITHIN: usize = 40;

/// Registers that a call leaves as they are (System V ABI for x86-64, 3.2.1).
pub(crate) const KEPT_BY_CALLS: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// Tells what moves the stack, what draws the next distance, and where these are switched off the jumps past them.
pub(crate) fn tell(path: &mut Path) {
    for place in 0..path.0.len() {
        let may_be = path.0[place].part.is_none_or(|(part, _)| part == Part::StackOffset);
        if path.0[place].is_around() && may_be {
            keyed(path, place);
            executed(path, place);
            skipped(path, place);
        }
    }
}

/// Behind the branch of the key in the C function of an entry, which leads to it: all up to where the stack is moved and aligned.
fn keyed(path: &mut Path, place: usize) {
    let node = &path.0[place];
    let is_key = node.part == Some((Part::StackOffset, Confidence::Table)) && node.is_in(Part::Handler);
    if !is_key {
        return;
    }
    let own: Vec<usize> = path.behind(place).take(LONGEST_KEYED).collect();
    let codes: Vec<Instruction> = own.iter().map(|at| path.0[*at].code).collect();
    let Some(at) = codes.iter().position(subtracts) else { return };
    let length = at + 1 + aligned(&codes[at + 1..]);
    let is_drawn = codes[..at].iter().all(|code| !is_nop(code) && code.mnemonic() != Mnemonic::Sti);
    if is_drawn {
        own[..length].iter().for_each(|at| path.tell(*at, Part::StackOffset, Confidence::Pattern));
    }
}

/// A sequence that begins here, with the branch before it.
fn executed(path: &mut Path, place: usize) {
    let own: Vec<usize> = std::iter::once(place).chain(path.behind(place)).take(LONGEST).collect();
    let codes: Vec<Instruction> = own.iter().map(|at| path.0[*at].code).collect();
    let Some(length) = sequence(&codes, path.0[place].is_in(Part::Handler)) else { return };
    branch(path, place, own.get(length).copied());
    // The task may be there for others, too.
    let is_shared = task(&codes).is_some_and(|task| is_kept(path, &own[..length], task));
    own[usize::from(is_shared)..length]
        .iter()
        .for_each(|at| path.tell(*at, Part::StackOffset, Confidence::Pattern));
}

/// The static key's branch before a sequence: a nop, or a jump to it, and another back from it.
fn branch(path: &mut Path, first: usize, behind: Option<usize>) {
    let Some(before) = path.before(first).next().filter(|before| before + 1 == first) else { return };
    let (node, address) = (&path.0[before], path.0[first].code.ip());
    let can_be = !node.is_alternative && matches!(node.code.len(), 2 | 5);
    if can_be && is_nop(&node.code) && node.code.next_ip() == address {
        path.tell_idle(before, Part::StackOffset);
    } else if can_be && jumps_to(&node.code, address) {
        let back = behind.filter(|back| jumps_to(&path.0[*back].code, node.code.next_ip()));
        back.into_iter()
            .flat_map(|back| [before, back])
            .for_each(|at| path.tell(at, Part::StackOffset, Confidence::Pattern));
    }
}

/// A jump that boot has put in the place of a nop, past a sequence: to its end, or to what jumps there.
fn skipped(path: &mut Path, place: usize) {
    let node = &path.0[place];
    let Some(length) = sequence(&node.skips, node.is_in(Part::Handler)) else { return };
    let end = node.skips[length - 1].next_ip();
    let back = path.behind(place).take(4).find(|at| jumps_to(&path.0[*at].code, end));
    let leads_there = jumps_to(&node.code, end);
    if leads_there || back.is_some() {
        path.tell_idle(place, Part::StackOffset);
        back.filter(|_| !leads_there).into_iter().for_each(|at| path.tell_idle(at, Part::StackOffset));
    }
}

/// How many instructions the sequence has that these begin with; none where they begin with none. Only the C function of an entry moves
/// its stack.
fn sequence(codes: &[Instruction], may_move: bool) -> Option<usize> {
    if let Some(drawn) = called(codes).filter(|_| may_move) {
        return Some(drawn + moves_stack(codes.get(drawn..)?)?);
    }
    let distance = usize::from(task(codes).is_some());
    let loaded = codes.get(distance).filter(|code| loads(code))?;
    let rest = codes.get(distance + 1..)?;
    let length = if may_move { moves_stack(rest) } else { None }.or_else(|| draws(rest, loaded))?;
    Some(distance + 1 + length)
}

/// Since Linux 7: the CPU's state of a generator, and the call that draws from it.
fn called(codes: &[Instruction]) -> Option<usize> {
    let [own, state, call, ..] = codes else { return None };
    let is_state = state.mnemonic() == Mnemonic::Lea && state.memory_base() == own.op0_register();
    (loads_own(own) && is_state && call.is_call_near()).then_some(3)
}

/// The register with the task, where that is loaded for the distance that it keeps.
fn task(codes: &[Instruction]) -> Option<Register> {
    let [first, second, ..] = codes else { return None };
    let register = first.op0_register();
    (loads_own(first) && loads(second) && second.memory_base() == register).then_some(register)
}

fn loads(code: &Instruction) -> bool {
    code.mnemonic() == Mnemonic::Mov
        && code.op0_kind() == OpKind::Register
        && code.op1_kind() == OpKind::Memory
}

/// Registers alone.
fn computes_alone(code: &Instruction) -> bool {
    computes(code) && (code.mnemonic() == Mnemonic::Lea || !has_memory(code))
}

/// `sub` of the distance from rsp, with what limits it before, and the alignment behind.
fn moves_stack(codes: &[Instruction]) -> Option<usize> {
    let at = codes.iter().position(subtracts)?;
    codes[..at].iter().all(computes_alone).then_some(at + 1 + aligned(&codes[at + 1..]))
}

/// `sub` of a register from rsp.
fn subtracts(code: &Instruction) -> bool {
    code.mnemonic() == Mnemonic::Sub
        && code.op0_register() == Register::RSP
        && code.op1_kind() == OpKind::Register
}

/// How many instructions align what the stack's pointer has become.
fn aligned(codes: &[Instruction]) -> usize {
    let aligns = |code: &&Instruction| {
        let by_stack = code.mnemonic() == Mnemonic::Lea && code.memory_base() == Register::RSP;
        by_stack || code.mnemonic() == Mnemonic::And && code.op1_kind() != OpKind::Register
    };
    codes.iter().take(2).take_while(aligns).count()
}

/// `rdtsc`, and the new distance stored where the last was loaded.
fn draws(codes: &[Instruction], loaded: &Instruction) -> Option<usize> {
    let counter = codes.iter().position(|code| code.mnemonic() == Mnemonic::Rdtsc)?;
    let stores = |code: &Instruction| {
        code.mnemonic() == Mnemonic::Mov
            && code.op0_kind() == OpKind::Memory
            && code.op1_kind() == OpKind::Register
            && code.memory_displacement64() == loaded.memory_displacement64()
    };
    let stored = counter + 1 + codes[counter + 1..].iter().position(stores)?;
    let is_alone = |at: usize| at == counter || computes_alone(&codes[at]);
    (0..stored).all(is_alone).then_some(stored + 1)
}

fn jumps_to(code: &Instruction, address: u64) -> bool {
    jumps(code) && code.near_branch_target() == address
}

/// Whether a function uses what the first of these instructions has loaded behind the last of them, too.
pub(crate) fn is_kept(path: &Path, sequence: &[usize], register: Register) -> bool {
    let mut factory = InstructionInfoFactory::new();
    for at in path.behind(sequence[0]).take(USED_WITHIN) {
        let code = &path.0[at].code;
        let used = factory.info(code).used_registers().iter();
        let accesses: Vec<OpAccess> = used
            .filter(|used| used.register().full_register() == register)
            .map(|used| used.access())
            .collect();
        let writes = |access: &OpAccess| matches!(access, OpAccess::Write | OpAccess::CondWrite);
        if !sequence.contains(&at) && !accesses.iter().all(writes) {
            return true;
        }
        let is_overwritten = accesses.iter().any(writes);
        if is_overwritten || calls(code) && !KEPT_BY_CALLS.contains(&register) {
            return false;
        }
    }
    false
}

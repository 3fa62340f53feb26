//! What the audit system has in the work around a call (`include/linux/audit.h`): the test whether the task has a context, the arguments,
//! and the call. The compiler inlines it.

use crate::anatomy::code::{has_memory, jumps, loads_own};
use crate::anatomy::path::Path;
use crate::anatomy::stack_offset::is_kept;
use crate::anatomy::{Confidence, Part, functions};
use iced_x86::{Code, FlowControl, Instruction, Mnemonic, OpKind, Register};

/// No such sequence has more instructions, and so early the called function looks at the context itself.
const LONGEST: usize = 24;

/// In the task, no field of the thread's flags is behind this (`struct thread_info`).
const THREAD_FLAGS: u64 = 0x40;

/// Tells each call of the audit system with what leads to it.
pub(crate) fn tell(path: &mut Path) {
    for call in 0..path.0.len().saturating_sub(1) {
        let is_call = path.0[call].code.is_call_near() && path.0[call].is_around();
        if is_call && path.0[call + 1].is_in(Part::Audit) {
            tell_call(path, call);
        }
    }
    for place in 0..path.0.len() {
        tell_test(path, place);
    }
}

/// Where work is due on the way in, the test alone: of the task's fields, only the context is compared with 0 there.
fn tell_test(path: &mut Path, place: usize) {
    let node = &path.0[place];
    let is_there = functions::enters(node.name()) && node.is_around() && is_own_context(&node.code);
    if !is_there {
        return;
    }
    let branch = path
        .behind(place)
        .next()
        .filter(|at| path.0[*at].code.flow_control() == FlowControl::ConditionalBranch && *at == place + 1);
    if let Some(branch) = branch {
        path.tell_pattern(place..=branch, Part::Audit);
    }
}

/// `cmpq $0, …(register)`, in a field behind those of the thread's flags.
fn is_own_context(code: &Instruction) -> bool {
    code.code() == Code::Cmp_rm64_imm8
        && code.op0_kind() == OpKind::Memory
        && code.immediate8() == 0
        && code.memory_displacement64() > THREAD_FLAGS
}

fn tell_call(path: &mut Path, call: usize) {
    let leads = |at: &usize| prepares(&path.0[*at].code);
    let mut own: Vec<usize> = path.before(call).take(LONGEST).take_while(leads).collect();
    own.reverse();
    let Some(test) = (0..own.len()).find(|place| is_test(path, &own, *place, call + 1)) else { return };
    let sequence: Vec<usize> = own[test..].iter().copied().chain([call]).collect();
    // Where the call stands elsewhere, a jump leads back behind the test.
    let behind = path.0[sequence[1]].code.next_ip();
    let is_back = |code: &Instruction| jumps(code) && code.near_branch_target() == behind;
    let restores = |code: &Instruction| code.mnemonic() == Mnemonic::Mov && is_kept_on_stack(code);
    let next: Vec<usize> = path.behind(call).take(3).collect();
    let restored = next.iter().take_while(|at| restores(&path.0[**at].code)).count();
    let is_back = next.get(restored).is_some_and(|at| is_back(&path.0[*at].code));
    let back = next.into_iter().take(restored + 1).filter(|_| is_back);
    let load =
        test.checked_sub(1).map(|before| own[before]).filter(|load| is_own_load(path, *load, &sequence));
    load.into_iter()
        .chain(sequence)
        .chain(back)
        .for_each(|at| path.tell(at, Part::Audit, Confidence::Pattern));
}

/// Whether it has an operand on the function's stack.
fn is_kept_on_stack(code: &Instruction) -> bool {
    has_memory(code) && matches!(code.memory_base(), Register::RSP | Register::RBP)
}

/// Whether it stores nothing and calls nothing: it only loads, computes and decides.
fn prepares(code: &Instruction) -> bool {
    // Registers may be kept on the stack meanwhile.
    let stores = has_memory(code) && code.op0_kind() == OpKind::Memory && !is_kept_on_stack(code);
    let sets = matches!(
        code.mnemonic(),
        Mnemonic::Mov
            | Mnemonic::Movsxd
            | Mnemonic::Movzx
            | Mnemonic::Lea
            | Mnemonic::Xor
            | Mnemonic::Setbe
            | Mnemonic::Setb
            | Mnemonic::Setae
            | Mnemonic::Seta
    );
    let decides = matches!(code.mnemonic(), Mnemonic::Cmp | Mnemonic::Test);
    let branches =
        matches!(code.flow_control(), FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch);
    sets && !stores || decides || branches
}

/// Whether a field of the task is compared with 0 and decided by that the called function then loads: the task's context.
fn is_test(path: &Path, own: &[usize], place: usize, called: usize) -> bool {
    let code = &path.0[own[place]].code;
    let compares = code.mnemonic() == Mnemonic::Cmp
        && code.op0_kind() == OpKind::Memory
        && code.try_immediate(1).is_ok_and(|number| number == 0);
    let branch = own.get(place + 1).map(|at| path.0[*at].code.flow_control());
    compares
        && branch == Some(FlowControl::ConditionalBranch)
        && loads_of_task(path, called, code.memory_displacement64())
}

/// Whether a function loads this field of the task early.
fn loads_of_task(path: &Path, first: usize, field: u64) -> bool {
    let own = std::iter::once(first).chain(path.behind(first)).take(LONGEST);
    let codes: Vec<&Instruction> = own.map(|at| &path.0[at].code).collect();
    let tasks: Vec<Register> =
        codes.iter().filter(|code| loads_own(code)).map(|code| code.op0_register()).collect();
    codes.iter().any(|code| {
        code.mnemonic() == Mnemonic::Mov
            && code.op1_kind() == OpKind::Memory
            && tasks.contains(&code.memory_base())
            && code.memory_displacement64() == field
    })
}

/// Whether the instruction before the test loads the task for it, and for nothing else.
fn is_own_load(path: &Path, load: usize, sequence: &[usize]) -> bool {
    let (code, test) = (&path.0[load].code, &path.0[sequence[0]].code);
    let register = code.op0_register();
    let all: Vec<usize> = [load].into_iter().chain(sequence.iter().copied()).collect();
    loads_own(code) && test.memory_base() == register && !is_kept(path, &all, register)
}

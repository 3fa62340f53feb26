//! What instructions are, as far as it tells what they belong to.

use iced_x86::{Code, FlowControl, Instruction, Mnemonic, OpKind, Register};

/// `nop`, of whatever length.
pub(crate) fn is_nop(instruction: &Instruction) -> bool {
    let exchanges_itself = instruction.mnemonic() == Mnemonic::Xchg
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register();
    instruction.mnemonic() == Mnemonic::Nop || exchanges_itself
}

fn registers(instruction: &Instruction) -> Option<(Register, Register)> {
    let both = instruction.op0_kind() == OpKind::Register && instruction.op1_kind() == OpKind::Register;
    both.then(|| (instruction.op0_register(), instruction.op1_register()))
}

/// `xor` of a register with itself.
pub(crate) fn clears(instruction: &Instruction) -> bool {
    let same = registers(instruction).is_some_and(|(first, second)| first == second);
    instruction.mnemonic() == Mnemonic::Xor && same
}

/// `mov %cr3, …`
pub(crate) fn reads_cr3(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Mov && instruction.op1_register() == Register::CR3
}

/// `mov …, %cr3`
pub(crate) fn writes_cr3(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Mov && instruction.op0_register() == Register::CR3
}

/// Whether it moves from one register to another.
pub(crate) fn moves(instruction: &Instruction, from: Register, to: Register) -> bool {
    instruction.mnemonic() == Mnemonic::Mov && registers(instruction) == Some((to, from))
}

/// Whether it loads a register from the CPU's own data.
pub(crate) fn loads_own(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Mov
        && instruction.op0_kind() == OpKind::Register
        && is_own(instruction)
}

/// Whether it loads rsp from an address that stands in it, or stores it there: in a kernel for one CPU that is that CPU's own data.
pub(crate) fn moves_stack_pointer(instruction: &Instruction) -> bool {
    let is_fixed = matches!(instruction.memory_base(), Register::None | Register::RIP);
    let operands = [instruction.op0_kind(), instruction.op1_kind()];
    let names = |register| register == Register::RSP;
    instruction.mnemonic() == Mnemonic::Mov
        && operands.contains(&OpKind::Memory)
        && is_fixed
        && (names(instruction.op0_register()) || names(instruction.op1_register()))
}

/// Whether it has an operand in the CPU's own data (`%gs:…`).
pub(crate) fn is_own(instruction: &Instruction) -> bool {
    has_memory(instruction) && instruction.memory_segment() == Register::GS
}

/// Whether it has an operand in memory.
pub(crate) fn has_memory(instruction: &Instruction) -> bool {
    instruction.op_kinds().any(|kind| kind == OpKind::Memory)
}

/// Whether it has an operand on the stack, by rsp.
pub(crate) fn is_on_stack(instruction: &Instruction) -> bool {
    has_memory(instruction) && instruction.memory_base() == Register::RSP
}

/// Whether it compares, tests or shifts a value that a branch then decides by, or is that branch.
pub(crate) fn decides(instruction: &Instruction) -> bool {
    let by_value = matches!(
        instruction.mnemonic(),
        Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Shl | Mnemonic::Sar | Mnemonic::Shr | Mnemonic::Bt
    );
    by_value || instruction.flow_control() == FlowControl::ConditionalBranch
}

/// Whether it keeps what was decided in a register: `sete`.
pub(crate) fn keeps_decision(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Sete
            | Mnemonic::Setne
            | Mnemonic::Seta
            | Mnemonic::Setae
            | Mnemonic::Setb
            | Mnemonic::Setbe
    )
}

/// Whether it is a jump to an address that stands in it, without condition.
pub(crate) fn jumps(instruction: &Instruction) -> bool {
    instruction.flow_control() == FlowControl::UnconditionalBranch
}

/// Whether it goes back to the program, or to what an exception has interrupted.
pub(crate) fn goes_back(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Sysret
            | Mnemonic::Sysretq
            | Mnemonic::Sysexit
            | Mnemonic::Sysexitq
            | Mnemonic::Iret
            | Mnemonic::Iretd
            | Mnemonic::Iretq
    )
}

/// `mov $number, %ecx`
pub(crate) fn loads_ecx(instruction: &Instruction, number: u32) -> bool {
    instruction.code() == Code::Mov_r32_imm32
        && instruction.op0_register() == Register::ECX
        && instruction.immediate32() == number
}

/// Whether it is `and`, `add`, `lea` or the like, on registers and what the task has.
pub(crate) fn computes(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::And
            | Mnemonic::Add
            | Mnemonic::Lea
            | Mnemonic::Mov
            | Mnemonic::Movzx
            | Mnemonic::Xor
            | Mnemonic::Ror
            | Mnemonic::Rol
            | Mnemonic::Shl
            | Mnemonic::Shr
            | Mnemonic::Or
            | Mnemonic::Sub
    )
}

/// Whether it calls a function.
pub(crate) fn calls(code: &Instruction) -> bool {
    matches!(code.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

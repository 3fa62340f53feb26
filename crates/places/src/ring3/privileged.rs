//! What ring 3 cannot execute of a path, or what would leave it: a closed list. Such an instruction is left out of what is timed, and
//! named. A test holds that no other privileged one is in any path of the kernel.

use iced_x86::{Instruction, Mnemonic};
use table::paths::Instead;

/// What is done with an instruction that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Nothing stands for it.
    Nothing,
    /// It ends the path with the program's stack pointer in place: a near return stands for it.
    Return,
    /// It pops a frame that has the program's stack pointer, and ends the path: a load of that word and a near return stand for it.
    ReturnOfFrame,
}

/// The list, with the name that each has in reports.
const PRIVILEGED: &[(Mnemonic, &str, Way)] = &[
    (Mnemonic::Swapgs, "swapgs", Way::Nothing),
    (Mnemonic::Wrmsr, "wrmsr", Way::Nothing),
    (Mnemonic::Rdmsr, "rdmsr", Way::Nothing),
    (Mnemonic::Clac, "clac", Way::Nothing),
    (Mnemonic::Stac, "stac", Way::Nothing),
    (Mnemonic::Invpcid, "invpcid", Way::Nothing),
    (Mnemonic::Invlpg, "invlpg", Way::Nothing),
    (Mnemonic::Cli, "cli", Way::Nothing),
    (Mnemonic::Sti, "sti", Way::Nothing),
    (Mnemonic::Sysret, "sysret", Way::Return),
    (Mnemonic::Sysretq, "sysret", Way::Return),
    (Mnemonic::Iretq, "iretq", Way::ReturnOfFrame),
    (Mnemonic::Sysexit, "sysexit", Way::Return),
    (Mnemonic::Sysexitq, "sysexit", Way::Return),
];

/// Writes of CR3, and all others that name a control register.
const TO_CR3: &str = "mov to CR3";
const OF_CONTROL: &str = "mov of a control register";

/// All names that reports have of what is left out.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRIVILEGED.iter().map(|(_, name, _)| *name).chain([TO_CR3, OF_CONTROL])
}

/// `mov 24(%rsp), %rsp`: of what iretq pops, the stack pointer (SDM vol. 2, IRET).
const LOAD_STACK_POINTER: [u8; 5] = [0x48, 0x8b, 0x64, 0x24, 0x18];

const RETURN: u8 = 0xc3;

/// The name of an instruction that is left out; `None` of one that ring 3 executes.
pub fn name(instruction: &Instruction) -> Option<&'static str> {
    if is_of_control_register(instruction) {
        return Some(if is_write_of_cr3(instruction) { TO_CR3 } else { OF_CONTROL });
    }
    listed(instruction).map(|(_, name, _)| *name)
}

/// What stands in a path for an instruction; `more` is put in front of what ends it.
pub(super) fn instead(instruction: &Instruction, more: &[u8]) -> Instead {
    if is_of_control_register(instruction) {
        return if is_read_of_cr3(instruction) {
            Instead::Code(cleared(instruction))
        } else {
            Instead::Nothing
        };
    }
    match listed(instruction) {
        None => Instead::Itself,
        Some((_, _, Way::Nothing)) => Instead::Nothing,
        Some((_, _, Way::Return)) => Instead::Code([more, &[RETURN]].concat()),
        Some((_, _, Way::ReturnOfFrame)) => Instead::Code([more, &LOAD_STACK_POINTER, &[RETURN]].concat()),
    }
}

fn listed(instruction: &Instruction) -> Option<&'static (Mnemonic, &'static str, Way)> {
    PRIVILEGED.iter().find(|(mnemonic, ..)| *mnemonic == instruction.mnemonic())
}

fn is_of_control_register(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Mov
        && (0..instruction.op_count()).any(|operand| instruction.op_register(operand).is_cr())
}

/// What is read is computed with, and must be a number that is the same in every layout.
fn is_read_of_cr3(instruction: &Instruction) -> bool {
    instruction.op1_register() == iced_x86::Register::CR3
}

/// `xor` of the register that an instruction writes with itself.
fn cleared(instruction: &Instruction) -> Vec<u8> {
    let number = instruction.op0_register().number() as u8;
    let low = number & 7;
    let rex = (number > 7).then_some(0x45);
    rex.into_iter().chain([0x31, 0xc0 | low << 3 | low]).collect()
}

fn is_write_of_cr3(instruction: &Instruction) -> bool {
    instruction.op0_register() == iced_x86::Register::CR3
}

//! What kind of instruction one is: what it does, to which registers, to what kind of memory, with which constant.

use crate::anatomy::is_nop;
use iced_x86::{Instruction, OpKind, Register};

/// Its kind: `mov %cr3, %rsp`, `push (own)`, `cmp $0x33, (%rsp)`. Where a branch goes and which address a variable has is not of it, nor how
/// far from a register an operand lies; and all nops are one kind.
pub(crate) fn kind(instruction: &Instruction) -> String {
    if is_nop(instruction) {
        return "nop".into();
    }
    let mnemonic = format!("{:?}", instruction.mnemonic()).to_ascii_lowercase();
    // As the GNU assembler has them: the source first.
    let operands = (0..instruction.op_count()).rev().filter_map(|place| operand(instruction, place));
    let operands = operands.collect::<Vec<_>>().join(", ");
    format!("{mnemonic} {operands}").trim_end().to_owned()
}

fn operand(instruction: &Instruction, place: u32) -> Option<String> {
    match instruction.op_kind(place) {
        OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64 => None,
        OpKind::Register => Some(name(instruction.op_register(place))),
        OpKind::Memory => Some(memory(instruction)),
        OpKind::FarBranch16 | OpKind::FarBranch32 => Some("far".into()),
        kind if is_immediate(kind) => Some(constant(instruction.immediate(place))),
        // Operands of string instructions, which the mnemonic says.
        _ => None,
    }
}

fn is_immediate(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Immediate8
            | OpKind::Immediate8_2nd
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64
    )
}

fn constant(value: u64) -> String {
    match value as i64 {
        negative @ ..0 => format!("$-{:#x}", negative.unsigned_abs()),
        other => format!("${other:#x}"),
    }
}

/// A variable of the kernel's has an address of its own, whether the CPU's GS base is added to it or not.
fn memory(instruction: &Instruction) -> String {
    let (base, index) = (instruction.memory_base(), instruction.memory_index());
    match (base, index) {
        (Register::None | Register::RIP | Register::EIP, Register::None) => "(own)".into(),
        (base, Register::None) => format!("({})", name(base)),
        (Register::None, index) => format!("(own, {})", name(index)),
        (base, index) => format!("({}, {})", name(base), name(index)),
    }
}

fn name(register: Register) -> String {
    format!("%{}", format!("{register:?}").to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn of(bytes: &[u8]) -> String {
        kind(&Decoder::with_ip(64, bytes, 0x1000, DecoderOptions::NONE).decode())
    }

    #[test]
    fn a_kind_has_registers_and_constants_and_neither_addresses_nor_labels() {
        for (bytes, expected) in [
            (&[0x66, 0x90][..], "nop"),
            (&[0x0f, 0x1f, 0x44, 0, 0], "nop"),
            (&[0x65, 0x48, 0x8b, 0x24, 0x25, 0x0c, 0x60, 0, 0], "mov (own), %rsp"),
            (&[0x48, 0x8b, 0x24, 0x25, 0x0c, 0x60, 0, 0x80], "mov (own), %rsp"),
            (&[0x6a, 0x2b], "push $0x2b"),
            (&[0x6a, 0xda], "push $-0x26"),
            (&[0xff, 0x77, 0x28], "push (%rdi)"),
            (&[0x48, 0x81, 0xe4, 0xff, 0xe7, 0xff, 0xff], "and $-0x1801, %rsp"),
            (&[0xe8, 1, 0, 0, 0], "call"),
            (&[0x75, 0x10], "jne"),
            (&[0x0f, 0x85, 0x10, 0, 0, 0], "jne"),
            (&[0x48, 0x0f, 0x07], "sysretq"),
            (&[0x31, 0xf6], "xor %esi, %esi"),
            (&[0x48, 0x81, 0xbc, 0x24, 0x88, 0, 0, 0, 0x33, 0, 0, 0], "cmp $0x33, (%rsp)"),
            (&[0x48, 0x83, 0xbc, 0x24, 0x88, 0, 0, 0, 0x33], "cmp $0x33, (%rsp)"),
        ] {
            assert_eq!(of(bytes), expected);
        }
    }
}

//! Addresses of the kernel's memory in a path's instructions, for a program that has that memory elsewhere. Branches need nothing: what
//! they go to is moved by the same distance as they are.

use super::memory::{KERNEL, moved};
use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind};
use table::paths::LaidStep;

/// Moves the addresses in a step; the kernel's memory ends at `end`.
pub(super) fn relocate(step: &mut LaidStep, end: u64) {
    let is_kernels = |address: u64| (KERNEL..end).contains(&address);
    let original = step.code.clone();
    let mut decoder = Decoder::with_ip(64, &original, step.address, DecoderOptions::NONE);
    while decoder.can_decode() {
        let instruction = decoder.decode();
        let offsets = decoder.get_constant_offsets(&instruction);
        let start = (instruction.ip() - step.address) as usize;
        let mut write = |offset: usize, size: usize, address: u64| {
            let place = step.code.get_mut(start + offset..start + offset + 4);
            if let Some(place) = place.filter(|_| size == 4 && is_kernels(address)) {
                place.copy_from_slice(&(moved(address) as u32).to_le_bytes());
            }
        };
        if has_memory(&instruction) {
            let address = instruction.memory_displacement64();
            write(offsets.displacement_offset(), offsets.displacement_size(), address);
        }
        if let Some(address) = immediate_address(&instruction) {
            write(offsets.immediate_offset(), offsets.immediate_size(), address);
        }
    }
}

fn has_memory(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory)
}

/// A number of 32 bits that the processor extends by its sign, as all addresses of the kernel are.
fn immediate_address(instruction: &Instruction) -> Option<u64> {
    let operand =
        (0..instruction.op_count()).find(|op| instruction.op_kind(*op) == OpKind::Immediate32to64)?;
    Some(instruction.immediate(operand))
}

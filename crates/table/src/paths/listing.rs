//! Machine code as the assembler's files have it, with symbols instead of addresses.

use crate::paths::{Beside, File};
use iced_x86::{Decoder, DecoderOptions, Formatter, GasFormatter, Instruction, SymbolResolver, SymbolResult};
use std::collections::BTreeMap;

/// An instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Where it is.
    pub address: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Itself, in the assembler's words.
    pub text: String,
}

/// Names of the kernel's own addresses. Of several at one address, the first of the alphabet.
struct Names {
    names: BTreeMap<u64, String>,
    /// The path's beginning, from which addresses in it are counted.
    start: Option<u64>,
    bits: u32,
}

/// No path is longer.
const PATH_BYTES: u64 = 4096;

/// Below this, a number is no address of a kernel of so many bits.
fn kernel_base(bits: u32) -> u64 {
    if bits == 64 { 0xffff_ffff_8000_0000 } else { 0xc000_0000 }
}

impl SymbolResolver for Names {
    fn symbol(
        &mut self,
        _: &Instruction,
        _: u32,
        _: Option<u32>,
        address: u64,
        size: u32,
    ) -> Option<SymbolResult<'_>> {
        // An absolute address is 32 bits in the instruction, which the processor extends.
        let address = if size == 4 && self.bits == 64 { address as u32 as i32 as u64 } else { address };
        match self.start.and_then(|start| address.checked_sub(start)).filter(|offset| *offset < PATH_BYTES) {
            Some(offset) => Some(SymbolResult::with_string(address, format!("+{offset:x}"))),
            None => Some(SymbolResult::with_str(address, self.names.get(&address)?)),
        }
    }
}

/// Disassembles code that runs at an address of a kernel. With the beginning of its path, branches within that are shown as
/// distances from there.
pub fn disassemble(kernel: &File, address: u64, code: &[u8], start: Option<u64>) -> Vec<Line> {
    disassemble_as(kernel.bits(), kernel, address, code, start)
}

impl Beside {
    /// Its instructions. Those of 16 bits have a segment that begins with them: branches are shown as offsets in it.
    pub fn lines(&self, kernel: &File) -> Vec<Line> {
        let base = if self.bits == 16 { self.start } else { 0 };
        let mut lines = disassemble_as(self.bits, kernel, self.start - base, &self.code, None);
        lines.iter_mut().for_each(|line| line.address += base);
        lines
    }
}

/// What writes instructions as the GNU assembler does, with these names in the place of addresses.
pub fn gnu_formatter(names: Option<Box<dyn SymbolResolver>>) -> GasFormatter {
    let mut formatter = GasFormatter::with_options(names, None);
    let options = formatter.options_mut();
    options.set_space_after_operand_separator(true);
    options.set_uppercase_hex(false);
    options.set_signed_immediate_operands(true);
    options.set_branch_leading_zeros(false);
    options.set_show_symbol_address(false);
    formatter
}

fn disassemble_as(bits: u32, kernel: &File, address: u64, code: &[u8], start: Option<u64>) -> Vec<Line> {
    let mut names = BTreeMap::new();
    // The linker script's names of places come last.
    let is_place = |name: &str| name.ends_with("_start") || name.ends_with("_end");
    for wanted in [false, true] {
        let of_kernel = kernel.symbols().filter(|(_, at)| *at >= kernel_base(kernel.bits()));
        for (name, at) in of_kernel.filter(|(name, _)| is_place(name) == wanted) {
            names.entry(at).or_insert_with(|| name.to_string());
        }
    }
    let mut formatter = gnu_formatter(Some(Box::new(Names { names, start, bits: kernel.bits() })));
    formatter.options_mut().set_first_operand_char_index(8);
    let line = |instruction: Instruction| {
        let from = (instruction.ip() - address) as usize;
        let mut text = String::new();
        formatter.format(&instruction, &mut text);
        let bytes = code.get(from..from + instruction.len()).unwrap_or_default().to_vec();
        Line { address: instruction.ip(), bytes, text }
    };
    Decoder::with_ip(bits, code, address, DecoderOptions::NONE).into_iter().map(line).collect()
}

//! Instructions from the bytes that stood in memory.

use crate::anatomy::symbols::Symbols;
use iced_x86::{Code, Formatter, GasFormatter, Instruction, OpKind, SymbolResolver, SymbolResult};
use std::rc::Rc;
use table::paths::gnu_formatter;

/// Writes instructions with a kernel's symbols.
pub(crate) struct Writer(GasFormatter);

impl Writer {
    pub fn new(symbols: Rc<Symbols>) -> Writer {
        Writer(gnu_formatter(Some(Box::new(Names(symbols)))))
    }

    /// `call do_syscall_64`
    pub fn text(&mut self, instruction: &Instruction) -> String {
        let mut text = String::new();
        if instruction.is_invalid() {
            text.push_str("(no instruction)");
        } else if instruction.code() == Code::Int_imm8 {
            // A number of a vector is no signed one.
            text = format!("int ${:#x}", instruction.immediate8());
        } else {
            self.0.format(instruction, &mut text);
        }
        text
    }
}

/// Symbols in the place of addresses.
struct Names(Rc<Symbols>);

impl SymbolResolver for Names {
    fn symbol(
        &mut self,
        code: &Instruction,
        _: u32,
        operand: Option<u32>,
        address: u64,
        size: u32,
    ) -> Option<SymbolResult<'_>> {
        let is_memory = operand.is_some_and(|operand| code.op_kind(operand) == OpKind::Memory);
        let own = self.0.own(code).filter(|_| is_memory);
        match size {
            _ if own.is_some() => Some(SymbolResult::with_string(address, own?.text())),
            8 => Some(SymbolResult::with_string(address, self.0.text(address)?)),
            // 32 bits that the processor extends may be an address, or any number.
            4 => {
                let extended = address as u32 as i32 as u64;
                self.0.place(extended)?;
                Some(SymbolResult::with_string(address, self.0.text(extended)?))
            }
            _ => None,
        }
    }
}

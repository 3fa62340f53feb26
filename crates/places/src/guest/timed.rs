//! The timed code of an entry, as it stands in its probe's file (`probe/timed.inc`): what is executed between the stamps of the control,
//! and between those of the entry.

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};
use object::{Object, ObjectSection, ObjectSymbol};
use table::header::sequence_symbol;
use table::{Entry, Operation};

/// `lfence; rdtsc; lfence`, two stores that keep the result, `lfence`.
const STAMP: [Mnemonic; 6] =
    [Mnemonic::Lfence, Mnemonic::Rdtsc, Mnemonic::Lfence, Mnemonic::Mov, Mnemonic::Mov, Mnemonic::Lfence];

/// The instruction that makes a system call.
pub(crate) const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// The number of execve (arch/x86/entry/syscalls/syscall_64.tbl).
const EXECVE: u32 = 59;

/// The function of a probe that makes a process, which executes another program (probe/x86_64/process.c).
const MAKE_PROCESS: &str = "make_process";

/// Controls have a dozen instructions.
const MOST: usize = 256;

/// Where an entry is used, and what its control does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Timed {
    /// The first instruction behind the entry's first stamp.
    pub begin: u64,
    /// The first of its second stamp.
    pub end: u64,
    /// What the control executes between its stamps, in the order of execution.
    pub control: Vec<Instruction>,
}

impl Timed {
    /// Of an entry's use for an operation, by the entry's probe.
    ///
    /// # Errors
    /// In words, when the file does not have it, or it is not as `timed.inc` makes it.
    pub fn of(entry: &Entry, operation: &Operation) -> Result<Timed, String> {
        let name = format!("{}_timed", sequence_symbol(entry, operation.length()));
        let code = function(entry, &name).ok_or_else(|| format!("{} has no {name}", entry.probe.name()))?;
        Timed::between(&code)
            .ok_or_else(|| format!("{name} does not have the four stamps that probe/timed.inc gives it"))
    }

    /// Stamps 0 to 3: the chain is behind 0, the control behind 1, the entry behind 2.
    fn between(code: &[Instruction]) -> Option<Timed> {
        let is_stamp = |at: &usize| {
            code[*at..].iter().map(Instruction::mnemonic).take(STAMP.len()).eq(STAMP.iter().copied())
        };
        let stamps: Vec<usize> = (0..code.len()).filter(is_stamp).collect();
        let [_, control, entry, last] = *stamps.first_chunk::<4>()?;
        let (begin, end) = (code.get(entry + STAMP.len())?.ip(), code.get(last)?.ip());
        let control = executed(code.get(control + STAMP.len()..entry)?, code.get(entry)?.ip())?;
        Some(Timed { begin, end, control })
    }

    /// Of what was executed between the entry's stamps, which part is its own: without what its control executes before that, and
    /// behind it. And how many instructions the control has in its place.
    pub fn own(&self, executed: &[Instruction]) -> (std::ops::Range<usize>, usize) {
        let pairs = |(one, other): &(&Instruction, &Instruction)| is_same(one, other);
        let before = executed.iter().zip(&self.control).take_while(pairs).count();
        let left = executed.len().min(self.control.len()) - before;
        let behind =
            executed.iter().rev().zip(self.control.iter().rev()).take(left).take_while(pairs).count();
        (before..executed.len() - behind, self.control.len() - before - behind)
    }
}

/// Where the process that an entry's probe makes executes another program: the address of `syscall`, behind the instruction that loads
/// its number.
///
/// # Errors
/// In words, when the probe has no such place.
pub(crate) fn execve(entry: &Entry) -> Result<u64, String> {
    let code = function(entry, MAKE_PROCESS).unwrap_or_default();
    let loads = |one: &Instruction| one.code() == Code::Mov_r32_imm32 && one.immediate32() == EXECVE;
    let behind = code.iter().skip_while(|one| !loads(one));
    let found = behind.into_iter().find(|one| one.code() == Code::Syscall);
    found.map(Instruction::ip).ok_or_else(|| format!("{} executes no other program", entry.probe.name()))
}

/// The instructions of one function of an entry's probe.
fn function(entry: &Entry, name: &str) -> Option<Vec<Instruction>> {
    let file = object::File::parse(crate::probes::image(entry.probe)).ok()?;
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name))?;
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    let bytes = section.data_range(symbol.address(), symbol.size()).ok()??;
    let bits = u32::from(entry.bits());
    Some(Decoder::with_ip(bits, bytes, symbol.address(), DecoderOptions::NONE).into_iter().collect())
}

/// In the order of execution, from the first on until this address: jumps and calls lead to where they lead. None if they do not come
/// there.
fn executed(code: &[Instruction], end: u64) -> Option<Vec<Instruction>> {
    let (mut done, mut calls) = (Vec::new(), Vec::new());
    let mut next = code.first().map_or(end, Instruction::ip);
    while next != end {
        let instruction = code.iter().find(|instruction| instruction.ip() == next)?;
        next = match instruction.flow_control() {
            FlowControl::Next => instruction.next_ip(),
            FlowControl::UnconditionalBranch => instruction.near_branch_target(),
            FlowControl::Call => {
                calls.push(instruction.next_ip());
                instruction.near_branch_target()
            }
            FlowControl::Return => calls.pop()?,
            _ => return None,
        };
        done.push(*instruction);
        if done.len() > MOST {
            return None;
        }
    }
    Some(done)
}

/// Whether two instructions are the same, but for how far it is to what they refer to relative to themselves.
fn is_same(one: &Instruction, other: &Instruction) -> bool {
    let is_relative = |instruction: &Instruction| {
        instruction.is_ip_rel_memory_operand()
            || instruction.is_jmp_short_or_near()
            || instruction.is_call_near()
    };
    if is_relative(one) && is_relative(other) {
        let registers = |instruction: &Instruction| [instruction.op0_register(), instruction.op1_register()];
        return (one.code(), registers(one)) == (other.code(), registers(other));
    }
    one == other && one.code() != Code::INVALID
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::{Kernel, Table};

    #[test]
    fn every_entry_of_linux_has_its_timed_code() {
        for (entry, operation) in Table::get().rows(Kernel::Linux) {
            let name = format!("{} {}", entry.name, operation.name);
            let timed = Timed::of(entry, operation).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert!(timed.begin < timed.end, "{name}");
        }
    }

    #[test]
    fn the_probe_of_64_bits_executes_another_program() {
        let at = |name| execve(Table::get().entry(name).unwrap());
        assert!(at("syscall-x86_64").is_ok(), "{:?}", at("syscall-x86_64"));
        assert!(at("int80-i386").is_err());
    }

    #[test]
    fn of_a_control_that_calls_all_is_in_its_order() {
        let table = Table::get();
        let timed =
            Timed::of(table.entry("sysenter-i386").unwrap(), table.operation("getppid").unwrap()).unwrap();
        let mnemonics: Vec<Mnemonic> = timed.control.iter().map(Instruction::mnemonic).collect();
        let behind = [
            Mnemonic::Call,
            Mnemonic::Push,
            Mnemonic::Push,
            Mnemonic::Push,
            Mnemonic::Mov,
            Mnemonic::Pop,
            Mnemonic::Pop,
            Mnemonic::Pop,
            Mnemonic::Ret,
            Mnemonic::Jmp,
        ];
        assert!(mnemonics.ends_with(&behind), "{mnemonics:?}");
    }

    /// 64-bit code at an address.
    fn code(address: u64, bytes: &[u8]) -> Vec<Instruction> {
        Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).into_iter().collect()
    }

    #[test]
    fn the_entry_s_own_part_is_what_its_control_has_not() {
        let timed = |control| Timed { begin: 0, end: 0, control };
        // mov eax, 1; nop; ret against mov eax, 1; syscall; cli; ret.
        let control = timed(code(0x100, &[0xb8, 1, 0, 0, 0, 0x90, 0xc3]));
        let entry = code(0x200, &[0xb8, 1, 0, 0, 0, 0x0f, 5, 0xfa, 0xc3]);
        assert_eq!(control.own(&entry), (1..3, 1));
        assert_eq!(timed(Vec::new()).own(&entry), (0..4, 0));
        // All of the control is there twice: it counts once.
        let twice = timed(code(0x100, &[0x90, 0x90]));
        assert_eq!(twice.own(&code(0x200, &[0x90, 0x90, 0x90])), (2..3, 0));
        assert_eq!(twice.own(&[]), (0..0, 2));
        // Jumps of another length are the same, another instruction is not.
        assert_eq!(timed(code(0x100, &[0xeb, 0])).own(&code(0x200, &[0xeb, 8])), (1..1, 0));
        assert_eq!(timed(code(0x100, &[0xeb, 0])).own(&code(0x200, &[0xe8, 8, 0, 0, 0])), (0..1, 1));
    }
}

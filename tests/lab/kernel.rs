//! The kernel's file: its symbols, and the templates of its entry paths (lab/entry/path.inc).

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::collections::BTreeMap;

/// A kernel, read.
pub struct Kernel {
    whole: &'static [u8],
    file: object::File<'static>,
    symbols: BTreeMap<String, u64>,
}

const NOP: u8 = 0x90;

/// A step of a path's template.
#[derive(Debug, Clone)]
pub struct Step {
    pub name: String,
    step: paths::Step,
    instructions: Vec<Instruction>,
}

/// A path's template, with what is attached to its hooks.
#[derive(Debug, Clone)]
pub struct Path {
    pub steps: Vec<Step>,
}

impl Kernel {
    /// The embedded one.
    pub fn read() -> Kernel {
        Kernel::of(lab::KERNEL)
    }

    pub fn of(whole: &'static [u8]) -> Kernel {
        let file = object::File::parse(whole).unwrap();
        let symbols = file.symbols().map(|symbol| (symbol.name().unwrap().to_string(), symbol.address()));
        Kernel { whole, symbols: symbols.collect(), file }
    }

    pub fn symbol(&self, name: &str) -> u64 {
        *self.symbols.get(name).unwrap_or_else(|| panic!("the kernel has no symbol {name}"))
    }

    /// What lies at an address, to the end of its section.
    fn bytes(&self, address: u64) -> &'static [u8] {
        let inside = |start: u64, size: u64| address >= start && address - start < size;
        let section = self.file.sections().find(|section| inside(section.address(), section.size())).unwrap();
        &section.data().unwrap()[(address - section.address()) as usize..]
    }

    /// Where an address is in the kernel's file.
    pub fn place(&self, address: u64) -> usize {
        self.bytes(address).as_ptr() as usize - self.whole.as_ptr() as usize
    }

    /// What a variable holds.
    pub fn data(&self, name: &str, bytes: usize) -> &'static [u8] {
        &self.bytes(self.symbol(name))[..bytes]
    }

    /// The kernel's file with some bytes of a function changed for others, wherever they are; they must be there.
    pub fn changed(&self, function: &str, from: &[u8], to: &[u8]) -> Vec<u8> {
        let symbol = self.file.symbols().find(|symbol| symbol.name() == Ok(function)).unwrap();
        let code = &self.bytes(symbol.address())[..symbol.size() as usize];
        let start = self.place(symbol.address());
        let found = code.windows(from.len()).enumerate().filter(|(_, bytes)| *bytes == from);
        let places: Vec<usize> = found.map(|(at, _)| start + at).collect();
        assert!(!places.is_empty(), "{function} has no {from:x?}");
        let mut file = self.whole.to_vec();
        places.iter().for_each(|at| file[*at..at + to.len()].copy_from_slice(to));
        file
    }

    /// Calls of a function: of each, the function that calls it, the call's address and its length.
    pub fn calls(&self, callee: &str) -> Vec<(String, u64, usize)> {
        let to = self.symbol(callee);
        let is_call = |code: &Instruction| code.is_call_near() && code.near_branch_target() == to;
        let calls = self.functions().flat_map(|(name, code)| {
            let calls = code.into_iter().filter(is_call);
            calls.map(|code| (name.to_string(), code.ip(), code.len())).collect::<Vec<_>>()
        });
        calls.collect()
    }

    /// Functions whose size the file tells, and their instructions.
    fn functions(&self) -> impl Iterator<Item = (&str, Vec<Instruction>)> {
        let functions = self.file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
        functions.filter(|function| function.size() != 0).map(|function| {
            let (start, size) = (function.address(), function.size() as usize);
            let code = Decoder::with_ip(64, &self.bytes(start)[..size], start, DecoderOptions::NONE);
            (function.name().unwrap(), code.into_iter().collect())
        })
    }

    /// All instructions of these.
    pub fn instructions(&self) -> impl Iterator<Item = Instruction> {
        self.functions().flat_map(|(_, code)| code)
    }

    /// The kernel's file without some calls: the function that calls, and the one that is called.
    pub fn without(&self, left_out: &[(&str, &str)]) -> Vec<u8> {
        let mut file = self.whole.to_vec();
        for (caller, callee) in left_out {
            let mut calls = self.calls(callee);
            calls.retain(|(name, ..)| name == caller);
            assert!(!calls.is_empty(), "{caller} does not call {callee}");
            for (_, address, length) in calls {
                let at = self.place(address);
                file[at..at + length].fill(NOP);
            }
        }
        file
    }

    /// The template of `path_<name>`.
    pub fn path(&self, name: &str) -> Path {
        let paths = paths::Paths::read(&paths::File::read(lab::KERNEL).unwrap()).unwrap();
        let path = paths.path(name).unwrap_or_else(|| panic!("there is no path {name}"));
        let steps = paths.steps(path).into_iter();
        Path {
            steps: steps
                .map(|step| Step { name: step.name.clone(), instructions: step.instructions(), step })
                .collect(),
        }
    }

    /// Pages that are not mapped, below stacks.
    pub fn guard_pages(&self) -> Vec<u64> {
        let (start, end) = (self.symbol("guard_pages_start"), self.symbol("guard_pages_end"));
        let quad = |at| u64::from_le_bytes(*self.bytes(at).first_chunk().unwrap());
        (start..end).step_by(8).map(quad).collect()
    }
}

/// Values of switches by name; those that are not named have their defaults.
pub type Configuration<'a> = [(&'a str, &'a str)];

impl Step {
    /// Whether it is there.
    pub fn is_on(&self, configuration: &Configuration) -> bool {
        self.step.is_on(configuration)
    }

    /// Whether it ends with the instruction that leaves.
    pub fn is_way_out(&self) -> bool {
        self.instructions.last().is_some_and(leaves)
    }

    pub fn length(&self) -> u64 {
        self.instructions.len() as u64
    }

    fn holds(&self, address: u64) -> bool {
        self.instructions.iter().any(|instruction| instruction.ip() == address)
    }
}

impl Path {
    /// Without what lies behind the instruction that leaves, where every call comes by.
    pub fn until_the_way_out(mut self, configuration: &Configuration) -> Path {
        let out = self.steps.iter().position(|step| step.is_on(configuration) && step.is_way_out());
        self.steps.truncate(out.unwrap() + 1);
        self
    }

    /// Instructions of the steps that are there and whose name says so.
    pub fn count(&self, configuration: &Configuration, named: &str) -> u64 {
        let steps =
            self.steps.iter().filter(|step| step.is_on(configuration) && step.name.starts_with(named));
        steps.map(Step::length).sum()
    }

    /// Walks it from the first instruction to the one that leaves, both included. `taken` decides of conditional jumps;
    /// functions that it calls count as one instruction.
    pub fn walk(&self, configuration: &Configuration, taken: impl Fn(&Instruction) -> bool) -> u64 {
        let on: Vec<&Step> = self.steps.iter().filter(|step| step.is_on(configuration)).collect();
        let code: Vec<&Instruction> = on.iter().flat_map(|step| &step.instructions).collect();
        let (mut at, mut count) = (0, 0);
        loop {
            let instruction = code.get(at).expect("a path ends with an instruction that leaves");
            count += 1;
            assert!(count < 1000, "a path without an end");
            at = match instruction.flow_control() {
                FlowControl::Return => return count,
                FlowControl::UnconditionalBranch => self.target(&on, instruction),
                FlowControl::ConditionalBranch if taken(instruction) => self.target(&on, instruction),
                _ if leaves(instruction) => return count,
                _ => at + 1,
            };
        }
    }

    /// Where a jump goes, as an index into the code that is there: a step that is off has become the next that is on.
    fn target(&self, on: &[&Step], jump: &Instruction) -> usize {
        let address = jump.near_branch_target();
        let first = on.iter().position(|step| step.holds(address) || step.step.start == address);
        let first = first.expect("a jump goes to a step that is there");
        let before: usize = on[..first].iter().map(|step| step.instructions.len()).sum();
        let inside = on[first].instructions.iter().position(|instruction| instruction.ip() == address);
        before + inside.unwrap_or(0)
    }
}

/// The decoder takes these for calls or for nothing special.
pub fn leaves(instruction: &Instruction) -> bool {
    matches!(
        instruction.code(),
        Code::Sysretq | Code::Sysretd | Code::Sysexitq | Code::Sysexitd | Code::Iretq | Code::Retfq
    )
}

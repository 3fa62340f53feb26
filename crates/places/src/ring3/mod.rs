//! The very bytes of a path of the lab kernel, timed in ring 3 of this Linux. A path is laid out as the kernel lays it out, at the place
//! in its page that it has there; what ring 3 cannot execute is left out, and named ([`privileged`]); the instruction that ends it is a
//! near return. It runs on the kernel's own stack, variables and functions, which a program maps by the same distance from each other
//! (`memory`), and calls the kernel's own service. The probe calls it as the function of its row `call` (`elf`), so that it is timed
//! like any entry: its answer and the registers are checked first, and what is subtracted is nothing but the stamps.

mod elf;
mod executor;
mod filter;
mod memory;
pub mod privileged;
mod relocate;
#[cfg(test)]
mod tests;

pub use executor::PathExecutor;

use crate::lab::{Mode, kernel_paths};
use memory::{KERNEL, Memory, moved, thunk};
use table::paths::{File, LaidStep, Layout, Path, Paths};
use table::{Probe, SwitchValues};

/// What can be wrong with a path that is to be timed in ring 3.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel's file.
    #[error(transparent)]
    Kernel(#[from] table::paths::Error),
    /// The path's template.
    #[error(transparent)]
    Path(#[from] table::paths::NotLaid),
    /// The kernel has no such path, or it is none that ring 3 can call.
    #[error("no path \"{0}\" of the lab's kernel can be called in ring 3")]
    NoPath(String),
    /// Something lies outside of what the program maps.
    #[error("the kernel's memory has nothing at {0:#x}")]
    Outside(u64),
    /// The probe's file.
    #[error("no program can be made of the probe: {0}")]
    Probe(&'static str),
}

/// Paths that ring 3 can call, by their names, with the lab's entry that goes that way.
const PATHS: [(&str, &str); 1] = [("syscall_x86_64", "syscall-x86_64")];

/// A path of no entry, which C calls: between address spaces.
const SWITCH_SPACE: &str = "switch_space";

/// The name of the path that an entry goes, if ring 3 can call it.
pub fn path_of(entry: &str) -> Option<&'static str> {
    PATHS.iter().find(|(_, name)| *name == entry).map(|(path, _)| *path)
}

/// What a path calls: the service of getppid, by its number.
const SERVICE: &str = "call_getppid";
const NUMBER: u32 = 110;

/// A path begins at one of so many places of its page, 16 bytes apart; a stack at one of 64.
const LAYOUTS: u64 = 63;
const PATH_STEP: u64 = 16;

/// `mov $number, %eax`, in front of the path.
const LOAD_NUMBER: u8 = 0xb8;
const PROLOGUE: u64 = 5;

/// The lab's kernel, from which paths are taken.
pub struct Kernel {
    file: File<'static>,
    paths: Paths,
}

/// An instruction that is not in what is timed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name, as [`privileged`] lists it.
    pub instruction: &'static str,
    /// The step that has it.
    pub step: String,
}

/// A path as it runs in ring 3.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its steps, at the addresses where they run.
    pub steps: Vec<LaidStep>,
    /// What is left out, in the path's order.
    pub left_out: Vec<LeftOut>,
    /// Where it is called.
    pub entrance: u64,
}

/// What is timed.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The name of the path.
    pub path: String,
    /// The values of all switches.
    pub values: SwitchValues,
    /// Further code behind the path, for a cost that is known: it may change rax, which has the answer, to nothing but the same, and the
    /// flags.
    pub more: Vec<u8>,
}

/// What is timed, with the kernel's memory that it needs.
#[derive(Debug, Clone)]
pub struct Prepared {
    asked: Asked,
    memory: Memory,
}

impl Kernel {
    /// The one that this command has in it.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn embedded() -> Result<Kernel, Error> {
        let (file, paths) = kernel_paths(Mode::Long)?;
        Ok(Kernel { file, paths })
    }

    /// A path with these values, in a layout: any number.
    ///
    /// # Errors
    /// [`Error`]
    pub fn function(&self, asked: &Asked, layout: u64) -> Result<Function, Error> {
        let path = self.path(&asked.path)?;
        let at = path.slot + PATH_STEP * (1 + layout % LAYOUTS);
        let mut steps = self.laid(path, asked, at)?;
        for step in &mut steps {
            relocate::relocate(step, self.file.symbol("kernel_end")?);
        }
        let of_step = |step: &LaidStep| {
            let name = step.name.clone();
            let named = step.replaced.iter().filter_map(privileged::name);
            named.map(|instruction| LeftOut { instruction, step: name.clone() }).collect::<Vec<_>>()
        };
        let left_out = steps.iter().flat_map(of_step).collect();
        let entrance = moved(at) - if path.name == SWITCH_SPACE { 0 } else { PROLOGUE };
        Ok(Function { steps, left_out, entrance })
    }

    fn path(&self, name: &str) -> Result<&Path, Error> {
        let is_known = name == SWITCH_SPACE || PATHS.iter().any(|(path, _)| *path == name);
        let path = self.paths.path(name).filter(|_| is_known);
        path.ok_or_else(|| Error::NoPath(name.to_owned()))
    }

    fn laid(&self, path: &Path, asked: &Asked, at: u64) -> Result<Vec<LaidStep>, Error> {
        let (plain, thunk) = (self.file.symbol("return_thunk")?, thunk(&self.file, &asked.values)?);
        let layout = Layout {
            values: &asked.values,
            at,
            instead: &|instruction| privileged::instead(instruction, &asked.more),
            function: &|address| if address == plain { thunk.unwrap_or(plain) } else { address },
        };
        Ok(self.paths.lay_out(path, &layout)?)
    }

    /// What programs of a path have in common, whatever their layout is.
    ///
    /// # Errors
    /// [`Error`]
    pub fn prepared(&self, asked: Asked) -> Result<Prepared, Error> {
        let memory = Memory::new(&self.file, &asked.values, self.file.symbol(SERVICE)?)?;
        Ok(Prepared { asked, memory })
    }

    /// A program whose row `call` calls the path, in a layout: any number.
    ///
    /// # Errors
    /// [`Error`]
    pub fn program(&self, prepared: &Prepared, layout: u64) -> Result<Vec<u8>, Error> {
        let Prepared { asked, memory } = prepared;
        let (function, mut memory) = (self.function(asked, layout)?, memory.clone());
        memory.place_stacks(&self.file, layout)?;
        let number = [&[LOAD_NUMBER], NUMBER.to_le_bytes().as_slice()].concat();
        let is_entry = asked.path != SWITCH_SPACE;
        if is_entry {
            memory.write(in_kernel(function.entrance), &number)?;
        }
        for step in &function.steps {
            memory.write(step.address, &step.code)?;
        }
        let answer = if is_entry { u64::from(record::abi::LAB_PARENT as u32) } else { 0 };
        let probe = crate::probes::image(Probe::Probe64);
        elf::program(probe, memory.segments(), function.entrance, answer)
    }
}

/// The kernel's address of what the program has here.
fn in_kernel(address: u64) -> u64 {
    address - moved(KERNEL) + KERNEL
}

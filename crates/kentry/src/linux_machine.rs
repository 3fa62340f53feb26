//! What boots the guests of `kentry linux`: QEMU, with this very program as the first of each guest.

use crate::error::Error;
use guest::{Boot, Booted, Limits, Work};
use linux::{Kernel, Load};
use measure::guest::{Ended, Machine, Request, Trouble};
use std::path::Path;

/// Where a kernel that unpacks itself says that it is one (Documentation/arch/x86/boot.rst).
const HEADER: std::ops::Range<usize> = 0x202..0x206;

/// Boots guests.
#[derive(Debug)]
pub struct LinuxMachine {
    /// What executes them, with its processor and memory.
    pub machine: guest::Machine,
    /// The kernels, in the order of the plan.
    pub kernels: Vec<Kernel>,
    /// This program without what only debuggers read.
    pub program: Vec<u8>,
    /// Of each boot.
    pub limits: Limits,
    /// Seconds for measuring time in a guest; counting takes as long as it takes.
    pub budget: f64,
    /// Whether the functions of each kernel are wanted.
    pub symbols: bool,
}

/// This program as a guest gets it.
///
/// # Errors
/// [`Error::Environment`] when its own file cannot be read.
pub fn this_program() -> Result<Vec<u8>, Error> {
    let own = std::fs::read("/proc/self/exe");
    let own = own.map_err(|error| {
        Error::Environment(format!(
            "kentry cannot read its own file, which every guest begins with: {}",
            crate::error::words(&error)
        ))
    })?;
    Ok(linux::stripped(&own))
}

impl Machine for LinuxMachine {
    fn boot(&self, request: &Request) -> Ended {
        let failed = |trouble| Ended { trouble: Some(trouble), ..Ended::default() };
        let Some(kernel) = self.kernels.get(request.kernel) else {
            return failed(Trouble::Failed("there is no such kernel".into()));
        };
        let unpacking = match request.compressed.then(|| unpacking(kernel)).transpose() {
            Ok(unpacking) => unpacking,
            Err(why) => return failed(Trouble::Unsupported(why)),
        };
        let machine = guest::Machine {
            cpu_model: request.cpu.clone(),
            board: request.machine.clone().unwrap_or_else(|| self.machine.board.clone()),
            ..self.machine.clone()
        };
        let counts = machine.accelerator == guest::Accelerator::Tcg;
        let work = Work {
            rows: request.rows.clone(),
            counts,
            follows: request.follows,
            symbols: self.symbols,
            budget: self.budget,
            seed: request.seed,
            ..Work::default()
        };
        let boot = Boot {
            machine: &machine,
            kernel: unpacking.as_ref().unwrap_or(kernel),
            parameters: &request.parameters,
            program: &self.program,
            archive: &[],
            work: &work,
            seed: request.seed,
        };
        match boot.run(&self.limits, &mut |_| ()) {
            Ok(booted) => ended(booted),
            Err(trouble) => failed(in_words(&trouble)),
        }
    }
}

fn ended(booted: Booted) -> Ended {
    Ended {
        document: booted.document,
        traces: booted.traces,
        unfollowed: booted.unfollowed,
        interrupt: booted.interrupt,
        symbols: booted.symbols,
        unknown: booted.hello.map(|hello| hello.unknown).unwrap_or_default(),
        command_line: booted.parameters,
        console: booted.console,
        first_record: booted.first_frame.unwrap_or_default(),
        trouble: booted.trouble.as_ref().map(in_words),
    }
}

fn in_words(trouble: &guest::Trouble) -> Trouble {
    match trouble {
        guest::Trouble::Machine(lab::Trouble::Interrupted) => Trouble::Interrupted,
        guest::Trouble::Hung { .. } => Trouble::Timeout(trouble.to_string()),
        other => Trouble::Failed(other.to_string()),
    }
}

/// The kernel as the file has it, which unpacks itself and chooses its address.
///
/// # Errors
/// In words, why this one does not.
fn unpacking(kernel: &Kernel) -> Result<Kernel, String> {
    if kernel.load == Load::Compressed {
        return Ok(kernel.clone());
    }
    let bytes = std::fs::read(&kernel.file).unwrap_or_default();
    if bytes.get(HEADER) != Some(b"HdrS".as_slice()) {
        let file = report::plain_os(kernel.file.as_os_str());
        return Err(format!(
            "{file} does not unpack itself (as a vmlinuz does), and is entered where it was linked"
        ));
    }
    Ok(Kernel { bytes, load: Load::Compressed, ..kernel.clone() })
}

/// The kernel that a word of the command line means.
///
/// # Errors
/// [`Error::Input`] where a file that was named is of no use, [`Error::Environment`] where `auto` finds none.
pub fn kernel(word: &str) -> Result<Kernel, Error> {
    let read = linux::find(word, Path::new("/")).and_then(|file| Kernel::read(&file));
    read.map_err(|error| match word {
        linux::AUTO => Error::Environment(format!("--kernel auto: {error}")),
        _ => Error::Input { file: error.file, why: error.why.to_string() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_elf_file_is_where_it_was_linked() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vmlinux");
        std::fs::write(&file, b"\x7fELF").unwrap();
        let kernel = Kernel { file, ..Kernel::default() };
        assert!(unpacking(&kernel).unwrap_err().contains("is entered where it was linked"));
        let compressed = Kernel { load: Load::Compressed, bytes: vec![1], ..Kernel::default() };
        assert_eq!(unpacking(&compressed).unwrap().bytes, [1]);
    }

    #[test]
    fn a_file_that_was_named_is_wrong_usage_and_none_that_is_installed_is_the_environment() {
        let error = kernel("/nonexistent/vmlinuz").unwrap_err();
        assert_eq!((error.exit_code(), error.to_string().lines().count()), (2, 1), "{error}");
    }
}

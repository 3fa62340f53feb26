//! What boots the guests of `kentry linux`: QEMU, with this very program as the first of each guest.

use crate::error::Error;
use guest::{Boot, Booted, Limits, Work};
use linux::Kernel;
use measure::guest::{Ended, Machine, Request, Trouble};
use std::borrow::Cow;
use std::path::Path;

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

impl LinuxMachine {
    /// The virtual machine for a boot.
    pub fn machine_for(&self, request: &Request) -> guest::Machine {
        guest::Machine {
            cpu_model: request.cpu.clone(),
            board: request.machine.clone().unwrap_or_else(|| self.machine.board.clone()),
            ..self.machine.clone()
        }
    }

    /// The kernel for a boot.
    ///
    /// # Errors
    /// In words, why it is not as it is wanted.
    pub fn kernel_for(&self, request: &Request) -> Result<Cow<'_, Kernel>, Trouble> {
        let kernel = self.kernels.get(request.kernel);
        let kernel = kernel.ok_or_else(|| Trouble::Failed("there is no such kernel".into()))?;
        if !request.compressed {
            return Ok(Cow::Borrowed(kernel));
        }
        kernel.compressed().map(Cow::Owned).ok_or_else(|| {
            let file = report::plain_os(kernel.file.as_os_str());
            let why = "does not unpack itself (as a vmlinuz does), and is entered where it was linked";
            Trouble::Unsupported(format!("{file} {why}"))
        })
    }
}

impl Machine for LinuxMachine {
    fn boot(&self, request: &Request) -> Ended {
        let failed = |trouble| Ended { trouble: Some(trouble), ..Ended::default() };
        let kernel = match self.kernel_for(request) {
            Ok(kernel) => kernel,
            Err(trouble) => return failed(trouble),
        };
        let machine = self.machine_for(request);
        let counts = machine.accelerator == guest::Accelerator::Tcg;
        let work = Work {
            rows: request.rows.clone(),
            counts,
            follows: request.follows,
            symbols: self.symbols,
            // Who wants to know where everything is may want the timer's interrupt.
            interrupt: self.symbols,
            budget: self.budget,
            filter: request.filter,
            seed: request.seed,
            ..Work::default()
        };
        let boot = Boot {
            machine: &machine,
            kernel: &kernel,
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
        guest::Trouble::Lacks(_) | guest::Trouble::Unsupported(_) => {
            Trouble::Unsupported(trouble.to_string())
        }
        guest::Trouble::Hung { .. } => Trouble::Timeout(trouble.to_string()),
        other => Trouble::Failed(other.to_string()),
    }
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
    use std::time::Duration;

    #[test]
    fn an_elf_file_is_where_it_was_linked() {
        let kernel = Kernel { file: "/boot/vmlinux".into(), ..Kernel::default() };
        let machine = LinuxMachine {
            machine: guest::Machine::new(guest::Accelerator::Tcg, None),
            kernels: vec![kernel],
            program: Vec::new(),
            limits: Limits { time: Duration::ZERO, output: 0, interrupt: Default::default() },
            budget: 0.0,
            symbols: false,
        };
        let usual = Request::default();
        assert_eq!(machine.kernel_for(&usual).unwrap().file, Path::new("/boot/vmlinux"));
        let ended = machine.boot(&Request { compressed: true, ..usual });
        let Some(Trouble::Unsupported(why)) = ended.trouble else { panic!("{:?}", ended.trouble) };
        assert!(why.starts_with("/boot/vmlinux does not unpack itself"), "{why}");
    }

    #[test]
    fn a_file_that_was_named_is_wrong_usage_and_none_that_is_installed_is_the_environment() {
        let error = kernel("/nonexistent/vmlinuz").unwrap_err();
        assert_eq!((error.exit_code(), error.to_string().lines().count()), (2, 1), "{error}");
    }
}

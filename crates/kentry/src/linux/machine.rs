//! What boots the guests of `kentry linux`: QEMU, with this very program as the first of each guest.

use crate::error::Error;
use crate::messages::note;
use crate::os::room;
use document::Counter;
use linux::{Kernel, Why};
use measure::guest::{GuestPlan, Machine, Request, Setup};
use measure::lab::machine_of;
use places::guest::{Accelerator, Boot, Booted, Limits, Trouble, Work};
use places::host::Interrupt;
use record::trace::Event;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Seconds for measuring time in a guest, as `kentry measure` takes them; counting takes as long as it takes.
const BUDGET: f64 = 4.0;

/// Boots guests.
#[derive(Debug)]
pub struct LinuxMachine {
    /// The virtual machine where a configuration asks for no other.
    pub machine: places::guest::Machine,
    /// The kernels, in the order of the plan.
    pub kernels: Vec<Kernel>,
    /// This program without what only debuggers read.
    pub program: Vec<u8>,
    /// Of each boot.
    pub limits: Limits,
    /// Whether the functions of each kernel are wanted.
    pub symbols: bool,
    /// What is followed besides the rows.
    pub event: Option<Event>,
}

/// What executes the guests, by the lab's judgement of this machine's KVM. `say` gets the reason why it is no KVM.
///
/// # Errors
/// [`Error::Environment`] when KVM is asked for, and does not run ring 0 natively.
pub fn accelerator(
    options: &measure::guest::Options,
    limits: &Limits,
    say: &mut dyn FnMut(&str),
) -> Result<Accelerator, Error> {
    let model = options.cpu_models.first().map(String::as_str);
    Ok(measure::lab::accelerator(options.accel, model, limits, say)?)
}

/// This program as a guest gets it.
///
/// # Errors
/// [`Error::Environment`] when its own file cannot be read.
pub fn this_program() -> Result<Vec<u8>, Error> {
    let own = std::fs::read("/proc/self/exe");
    let own = own.map_err(|error| {
        let why = match crate::error::shortage(&error) {
            Some(shortage) => shortage.into(),
            None => {
                format!("{}; is /proc mounted (mount -t proc proc /proc)?", crate::error::words(&error))
            }
        };
        Error::Environment(format!(
            "kentry cannot read its own file by /proc/self/exe, and every guest begins with it: {why}"
        ))
    })?;
    Ok(linux::stripped(&own))
}

impl LinuxMachine {
    /// Guests of these kernels with the memory that the plan gives them.
    ///
    /// # Errors
    /// [`Error::Environment`] when this program's own file cannot be read.
    pub fn new(
        accelerator: Accelerator,
        plan: &GuestPlan,
        kernels: Vec<Kernel>,
        limits: Limits,
    ) -> Result<LinuxMachine, Error> {
        let machine = places::guest::Machine {
            memory_mib: plan.memory_mib,
            ..places::guest::Machine::new(accelerator, None)
        };
        Ok(LinuxMachine { machine, kernels, program: this_program()?, limits, symbols: false, event: None })
    }

    /// What a measurement needs besides its plan. `boots` is this machine, or somebody who watches it.
    ///
    /// # Errors
    /// [`Error::Environment`] when QEMU is missing, or memory for a guest.
    pub fn setup<'s>(&self, boots: &'s dyn Machine) -> Result<Setup<'s>, Error> {
        let known = |kernel: &Kernel| measure::guest::Kernel {
            file: kernel.file.to_string_lossy().into_owned(),
            release: kernel.release.clone(),
        };
        Ok(Setup {
            machine: boots,
            place: machine_of(self.machine.accelerator),
            version: places::emulator::qemu::version(&self.machine.program, &self.limits)?,
            cpu_model: self.machine.cpu_model.clone(),
            kernels: self.kernels.iter().map(known).collect(),
            at_once: room::guests_at_once(self.takes(0))?,
            interrupt: self.limits.interrupt.clone(),
        })
    }

    /// The memory of this machine that a guest takes at least with so many bytes of further files, in MiB.
    pub fn takes(&self, more: usize) -> u64 {
        let each = self.kernels.iter().map(|kernel| room::of_guest(kernel, self.program.len() + more));
        each.max().unwrap_or_default()
    }

    /// The virtual machine for a boot.
    pub fn machine_for(&self, request: &Request) -> places::guest::Machine {
        places::guest::Machine {
            cpu_model: request.cpu.clone(),
            board: request.board.clone().unwrap_or_else(|| self.machine.board.clone()),
            ..self.machine.clone()
        }
    }

    /// What the guest's program is to do.
    fn work_for(&self, request: &Request) -> Work {
        Work {
            rows: request.rows.clone(),
            counts: machine_of(self.machine.accelerator).counter() == Counter::Instructions,
            follows: request.follows,
            symbols: self.symbols,
            event: self.event,
            budget: BUDGET,
            filter: request.filter,
            trace: request.trace,
            seed: request.seed,
            ..Work::default()
        }
    }

    /// The kernel for a boot.
    ///
    /// # Errors
    /// [`Trouble::Unsupported`] where it is not as it is wanted.
    pub fn kernel_for(&self, request: &Request) -> Result<Cow<'_, Kernel>, Trouble> {
        let kernel = self.kernels.get(request.kernel);
        let kernel = kernel.ok_or_else(|| Trouble::Unsupported("there is no such kernel".into()))?;
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
    fn boot(&self, request: &Request) -> Booted {
        let booted = self.kernel_for(request).and_then(|kernel| {
            let boot = Boot {
                machine: &self.machine_for(request),
                kernel: &kernel,
                parameters: &request.parameters,
                program: &self.program,
                archive: &[],
                work: &self.work_for(request),
                seed: request.seed,
            };
            boot.run(&self.limits, &mut |_| ())
        });
        booted.unwrap_or_else(|trouble| Booted { trouble: Some(trouble), ..Booted::default() })
    }
}

/// The kernel that a word of the command line means; an interrupt ends its reading. `say` gets a line about each that `auto` passes over
/// because it is of no use.
///
/// # Errors
/// [`Error::Input`] where a file that was named is of no use, [`Error::Environment`] where `auto` finds none, or this machine lacks what
/// reading one takes.
pub fn kernel(word: &str, interrupt: &Interrupt, say: &mut dyn FnMut(&str)) -> Result<Kernel, Error> {
    if word == linux::AUTO {
        let passed_over = &mut |error: &linux::Error| say(&format!("--kernel auto passes over {error}"));
        return linux::automatic(Path::new("/"), interrupt, passed_over).map_err(|error| match error.why {
            Why::Stopped => Error::Interrupted,
            _ => Error::Environment(format!("--kernel auto: {error}")),
        });
    }
    let read = linux::find(Path::new(word)).and_then(|file| Kernel::read(&file, interrupt));
    read.map_err(unread)
}

/// The kernels of a plan, in its order.
///
/// # Errors
/// As of [`kernel`].
pub fn kernels(plan: &GuestPlan, interrupt: &Interrupt) -> Result<Vec<Kernel>, Error> {
    plan.kernels.iter().map(|word| kernel(word, interrupt, &mut note)).collect()
}

/// What a history is of.
pub struct History<'a> {
    /// Of the kernels that there are, in the order of their versions.
    pub plan: GuestPlan<'a>,
    /// These kernels.
    pub kernels: Vec<Kernel>,
    /// The files that hold none, and why, in words.
    pub left_out: Vec<(PathBuf, String)>,
}

/// The kernels of a history, of which a file that holds none is left out, as a kernel that does not boot is.
///
/// # Errors
/// As of [`kernel`], where no file holds one, or this machine cannot read them.
pub fn history<'a>(plan: GuestPlan<'a>, interrupt: &Interrupt) -> Result<History<'a>, Error> {
    let (mut places, mut kernels, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for (place, word) in plan.kernels.iter().enumerate() {
        match kernel(word, interrupt, &mut note) {
            Ok(kernel) => {
                places.push(place);
                kernels.push(kernel);
            }
            Err(Error::Input { file, why }) => left_out.push((file, why)),
            Err(other) => return Err(other),
        }
    }
    if kernels.is_empty() {
        let none = left_out.into_iter().next().map(|(file, why)| Error::Input { file, why });
        return Err(none.unwrap_or_else(|| Error::Usage("--history: name kernels".into())));
    }
    let (plan, kernels) = in_order_of_versions(plan.with_kernels_in(&places), kernels);
    Ok(History { plan, kernels, left_out })
}

/// A plan and its kernels in the order of their versions.
fn in_order_of_versions(plan: GuestPlan, kernels: Vec<Kernel>) -> (GuestPlan, Vec<Kernel>) {
    let mut order: Vec<usize> = (0..kernels.len()).collect();
    order.sort_by_cached_key(|place| kernels.get(*place).map(|kernel| linux::age(&kernel.release)));
    let ordered = order.iter().filter_map(|place| kernels.get(*place).cloned()).collect();
    (plan.with_kernels_in(&order), ordered)
}

/// Why a file cannot be had: by its own fault, or because this machine is short of something.
pub(crate) fn unread(error: linux::Error) -> Error {
    let shortage = match &error.why {
        Why::Stopped => return Error::Interrupted,
        Why::Unreadable(source) => crate::error::shortage(source).map(str::to_string),
        Why::Memory => Some(error.why.to_string()),
        _ => None,
    };
    match shortage {
        Some(shortage) => {
            let file = report::plain_os(error.file.as_os_str());
            Error::Environment(format!("{file} cannot be read: {shortage}"))
        }
        None => Error::Input { file: error.file, why: error.why.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;
    use std::time::Duration;

    #[test]
    fn an_elf_file_is_where_it_was_linked() {
        let kernel = Kernel { file: "/boot/vmlinux".into(), ..Kernel::default() };
        let limits = Limits { time: Duration::ZERO, output: 0, interrupt: Default::default() };
        let machine = LinuxMachine {
            machine: places::guest::Machine::new(Accelerator::Tcg, None),
            kernels: vec![kernel],
            program: Vec::new(),
            limits,
            symbols: false,
            event: None,
        };
        let usual = Request::default();
        assert_eq!(machine.kernel_for(&usual).unwrap().file, Path::new("/boot/vmlinux"));
        let booted = machine.boot(&Request { compressed: true, ..usual });
        let Some(Trouble::Unsupported(why)) = booted.trouble else { panic!("{:?}", booted.trouble) };
        assert!(why.starts_with("/boot/vmlinux does not unpack itself"), "{why}");
    }

    #[test]
    fn a_file_that_was_named_is_wrong_usage_and_none_that_is_installed_is_the_environment() {
        let error = kernel("/nonexistent/vmlinuz", &Interrupt::default(), &mut |_| ()).unwrap_err();
        assert_eq!((error.exit_code(), error.to_string().lines().count()), (2, 1), "{error}");
    }

    #[test]
    fn a_history_of_which_no_file_holds_a_kernel_is_wrong_usage() {
        let words = ["kentry", "linux", "--history", "/nonexistent/one", "/proc/version"];
        let Some(Command::Linux(args)) = Cli::try_parse_from(words).unwrap().command else { panic!() };
        let plan = GuestPlan::new(table::Table::get(), &args.options()).unwrap();
        let error = history(plan, &Interrupt::default()).err().unwrap();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().starts_with("/nonexistent/one"), "{error}");
    }

    #[test]
    fn a_limit_of_this_machine_is_not_the_files_fault() {
        let of = |errno: nix::errno::Errno| {
            let why = Why::Unreadable(errno.into());
            unread(linux::Error { file: "/boot/vmlinuz".into(), why })
        };
        let limited = of(nix::errno::Errno::EMFILE);
        assert_eq!(limited.exit_code(), 3);
        let expected = "/boot/vmlinuz cannot be read: this process may open no more files (ulimit -n)";
        assert_eq!(limited.to_string(), expected);
        assert_eq!(of(nix::errno::Errno::EACCES).exit_code(), 2);
        let short = unread(linux::Error { file: "/boot/vmlinuz".into(), why: Why::Memory });
        assert_eq!(short.exit_code(), 3);
        let text = short.to_string();
        assert!(text.contains("ulimit -v") && text.contains("memory.max"), "{text}");
    }
}

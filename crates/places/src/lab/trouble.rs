//! What goes wrong with a guest that runs the lab kernel, in words.

use record::abi;

/// What went wrong with a guest, or before there was one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Trouble {
    /// The program that runs or prepares it is missing, could not be started, ended by itself, took too long, or was interrupted.
    #[error(transparent)]
    Machine(#[from] crate::emulator::Trouble),
    /// The guest's kernel did not come up.
    #[error("{trouble}; before that, its kernel said: {said}")]
    NotUp {
        /// What became of the guest.
        trouble: Box<Trouble>,
        /// The kernel's log, which has the cause.
        said: String,
    },
    /// Its output is not records.
    #[error("the guest's output: {0}")]
    Garbage(#[from] record::Error),
    /// Its records are out of order.
    #[error("the guest's records: {0}")]
    Disorder(#[from] Disorder),
    /// Its kernel says that it has a configuration that the plan does not ask for; in words.
    #[error("the guest's kernel is not configured as it was asked: {0}")]
    Configured(String),
}

impl Trouble {
    /// Whether it is for want of time.
    pub fn is_timeout(&self) -> bool {
        match self {
            Trouble::Machine(trouble) => matches!(trouble, crate::emulator::Trouble::Timeout(_)),
            Trouble::NotUp { trouble, .. } => trouble.is_timeout(),
            _ => false,
        }
    }

    /// Whether the user ended it.
    pub fn is_interruption(&self) -> bool {
        *self == Trouble::Machine(crate::emulator::Trouble::Interrupted)
    }

    /// Whether the program that runs or prepares a guest is not installed.
    pub fn is_missing(&self) -> bool {
        matches!(self, Trouble::Machine(crate::emulator::Trouble::Missing { .. }))
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Trouble {
        crate::emulator::Trouble::from(error).into()
    }
}

/// What is wrong with the order of a guest's records.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Disorder {
    /// The first record is not the boot's.
    #[error("they do not begin with the boot's")]
    NoBoot,
    /// The guest booted a second time.
    #[error("it booted twice")]
    BootedTwice,
    /// Its kernel is of another version.
    #[error("the kernel is of version {0}, not {version}", version = abi::LAB_VERSION)]
    Version(u64),
    /// A program began out of turn.
    #[error("program {0} began out of turn")]
    Begin(u64),
    /// A program began before the kernel had said what it runs with.
    #[error("program {0} began before there was a configuration")]
    Unconfigured(u64),
    /// The kernel configured itself under a program.
    #[error("there is a configuration while program {0} runs")]
    Configured(u64),
    /// A configuration of another number of values than there are switches.
    #[error("a configuration has {0} values, which are not one for each switch")]
    Values(usize),
    /// A value of no switch.
    #[error("a configuration has a value of switch {0}, which there is not")]
    NoSwitch(usize),
    /// No value of a switch.
    #[error("a configuration has the value {value} of {switch}, which there is not")]
    NoValue {
        /// The switch's name.
        switch: String,
        /// The number that its value would have.
        value: u64,
    },
    /// Counts of a program that does not run.
    #[error("there are counts of program {0}, which does not run")]
    Counters(u64),
    /// A program ended that had not begun.
    #[error("program {0} ended, but had not begun")]
    End(u64),
    /// Output of no program.
    #[error("there is output while no program runs")]
    Output,
    /// A step of no listing.
    #[error("there is a step of a path while nothing is listed")]
    Step,
    /// It was done before all programs had run.
    #[error("it was done after {0} programs, which are not all")]
    DoneEarly(u64),
    /// It went on after it was done.
    #[error("it went on after it was done")]
    AfterDone,
    /// A record that only a probe writes, not a kernel.
    #[error("there is one that a probe writes, outside of its output")]
    Foreign,
    /// A line of the plan is not understood.
    #[error("line {0} of the plan is not understood")]
    Plan(u64),
}

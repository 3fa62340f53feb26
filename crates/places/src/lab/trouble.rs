//! What goes wrong with a guest that runs the lab kernel, in words.

use crate::lab::Disorder;

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

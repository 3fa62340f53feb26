//! What can become of a guest, in words. Each has the last lines of its console, where there are any.

use crate::guest::frame;
use crate::guest::last_words::{ended, leading};
use std::time::Duration;

/// What went wrong with a guest, or before there was one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Trouble {
    /// QEMU is missing, could not be started, ended by itself, or was interrupted.
    #[error(transparent)]
    Machine(#[from] crate::emulator::Trouble),
    /// This machine lacks memory for the guest.
    #[error(
        "this machine lacks memory for a guest of {mib} MiB: {said}; free some, or raise what limits it (ulimit -v; the control \
         group's memory.max)"
    )]
    Memory {
        /// The guest's memory.
        mib: u64,
        /// How that showed.
        said: String,
    },
    /// This machine refuses QEMU something else: in words.
    #[error("QEMU could not go on: {0}")]
    Refused(String),
    /// The guest's memory cannot hold its kernel and its files.
    #[error(
        "the guest's memory of {mib} MiB is too small: its kernel and its files alone take {least} MiB; give it more (--memory)"
    )]
    TooSmall {
        /// The guest's memory.
        mib: u64,
        /// What they take, in MiB.
        least: u64,
    },
    /// The guest's memory was used up before kentry began in it.
    #[error(
        "the guest's memory of {mib} MiB is too small for its kernel and its files, or a parameter (mem=) leaves it less: {said}; give it \
         more (--memory), or leave the parameter out"
    )]
    Small {
        /// The guest's memory.
        mib: u64,
        /// What its kernel said.
        said: String,
    },
    /// QEMU, the kernel's file or the kernel lacks what was asked for, in words.
    #[error("{0}")]
    Unsupported(String),
    /// The kernel panicked.
    #[error("the guest's kernel panicked: {why}{}", leading(.console))]
    Panicked {
        /// Why, as the kernel says.
        why: String,
        /// What its console said.
        console: String,
    },
    /// It did not end in time.
    #[error("the guest did not finish within {} s{}{}", .time.as_secs_f64(), silent(*.began, .console), ended(.console))]
    Hung {
        /// Its time.
        time: Duration,
        /// Whether kentry had begun in it.
        began: bool,
        /// What its console said.
        console: String,
    },
    /// It reset its machine.
    #[error("the guest reset its machine, as after a triple fault, {}{}", before(*.began), ended(.console))]
    Reset {
        /// Whether kentry had begun in it.
        began: bool,
        /// What its console said.
        console: String,
    },
    /// What it wrote to the port of frames is none.
    #[error("the guest wrote garbage: {error}{}", ended(.console))]
    Garbage {
        /// What is wrong with it.
        error: frame::Error,
        /// What its console said.
        console: String,
    },
    /// It ended in the midst of a frame, or before its last.
    #[error("the guest ended early{}", ended(.console))]
    Early {
        /// What its console said.
        console: String,
    },
    /// What it measured is not there or cannot be read.
    #[error("{why}{}", ended(.console))]
    Unusable {
        /// Why, in words.
        why: String,
        /// What its console said.
        console: String,
    },
    /// It could not be followed.
    #[error("the guest could not be followed: {0}")]
    Followed(String),
    /// kentry could not do its work there.
    #[error("in the guest: {0}")]
    Failed(String),
}

/// What a trouble means for whoever wanted something of the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The user ended it.
    Interrupted,
    /// It took too long.
    Timeout,
    /// It lacks what was asked for, and will whenever it is asked.
    Unsupported,
    /// This machine lacks or refuses what a guest needs: no guest is at fault.
    Environment,
    /// Anything else.
    Failed,
}

impl Trouble {
    /// What it means.
    pub fn kind(&self) -> Kind {
        match self {
            Trouble::Machine(crate::emulator::Trouble::Interrupted) => Kind::Interrupted,
            Trouble::Hung { .. } => Kind::Timeout,
            Trouble::Unsupported(_) => Kind::Unsupported,
            Trouble::Machine(
                crate::emulator::Trouble::Missing { .. }
                | crate::emulator::Trouble::Program { .. }
                | crate::emulator::Trouble::Version { .. }
                | crate::emulator::Trouble::Files(_),
            ) => Kind::Environment,
            Trouble::Memory { .. }
            | Trouble::Refused(_)
            | Trouble::TooSmall { .. }
            | Trouble::Small { .. } => Kind::Environment,
            _ => Kind::Failed,
        }
    }
}

fn before(began: bool) -> &'static str {
    if began { "while kentry worked in it" } else { "before kentry began in it" }
}

fn silent(began: bool, console: &str) -> &'static str {
    if began {
        ", in which kentry had begun"
    } else if console.trim().is_empty() {
        "; its console is empty, as usual this early; --append ignore_loglevel shows the boot if the kernel has a driver for the \
         serial port (CONFIG_SERIAL_8250_CONSOLE)"
    } else {
        ""
    }
}

//! Boots a Linux kernel in QEMU, with kentry as its only program, and reads what that says.
//!
//! A [`Boot`] has a kernel, its parameters, and [`Work`], which goes in as a file of the first archive. [`Frame`]s come out through a port
//! of the machine; the serial line is the console's alone. Reading always ends, whatever the guest does: when its work is done, or
//! with a [`Trouble`] that says in words what went wrong.

mod archive;
mod boot;
mod booted;
mod command;
mod console;
pub mod debugger;
mod ending;
mod follow;
mod following;
pub mod frame;
mod last_words;
mod machine;
mod memory;
pub mod rendezvous;
mod run;
mod symbols;
mod terminal;
mod timed;
mod trouble;
mod work;

pub use crate::emulator::Accelerator;
pub use archive::{INPUT, WORK};
pub use boot::Boot;
pub use booted::{Booted, ProgramOutput};
pub use frame::{Exit, Frame, Hello};
pub use machine::{EXIT_PORT, FRAME_PORT, MEMORY_MIB, Machine};
pub use process::{Interrupt, Limits};
pub use symbols::packed;
pub use terminal::{ESCAPE, Terminal};
pub use trouble::{Kind, Trouble};
pub use work::{Exec, Work};

/// What the guest's program writes to [`EXIT_PORT`] when it has said all.
pub const EXIT_VALUE: u8 = 0x10;

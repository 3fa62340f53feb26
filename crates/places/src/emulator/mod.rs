//! The programs that run or prepare a guest: QEMU, Bochs, GRUB's tools.
//!
//! A [`Command`] says how one is started, a [`Process`] is one that runs, and a [`Trouble`] says in words what went wrong. What is booted
//! in it, and what it says, is the business of `lab` and `guest`; what both must know of QEMU is in [`qemu`].

mod program;
pub mod qemu;
mod trouble;

pub use program::{Command, Process};
pub use qemu::Accelerator;
pub use trouble::Trouble;

//! Boots a Linux kernel in QEMU, with kentry as its only program, and reads what that says.

mod trace;
mod work;

pub use trace::{Step, Symbol, Trace};
pub use work::{Exec, Work};

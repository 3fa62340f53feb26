//! Counts the system calls that programs make: by number and by the way into the kernel, by process, over a time.
//!
//! Where the kernel permits it, the tracepoint `raw_syscalls:sys_enter` tells of every call ([`Watch`]). A command of one's own can be
//! counted without privileges, by a seccomp filter that asks this process at each call ([`notify`]).

mod call;
mod cgroup;
mod command;
mod counts;
mod error;
mod event;
mod guard;
pub mod notify;
pub mod proc;
mod record;
mod ring;
mod switches;
mod target;
mod tracepoint;
mod watch;

pub use call::{Call, Way};
pub use command::{Ended, Output, Started};
pub use counts::{Counts, OfProcess};
pub use error::Error;
pub use record::{Record, Registers, records};
pub use target::{CpuTime, Target};
pub use watch::{Observed, Watch, permitted};

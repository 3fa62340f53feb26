//! Runs a child process. It has a process group of its own, a deadline and a bound on its output; an interruption ends
//! it early. When its [`Child`] is dropped, the whole group is killed and the child is reaped. When this process is killed, so is the
//! child, and with [`Isolation::Session`] its whole group.
//!
//! A [`Command`] says what to start, [`Limits`] what it may use; [`run`] does all of it. Files can be handed over by their descriptors alone
//! ([`file_in_memory`], [`inherited`]). [`allowed_cpus`] and [`pin_this_thread`] work with any number of CPUs.

mod affinity;
mod child;
mod command;
mod error;
mod limits;
mod memory;
mod messages;
mod running;
mod search;
mod start;
mod warden;

pub use affinity::{allowed_cpus, pin_this_thread};
pub use child::{Child, Event, Finished, run};
pub use command::{Command, Isolation, Pipe, Program, environment};
pub use error::{Error, Phase, in_words, limit, without_numbers};
pub use limits::{Interrupt, Limits};
pub use memory::{executable_in_memory, file_in_memory, inherited};
pub use nix::errno::Errno;
pub use start::{action_of, try_realtime};
pub use warden::Note as GroupNote;

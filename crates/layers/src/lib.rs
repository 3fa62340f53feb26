//! What can lie between a program and the kernel: seccomp filters, speculation control, supervisors, tracing, landlock. Each layer has a
//! name, words, a way to put it on a process that then executes a program, and a reason in words where it cannot be had.
//!
//! A layer is put on by [`under::run`], which a process that is kentry once more becomes. So nothing of it is ever on the process that
//! measures, and nothing outlives the program: a filter, a speculation setting and a landlock domain belong to its process; events
//! and programs to descriptors that it has open; supervisors end with it.

pub mod bpf;
mod child;
mod install;
mod landlock;
mod layer;
pub mod notification;
pub mod perf;
mod profile;
mod raw_tracepoint;
mod shared;
mod speculation;
mod supervised;
pub mod tracefs;
mod tracepoint;
pub mod under;
mod word;

pub use bpf::{Looks, Program};
pub use layer::{Group, Kind, LAYERS, Layer, NOTHING};
pub use profile::{Compiled, MOST_BYTES, Profile, ProfileError};
pub use shared::{Shared, shared};
pub use word::Word;

/// Why a layer cannot be had here, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotHere(pub String);

impl NotHere {
    /// What was tried, and the kernel's answer.
    pub(crate) fn refused(what: &str, errno: nix::errno::Errno) -> NotHere {
        NotHere(format!("{what}: {}", errno.desc()))
    }
}

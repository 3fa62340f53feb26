//! Why calls cannot be counted.

use std::io;

/// Why calls cannot be counted, in words: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such process or group, or it is none whose calls can be counted.
    #[error("{0}")]
    Target(String),
    /// This process lacks a permission.
    #[error("{0}")]
    Permission(String),
    /// The kernel or the machine has no room or no means for it.
    #[error("{0}")]
    System(String),
    /// The command cannot be started.
    #[error("{name} cannot be started: {source}")]
    Command {
        /// As it was called.
        name: String,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    /// What this machine lacks, with the system's error.
    pub(crate) fn system(what: &str, error: impl Into<io::Error>) -> Error {
        Error::System(format!("{what}: {}", words(&error.into())))
    }

    /// A thread that cannot be started: there are too many, or a filter denies them.
    pub(crate) fn no_thread(error: io::Error) -> Error {
        Error::system(
            "kentry cannot start a thread to count with (see ulimit -u, and pids.max of its cgroup)",
            error,
        )
    }
}

/// A system's error without its number.
pub(crate) fn words(error: &io::Error) -> String {
    process::in_words(error).to_lowercase()
}

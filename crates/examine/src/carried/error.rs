//! Why nothing can be told of a process.

use thiserror::Error;

/// Why nothing can be told of a process.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CarriedError {
    /// There is none.
    #[error("there is no process {0}, or /proc hides it from this user")]
    NoSuchProcess(u32),
    /// It has ended, and its parent has not asked how.
    #[error("process {pid} ({name}) has ended, and waits for its parent")]
    Ended {
        /// Its number.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// It is none of a program's.
    #[error("process {pid} ({name}) is a thread of the kernel: it makes no system calls")]
    KernelThread {
        /// Its number.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// What everybody may read cannot be read.
    #[error("/proc/{pid}/{file} cannot be read: {why}")]
    NotReadable {
        /// Its number.
        pid: u32,
        /// The file.
        file: &'static str,
        /// The system's words.
        why: String,
    },
}

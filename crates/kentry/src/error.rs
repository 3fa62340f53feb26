//! What ends the command, and the exit code it ends with.

use std::path::PathBuf;

/// What ends the command early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line asks for what there is not.
    #[error("{0}")]
    Usage(String),
    /// This process is not allowed what measuring needs.
    #[error("{0}")]
    Environment(String),
    /// The user interrupted it before there was anything to show.
    #[error("interrupted before anything was measured")]
    Interrupted,
    /// A result could not be written.
    #[error("{}: {source}", .target.display())]
    Output {
        /// Where to.
        target: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A document could not be read.
    #[error("{}: {why}", .file.display())]
    Input {
        /// Which.
        file: PathBuf,
        /// Why not.
        why: String,
    },
    /// A document could not be rendered.
    #[error("the report could not be made: {0}")]
    Report(#[from] report::Error),
}

impl From<lab::Trouble> for Error {
    fn from(trouble: lab::Trouble) -> Error {
        match trouble {
            lab::Trouble::Interrupted => Error::Interrupted,
            other => Error::Environment(other.to_string()),
        }
    }
}

impl Error {
    /// As documented in the manual page: 1 output, 2 usage, 3 environment, 130 interrupted.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Output { .. } | Error::Report(_) => 1,
            Error::Usage(_) | Error::Input { .. } => 2,
            Error::Environment(_) => 3,
            Error::Interrupted => INTERRUPTED,
        }
    }
}

/// The exit code when the lab's guest did not come to the end of its plan; what was measured is shown.
pub const UNFINISHED: u8 = 4;

/// The exit code after an interruption: 128 and the number of SIGINT, as a shell reports it.
pub const INTERRUPTED: u8 = 130;

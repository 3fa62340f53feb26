//! What ends the command, and the exit code it ends with.

use crate::exit::{EXEC_FAILED, INTERRUPTED, NAGIOS_UNKNOWN, STOPS_BISECTION};
use nix::errno::Errno;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// What ends the command early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line asks for something that does not exist.
    #[error("{0}")]
    Usage(String),
    /// Measuring needs something that this process lacks or may not do.
    #[error("{0}")]
    Environment(String),
    /// The user interrupted it before there was anything to show.
    #[error("interrupted before anything was measured")]
    Interrupted,
    /// A result could not be written.
    #[error("{} cannot be written: {}", report::plain_os(.target.as_os_str()), words(.source))]
    Output {
        /// The file that cannot be written.
        target: PathBuf,
        /// Why it fails.
        source: io::Error,
    },
    /// A document could not be read.
    #[error("{}: {why}", report::plain_os(.file.as_os_str()))]
    Input {
        /// The document's file.
        file: PathBuf,
        /// Why it fails.
        why: String,
    },
    /// A run cannot be kept, found or changed.
    #[error("{}", of_runs(.0))]
    Runs(#[from] runs::Error),
    /// A document could not be rendered.
    #[error("the report could not be made: {0}")]
    Report(#[from] report::Error),
}

/// Why a file or folder cannot be used, in words and without the system's error number.
pub fn words(error: &io::Error) -> String {
    use io::ErrorKind::*;
    let words = match error.kind() {
        NotFound => "there is no such file or folder",
        PermissionDenied => "permission denied",
        IsADirectory => "it is a folder, not a file",
        NotADirectory => "a part of the path is a file, not a folder",
        StorageFull => "no space is left on the device",
        ReadOnlyFilesystem => "the file system is read-only",
        FileTooLarge => "the file would be larger than is allowed (ulimit -f)",
        InvalidFilename => "the file name is too long",
        _ if error.raw_os_error() == Some(Errno::ENXIO as i32) => "it is a pipe that nobody reads",
        _ if error.raw_os_error() == Some(Errno::EBADF as i32) => "it is closed, or not open for writing",
        _ => return process::in_words(error),
    };
    words.into()
}

/// What this machine is short of, where that is why a file cannot be read, and what to do; none where the file is at fault.
pub fn shortage(error: &io::Error) -> Option<&'static str> {
    match Errno::from_raw(error.raw_os_error().unwrap_or_default()) {
        Errno::ENFILE => {
            Some("all programs of this machine together may open no more files (sysctl fs.file-max)")
        }
        Errno::EMFILE => process::limit(Errno::EMFILE),
        // Where memory for what is read cannot be had, there is no number.
        _ if error.kind() == io::ErrorKind::OutOfMemory => process::limit(Errno::ENOMEM),
        _ => None,
    }
}

fn of_runs(error: &runs::Error) -> String {
    let plain = |path: &PathBuf| report::plain_os(path.as_os_str());
    match error {
        runs::Error::Folder { folder, source } => {
            format!("the folder of kept runs, {}: {}", plain(folder), words(source))
        }
        runs::Error::Unwritable { file, source } => format!("{}: {}", plain(file), words(source)),
        other => other.to_string(),
    }
}

impl From<measure::Error> for Error {
    fn from(error: measure::Error) -> Error {
        match error {
            measure::Error::Usage(why) => Error::Usage(why),
            measure::Error::Environment(why) => Error::Environment(why),
            measure::Error::Interrupted => Error::Interrupted,
        }
    }
}

/// Whether Nagios asks, as far as words tell that are not parsed.
pub fn is_for_nagios(arguments: &[OsString]) -> bool {
    arguments.get(1).is_some_and(|word| word == "doctor")
        && arguments.iter().any(|word| word == "nrpe" || word == "--format=nrpe")
}

/// The exit code of what fails before a command is known: `usual`, but one that is neither the program's of --exec, nor a commit's of
/// --git-bisect, nor a state of Nagios that it does not mean. What stands behind --exec is the program's.
pub fn code_without_command(arguments: &[OsString], usual: u8) -> u8 {
    let is_exec = |word: &&OsString| *word == "--exec" || word.to_string_lossy().starts_with("--exec=");
    let mut own = arguments.iter().take_while(|word| !is_exec(word));
    let runs_program = arguments.iter().any(|word| is_exec(&word) || *word == "--shell");
    if is_for_nagios(arguments) {
        NAGIOS_UNKNOWN
    } else if own.any(|word| *word == "--git-bisect") {
        STOPS_BISECTION
    } else if runs_program {
        EXEC_FAILED
    } else {
        usual
    }
}

impl From<table::Mistake> for Error {
    fn from(mistake: table::Mistake) -> Error {
        Error::Usage(mistake.to_string())
    }
}

impl From<table::BadSet> for Error {
    fn from(bad: table::BadSet) -> Error {
        Error::Usage(bad.to_string())
    }
}

impl From<attribution::bill::Error> for Error {
    fn from(error: attribution::bill::Error) -> Error {
        Error::Usage(error.to_string())
    }
}

impl From<places::emulator::Trouble> for Error {
    fn from(trouble: places::emulator::Trouble) -> Error {
        match trouble {
            places::emulator::Trouble::Interrupted => Error::Interrupted,
            other => Error::Environment(other.to_string()),
        }
    }
}

impl From<places::lab::Trouble> for Error {
    fn from(trouble: places::lab::Trouble) -> Error {
        match trouble {
            places::lab::Trouble::Machine(trouble) => trouble.into(),
            other => Error::Environment(other.to_string()),
        }
    }
}

impl Error {
    /// As documented in the manual page: 1 output, 2 usage, 3 environment, 130 interrupted.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Output { .. } | Error::Report(_) => 1,
            Error::Runs(
                runs::Error::Folder { .. } | runs::Error::Unwritable { .. } | runs::Error::Unnamed { .. },
            ) => 1,
            Error::Usage(_) | Error::Input { .. } | Error::Runs(_) => 2,
            Error::Environment(_) => 3,
            Error::Interrupted => INTERRUPTED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_systems_error_has_no_number() {
        for number in 1..134 {
            let words = words(&io::Error::from_raw_os_error(number));
            assert!(!words.is_empty() && !words.contains("os error"), "{words}");
        }
    }

    #[test]
    fn a_file_is_not_to_blame_for_what_the_machine_lacks() {
        let of = |errno: Errno| shortage(&io::Error::from(errno));
        for (errno, what) in
            [(Errno::EMFILE, "ulimit -n"), (Errno::ENFILE, "fs.file-max"), (Errno::ENOMEM, "memory")]
        {
            assert!(of(errno).unwrap().contains(what), "{errno}");
        }
        assert_eq!(shortage(&io::ErrorKind::OutOfMemory.into()), of(Errno::ENOMEM));
        for errno in [Errno::ENOENT, Errno::EACCES, Errno::EISDIR, Errno::EIO, Errno::ELOOP] {
            assert_eq!(of(errno), None, "{errno}");
        }
    }

    #[test]
    fn a_files_name_steers_no_terminal() {
        let target = "a\u{1b}[2J\nb".into();
        let error = Error::Output { target, source: io::Error::from(io::ErrorKind::NotFound) };
        assert_eq!(error.to_string(), r"a\u{1b}[2J b cannot be written: there is no such file or folder");
    }
}

//! Where results go.

use crate::error::Error;
use crate::locale;
use crate::standard;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use report::Format;
use runs::WholeFile;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What standard output is called.
const STANDARD: &str = "standard output";

/// Where a result will go. It is opened before anything is measured, so that a place that cannot be written costs no time.
pub enum Target {
    /// Standard output.
    Standard,
    /// A device or a pipe, written to as it is.
    Special(File, PathBuf),
    /// A file that appears whole under its name, or not at all.
    File(WholeFile),
}

impl Target {
    /// Opens the place that a command line names; none and `-` are standard output.
    ///
    /// # Errors
    /// [`Error::Output`] when nothing can be written there.
    pub fn open(path: Option<&Path>) -> Result<Target, Error> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Target::standard();
        };
        let failed = |source| Error::Output { target: path.to_path_buf(), source };
        match std::fs::metadata(path) {
            Ok(known) if known.is_dir() => Err(failed(io::Error::from(io::ErrorKind::IsADirectory))),
            Ok(known) if !known.is_file() => {
                let file = open_special(path).map_err(failed)?;
                Ok(Target::Special(file, path.to_path_buf()))
            }
            // Through a link to its target, whose permissions are kept.
            Ok(known) => path
                .canonicalize()
                .and_then(|path| WholeFile::begin(&path, known.permissions()))
                .map(Target::File)
                .map_err(failed),
            Err(_) if path.is_symlink() => {
                Err(failed(io::Error::other("it is a link to a file that does not exist")))
            }
            Err(_) => WholeFile::begin(path, Permissions::from_mode(0o666)).map(Target::File).map_err(failed),
        }
    }

    /// Standard output.
    ///
    /// # Errors
    /// [`Error::Output`] when nothing can be written there.
    pub fn standard() -> Result<Target, Error> {
        match standard::check() {
            Ok(()) => Ok(Target::Standard),
            Err(source) => Err(Error::Output { target: STANDARD.into(), source }),
        }
    }

    /// The file's name, unless it is standard output.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Target::Standard => None,
            Target::Special(_, path) => Some(path),
            Target::File(file) => Some(file.path()),
        }
    }

    /// Whether it goes to a terminal, for a person to read.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Target::Standard) && io::stdout().is_terminal()
    }

    /// Writes a report; text has no characters that the user's locale lacks.
    ///
    /// # Errors
    /// As [`Target::write`].
    pub fn write_report(self, format: Format, bytes: &[u8]) -> Result<(), Error> {
        if format == Format::Text { self.write_text(bytes) } else { self.write(bytes) }
    }

    /// Writes text for a person, without characters that the user's locale lacks.
    ///
    /// # Errors
    /// As [`Target::write`].
    pub fn write_text(self, bytes: &[u8]) -> Result<(), Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.write(locale::text(text).as_bytes()),
            Err(_) => self.write(bytes),
        }
    }

    /// Writes the whole result. A pipe whose reader has closed it is not an error.
    ///
    /// # Errors
    /// [`Error::Output`]; the file is then as it was before.
    pub fn write(self, bytes: &[u8]) -> Result<(), Error> {
        let (target, result) = match self {
            Target::Standard => (STANDARD.into(), write_all(&mut io::stdout().lock(), bytes)),
            Target::Special(mut file, path) => (path, write_all(&mut file, bytes)),
            Target::File(file) => (file.path().to_path_buf(), file.finish(bytes)),
        };
        match result {
            Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
                Err(Error::Output { target, source })
            }
            _ => Ok(()),
        }
    }
}

/// Opens a named pipe. If nobody reads it, that is an error; kentry does not wait.
fn open_special(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(file)
}

fn write_all(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}

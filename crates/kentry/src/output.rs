//! Where results go.

use crate::error::Error;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Where a result will go; opened before anything is measured, so that a place that cannot be written costs nothing.
pub enum Target {
    /// Standard output.
    Standard,
    /// A device or a pipe, written to as it is.
    Special(File, PathBuf),
    /// A file that appears whole under its name, or not at all.
    File(NamedTempFile, PathBuf),
}

impl Target {
    /// Opens the place that a command line names; none and `-` are standard output.
    ///
    /// # Errors
    /// [`Error::Output`] when nothing can be written there.
    pub fn open(path: Option<&Path>) -> Result<Target, Error> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(Target::Standard);
        };
        let failed = |source| Error::Output { target: path.to_path_buf(), source };
        match std::fs::metadata(path) {
            Ok(known) if known.is_dir() => Err(failed(io::Error::from(io::ErrorKind::IsADirectory))),
            Ok(known) if !known.is_file() => {
                let file = open_special(path).map_err(failed)?;
                Ok(Target::Special(file, path.to_path_buf()))
            }
            // Through a link to what it names; and it stays as private as it was.
            Ok(known) => {
                Target::beside(&path.canonicalize().map_err(failed)?, known.permissions()).map_err(failed)
            }
            Err(_) if path.is_symlink() => Err(failed(io::Error::other("a link to what is not there"))),
            Err(_) => Target::beside(path, Permissions::from_mode(0o666)).map_err(failed),
        }
    }

    fn beside(path: &Path, mode: Permissions) -> io::Result<Target> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // The umask takes its part of the mode, so an old file's is given once more.
        let file =
            builder.prefix(".kentry-").permissions(mode.clone()).tempfile_in(folder).map_err(without_path)?;
        if path.exists() {
            file.as_file().set_permissions(mode)?;
        }
        Ok(Target::File(file, path.to_path_buf()))
    }

    /// The file's name, unless it is standard output.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Target::Standard => None,
            Target::Special(_, path) | Target::File(_, path) => Some(path),
        }
    }

    /// Whether a person is going to read it there.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Target::Standard) && io::stdout().is_terminal()
    }

    /// Writes the whole result. A reader that has gone away is not an error.
    ///
    /// # Errors
    /// [`Error::Output`]; the file is then as it was before.
    pub fn write(self, bytes: &[u8]) -> Result<(), Error> {
        let (target, result) = match self {
            Target::Standard => ("standard output".into(), write_all(&mut io::stdout().lock(), bytes)),
            Target::Special(mut file, path) => (path, write_all(&mut file, bytes)),
            Target::File(file, path) => {
                let result = persist(file, &path, bytes);
                (path, result)
            }
        };
        match result {
            Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
                Err(Error::Output { target, source })
            }
            _ => Ok(()),
        }
    }
}

/// A named pipe that nobody reads is an error, not a wait.
fn open_special(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(file)
}

/// The error alone: the name of the temporary file, which the library adds to its text, says nothing to anybody.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or(&text).to_string())
}

fn write_all(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}

fn persist(mut file: NamedTempFile, path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_all(file.as_file_mut(), bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

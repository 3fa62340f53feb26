//! Where results go.

use crate::error::Error;
use std::fs::Permissions;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Where a result will go; opened before anything is measured, so that a place that cannot be written costs nothing.
pub enum Target {
    /// Standard output.
    Standard,
    /// A device or a pipe, written to as it is.
    Special(PathBuf),
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
        let failed = |source| Error::Output {
            target: path.to_path_buf(),
            source,
        };
        match std::fs::metadata(path) {
            Ok(known) if known.is_dir() => Err(failed(io::Error::from(io::ErrorKind::IsADirectory))),
            Ok(known) if !known.is_file() => Ok(Target::Special(path.to_path_buf())),
            // Through a link to what it names.
            Ok(_) => Target::beside(&path.canonicalize().map_err(failed)?).map_err(failed),
            Err(_) => Target::beside(path).map_err(failed),
        }
    }

    fn beside(path: &Path) -> io::Result<Target> {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let mode = Permissions::from_mode(0o666); // the umask takes its part
        let file = tempfile::Builder::new()
            .prefix(".kentry-")
            .permissions(mode)
            .tempfile_in(folder)?;
        Ok(Target::File(file, path.to_path_buf()))
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
            Target::Standard => (
                "standard output".into(),
                write_all(&mut io::stdout().lock(), bytes),
            ),
            Target::Special(path) => {
                let result = std::fs::OpenOptions::new().write(true).open(&path);
                (path, result.and_then(|mut file| write_all(&mut file, bytes)))
            }
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

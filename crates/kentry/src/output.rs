//! Where results go.

use crate::error::Error;
use crate::os::{locale, standard};
use flate2::{Compression, write::GzEncoder};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::geteuid;
use runs::WholeFile;
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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
        check_links(path).map_err(failed)?;
        let new = Permissions::from_mode(0o666);
        match std::fs::metadata(path) {
            Ok(known) if known.is_dir() => Err(failed(io::Error::from(io::ErrorKind::IsADirectory))),
            Ok(known) if !known.is_file() => {
                let file = open_special(path).map_err(failed)?;
                Ok(Target::Special(file, path.to_path_buf()))
            }
            // Through a link to its target.
            Ok(_) => path
                .canonicalize()
                .and_then(|path| WholeFile::begin(&path, new))
                .map(Target::File)
                .map_err(failed),
            Err(_) if path.is_symlink() => {
                Err(failed(io::Error::other("it is a link to a file that does not exist")))
            }
            Err(_) => WholeFile::begin(path, new).map(Target::File).map_err(failed),
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

    /// Writes what other programs read, packed if the file's name ends in `.gz`.
    ///
    /// # Errors
    /// As [`Target::write`].
    pub fn write_packed(self, bytes: &[u8]) -> Result<(), Error> {
        let is_packed = self.path().and_then(Path::extension).is_some_and(|ending| ending == "gz");
        if is_packed { self.write(&packed(bytes)) } else { self.write(bytes) }
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

/// In gzip's format. The same bytes become the same.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to a Vec cannot fail.
    let _ = gzip.write_all(bytes);
    gzip.finish().unwrap_or_default()
}

/// As many links the kernel follows, one after the other (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// Refuses a link that leads to somebody else's file and that neither this user nor root has made: whoever may write to the folder may
/// have put it there for this user to overwrite what they cannot.
fn check_links(path: &Path) -> io::Result<()> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        // Links of /proc lead to what need not have a path.
        let Some(link) = path.symlink_metadata().ok().filter(Metadata::is_symlink) else {
            return Ok(());
        };
        let is_own = [geteuid().as_raw(), 0].contains(&link.uid());
        if !is_own && std::fs::metadata(&path).is_ok_and(|target| target.uid() != link.uid()) {
            return Err(io::Error::other("it is another user's link to a file that is not theirs"));
        }
        let next = std::fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("/")).join(next);
    }
    Ok(())
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

/// Prints what a command has to say.
///
/// # Errors
/// [`Error::Output`] when it cannot be written.
pub fn print(bytes: &[u8]) -> Result<ExitCode, Error> {
    Target::standard()?.write(bytes)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skipped::skipped;
    use std::os::unix::fs::{lchown, symlink};

    /// A user's link in a shared folder had root overwrite root's file.
    #[test]
    fn another_users_link_leads_to_their_own_files_alone() {
        let folder = tempfile::tempdir().unwrap();
        let [link, file, through] = ["link", "file", "through"].map(|name| folder.path().join(name));
        std::fs::write(&file, "mine").unwrap();
        symlink(&file, &link).unwrap();
        symlink("link", &through).unwrap();
        let open = |path: &Path| Target::open(Some(path)).map(drop).map_err(|error| error.to_string());
        assert_eq!((open(&link), open(&through)), (Ok(()), Ok(())));
        if lchown(&link, Some(4711), None).is_err() {
            return skipped("only root can give a link away");
        }
        for path in [&link, &through] {
            let why = open(path).unwrap_err();
            assert!(why.ends_with("it is another user's link to a file that is not theirs"), "{why}");
        }
        lchown(&file, Some(4711), None).unwrap();
        assert_eq!((open(&link), open(&through)), (Ok(()), Ok(())));
        assert_eq!(open(Path::new("/dev/stderr")), Ok(()));
    }
}

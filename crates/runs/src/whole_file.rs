//! A file that appears whole under its name, or not at all.

use nix::fcntl::{AT_FDCWD, AtFlags, OFlag};
use nix::unistd::linkat;
use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file in the making.
pub struct WholeFile {
    path: PathBuf,
    file: Making,
}

enum Making {
    /// A file without a name: it vanishes by itself if this process is killed.
    Unnamed(File),
    /// A temporary file in the same folder, where the file system does not support files without a name.
    Named(NamedTempFile),
}

impl WholeFile {
    /// Begins a file that will be called `path`, with this mode. One that is there is replaced, and its owner and mode are kept; a link
    /// is replaced as well, and not followed.
    ///
    /// # Errors
    /// The system's error.
    pub fn begin(path: &Path, mode: Permissions) -> io::Result<WholeFile> {
        let folder = folder(path);
        let file = match unnamed(folder, &mode) {
            Some(file) => Making::Unnamed(file),
            None => {
                let mut builder = builder();
                Making::Named(builder.permissions(mode).tempfile_in(folder).map_err(without_path)?)
            }
        };
        if let Ok(old) = path.symlink_metadata()
            && old.is_file()
        {
            take_after(file.as_file(), &old)?;
        }
        Ok(WholeFile { path: path.to_path_buf(), file })
    }

    /// What it will be called.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes it, and gives it its name.
    ///
    /// # Errors
    /// The system's error; an existing file is then unchanged.
    pub fn finish(self, bytes: &[u8]) -> io::Result<()> {
        self.file.finish(&self.path, bytes)?;
        // The name is in the folder, not in the file: without this, it may be gone after a loss of power. A folder that may not be
        // read, or a file system that cannot do it, is no reason to call a file that is there an error.
        let _ = File::open(folder(&self.path)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl Making {
    fn finish(self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match self {
            Making::Named(file) => persist(file, path, bytes),
            Making::Unnamed(file) => {
                write(&file, bytes)?;
                // Some file systems can make such files, but not name them later.
                name(&file, path).or_else(|_| {
                    let again = builder().tempfile_in(folder(path)).map_err(without_path)?;
                    take_after(again.as_file(), &file.metadata()?)?;
                    persist(again, path, bytes)
                })
            }
        }
    }

    fn as_file(&self) -> &File {
        match self {
            Making::Unnamed(file) => file,
            Making::Named(file) => file.as_file(),
        }
    }
}

/// Gives a file the owner and the mode of the one that it stands for. To give a file away takes privileges; where it cannot be done, what
/// the old one's group might do with it, another group may not.
fn take_after(file: &File, old: &Metadata) -> io::Result<()> {
    let (user, group) = (Some(old.uid()), Some(old.gid()));
    let is_its_groups = fchown(file, user, group).or_else(|_| fchown(file, None, group)).is_ok();
    let kept = if is_its_groups { 0o777 } else { 0o707 };
    file.set_permissions(Permissions::from_mode(old.mode() & kept))
}

fn write(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

fn persist(file: NamedTempFile, path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(file.as_file(), bytes)?;
    file.persist(path).map_err(|error| error.error).map(drop)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// How the names of temporary files begin.
const IN_THE_MAKING: &str = ".kentry-";

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(IN_THE_MAKING);
    builder
}

/// Whether a file of this name is one in the making, or was left behind by a process that was killed.
pub(crate) fn is_in_the_making(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(IN_THE_MAKING.as_bytes())
}

/// None if the file system does not support such files, or could not name them later.
fn unnamed(folder: &Path, mode: &Permissions) -> Option<File> {
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(OFlag::O_TMPFILE.bits()).mode(mode.mode());
    let file = options.open(folder).ok()?;
    place(&file).symlink_metadata().is_ok().then_some(file)
}

/// Where an open file can be linked from without privileges (open(2), O_TMPFILE).
fn place(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Gives the file its name. A link cannot replace an existing file; that takes a rename.
fn name(file: &File, path: &Path) -> io::Result<()> {
    let link = |path: &Path| -> io::Result<()> {
        Ok(linkat(AT_FDCWD, &place(file), AT_FDCWD, path, AtFlags::AT_SYMLINK_FOLLOW)?)
    };
    match link(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let beside = builder().make_in(folder(path), link).map_err(without_path)?;
            beside.persist(path).map_err(|error| error.error).map(drop)
        }
        other => other,
    }
}

/// The error without the name of the temporary file, which the library adds and which means nothing to the user.
pub(crate) fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or(&text).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skipped::skipped;

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        std::fs::read_dir(folder).unwrap().map(name).collect()
    }

    #[test]
    fn nothing_is_there_before_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let file = WholeFile::begin(&path, Permissions::from_mode(0o666)).unwrap();
        if matches!(file.file, Making::Unnamed(_)) {
            assert!(names(folder.path()).is_empty());
        }
        drop(file);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn it_replaces_what_is_there_and_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        for text in ["one", "two"] {
            let file = WholeFile::begin(&path, Permissions::from_mode(0o600)).unwrap();
            file.finish(text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            assert_eq!(names(folder.path()), ["run.json"]);
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    /// What root wrote in the place of a user's file was root's.
    #[test]
    fn what_is_replaced_stays_its_owners() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        std::fs::write(&path, "one").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o4640)).unwrap();
        if std::os::unix::fs::chown(&path, Some(4711), Some(4712)).is_err() {
            return skipped("only root can give a file away");
        }
        let known = |path: &Path| {
            let known = path.metadata().unwrap();
            (known.uid(), known.gid(), known.mode() & 0o7777)
        };
        WholeFile::begin(&path, Permissions::from_mode(0o600)).unwrap().finish(b"two").unwrap();
        assert_eq!((known(&path), &*std::fs::read(&path).unwrap()), ((4711, 4712, 0o640), &b"two"[..]));
        // Where the file cannot be given its name at first, too.
        let file = tempfile::tempfile().unwrap();
        take_after(&file, &path.metadata().unwrap()).unwrap();
        WholeFile { path: path.clone(), file: Making::Unnamed(file) }.finish(b"three").unwrap();
        assert_eq!((known(&path), &*std::fs::read(&path).unwrap()), ((4711, 4712, 0o640), &b"three"[..]));
    }

    #[test]
    fn a_link_is_replaced_and_what_it_leads_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["run.json", "other"].map(|name| folder.path().join(name));
        std::fs::write(&other, "other").unwrap();
        let file = WholeFile::begin(&path, Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        file.finish(b"one").unwrap();
        assert!(path.symlink_metadata().unwrap().is_file());
        assert_eq!(std::fs::read(&other).unwrap(), b"other");
    }

    #[test]
    fn where_files_have_names_from_the_start_it_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let named = || Making::Named(builder().tempfile_in(folder.path()).unwrap());
        WholeFile { path: path.clone(), file: named() }.finish(b"one").unwrap();
        drop(WholeFile { path: path.clone(), file: named() });
        assert_eq!(names(folder.path()), ["run.json"]);
    }

    #[test]
    fn a_file_that_cannot_be_given_a_name_is_written_once_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        // The library sets O_EXCL, with which the file cannot be named later.
        let file = Making::Unnamed(tempfile::tempfile().unwrap());
        WholeFile { path: path.clone(), file }.finish(b"one").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        assert_eq!(names(folder.path()), ["run.json"]);
    }

    #[test]
    fn an_error_is_the_systems() {
        let missing = WholeFile::begin(Path::new("/nonexistent/run"), Permissions::from_mode(0o666));
        let error = missing.err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains(".kentry-"), "{error}");
    }
}

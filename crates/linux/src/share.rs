//! Folders of this machine, copied for a guest.

use crate::{Archive, Error, Why, files};
use std::fs::DirEntry;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The most bytes and files that a shared folder may have: all of it is in the guest's memory.
const LIMIT: u64 = 512 << 20;
const MOST_FILES: usize = 100_000;

impl Archive {
    /// Adds a copy of a folder with all that is in it at the path `at`. Symbolic links are kept as they are, wherever they
    /// lead. Returns what was left out, because it is neither file, folder nor link.
    ///
    /// # Errors
    /// If something in it cannot be read, or it is larger than 512 MiB or 100000 files.
    pub fn add_share(&mut self, folder: &Path, at: &Path) -> Result<Vec<PathBuf>, Error> {
        let mut share =
            Share { archive: self, folder, room: LIMIT, files: 0, folders: Vec::new(), left_out: Vec::new() };
        share.folders.push((folder.to_path_buf(), at.to_path_buf()));
        while let Some((from, to)) = share.folders.pop() {
            share.archive.add_folder(&to);
            for entry in std::fs::read_dir(&from).map_err(unreadable(&from))? {
                share.add(&entry.map_err(unreadable(&from))?, &to)?;
            }
        }
        Ok(share.left_out)
    }
}

struct Share<'a> {
    archive: &'a mut Archive,
    folder: &'a Path,
    /// Bytes that may still be added.
    room: u64,
    files: usize,
    /// Folders that are still to be copied, and where to.
    folders: Vec<(PathBuf, PathBuf)>,
    left_out: Vec<PathBuf>,
}

impl Share<'_> {
    /// Adds what is in a folder to its copy.
    fn add(&mut self, entry: &DirEntry, folder: &Path) -> Result<(), Error> {
        self.files += 1;
        if self.files > MOST_FILES {
            return Err(self.too_much(&format!("{MOST_FILES} files")));
        }
        let (path, to) = (entry.path(), folder.join(entry.file_name()));
        let found = entry.metadata().map_err(unreadable(&path))?;
        if found.is_dir() {
            self.folders.push((path, to));
        } else if found.is_symlink() {
            self.archive.add_link(to, std::fs::read_link(&path).map_err(unreadable(&path))?);
        } else if found.is_file() {
            let bytes = files::read(&path, self.room).map_err(|why| match why {
                Why::TooLarge(_) => self.too_much(&format!("{} MiB", LIMIT >> 20)),
                other => other.of(&path),
            })?;
            self.room -= bytes.len() as u64;
            self.archive.add_file(to, found.permissions().mode() & 0o777, bytes);
        } else {
            self.left_out.push(path);
        }
        Ok(())
    }

    fn too_much(&self, what: &str) -> Error {
        Why::Unsuitable(format!("it has more than {what}; share less")).of(self.folder)
    }
}

fn unreadable(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
    move |error| Why::Unreadable(error).of(path)
}

//! Folders for files that other programs need by their path. Each is removed when its owner drops it. One whose owner was killed in a
//! way that no program can handle (SIGKILL, or a crash) is removed by the next kentry that needs such a folder.

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::geteuid;
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use table::Probe;
use tempfile::TempDir;

/// How their names begin.
const PREFIX: &str = "kentry-";

/// The file that the owner holds a lock on, which the kernel takes away with the process, however that ends.
const LOCK: &str = "lock";

/// The lock's file before it is locked: a folder that has this and no [`LOCK`] is being made.
const UNLOCKED: &str = "lock.new";

/// A folder that exists as long as this.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    /// None where the file system has no locks: then nobody else removes it.
    _lock: Option<Flock<File>>,
}

impl Scratch {
    /// Makes one in this folder, with these permissions, and removes what killed owners have left beside it.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn in_folder(parent: &Path, mode: u32) -> io::Result<Scratch> {
        remove_abandoned(parent);
        let permissions = Permissions::from_mode(mode);
        let folder =
            tempfile::Builder::new().prefix(PREFIX).permissions(permissions.clone()).tempdir_in(parent)?;
        std::fs::set_permissions(folder.path(), permissions)?;
        let unlocked = folder.path().join(UNLOCKED);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unlocked)?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).ok();
        // Under the name that others look for only when it is locked: nobody finds it unlocked before its owner is gone.
        if lock.is_some() {
            std::fs::rename(&unlocked, folder.path().join(LOCK))?;
        }
        Ok(Scratch { folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes, as far as possible, the folders in this one whose owners are gone.
fn remove_abandoned(parent: &Path) {
    let is_ours = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
    let Some(entries) = std::fs::read_dir(parent).ok().filter(|_| nobody_else_can_rename(parent)) else {
        return;
    };
    let named = entries.flatten().filter(|entry| is_ours(&entry.file_name()));
    // What cannot be removed is in nobody's way.
    named.for_each(|entry| _ = remove_if_abandoned(&entry.path()));
}

/// Whether a folder in it stays the same one while it is looked at: others may not write to the parent, or only to what is theirs.
fn nobody_else_can_rename(parent: &Path) -> bool {
    const STICKY: u32 = 0o1000;
    const OTHERS_WRITE: u32 = 0o022;
    std::fs::metadata(parent)
        .is_ok_and(|found| found.mode() & OTHERS_WRITE == 0 || found.mode() & STICKY != 0)
}

/// Removes a folder that is certainly one of these, that is this user's, and whose lock nobody holds.
fn remove_if_abandoned(folder: &Path) -> io::Result<()> {
    let is_own = |found: &std::fs::Metadata| found.uid() == geteuid().as_raw();
    let found = std::fs::symlink_metadata(folder)?;
    if !found.is_dir() || !is_own(&found) {
        return Ok(());
    }
    let known = |name: &str| name == LOCK || Probe::ALL.iter().any(|probe| probe.name() == name);
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_str().is_some_and(known) || !entry.file_type()?.is_file() {
            return Ok(());
        }
        files.push(entry.path());
    }
    let lock = File::open(folder.join(LOCK))?;
    if Flock::lock(lock, FlockArg::LockExclusiveNonblock).is_ok() {
        files.iter().try_for_each(std::fs::remove_file)?;
        std::fs::remove_dir(folder)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that a killed owner left: its files, its lock's file, and no lock.
    fn left_in(parent: &Path, files: &[&str]) -> PathBuf {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent).unwrap().keep();
        files.iter().for_each(|name| std::fs::write(folder.join(name), "left").unwrap());
        folder
    }

    #[test]
    fn what_a_killed_owner_left_stayed_for_ever() {
        let parent = tempfile::tempdir().unwrap();
        let left = left_in(parent.path(), &[LOCK, "probe64", "probe32"]);
        let alive = Scratch::in_folder(parent.path(), 0o755).unwrap();
        assert!(!left.exists());
        assert_eq!(std::fs::metadata(alive.path()).unwrap().permissions().mode() & 0o777, 0o755);
        let other = Scratch::in_folder(parent.path(), 0o700).unwrap();
        assert!(alive.path().exists() && other.path().exists(), "their owner is there");
        let path = alive.path().to_path_buf();
        drop(alive);
        assert!(!path.exists());
    }

    #[test]
    fn what_is_not_certainly_ours_stays() {
        let parent = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::write(elsewhere.path().join(LOCK), "").unwrap();
        let being_made = left_in(parent.path(), &[UNLOCKED]);
        let without_lock = left_in(parent.path(), &["probe64"]);
        let with_more = left_in(parent.path(), &[LOCK, "probe64", "notes.txt"]);
        let nested = left_in(parent.path(), &[LOCK]);
        std::fs::create_dir(nested.join("probe64")).unwrap();
        let link = parent.path().join("kentry-link00");
        std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
        let another_name = parent.path().join("other-abc123");
        std::fs::create_dir(&another_name).unwrap();
        std::fs::write(another_name.join(LOCK), "").unwrap();
        drop(Scratch::in_folder(parent.path(), 0o755).unwrap());
        for kept in [&being_made, &without_lock, &with_more, &nested, &link, &another_name] {
            assert!(kept.exists(), "{}", kept.display());
        }
        assert!(elsewhere.path().join(LOCK).exists() && with_more.join("notes.txt").exists());
    }

    #[test]
    fn nothing_is_removed_where_others_could_put_another_folder_in_its_place() {
        let parent = tempfile::tempdir().unwrap();
        let left = left_in(parent.path(), &[LOCK]);
        let set = |mode| std::fs::set_permissions(parent.path(), Permissions::from_mode(mode)).unwrap();
        set(0o777);
        drop(Scratch::in_folder(parent.path(), 0o755).unwrap());
        assert!(left.exists());
        set(0o1777);
        drop(Scratch::in_folder(parent.path(), 0o755).unwrap());
        assert!(!left.exists(), "as in /tmp");
    }
}

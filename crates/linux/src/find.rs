//! Where kernels are found.

use crate::{Error, Kernel, Why};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The word that stands for this machine's kernel, or else the newest that is installed: [`automatic`] finds it.
pub const AUTO: &str = "auto";

/// The file of a kernel, by the path that a user gave: of a file, or of a folder in which there is one, an unpacked package for example.
///
/// # Errors
/// If there is none.
pub fn find(path: &Path) -> Result<PathBuf, Error> {
    match path.metadata() {
        Ok(found) if found.is_dir() => {
            let why = "there is no kernel in this folder: no vmlinuz-VERSION, in it or in its boot, and no vmlinuz in \
                       lib/modules/VERSION";
            newest(installed(path)).ok_or_else(|| Why::Missing(why.into()).of(path))
        }
        Ok(_) => Ok(path.to_path_buf()),
        Err(error) => Err(Why::Unreadable(error).of(path)),
    }
}

/// The kernel that `auto` means: the one that runs here, else the newest that is installed; but only one that may be read and is whole.
/// `passed_over` gets those before it that are damaged. `root` is where this machine's files are, `/`.
///
/// # Errors
/// If there is none, or none that may be read; if none of them is whole, what is wrong with the first.
pub fn automatic(
    root: &Path,
    stop: &AtomicBool,
    passed_over: &mut dyn FnMut(&Error),
) -> Result<Kernel, Error> {
    let mut damaged = Vec::new();
    for file in candidates(root)? {
        match Kernel::read(&file, stop) {
            Ok(kernel) => {
                damaged.iter().for_each(passed_over);
                return Ok(kernel);
            }
            Err(error) if matches!(error.why, Why::Stopped) => return Err(error),
            Err(error) => damaged.push(error),
        }
    }
    Err(damaged.into_iter().next().unwrap_or_else(|| Why::NoKernel.of(&root.join("boot"))))
}

/// The file of this machine's own kernel, then the others, the newest first: all that may be read.
fn candidates(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let running = std::fs::read_to_string(root.join("proc/sys/kernel/osrelease")).unwrap_or_default();
    let all = installed(root);
    let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|found| found.release == running.trim());
    let (mut open, mut closed) = (Vec::new(), None);
    for file in own.into_iter().map(|found| found.file).chain(by_age(others)) {
        match File::open(&file) {
            Ok(_) => open.push(file),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => closed = closed.or(Some(file)),
            Err(_) => {}
        }
    }
    match closed {
        _ if !open.is_empty() => Ok(open),
        Some(file) => Err(Why::RootOnly.of(&file)),
        None => Err(Why::NoKernel.of(&root.join("boot"))),
    }
}

/// A kernel, and the release by which it is called.
struct Found {
    release: String,
    file: PathBuf,
}

/// The kernels in a folder that is like a file system's root, or that is like `/boot`.
fn installed(root: &Path) -> Vec<Found> {
    let named = [root.join("boot"), root.to_path_buf()].into_iter().flat_map(|folder| {
        entries(&folder).filter_map(|entry| {
            let name = entry.file_name()?.to_str()?;
            Some(Found { release: name.strip_prefix("vmlinuz-")?.into(), file: entry })
        })
    });
    let in_modules = ["lib/modules", "usr/lib/modules"].into_iter().flat_map(|folder| {
        entries(&root.join(folder)).filter_map(|entry| {
            Some(Found { release: entry.file_name()?.to_str()?.into(), file: entry.join("vmlinuz") })
        })
    });
    let is_kernel =
        |found: &Found| found.release.starts_with(|c: char| c.is_ascii_digit()) && found.file.is_file();
    named.chain(in_modules).filter(is_kernel).collect()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn newest(found: Vec<Found>) -> Option<PathBuf> {
    by_age(found).next()
}

/// The files, that of the newest release first.
fn by_age(mut found: Vec<Found>) -> impl Iterator<Item = PathBuf> {
    found.sort_by_cached_key(|found| age(&found.release));
    found.into_iter().rev().map(|found| found.file)
}

/// What orders releases, the oldest first: their numbers, in which 6.12 is newer than 6.1, and then the letters. Rescue kernels
/// (`0-rescue-…`) are older than any other.
pub fn age(release: &str) -> (Vec<u64>, String) {
    let runs = release.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    (runs.map(|run| run.parse().unwrap_or(u64::MAX)).collect(), release.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, create_dir_all, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    fn root(running: &str, files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        create_dir_all(root.path().join("proc/sys/kernel")).unwrap();
        write(root.path().join("proc/sys/kernel/osrelease"), format!("{running}\n")).unwrap();
        for file in files {
            let path = root.path().join(file);
            create_dir_all(path.parent().unwrap()).unwrap();
            write(path, "kernel").unwrap();
        }
        root
    }

    #[test]
    fn the_running_kernel_comes_first() {
        let files = ["boot/vmlinuz-6.1.0-9-amd64", "boot/vmlinuz-6.12.1-amd64", "boot/config-6.12.1-amd64"];
        let root = root("6.1.0-9-amd64", &files);
        assert_eq!(candidates(root.path()).unwrap()[0], root.path().join(files[0]));
    }

    #[test]
    fn otherwise_the_newest_does() {
        let files = [
            "boot/vmlinuz-6.9.0-1",
            "boot/vmlinuz-6.12.0-2",
            "boot/vmlinuz-0-rescue-99",
            "boot/vmlinuz.old",
            "usr/lib/modules/6.12.0-10/vmlinuz",
        ];
        let root = root("6.18.44-other", &files);
        assert_eq!(candidates(root.path()).unwrap()[0], root.path().join(files[4]));
        assert_eq!(find(root.path()).unwrap(), root.path().join(files[4]));
        let boot = root.path().join("boot");
        assert_eq!(find(&boot).unwrap(), boot.join("vmlinuz-6.12.0-2"));
    }

    #[test]
    fn none_that_is_whole_is_the_first_that_is_not() {
        let root = root("6.18", &["boot/vmlinuz-6.9", "boot/vmlinuz-6.12"]);
        let mut said = Vec::new();
        let error =
            automatic(root.path(), &AtomicBool::new(false), &mut |error| said.push(error.to_string()))
                .unwrap_err();
        assert_eq!((error.file, said.len()), (root.path().join("boot/vmlinuz-6.12"), 0));
    }

    #[test]
    fn a_kernel_for_root_alone_is_said_to_be_one() {
        if nix::unistd::geteuid().is_root() {
            return crate::skipped::skipped("root may read everything");
        }
        let root = root("6.1", &["boot/vmlinuz-6.1"]);
        let file = root.path().join("boot/vmlinuz-6.1");
        set_permissions(&file, Permissions::from_mode(0o000)).unwrap();
        let error = candidates(root.path()).unwrap_err();
        assert_eq!(error.file, file);
        assert!(matches!(error.why, Why::RootOnly));
    }

    #[test]
    fn where_there_is_none_a_package_is_named() {
        let root = root("6.1", &[]);
        let error = candidates(root.path()).unwrap_err().to_string();
        assert!(error.contains("apt install linux-image-cloud-amd64"), "{error}");
        let error = find(root.path()).unwrap_err().to_string();
        assert!(error.contains("no kernel in this folder"), "{error}");
        let error = find(Path::new("/no/such/kernel")).unwrap_err().to_string();
        assert_eq!(error, "/no/such/kernel: there is no such file or folder");
    }
}

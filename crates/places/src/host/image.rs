//! A place to execute a probe from, with nothing left behind.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use table::Probe;

/// This process may execute nothing that it can write.
#[derive(Debug, thiserror::Error)]
#[error("the probes cannot be executed from anywhere: {}", .tried.join("; "))]
pub struct PlaceError {
    /// Each place that was tried, and why it failed.
    pub tried: Vec<String>,
}

/// An executable file that is known by its descriptor alone.
pub struct Image {
    pub file: OwnedFd,
    pub name: &'static str,
}

impl Image {
    pub fn place(probe: Probe) -> Result<Image, PlaceError> {
        Image::of(probe.name(), crate::probes::image(probe))
    }

    /// Of a program's bytes.
    pub fn of(name: &'static str, bytes: &[u8]) -> Result<Image, PlaceError> {
        let mut tried = Vec::new();
        match process::executable_in_memory(name, bytes) {
            Ok(file) => return Ok(Image { file, name }),
            Err(error) => tried.push(format!("memory: {error}")),
        }
        for folder in own_folder().into_iter().chain(folders()) {
            match in_folder(&folder, bytes) {
                Ok(file) => return Ok(Image { file, name }),
                Err(error) => tried.push(format!("{}: {error}", folder.display())),
            }
        }
        Err(PlaceError { tried })
    }
}

fn in_folder(folder: &std::path::Path, bytes: &[u8]) -> io::Result<OwnedFd> {
    if is_mounted_noexec(folder)? {
        return Err(io::Error::other("mounted noexec"));
    }
    // It has no name: whatever ends this process, nothing is left.
    let mut file = tempfile::tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o700))?;
    // A file that is open for writing cannot be executed (ETXTBSY): it is opened again for reading.
    Ok(File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?.into())
}

pub fn is_mounted_noexec(folder: &std::path::Path) -> io::Result<bool> {
    Ok(nix::sys::statvfs::statvfs(folder)?.flags().contains(nix::sys::statvfs::FsFlags::ST_NOEXEC))
}

/// Where everybody's files may be executed, the likeliest first.
pub fn folders() -> impl Iterator<Item = PathBuf> {
    let fixed = ["/dev/shm", "/var/tmp", "/run"].map(PathBuf::from);
    std::iter::once(std::env::temp_dir()).chain(fixed)
}

/// This user's own folder, which nobody else may enter.
pub fn own_folder() -> Option<PathBuf> {
    std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from)
}

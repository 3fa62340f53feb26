//! A place to execute a probe from, with nothing left behind.

use nix::sys::memfd::{MFdFlags, memfd_create};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use table::Probe;

/// Nothing that this process may write can be executed.
#[derive(Debug, thiserror::Error)]
#[error("the probes cannot be executed from anywhere: {}", .tried.join("; "))]
pub struct PlaceError {
    /// Each place that was tried, and why it would not do.
    pub tried: Vec<String>,
}

/// An executable file that is known by its descriptor alone.
pub struct Image {
    pub file: OwnedFd,
    pub name: CString,
}

impl Image {
    pub fn place(probe: Probe) -> Result<Image, PlaceError> {
        let bytes = probes::image(probe);
        let name = CString::new(probe.name()).unwrap_or_default();
        let mut tried = Vec::new();
        match in_memory(&name, bytes) {
            Ok(file) => return Ok(Image { file, name }),
            Err(error) => tried.push(format!("memory: {error}")),
        }
        for folder in folders() {
            match in_folder(&folder, bytes) {
                Ok(file) => return Ok(Image { file, name }),
                Err(error) => tried.push(format!("{}: {error}", folder.display())),
            }
        }
        Err(PlaceError { tried })
    }
}

/// With vm.memfd_noexec = 1 the kernel wants to be told that it will be executed; with 2 it refuses. Kernels before
/// 6.3 do not know the flag.
fn in_memory(name: &CStr, bytes: &[u8]) -> io::Result<OwnedFd> {
    let executable = MFdFlags::from_bits_retain(libc::MFD_EXEC);
    let flags = MFdFlags::MFD_CLOEXEC;
    let file = match memfd_create(name, flags | executable) {
        Err(nix::errno::Errno::EINVAL) => memfd_create(name, flags),
        other => other,
    }?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    Ok(file.into())
}

fn in_folder(folder: &std::path::Path, bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = tempfile::Builder::new().prefix("kentry-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o700))?;
    if nix::sys::statvfs::statvfs(folder)?.flags().contains(nix::sys::statvfs::FsFlags::ST_NOEXEC) {
        return Err(io::Error::other("mounted noexec"));
    }
    // Not to be executed while it is open for writing.
    let path = file.into_temp_path();
    let file = File::open(&path)?;
    path.close()?;
    Ok(file.into())
}

fn folders() -> Vec<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let fixed = ["/dev/shm", "/var/tmp", "/run"].map(PathBuf::from);
    runtime.into_iter().chain([std::env::temp_dir()]).chain(fixed).collect()
}

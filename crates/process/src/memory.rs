//! Files without a name, which vanish when the last process closes them.

use nix::errno::Errno;
use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};

/// A file that holds these bytes, for a child to read.
///
/// # Errors
/// When it can be written neither to memory nor to the folder for temporary files.
pub fn file_in_memory(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    // If the kernel has no files in memory: a temporary file that is already unlinked.
    filled(create(name, libc::MFD_NOEXEC_SEAL).or_else(|_| tempfile::tempfile())?, bytes)
}

/// A file that holds these bytes, for a child to execute.
///
/// # Errors
/// When the kernel has no files in memory, or forbids executing them (`vm.memfd_noexec` = 2).
pub fn executable_in_memory(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    filled(create(name, libc::MFD_EXEC)?, bytes)
}

/// Kernels since 6.3 want a flag that tells whether the file will be executed; older kernels reject the flag.
fn create(name: &str, purpose: libc::c_uint) -> io::Result<File> {
    let name = CString::new(name)?;
    let flags = MFdFlags::MFD_CLOEXEC;
    let file = match memfd_create(name.as_c_str(), flags | MFdFlags::from_bits_retain(purpose)) {
        Err(Errno::EINVAL) => memfd_create(name.as_c_str(), flags),
        other => other,
    };
    Ok(File::from(file?))
}

fn filled(mut file: File, bytes: &[u8]) -> io::Result<OwnedFd> {
    file.write_all(bytes)?;
    Ok(file.into())
}

/// The path by which a child opens a file that it inherits ([`crate::Command::files`]).
pub fn inherited(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_memory_holds_its_bytes() {
        let file = file_in_memory("plan", b"content").unwrap();
        assert_eq!(std::fs::read(inherited(&file)).unwrap(), b"content");
    }

    #[test]
    fn a_name_that_holds_a_nul_is_an_error() {
        assert!(executable_in_memory("a\0b", b"").is_err());
    }
}

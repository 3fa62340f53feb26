//! Files that are read whole, within a bound.

use crate::Why;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most bytes of a file that are read, packed or unpacked. A kernel with all its symbols has a few hundred million.
pub(crate) const LIMIT: u64 = 1 << 30;

/// An ordinary file's bytes. Opening it does not wait, whatever it is.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Why> {
    let file: File = OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(Why::NotAFile);
    }
    if found.len() > limit {
        return Err(Why::TooLarge(limit));
    }
    // Files of /proc and /sys have more than they say.
    read_all(file, limit)
}

/// All that can be read, if that is within the limit.
pub(crate) fn read_all(source: impl Read, limit: u64) -> Result<Vec<u8>, Why> {
    let mut bytes = Vec::new();
    source.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(Why::TooLarge(limit));
    }
    Ok(bytes)
}

/// What is unpacked until somebody wants no more of it.
pub(crate) struct Wanted<'a, R> {
    pub source: R,
    /// Set by who wants no more.
    pub stop: &'a AtomicBool,
}

impl<R: Read> Read for Wanted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            // Not `Interrupted`, after which readers try again.
            return Err(io::Error::other("nobody wants it any more"));
        }
        self.source.read(into)
    }
}

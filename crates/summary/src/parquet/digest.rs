//! A digest of a file's pages, in its metadata: the format has none that the crate `parquet` writes, and a bit that is lost would be another
//! figure. Files of other programs have no such digest, and are read without.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Under this name the metadata has the digest: how many bytes of the file it is of, a blank, SHA-256 in hexadecimal digits.
pub(super) const KEY: &str = "kentry.sha256";

/// A digest that grows, and of how many bytes it is.
#[derive(Debug, Clone, Default)]
pub(super) struct Running(Arc<Mutex<(Sha256, u64)>>);

impl Running {
    fn add(&self, bytes: &[u8]) {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.0.update(bytes);
        running.1 += bytes.len() as u64;
    }

    /// As the metadata has it.
    pub fn written(&self) -> String {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let digits: String = running.0.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{} {digits}", running.1)
    }
}

/// Writes, and makes the digest of what it writes.
pub(super) struct Hashed<W> {
    to: W,
    running: Running,
}

impl<W> Hashed<W> {
    pub fn new(to: W, running: Running) -> Hashed<W> {
        Hashed { to, running }
    }

    pub fn into_inner(self) -> W {
        self.to
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.running.add(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Whether a file's pages are those that were written.
///
/// # Errors
/// What is wrong, in words.
pub(super) fn check(path: &Path, said: &str) -> Result<(), String> {
    let bytes = said.split(' ').next().and_then(|bytes| bytes.parse::<u64>().ok());
    let bytes = bytes.ok_or_else(|| format!("its metadata has no digest under {KEY}, but {said:?}"))?;
    let file = File::open(path).map_err(|error| error.to_string())?;
    let running = Running::default();
    io::copy(&mut file.take(bytes), &mut Hashed::new(io::sink(), running.clone()))
        .map_err(|error| error.to_string())?;
    let is_whole = running.written() == said;
    is_whole.then_some(()).ok_or_else(|| "it is damaged: its pages have another digest".to_owned())
}

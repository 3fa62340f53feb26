//! Files of `/proc`, read to a bound; what could not be read is noted.

use environment::Unseen;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// The most that is read of a file, in bytes.
const LIMIT: u64 = 64 << 10;

/// The folder, and what was missing in it.
pub(crate) struct Proc {
    root: PathBuf,
    unseen: Vec<Unseen>,
}

impl Proc {
    /// The true one, or a test's.
    pub fn at(root: impl Into<PathBuf>) -> Proc {
        Proc { root: root.into(), unseen: Vec::new() }
    }

    /// What was missing, in the order in which it was asked for.
    pub fn into_unseen(self) -> Vec<Unseen> {
        self.unseen
    }

    /// Notes that something cannot be told.
    pub fn miss(&mut self, what: &str, why: impl Into<String>) {
        self.note(what, why.into(), false);
    }

    /// Notes that something cannot be told, as on many machines.
    pub fn miss_expected(&mut self, what: &str, why: impl Into<String>) {
        self.note(what, why.into(), true);
    }

    fn note(&mut self, what: &str, why: String, expected: bool) {
        if self.unseen.iter().all(|unseen| unseen.what != what) {
            self.unseen.push(Unseen { what: what.to_owned(), why, expected });
        }
    }

    /// A file's text, cut at the bound; what is no UTF-8 is replaced.
    ///
    /// # Errors
    /// As the system says it.
    pub fn read(&self, path: &str) -> io::Result<String> {
        let mut bytes = Vec::new();
        let file = File::open(self.root.join(path))?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        file.take(LIMIT).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The same without surrounding blanks; a failure is noted.
    pub fn text(&mut self, path: &str) -> Option<String> {
        match self.read(path) {
            Ok(text) => Some(text.trim().to_owned()),
            Err(error) => {
                self.miss_expected(&format!("/proc/{path}"), process::in_words(&error));
                None
            }
        }
    }
}

/// A name that somebody else chose, fit for a line: no control characters, and bounded.
pub(crate) fn name(text: &str) -> String {
    let visible = |character: char| if character.is_control() { '?' } else { character };
    text.trim_end_matches('\n').chars().map(visible).take(64).collect()
}

//! Reading files of the system: bounded, never blocking, with a note about everything that could not be read.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;

use nix::fcntl::OFlag;
use serde::{Deserialize, Serialize};

use crate::roots::Roots;
use crate::text;

/// The most that is read of one file, in bytes.
const FILE_LIMIT: u64 = 1 << 20;
/// The most entries of one directory that are looked at.
const DIRECTORY_LIMIT: usize = 256;
/// The most characters of one line that are kept. A kernel's command line is at most 2048 bytes on x86.
const LINE_LIMIT: usize = 4096;

/// Something that could not be read, or not completely.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unseen {
    /// What is missing: mostly a path.
    pub what: String,
    /// Why, in words.
    pub why: String,
    /// Whether many machines do not have it, so that its absence is no sign of trouble.
    pub expected: bool,
}

/// Reads files under a root and collects what was missing.
pub(crate) struct Reader<'a> {
    roots: &'a Roots,
    unseen: Vec<Unseen>,
}

/// Content of a file, and whether there was more than the limit.
struct Content {
    bytes: Vec<u8>,
    cut: bool,
}

impl<'a> Reader<'a> {
    pub fn new(roots: &'a Roots) -> Self {
        Self { roots, unseen: Vec::new() }
    }

    /// Everything that was missing, in the order of the reads.
    pub fn into_unseen(self) -> Vec<Unseen> {
        self.unseen
    }

    /// Notes that `what` is missing although it should be there. The same thing is noted once.
    pub fn miss(&mut self, what: &str, why: impl Into<String>) {
        self.note(what, why.into(), false);
    }

    /// Notes that `what` is missing, as it is on many machines. The same thing is noted once.
    pub fn miss_expected(&mut self, what: &str, why: impl Into<String>) {
        self.note(what, why.into(), true);
    }

    fn note(&mut self, what: &str, why: String, expected: bool) {
        if self.unseen.iter().all(|unseen| unseen.what != what) {
            self.unseen.push(Unseen { what: what.to_owned(), why, expected });
        }
    }

    /// Notes an error. A file that is absent for the reason `normal` was not expected to be there.
    fn miss_for(&mut self, what: &str, error: &io::Error, normal: &str) {
        let expected = error.kind() == io::ErrorKind::NotFound && !normal.is_empty();
        let normal = if expected { format!(" (normal {normal})") } else { String::new() };
        self.note(what, format!("{}{normal}", process::in_words(error)), expected);
    }

    /// The text of a file that every machine of this kind has.
    pub fn text(&mut self, path: &str) -> Option<String> {
        self.text_unless(path, "")
    }

    /// The text of a file that may be absent for the reason `normal`.
    pub fn text_unless(&mut self, path: &str, normal: &str) -> Option<String> {
        let content = self.noted(path, FILE_LIMIT, normal)?;
        Some(text::clean(&content))
    }

    /// The first line of a file that every machine of this kind has, without surrounding blanks.
    pub fn line(&mut self, path: &str) -> Option<String> {
        self.line_unless(path, "")
    }

    /// The first line of a file that may be absent for the reason `normal`.
    pub fn line_unless(&mut self, path: &str, normal: &str) -> Option<String> {
        self.text_unless(path, normal).map(|text| first_line(&text))
    }

    /// The first line of one of several possible files; nothing is noted when it is not there.
    pub fn candidate_line(&self, path: &str) -> Option<String> {
        let bytes = self.candidate(path, FILE_LIMIT)?;
        Some(first_line(&text::clean(&bytes)))
    }

    /// The start of one of several possible files, up to `limit` bytes; nothing is noted when it is not there.
    pub fn candidate(&self, path: &str, limit: u64) -> Option<Vec<u8>> {
        self.read(path, limit).ok().map(|content| content.bytes)
    }

    /// The sorted names in a directory that may be absent for the reason `normal`.
    pub fn names(&mut self, path: &str, normal: &str) -> Vec<String> {
        match std::fs::read_dir(self.roots.at(path)) {
            Ok(entries) => {
                let entries = entries.flatten().take(DIRECTORY_LIMIT);
                let mut names: Vec<String> =
                    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
                names.sort();
                names
            }
            Err(error) => {
                self.miss_for(path, &error, normal);
                Vec::new()
            }
        }
    }

    /// Whether something of this name exists; no, where this process may not look.
    pub fn exists(&self, path: &str) -> bool {
        self.roots.at(path).exists()
    }

    fn noted(&mut self, path: &str, limit: u64, normal: &str) -> Option<Vec<u8>> {
        match self.read(path, limit) {
            Ok(content) => {
                if content.cut {
                    self.miss(path, format!("longer than {limit} bytes: only the first were read"));
                }
                Some(content.bytes)
            }
            Err(error) => {
                self.miss_for(path, &error, normal);
                None
            }
        }
    }

    fn read(&self, path: &str, limit: u64) -> io::Result<Content> {
        let file = open(&self.roots.at(path))?;
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        let bound = usize::try_from(limit).unwrap_or(usize::MAX);
        let cut = bytes.len() > bound;
        bytes.truncate(bound);
        Ok(Content { bytes, cut })
    }
}

/// Opens a regular file. A pipe or a device in its place could block or do something, so it is refused.
fn open(path: &std::path::Path) -> io::Result<File> {
    let flags = OFlag::O_NOCTTY | OFlag::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    Ok(file)
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    line.chars().take(LINE_LIMIT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn a_missing_file_is_noted_once_with_its_reason() {
        let scratch = Scratch::new("reader-missing");
        let roots = scratch.roots();
        let mut reader = Reader::new(&roots);
        assert_eq!(reader.text("/proc/cmdline"), None);
        assert_eq!(reader.line_unless("/proc/cmdline", "never"), None);
        assert_eq!(reader.line_unless("/sys/x", "in a virtual machine"), None);
        let unseen = reader.into_unseen();
        assert_eq!(unseen.len(), 2);
        assert_eq!(unseen[0].why, "No such file or directory");
        assert_eq!(unseen[1].why, "No such file or directory (normal in a virtual machine)");
        assert_eq!(unseen.iter().map(|unseen| unseen.expected).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn a_long_file_is_cut_and_that_is_noted() {
        let scratch = Scratch::new("reader-long");
        scratch.write("/proc/cmdline", &vec![b'a'; (2 << 20) + 1]);
        let roots = scratch.roots();
        let mut reader = Reader::new(&roots);
        assert_eq!(reader.text("/proc/cmdline").map(|text| text.len()), Some(1 << 20));
        assert_eq!(reader.line("/proc/cmdline").map(|line| line.len()), Some(LINE_LIMIT));
        assert_eq!(reader.into_unseen()[0].why, "longer than 1048576 bytes: only the first were read");
    }

    #[test]
    fn a_pipe_does_not_block_and_a_directory_is_no_file() {
        let scratch = Scratch::new("reader-pipe");
        scratch.pipe("/proc/loadavg");
        scratch.write("/proc/stat/inside", b"");
        let roots = scratch.roots();
        let mut reader = Reader::new(&roots);
        assert_eq!(reader.text("/proc/loadavg"), None);
        assert_eq!(reader.text("/proc/stat"), None);
        let unseen = reader.into_unseen();
        assert_eq!(unseen[0].why, "not a regular file");
        assert_eq!(unseen[1].why, "not a regular file");
    }

    #[test]
    fn names_are_sorted_and_bounded() {
        let scratch = Scratch::new("reader-names");
        for number in 0..300 {
            scratch.write(&format!("/sys/many/{number:03}"), b"");
        }
        let roots = scratch.roots();
        let mut reader = Reader::new(&roots);
        let names = reader.names("/sys/many", "");
        assert_eq!(names.len(), DIRECTORY_LIMIT);
        assert!(names.is_sorted());
        assert!(reader.names("/sys/none", "on old kernels").is_empty());
    }
}

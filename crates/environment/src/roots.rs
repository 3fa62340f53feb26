//! Where the file system starts.

use std::path::{Path, PathBuf};

/// The directory under which `/proc`, `/sys`, `/boot`, `/lib` and the others are looked for.
///
/// `/` on a real machine; a directory of recorded files in tests. System calls and CPUID always answer for the
/// machine itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The directory that stands for `/`.
    pub root: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { root: PathBuf::from("/") }
    }
}

impl Roots {
    /// The place of the absolute path `path` under this root.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join(Path::new(path.trim_start_matches('/')))
    }
}

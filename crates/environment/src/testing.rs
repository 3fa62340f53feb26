//! Trees of files for tests.

use std::path::{Path, PathBuf};

use crate::roots::Roots;

/// A directory that is removed when the test ends.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("kentry-environment-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn roots(&self) -> Roots {
        Roots { root: self.0.clone() }
    }

    pub fn write(&self, path: &str, content: &[u8]) {
        std::fs::write(self.place(path), content).unwrap();
    }

    pub fn pipe(&self, path: &str) {
        nix::unistd::mkfifo(&self.place(path), nix::sys::stat::Mode::S_IRWXU).unwrap();
    }

    fn place(&self, path: &str) -> PathBuf {
        let place = self.0.join(path.trim_start_matches('/'));
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        place
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// A recorded tree under `tests/fixtures`.
pub fn fixture(name: &str) -> Roots {
    Roots { root: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name) }
}

/// Hostile content that every parser must survive.
pub const GARBAGE: [&str; 12] = [
    "",
    "\n",
    "\n\n\n",
    ":",
    "cpu",
    "cpu0 18446744073709551616 -1 x\nintr\nctxt -5\n",
    "processor\t: 99999999999999999999\nflags\t\t: \u{fffd}\u{fffd}\n",
    "Seccomp:\t\nCapEff:\nTracerPid:\t-\nUid:",
    "0::\n1:cpu\n:::\n::",
    "CONFIG_=\n# CONFIG_ is not set\nCONFIG_HZ",
    "monotonic\nboottime 1\nx 99999999999999999999 1",
    "\u{fffd} \"unterminated -- preempt= randomize_kstack_offset=",
];

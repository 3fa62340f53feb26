//! Why a file is of no use.

use std::io;
use std::path::{Path, PathBuf};

/// A file, and why it is of no use.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", plain(&.file.display().to_string()))]
pub struct Error {
    /// The file or folder.
    pub file: PathBuf,
    /// What is wrong with it.
    pub why: Why,
}

/// What is wrong with a file, and what to do about it. Names that files gave have their control characters escaped.
#[derive(Debug, thiserror::Error)]
pub enum Why {
    /// The system does not give it.
    #[error("{}", words(.0))]
    Unreadable(#[source] io::Error),
    /// This machine, or this process, has too little memory for what the file holds. The file is not to blame.
    #[error(
        "there is not enough memory here for it; free some, or raise what limits it (ulimit -v; the control group's \
         memory.max)"
    )]
    Memory,
    /// A kernel that only root may read, as Ubuntu's are.
    #[error(
        "this kernel is readable for root alone; run this as root, or make a copy that you own: \
         `sudo install -m 644 FILE kernel`, and name that"
    )]
    RootOnly,
    /// Not a file, such as a device or a folder.
    #[error("it is not a file")]
    NotAFile,
    /// Larger than any kernel, program or module.
    #[error("it is larger than {} MiB, which is the most that is read", .0 >> 20)]
    TooLarge(u64),
    /// A compressed file that holds more than any kernel.
    #[error("what it unpacks to is larger than {} MiB, which is the most that is read", .0 >> 20)]
    UnpacksTooLarge(u64),
    /// It is no kernel of any kind that is known.
    #[error("it is not a kernel: {0}")]
    Foreign(&'static str),
    /// It was a kernel, but not all of it is there, or not as it was.
    #[error("it is damaged: {0}; copy or download it again")]
    Damaged(String),
    /// A kernel that cannot be used.
    #[error("{0}")]
    Unsuitable(String),
    /// Nothing is there that `auto` could mean.
    #[error(
        "no kernel is installed here; `apt install linux-image-cloud-amd64` brings one on Debian, or name a kernel's file or package with \
         --kernel (docs/linux.md says how to get one)"
    )]
    NoKernel,
    /// Whoever wanted it wants it no more.
    #[error("reading it was interrupted")]
    Stopped,
    /// Something that a program needs, or the kernel of a folder, is not there.
    #[error("{0}")]
    Missing(String),
}

impl Why {
    /// The error of this file.
    pub(crate) fn of(self, file: &Path) -> Error {
        Error { file: file.to_path_buf(), why: self }
    }

    /// A file that ends before the end that it speaks of.
    pub(crate) fn cut() -> Why {
        Why::Damaged("its end is missing".into())
    }
}

impl From<io::Error> for Why {
    fn from(error: io::Error) -> Why {
        if error.kind() == io::ErrorKind::OutOfMemory { Why::Memory } else { Why::Unreadable(error) }
    }
}

/// What the system says, without its number.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().into()
        }
    }
}

/// A text in which characters that would steer a terminal are escaped.
pub(crate) fn plain(text: &str) -> String {
    let escaped = |c: char| match c {
        '\'' | '"' | '\\' => c.to_string(),
        _ => c.escape_debug().to_string(),
    };
    text.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_was_to_blame_where_memory_was_short() {
        for error in [io::ErrorKind::OutOfMemory.into(), io::Error::from(nix::errno::Errno::ENOMEM)] {
            let why = Why::from(error);
            assert!(matches!(why, Why::Memory), "{why:?}");
            let text = why.to_string();
            assert!(text.contains("ulimit -v") && text.contains("memory.max"), "{text}");
        }
    }

    #[test]
    fn a_file_name_cannot_steer_a_terminal() {
        let error = Why::NotAFile.of(Path::new("it's \u{1b}[2J\u{202e}ä"));
        assert_eq!(error.to_string(), r"it's \u{1b}[2J\u{202e}ä: it is not a file");
    }
}

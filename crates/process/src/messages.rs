//! What a program writes to its standard error: the last of it is kept.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::read;
use std::os::fd::{AsFd, OwnedFd};

/// How many bytes are kept, of the last.
pub(crate) const KEPT: usize = 4096;

/// A pipe holds 64 KiB (pipe(7)): so many reads empty it.
const READS: usize = (64 << 10) / KEPT + 1;

#[derive(Debug)]
pub(crate) struct Messages {
    /// `None` when nothing more can come.
    pipe: Option<OwnedFd>,
    kept: Vec<u8>,
}

impl Messages {
    pub fn new(pipe: Option<OwnedFd>) -> Messages {
        Messages { pipe, kept: Vec::new() }
    }

    /// The file to wait for, as long as something may come.
    pub fn poll_fd(&self) -> Option<PollFd<'_>> {
        self.pipe.as_ref().map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN))
    }

    /// Reads what is there; to be called only after a wait said that something is.
    pub fn listen(&mut self) {
        let mut buffer = [0; KEPT];
        let Some(pipe) = &self.pipe else { return };
        match read(pipe, &mut buffer) {
            Err(Errno::EINTR) => {}
            Ok(0) | Err(_) => self.pipe = None,
            Ok(count) => self.kept.extend_from_slice(buffer.get(..count).unwrap_or_default()),
        }
        let surplus = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..surplus);
    }

    /// Reads what has been written so far. The number of reads is limited, since another process may go on writing.
    pub fn drain(&mut self) {
        for _ in 0..READS {
            if self.is_ready() {
                self.listen();
            }
        }
    }

    fn is_ready(&self) -> bool {
        self.poll_fd().is_some_and(|file| poll(&mut [file], PollTimeout::ZERO).is_ok_and(|count| count > 0))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.kept).trim().to_string()
    }
}

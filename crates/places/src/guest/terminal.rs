//! A terminal of this machine as the guest's console.

use nix::sys::termios::{SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// What ends the guest when it is typed: Ctrl-], as with telnet.
pub const ESCAPE: u8 = 0x1d;

/// Where a guest's console is shown, and typed to. Where this is a terminal, every key goes to the guest until this is dropped.
#[derive(Debug)]
pub struct Terminal {
    pub(crate) input: OwnedFd,
    pub(crate) output: File,
    /// How it was before; none where it is no terminal.
    before: Option<Termios>,
}

impl Terminal {
    /// Of these two ends.
    ///
    /// # Errors
    /// When the terminal cannot be set.
    pub fn new(input: OwnedFd, output: OwnedFd) -> io::Result<Terminal> {
        let before = tcgetattr(input.as_fd()).ok();
        if let Some(before) = &before {
            let mut raw = before.clone();
            cfmakeraw(&mut raw);
            tcsetattr(input.as_fd(), SetArg::TCSADRAIN, &raw)?;
        }
        Ok(Terminal { input, output: output.into(), before })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Where it fails, the terminal is gone.
            let _ = tcsetattr(self.input.as_fd(), SetArg::TCSADRAIN, before);
        }
    }
}

//! Standard output as this process was given it.
//!
//! Rust's runtime opens `/dev/null` in the place of a standard stream that is closed, before `main`, and its `Stdout` calls a write
//! to a stream that is not open for writing a success. Both lose a result without a word. So this looks before the runtime does.

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_LOST: AtomicBool = AtomicBool::new(false);

/// What the C library calls before `main` (System V ABI, "Initialization and Termination Functions").
#[used]
// SAFETY: the section holds pointers to such functions, and this one needs nothing that is not there yet.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look;

extern "C" fn look() {
    IS_LOST.store(!is_writable(), Ordering::Relaxed);
}

fn is_writable() -> bool {
    let mode = fcntl(io::stdout(), FcntlArg::F_GETFL).map(|flags| flags & OFlag::O_ACCMODE.bits());
    mode.is_ok_and(|mode| mode != OFlag::O_RDONLY.bits())
}

/// Whether what is written to standard output can arrive anywhere.
///
/// # Errors
/// EBADF where it was closed, or not open for writing, when this process began.
pub fn check() -> io::Result<()> {
    if IS_LOST.load(Ordering::Relaxed) { Err(Errno::EBADF.into()) } else { Ok(()) }
}

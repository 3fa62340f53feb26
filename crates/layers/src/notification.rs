//! What a supervisor and the kernel say to each other (`Documentation/userspace-api/seccomp_filter.rst`, user notification). Nothing here
//! allocates, so that a child between fork and exec may use it.

use nix::errno::Errno;
use nix::libc;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};

nix::ioctl_readwrite!(receive, b'!', 0, libc::seccomp_notif);
nix::ioctl_readwrite!(send, b'!', 1, libc::seccomp_notif_resp);
nix::ioctl_write_ptr!(is_valid, b'!', 2, u64);

/// The longest message or answer that a kernel may have, in words of eight bytes; those of Linux 6 have 80 and 24 bytes.
const WORDS: usize = 64;

/// Where the kernel writes which call it is, and who makes it. A signal ends this process before the kernel has taken the call from the
/// queue or behind the writing, never between: whoever shares this memory knows the call that was not answered.
pub struct Message([AtomicU64; WORDS]);

impl Message {
    /// One in which nothing was written yet.
    pub const fn new() -> Message {
        Message([const { AtomicU64::new(0) }; WORDS])
    }

    /// What was written last; all zeros if nothing was.
    pub fn last(&self) -> libc::seccomp_notif {
        // SAFETY: there is room for one, aligned to eight bytes; every value of its fields is valid.
        unsafe { self.place().read_volatile() }
    }

    fn place(&self) -> *mut libc::seccomp_notif {
        self.0.as_ptr().cast_mut().cast()
    }
}

impl Default for Message {
    fn default() -> Message {
        Message::new()
    }
}

/// Waits for a call, and says which it is and who makes it.
///
/// # Errors
/// `ENOENT` and `EINTR` where whoever asked has been interrupted or ended meanwhile; others where the kernel tells nothing.
pub fn next(listener: RawFd, message: &Message) -> Result<libc::seccomp_notif, Errno> {
    // As the kernel demands.
    message.0.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    // SAFETY: there is room for what any kernel writes, and it is memory that others may read and write meanwhile.
    unsafe { receive(listener, message.place()) }?;
    Ok(message.last())
}

/// Whether somebody waits for the answer to this call, of which somebody was told.
pub fn is_waited_for(listener: RawFd, id: u64) -> bool {
    // SAFETY: the kernel reads a number of this stack.
    unsafe { is_valid(listener, &raw const id) }.is_ok()
}

/// Lets a call go on, as if there were no filter (SECCOMP_USER_NOTIF_FLAG_CONTINUE).
///
/// # Errors
/// `ENOENT` and `EINTR` where whoever asked has ended; `EINVAL` before Linux 5.5.
pub fn go_on(listener: RawFd, id: u64) -> Result<(), Errno> {
    let mut reply = [0u64; WORDS];
    let response = reply.as_mut_ptr().cast::<libc::seccomp_notif_resp>();
    // SAFETY: there is room for what any kernel reads; the fields are within it.
    unsafe {
        (*response).id = id;
        (*response).flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
        send(listener, response).map(drop)
    }
}

//! What a supervisor and the kernel say to each other (`Documentation/userspace-api/seccomp_filter.rst`, user notification). Nothing here
//! allocates, so that a child between fork and exec may use it.

use nix::errno::Errno;
use nix::libc;
use std::os::fd::RawFd;

nix::ioctl_readwrite!(receive, b'!', 0, libc::seccomp_notif);
nix::ioctl_readwrite!(send, b'!', 1, libc::seccomp_notif_resp);

/// The longest message or answer that a kernel may have, in words of eight bytes; those of Linux 6 have 80 and 24 bytes.
const WORDS: usize = 64;

/// Waits for a call, and says which it is and who makes it.
///
/// # Errors
/// `ENOENT` and `EINTR` where whoever asked has been interrupted or ended meanwhile; others where the kernel tells nothing.
pub fn next(listener: RawFd) -> Result<libc::seccomp_notif, Errno> {
    let mut message = [0u64; WORDS];
    let notification = message.as_mut_ptr().cast::<libc::seccomp_notif>();
    // SAFETY: there is room for what any kernel writes, aligned to eight bytes and zeroed, as the kernel demands; every value of its fields is valid.
    unsafe {
        receive(listener, notification)?;
        Ok(notification.read())
    }
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

//! Whether the kernel audits system calls: then each goes the slow way in and out. audit(8), include/uapi/linux/audit.h.

use crate::apart::{self, Answer};
use nix::errno::Errno;
use nix::libc;
use std::time::Duration;

const AUDIT_GET: u16 = 1000;
const ERROR: u16 = 2;
/// A message's header, and behind it the status: a mask, then `enabled`.
const HEADER: usize = 16;
const ENABLED: usize = HEADER + 4;

/// Whether it is on.
///
/// # Errors
/// In words, where this process is not told; the kernel tells only those that may change it (CAP_AUDIT_CONTROL).
pub(super) fn enabled() -> Result<bool, String> {
    let answer = apart::ask(Duration::from_millis(100), ask)?;
    match apart::numbers(&answer).as_slice() {
        [0, enabled] => Ok(*enabled != 0),
        [errno, ..] => {
            let errno = Errno::from_raw(i32::try_from(*errno).unwrap_or(0));
            Err(format!("only those who may control it are told (CAP_AUDIT_CONTROL): {}", errno.desc()))
        }
        [] => Err("the process that asked had no answer".into()),
    }
}

/// Says the error, and whether it is on.
fn ask(answer: &mut Answer) {
    match status() {
        Ok(enabled) => _ = answer.number(0) && answer.number(enabled.into()),
        Err(errno) => _ = answer.number(errno.into()),
    }
}

/// What the kernel answers to AUDIT_GET.
fn status() -> Result<u32, i32> {
    let result = |answer: isize| if answer < 0 { Err(Errno::last_raw()) } else { Ok(answer as usize) };
    // SAFETY: numbers alone.
    let socket =
        unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_AUDIT) };
    result(socket as isize)?;
    let request: [u16; 8] = [HEADER as u16, 0, AUDIT_GET, libc::NLM_F_REQUEST as u16, 1, 0, 0, 0];
    // SAFETY: as many bytes as there are; the process ends soon, and its socket with it.
    result(unsafe { libc::send(socket, request.as_ptr().cast(), HEADER, 0) })?;
    let mut reply = [0u8; 256];
    // SAFETY: as many bytes as there is room for.
    let length = result(unsafe { libc::recv(socket, reply.as_mut_ptr().cast(), reply.len(), 0) })?;
    parsed(reply.get(..length).unwrap_or_default())
}

/// A message of the kernel's.
fn parsed(reply: &[u8]) -> Result<u32, i32> {
    let four = |at: usize| reply.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes);
    let kind = reply.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    match (kind, four(HEADER), four(ENABLED)) {
        (Some(AUDIT_GET), _, Some(enabled)) => Ok(enabled),
        (Some(ERROR), Some(errno), _) if errno != 0 => Err((errno as i32).saturating_neg()),
        _ => Err(libc::EBADMSG),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_parsed_and_nothing_else() {
        let message = |kind: u16, words: [u32; 2]| {
            let mut bytes = [24u32.to_ne_bytes(), [0; 4], [0; 4], [0; 4]].concat();
            bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
            bytes.extend(words.map(u32::to_ne_bytes).concat());
            bytes
        };
        assert_eq!(parsed(&message(AUDIT_GET, [1, 2])), Ok(2));
        assert_eq!(parsed(&message(ERROR, [(-1i32) as u32, 0])), Err(libc::EPERM));
        assert_eq!(parsed(&message(ERROR, [0, 0])), Err(libc::EBADMSG));
        assert_eq!(parsed(&message(ERROR, [0x8000_0000, 0])), Err(i32::MAX));
        for length in 0..24 {
            assert!(parsed(&message(AUDIT_GET, [1, 2])[..length]).is_err(), "{length}");
        }
    }
}

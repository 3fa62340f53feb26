//! What the guest's first program finds out about its kernel. On a host a filter of system calls could end whoever asks.

use super::events;
use environment::Environment;
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::sockopt::ReceiveTimeout;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, setsockopt, socket,
};
use nix::sys::time::TimeVal;
use std::fs;
use std::os::fd::AsRawFd;

/// Adds it to what the files say.
pub fn add_to(environment: &mut Environment) {
    environment.x32 = Some(has_x32());
    environment.audit = audits().ok();
    environment.trace = events::are_on().ok();
    environment.kaslr =
        fs::read("/sys/kernel/boot_params/data").ok().and_then(|parameters| is_moved(&parameters));
}

/// What interrupts for the kernel's tick: `lapic`.
pub fn tick() -> Option<String> {
    let text = fs::read_to_string("/sys/devices/system/clockevents/clockevent0/current_device").ok()?;
    Some(text.trim_end().to_string()).filter(|name| !name.is_empty())
}

/// Whether the kernel's decompressor says that it chose the address at random: KASLR_FLAG in `hdr.loadflags` of what it hands to the
/// kernel (Documentation/arch/x86/boot.rst). Nothing if this is too short.
fn is_moved(parameters: &[u8]) -> Option<bool> {
    const LOADFLAGS: usize = 0x211;
    const KASLR: u8 = 1 << 1;
    parameters.get(LOADFLAGS).map(|flags| flags & KASLR != 0)
}

/// Whether a system call whose number has bit 30 set (`__X32_SYSCALL_BIT`) answers anything but that there is no such call.
fn has_x32() -> bool {
    const X32: libc::c_long = 1 << 30;
    // SAFETY: getpid takes nothing and changes nothing.
    let answer = unsafe { libc::syscall(libc::SYS_getpid | X32) };
    answer != -1
}

/// The parts of a message that are needed here (include/uapi/linux/netlink.h and audit.h), each of 4 bytes unless said otherwise:
/// length, type (2 bytes), flags (2), sequence, port; then the status, whose second word says whether calls are audited.
const HEADER: usize = 16;
const AUDIT_GET: u16 = 1000;
const REQUEST: u16 = 1;

/// Whether the kernel audits system calls, by its own answer; it makes no such socket where it was booted with `audit=0`.
fn audits() -> nix::Result<bool> {
    let (flags, protocol) = (SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkAudit);
    let socket = match socket(AddressFamily::Netlink, SockType::Raw, flags, protocol) {
        Err(Errno::EPROTONOSUPPORT) => return Ok(false),
        other => other?,
    };
    // A thread of the kernel's answers, soon. One that does not must not stop the measurement.
    setsockopt(&socket, ReceiveTimeout, &TimeVal::new(1, 0))?;
    let mut question = [0; HEADER];
    question[..4].copy_from_slice(&(HEADER as u32).to_ne_bytes());
    question[4..6].copy_from_slice(&AUDIT_GET.to_ne_bytes());
    question[6..8].copy_from_slice(&REQUEST.to_ne_bytes());
    sendto(socket.as_raw_fd(), &question, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
    let mut answer = [0; 256];
    let length = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    enabled(answer.get(..length).unwrap_or_default()).ok_or(Errno::EBADMSG)
}

/// What an answer says; nothing if it is another one, such as a refusal.
fn enabled(answer: &[u8]) -> Option<bool> {
    let kind = answer.get(4..6)?;
    let word = answer.get(HEADER + 4..HEADER + 8)?;
    (kind == AUDIT_GET.to_ne_bytes()).then(|| word != [0; 4])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decompressor_says_whether_the_kernel_was_moved() {
        let parameters = |flags: u8| [vec![0; 0x211], vec![flags; 1], vec![0xff; 16]].concat();
        // Bits 0 and 7 are LOADED_HIGH and CAN_USE_HEAP.
        assert_eq!([0x81, 0x83].map(|flags| is_moved(&parameters(flags))), [false, true].map(Some));
        assert_eq!(is_moved(&parameters(0x83)[..0x211]), None);
    }

    #[test]
    fn only_a_status_says_whether_calls_are_audited() {
        let answer = |kind: u16, enabled: u32| {
            let mut bytes = vec![0; 60];
            bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
            bytes[20..24].copy_from_slice(&enabled.to_ne_bytes());
            bytes
        };
        assert_eq!([0, 1, 2].map(|word| enabled(&answer(AUDIT_GET, word))), [false, true, true].map(Some));
        let error = 2;
        assert_eq!(enabled(&answer(error, 1)), None);
        assert_eq!((enabled(&answer(AUDIT_GET, 1)[..23]), enabled(b"")), (None, None));
    }
}

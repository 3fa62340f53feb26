//! Counting without privileges: a seccomp filter asks this process at each call of a command (user notification, Linux 5.5), which counts it and
//! lets it go on (SECCOMP_USER_NOTIF_FLAG_CONTINUE).
//!
//! That is slow, and a filter cannot be taken off again. It takes `no_new_privs`: set-user-ID programs run as the user who called them.

use crate::call::{Call, Way};
use crate::counts::Counts;
use crate::error::Error;
use crate::proc;
use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::collections::HashMap;
use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Of seccomp(2).
const SET_MODE_FILTER: libc::c_uint = 1;
const NEW_LISTENER: libc::c_ulong = 1 << 3;
const WAIT_KILLABLE_RECV: libc::c_ulong = 1 << 5;
const ALLOW: u32 = 0x7fff_0000;
const USER_NOTIFICATION: u32 = 0x7fc0_0000;
const CONTINUE: u32 = 1;

/// SECCOMP_IOCTL_NOTIF_RECV, _SEND and _SET_FLAGS (include/uapi/linux/seccomp.h), and the flag that wakes on the same CPU (Linux 6.6).
const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
const SET_FLAGS: libc::c_ulong = 0x4008_2104;
const SYNC_WAKE_UP: libc::c_long = 1;

const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;

/// Of linux/bpf_common.h: load a word of the call's data, compare, return.
const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

/// In `struct seccomp_data`.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const FIRST_AT: u32 = 16;
const THIRD_AT: u32 = 32;

/// The flags of the one message that is not asked about: it brings this process the filter's descriptor, without which nobody could answer.
/// No program sends with all of them.
const MARK: libc::c_int = libc::MSG_NOSIGNAL | libc::MSG_CONFIRM | libc::MSG_MORE | libc::MSG_DONTROUTE;

/// `struct seccomp_notif` and its answer.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Asked {
    id: u64,
    tid: u32,
    flags: u32,
    number: i32,
    architecture: u32,
    instruction: u64,
    arguments: [u64; 6],
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Answer {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

const _: () = assert!(size_of::<Asked>() == 80 && size_of::<Answer>() == 24);

/// In the child, between fork and exec: puts the filter on, and sends its descriptor. System calls on this stack, and nothing else.
pub(crate) fn put_on(socket: RawFd) -> Result<(), Errno> {
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let program = [
        step(LOAD, 0, 0, ARCHITECTURE_AT),
        step(EQUAL, 0, 6, AUDIT_ARCH_X86_64),
        step(LOAD, 0, 0, NUMBER_AT),
        step(EQUAL, 0, 4, libc::SYS_sendmsg as u32),
        step(LOAD, 0, 0, FIRST_AT),
        step(EQUAL, 0, 2, socket as u32),
        step(LOAD, 0, 0, THIRD_AT),
        step(EQUAL, 1, 0, MARK as u32),
        step(RETURN, 0, 0, USER_NOTIFICATION),
        step(RETURN, 0, 0, ALLOW),
    ];
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: a system call with numbers.
    Errno::result(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    // SAFETY: the kernel reads the program, which lives on this stack.
    let install = |flags: libc::c_ulong| unsafe {
        libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, flags, &raw const program)
    };
    let made = Errno::result(install(NEW_LISTENER | WAIT_KILLABLE_RECV));
    let made = match made {
        // Before Linux 5.19.
        Err(Errno::EINVAL) => Errno::result(install(NEW_LISTENER)),
        other => other,
    }?;
    send(socket, RawFd::try_from(made).map_err(|_| Errno::EBADF)?)
}

/// Room for one descriptor beside a message.
#[repr(C, align(8))]
struct Beside([u8; 24]);

fn send(socket: RawFd, listener: RawFd) -> Result<(), Errno> {
    let (mut byte, mut beside) = ([0u8; 1], Beside([0; 24]));
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: byte.len() };
    // SAFETY: all zeros is a message header.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut beside).cast();
    message.msg_controllen = size_of::<Beside>();
    // SAFETY: the control buffer has room for a header and one descriptor, and is aligned; the kernel reads what is on this stack.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as usize;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(listener);
        Errno::result(libc::sendmsg(socket, &raw const message, MARK)).map(drop)
    }
}

/// The descriptor that the child sent; none where it had none to send.
pub(crate) fn receive(socket: &OwnedFd) -> Option<OwnedFd> {
    let mut space = nix::cmsg_space!(RawFd);
    let mut byte = [0; 1];
    let mut parts = [IoSliceMut::new(&mut byte)];
    let flags = nix::sys::socket::MsgFlags::MSG_CMSG_CLOEXEC;
    let message =
        nix::sys::socket::recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), flags).ok()?;
    message.cmsgs().ok()?.find_map(|beside| match beside {
        nix::sys::socket::ControlMessageOwned::ScmRights(files) => {
            // SAFETY: the kernel has just made it for this process.
            files.first().map(|file| unsafe { OwnedFd::from_raw_fd(*file) })
        }
        _ => None,
    })
}

/// Answers and counts until nobody has the filter any more. The first process is counted from the program on that it executes.
pub(crate) fn supervise(listener: &OwnedFd, first: impl Fn() -> Option<u32>) -> Counts {
    // SAFETY: a request that takes a number. Before Linux 6.6 it fails, and answers only take longer.
    let _ = unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS, SYNC_WAKE_UP) };
    let (mut counts, mut groups, mut widths) = (Counts::new(false), HashMap::new(), HashMap::new());
    let mut has_begun = false;
    loop {
        let mut files = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        match poll(&mut files, PollTimeout::NONE) {
            Err(Errno::EINTR) => continue,
            Err(_) => return counts,
            Ok(_) => {}
        }
        let has = files.first().and_then(PollFd::revents).unwrap_or(PollFlags::empty());
        if !has.contains(PollFlags::POLLIN) {
            return counts;
        }
        let Some(asked) = next(listener) else { continue };
        let pid = *groups.entry(asked.tid).or_insert_with(|| group(asked.tid));
        let call = asked.call(|| *widths.entry(pid).or_insert_with(|| proc::is_64(pid)));
        let executes = matches!(call.name(), Some("execve" | "execveat"));
        // Until then it looks for its program.
        has_begun |= !(executes && first().is_none_or(|first| first == pid));
        if has_begun {
            counts.count(pid, call);
        }
        if executes {
            counts.forget(pid);
            widths.remove(&pid);
        }
        go_on(listener, asked.id);
    }
}

fn next(listener: &OwnedFd) -> Option<Asked> {
    let mut asked = Asked::default();
    // SAFETY: the kernel writes one notification into zeroed memory, as it demands.
    let received = unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE, &raw mut asked) };
    // Whoever asked may have been killed meanwhile.
    Errno::result(received).ok().map(|_| asked)
}

fn go_on(listener: &OwnedFd, id: u64) {
    let answer = Answer { id, flags: CONTINUE, ..Answer::default() };
    // SAFETY: the kernel reads one answer. It fails where whoever asked has been killed.
    let _ = unsafe { libc::ioctl(listener.as_raw_fd(), SEND, &raw const answer) };
}

impl Asked {
    /// By what is asked about the program, if its width matters.
    fn call(&self, is_64: impl FnOnce() -> Option<bool>) -> Call {
        let number = self.number as u32;
        let way = match self.architecture {
            AUDIT_ARCH_X86_64 => Way::of_syscall(number),
            _ if is_64() == Some(true) => Way::Int80In64,
            // Which of its two ways it took, nothing tells.
            _ => Way::Code32,
        };
        Call::new(way, number, self.arguments.first().copied().unwrap_or(0))
    }
}

/// The process of a thread.
fn group(tid: u32) -> u32 {
    let status = proc::read(format!("/proc/{tid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    line.and_then(|text| text.trim().parse().ok()).unwrap_or(tid)
}

/// Why a filter of this kind cannot be put on, in words.
pub(crate) fn refused(errno: Errno) -> Error {
    match errno {
        Errno::EBUSY => Error::Permission(
            "another filter with user notification watches this process already, and the kernel allows one"
                .into(),
        ),
        Errno::EINVAL | Errno::ENOSYS => {
            Error::System("this kernel has no seccomp filters with user notification (Linux 5.5 has)".into())
        }
        other => Error::system("a seccomp filter that asks at each call cannot be put on", other),
    }
}

//! Counting without privileges: a seccomp filter asks this process at each call of a command (user notification, Linux 5.5), which counts it and
//! lets it go on (SECCOMP_USER_NOTIF_FLAG_CONTINUE).
//!
//! That is slow, and a filter cannot be taken off again. It takes `no_new_privs`: set-user-ID programs run as the user who called them.

use crate::call::{Call, Way};
use crate::counts::Counts;
use crate::error::Error;
use crate::proc;
use layers::bpf::{X86_64, answer, jump, load};
use layers::notification::{self, Message};
use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::collections::HashMap;
use std::mem::offset_of;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (include/uapi/linux/seccomp.h): answers wake on the same CPU; since Linux 6.6.
const SYNC_WAKE_UP: libc::c_long = 1;

/// The flags of the one message that is not asked about: it brings this process the filter's descriptor, without which nobody could answer.
/// No program sends with all of them.
const MARK: libc::c_int = libc::MSG_NOSIGNAL | libc::MSG_CONFIRM | libc::MSG_MORE | libc::MSG_DONTROUTE;

/// In the child, between fork and exec: puts the filter on, and sends its descriptor. System calls on this stack, and nothing else.
pub(crate) fn put_on(socket: RawFd) -> Result<(), Errno> {
    let argument = |place| offset_of!(libc::seccomp_data, args) + place * size_of::<u64>();
    let program = [
        load(offset_of!(libc::seccomp_data, arch)),
        jump(libc::BPF_JEQ, X86_64, 0, 6),
        load(offset_of!(libc::seccomp_data, nr)),
        jump(libc::BPF_JEQ, libc::SYS_sendmsg as u32, 0, 4),
        load(argument(0)),
        jump(libc::BPF_JEQ, socket as u32, 0, 2),
        load(argument(2)),
        jump(libc::BPF_JEQ, MARK as u32, 1, 0),
        answer(libc::SECCOMP_RET_USER_NOTIF),
        answer(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: a system call with numbers.
    Errno::result(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    // SAFETY: the kernel reads the program, which lives on this stack.
    let install = |flags: libc::c_ulong| unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
    };
    let listens = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let made = Errno::result(install(listens | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV));
    let made = match made {
        // Before Linux 5.19.
        Err(Errno::EINVAL) => Errno::result(install(listens)),
        other => other,
    }?;
    send(socket, RawFd::try_from(made).map_err(|_| Errno::EBADF)?)
}

/// Room for one descriptor beside a message.
#[repr(C, align(8))]
struct Beside([u8; 24]);

pub(crate) fn send(socket: RawFd, listener: RawFd) -> Result<(), Errno> {
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

/// The descriptor that was sent; none where there was none to send. On this stack alone, so that a child may call it.
pub(crate) fn receive(socket: RawFd) -> Option<RawFd> {
    let (mut byte, mut beside) = ([0u8; 1], Beside([0; 24]));
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: byte.len() };
    // SAFETY: all zeros is a message header.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut beside).cast();
    message.msg_controllen = size_of::<Beside>();
    // SAFETY: the kernel writes a message, and beside it at most one descriptor, for which there is room; the header is null without one.
    unsafe {
        while Errno::result(libc::recvmsg(socket, &raw mut message, libc::MSG_CMSG_CLOEXEC))
            == Err(Errno::EINTR)
        {}
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        let is_one = !header.is_null()
            && (*header).cmsg_level == libc::SOL_SOCKET
            && (*header).cmsg_type == libc::SCM_RIGHTS
            && (*header).cmsg_len == libc::CMSG_LEN(size_of::<RawFd>() as u32) as usize;
        is_one.then(|| libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned())
    }
}

/// How often it is looked whether to end.
const LOOK: u8 = 50;

/// So long it is waited for the end of those who were killed.
const LAST: Duration = Duration::from_secs(2);

/// Answers and counts until nobody has the filter any more. The first process is counted from the program on that it executes. Once it is told
/// to end, those who have the filter are killed instead. `message` is the guard's, too.
///
/// # Errors
/// [`Error::System`] where the kernel does not tell who asks; then those who did are killed.
pub(crate) fn supervise(
    listener: &OwnedFd,
    message: &Message,
    first: impl Fn() -> Option<u32>,
    ends: &AtomicBool,
) -> Result<Counts, Error> {
    // SAFETY: a request that takes a number. Before Linux 6.6 it fails, and answers only take longer.
    let _ = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP) };
    let (mut counts, mut groups, mut widths) = (Counts::new(false), HashMap::new(), HashMap::new());
    let (mut has_begun, mut known, mut ending) = (false, HashMap::new(), None);
    let failed = |errno, known: &HashMap<u32, u64>| {
        kill_known(known);
        Error::system("the kernel does not tell the filter's listener who asks", errno)
    };
    loop {
        if ending.is_none() && ends.load(Ordering::SeqCst) {
            ending = Some(Instant::now());
            kill_known(&known);
        }
        // Whoever is left makes no calls; when it makes one, the guard ends it.
        if ending.is_some_and(|since: Instant| since.elapsed() > LAST) {
            return Ok(counts);
        }
        let mut files = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        match poll(&mut files, PollTimeout::from(LOOK)) {
            Err(Errno::EINTR) | Ok(0) => continue,
            Err(errno) => return Err(failed(errno, &known)),
            Ok(_) => {}
        }
        let has = files.first().and_then(PollFd::revents).unwrap_or(PollFlags::empty());
        if !has.contains(PollFlags::POLLIN) {
            return Ok(counts);
        }
        let asked = match notification::next(listener.as_raw_fd(), message) {
            Ok(asked) => asked,
            // Whoever asked may have been killed meanwhile.
            Err(Errno::EINTR | Errno::ENOENT) => continue,
            Err(errno) => return Err(failed(errno, &known)),
        };
        if ending.is_some() {
            kill(asked.pid);
            continue;
        }
        let pid = *groups.entry(asked.pid).or_insert_with(|| group(asked.pid));
        known.entry(pid).or_insert_with(|| start_of(pid).unwrap_or_default());
        let call = call(&asked.data, || *widths.entry(pid).or_insert_with(|| proc::is_64(pid)));
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
        match notification::go_on(listener.as_raw_fd(), asked.id) {
            Ok(()) | Err(Errno::EINTR | Errno::ENOENT) => {}
            Err(errno) => return Err(failed(errno, &known)),
        }
    }
}

/// Kills whoever waits for the answer to the call that another process was told of last, and then each process that asks, until nobody has the
/// filter any more. On this stack alone, so that a child may call it.
pub(crate) fn kill_all(listener: RawFd, told: &Message) {
    let (last, message) = (told.last(), Message::new());
    // The kernel tells of a call once.
    if notification::is_waited_for(listener, last.id) {
        kill(last.pid);
    }
    loop {
        let mut file = libc::pollfd { fd: listener, events: libc::POLLIN, revents: 0 };
        // SAFETY: the kernel writes into a place of this stack.
        match Errno::result(unsafe { libc::poll(&raw mut file, 1, -1) }) {
            Err(Errno::EINTR) => continue,
            Ok(_) if file.revents & libc::POLLIN != 0 => {}
            _ => return,
        }
        match notification::next(listener, &message) {
            Ok(asked) => kill(asked.pid),
            Err(Errno::EINTR | Errno::ENOENT) => {}
            Err(_) => return,
        }
    }
}

/// Ends the process of a thread.
pub(crate) fn kill(tid: u32) {
    if let Some(tid) = i32::try_from(tid).ok().filter(|tid| *tid > 1) {
        // SAFETY: a system call with numbers.
        unsafe { libc::kill(tid, libc::SIGKILL) };
    }
}

/// Ends processes by their numbers and when they began: another may have got the number of one that has ended.
fn kill_known(known: &HashMap<u32, u64>) {
    known.iter().filter(|(pid, start)| start_of(**pid) == Some(**start)).for_each(|(pid, _)| kill(*pid));
}

fn start_of(pid: u32) -> Option<u64> {
    proc::stat(&proc::read(format!("/proc/{pid}/stat")).ok()?).map(|stat| stat.start)
}

/// By what is asked about the program, if its width matters.
fn call(asked: &libc::seccomp_data, is_64: impl FnOnce() -> Option<bool>) -> Call {
    let number = asked.nr as u32;
    let way = match asked.arch {
        X86_64 => Way::of_syscall(number),
        _ if is_64() == Some(true) => Way::Int80In64,
        // Which of its two ways it took, nothing tells.
        _ => Way::Code32,
    };
    Call::new(way, number, asked.args.first().copied().unwrap_or(0))
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use nix::sys::signal::Signal;
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
    use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
    use nix::unistd::{ForkResult, Pid, fork};

    /// A child with the filter, which asks for ever; and the filter's listener. None where no such filter can be put on here.
    fn asking() -> Option<(Pid, OwnedFd)> {
        let pair =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC).unwrap();
        // SAFETY: the child makes system calls on its stack.
        match unsafe { fork() }.unwrap() {
            ForkResult::Child => {
                if put_on(pair.1.as_raw_fd()).is_err() {
                    // SAFETY: ends this process without what the tests registered for its exit.
                    unsafe { libc::_exit(0) };
                }
                loop {
                    nix::unistd::getppid();
                }
            }
            ForkResult::Parent { child } => {
                drop(pair.1);
                let listener = receive(pair.0.as_raw_fd())?;
                // SAFETY: the kernel has just made it for this process.
                Some((child, unsafe { std::os::fd::FromRawFd::from_raw_fd(listener) }))
            }
        }
    }

    /// Where kentry was killed between being told of a call and the answer, the program waited for ever, and the guard with it.
    #[test]
    fn who_was_not_answered_is_killed() {
        let Some((child, listener)) = asking() else { return };
        let told: &'static Message = layers::shared().unwrap();
        assert!(notification::next(listener.as_raw_fd(), told).is_ok_and(|asked| asked.id == told.last().id));
        let ends = std::thread::spawn(move || kill_all(listener.as_raw_fd(), told));
        let begin = Instant::now();
        let mut status = WaitStatus::StillAlive;
        while status == WaitStatus::StillAlive && begin.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
            status = waitpid(child, Some(WaitPidFlag::WNOHANG)).unwrap();
        }
        kill(child.as_raw() as u32);
        assert_eq!(status, WaitStatus::Signaled(child, Signal::SIGKILL, false));
        ends.join().unwrap();
    }

    #[test]
    fn who_was_answered_is_not_taken_for_another() {
        let Some((child, listener)) = asking() else { return };
        let message = Message::new();
        let asked = notification::next(listener.as_raw_fd(), &message).unwrap();
        assert!(notification::is_waited_for(listener.as_raw_fd(), asked.id));
        notification::go_on(listener.as_raw_fd(), asked.id).unwrap();
        assert!(!notification::is_waited_for(listener.as_raw_fd(), message.last().id));
        assert!(!notification::is_waited_for(listener.as_raw_fd(), Message::new().last().id));
        kill(child.as_raw() as u32);
        waitpid(child, None).unwrap();
    }
}

//! A process that stands in for this one where a filter outlives it: killed, this process can answer no more, and each call of the command
//! would fail for ever. The guard has the filter's listener, too. It sleeps until the other end of its socket is closed. Then it kills whoever
//! asked and was not answered, which shared memory tells, and from then on each process that asks, until nobody has the filter any more.

use crate::error::Error;
use crate::notify;
use layers::notification::Message;
use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{SigSet, SigmaskHow};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};
use std::ffi::CStr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// What it is called, so that whoever ends all that is called kentry does not end it before.
const NAME: &CStr = c"filter-guard";

/// So often, and with such pauses, its end is looked for. Where somebody still has the filter, it stays.
const LOOKS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(1);

/// The guard, seen from this process.
pub(crate) struct Guard {
    life: Option<OwnedFd>,
    pid: Pid,
}

impl Guard {
    /// `told` is where this process is told of calls.
    pub fn start(told: &'static Message) -> Result<Guard, Error> {
        let failed = |errno: Errno| Error::system("no process that guards the filter can be made", errno);
        let made = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC);
        let (life, end) = made.map_err(failed)?;
        // Blocked in the guard for good: what ends this process must not end it.
        let mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK).map_err(failed)?;
        // SAFETY: the child makes system calls on its stack, and ends.
        let made = unsafe { fork() };
        if let Ok(ForkResult::Child) = made {
            watch(end.as_raw_fd(), told);
        }
        // It cannot fail with a mask that came from the kernel.
        let _ = mask.thread_set_mask();
        match made.map_err(failed)? {
            ForkResult::Parent { child: pid } => Ok(Guard { life: Some(life), pid }),
            ForkResult::Child => Err(failed(Errno::ECHILD)),
        }
    }

    /// A socket by which it gets the listener.
    pub fn socket(&self) -> Option<OwnedFd> {
        self.life.as_ref()?.try_clone().ok()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.life.take());
        for _ in 0..LOOKS {
            match waitpid(self.pid, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => std::thread::sleep(PAUSE),
                _ => return,
            }
        }
    }
}

/// In the guard.
fn watch(end: RawFd, told: &Message) -> ! {
    // SAFETY: system calls with numbers. It leaves the terminal's session, and the files of the other process but for the socket, which
    // becomes the first: whoever reads what that process writes must not wait for this one.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
        libc::setsid();
        libc::dup2(end, 0);
        if libc::syscall(libc::SYS_close_range, 1, libc::c_uint::MAX, 0) != 0 {
            (1..1024).for_each(|file| {
                libc::close(file);
            });
        }
    }
    if let Some(listener) = notify::receive(0).filter(|listener| outlives(*listener)) {
        notify::kill_all(listener, told);
    }
    // SAFETY: ends this process without running what the other registered for its own exit.
    unsafe { libc::_exit(0) }
}

/// Waits until the other process has ended, or nobody has the filter any more; whether somebody still has it.
fn outlives(listener: RawFd) -> bool {
    loop {
        let socket = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
        // Calls do not wake it: they are the other process's.
        let filter = libc::pollfd { fd: listener, events: 0, revents: 0 };
        let mut files = [socket, filter];
        // SAFETY: the kernel writes into two places of this stack.
        let ready = Errno::result(unsafe { libc::poll(files.as_mut_ptr(), 2, -1) });
        let [socket, filter] = files;
        match ready {
            Err(Errno::EINTR) => {}
            Err(_) => return false,
            Ok(_) if filter.revents != 0 => return false,
            Ok(_) if socket.revents != 0 => return true,
            Ok(_) => {}
        }
    }
}

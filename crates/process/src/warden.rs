//! Ends the groups of this process's children when this process can no longer do so: when it was killed.
//!
//! A child dies with this process (`PR_SET_PDEATHSIG`), but what it has started does not. So a process is made once, the warden, which
//! waits for the end of a pipe whose other end this process alone has, and then kills the groups that are noted in memory that both
//! share. While this process lives, the warden sleeps: whatever is measured is not disturbed by it.

use nix::errno::Errno;
use nix::libc;
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous};
use nix::sys::signal::{SigSet, SigmaskHow};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork, pipe2, write};
use std::ffi::CStr;
use std::num::NonZero;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

/// So many groups are noted at once; others are as if there were no warden.
const MOST: usize = 64;

/// A place that is free, and one whose group is yet to come.
const FREE: i32 = 0;
const TAKEN: i32 = -1;

type Groups = &'static [AtomicI32; MOST];

/// What it is called, so that whoever ends all that is called kentry does not end it before.
const NAME: &CStr = c"group-warden";

static WARDEN: Mutex<Option<Warden>> = Mutex::new(None);

/// The warden, seen from this process.
struct Warden {
    groups: Groups,
    /// When this is closed or written to, the warden acts.
    life: OwnedFd,
    pid: Pid,
}

/// Where the number of a child's group is noted, as long as this exists.
#[derive(Debug)]
pub struct Note(&'static AtomicI32);

impl Note {
    /// A place for the group of a child that is about to be started. None where no warden can be made, or has room.
    pub fn take() -> Option<Note> {
        let mut known = WARDEN.lock().unwrap_or_else(PoisonError::into_inner);
        // A moment without processes or memory passes.
        if known.is_none() {
            *known = Warden::start().ok();
        }
        let warden = known.as_ref()?;
        let take = |place: &&AtomicI32| {
            place.compare_exchange(FREE, TAKEN, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        warden.groups.iter().find(take).map(Note)
    }

    /// Notes the group that the calling process leads. This allocates nothing, and may be called in a child.
    pub fn write(&self) {
        self.0.store(Pid::this().as_raw(), Ordering::SeqCst);
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        self.0.store(FREE, Ordering::SeqCst);
    }
}

impl Warden {
    fn start() -> Result<Warden, Errno> {
        let groups = shared()?;
        let (end, life) = pipe2(nix::fcntl::OFlag::O_CLOEXEC)?;
        // Blocked in the warden for good: what ends this process must not end it.
        let mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
        // SAFETY: the child makes system calls on what was made before, and ends.
        let made = unsafe { fork() };
        if let Ok(ForkResult::Child) = made {
            watch(end.as_raw_fd(), groups);
        }
        // It cannot fail with a mask that came from the kernel.
        let _ = mask.thread_set_mask();
        let ForkResult::Parent { child: pid } = made? else { return Err(Errno::ECHILD) };
        // SAFETY: a function of this program, which may be called at any end of it.
        unsafe { libc::atexit(dismiss) };
        Ok(Warden { groups, life, pid })
    }
}

/// At an orderly end: no process stays behind, not even one for which whoever adopts it must wait.
extern "C" fn dismiss() {
    let warden = WARDEN.try_lock().ok().and_then(|mut known| known.take());
    if let Some(Warden { life, pid, .. }) = warden {
        // Not only closed: a child that has yet to execute its program has the pipe, too.
        let _ = write(&life, &[0]);
        let _ = waitpid(pid, None);
    }
}

/// Memory that a child shares.
fn shared() -> Result<Groups, Errno> {
    let length = NonZero::new(size_of::<[AtomicI32; MOST]>()).ok_or(Errno::EINVAL)?;
    let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    // SAFETY: new memory, at a place that the kernel chooses.
    let memory: NonNull<_> = unsafe { mmap_anonymous(None, length, protection, MapFlags::MAP_SHARED) }?;
    // SAFETY: it is as long as the array, aligned to a page, zero, which is a valid value, and never unmapped.
    Ok(unsafe { memory.cast().as_ref() })
}

/// In the warden: waits for the end of the other process, then ends its groups.
fn watch(end: i32, groups: Groups) -> ! {
    // SAFETY: system calls with numbers and one byte of this stack. It leaves the terminal's session, and the files of the other process
    // but for the pipe, which becomes the first: whoever reads what that process writes must not wait for this one.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
        libc::setsid();
        libc::dup2(end, 0);
        if libc::syscall(libc::SYS_close_range, 1, libc::c_uint::MAX, 0) != 0 {
            (1..1024).for_each(|file| {
                libc::close(file);
            });
        }
        let mut byte = 0u8;
        while libc::read(0, (&raw mut byte).cast(), 1) < 0 && Errno::last() == Errno::EINTR {}
    }
    for group in groups.iter().map(|place| place.load(Ordering::SeqCst)).filter(|group| *group > 1) {
        // SAFETY: a system call with numbers.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    // SAFETY: ends this process without running what the other registered for its own exit.
    unsafe { libc::_exit(0) }
}

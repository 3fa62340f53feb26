//! An event of perf_event_open(2).

use nix::errno::Errno;
use nix::libc;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// `PERF_TYPE_SOFTWARE`
pub const SOFTWARE: u32 = 1;

/// `PERF_TYPE_TRACEPOINT`
pub const TRACEPOINT: u32 = 2;

/// `struct perf_event_attr` as far as Linux 3.19 has it (PERF_ATTR_SIZE_VER3). All 0 but kind and config, it counts from now on, in user and in
/// kernel mode.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs, reason = "perf_event_open(2) has them, by nearly these names")]
pub struct Attributes {
    pub kind: u32,
    /// Set where it is opened.
    pub size: u32,
    pub config: u64,
    pub period: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub flags: u64,
    pub wakeup: u32,
    pub breakpoint: u32,
    pub config_1: u64,
    pub config_2: u64,
    pub branches: u64,
    pub registers: u64,
    pub stack: u32,
    pub clock: i32,
}

const _: () = assert!(size_of::<Attributes>() == 96);

impl Attributes {
    /// Opens it, of a process on a CPU: -1 is any.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn open(self, pid: i32, cpu: i32, flags: libc::c_ulong) -> Result<OwnedFd, Errno> {
        let all = Attributes { size: size_of::<Attributes>() as u32, ..self };
        // SAFETY: the kernel reads as many bytes of the attributes as they say that they have.
        let opened = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const all, pid, cpu, -1, flags) };
        let file = RawFd::try_from(Errno::result(opened)?).map_err(|_| Errno::EBADF)?;
        // SAFETY: the kernel has just made it for this process.
        Ok(unsafe { OwnedFd::from_raw_fd(file) })
    }
}

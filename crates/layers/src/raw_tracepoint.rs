//! A BPF program of two instructions at the tracepoints `sys_enter` and `sys_exit` (bpf(2)).

use crate::NotHere;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::libc;
use std::ffi::CStr;
use std::mem::forget;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `BPF_PROG_LOAD` and `BPF_RAW_TRACEPOINT_OPEN`
const LOAD: libc::c_int = 5;
const OPEN: libc::c_int = 17;

/// `BPF_PROG_TYPE_RAW_TRACEPOINT`
const RAW_TRACEPOINT: u32 = 17;

/// `r0 = 0; exit` (`Documentation/bpf/standardization/instruction-set.rst`).
const PROGRAM: [u64; 2] = [0xb7, 0x95];

/// Both, by the names that bpf(2) knows.
const POINTS: [&CStr; 2] = [c"sys_enter", c"sys_exit"];

/// What loading a program reads of `union bpf_attr`.
#[repr(C)]
#[derive(Default)]
struct Loading {
    kind: u32,
    count: u32,
    code: u64,
    license: u64,
    log: [u64; 2],
    version: u32,
    flags: u32,
}

/// What opening a raw tracepoint reads of it.
#[repr(C)]
struct Opening {
    name: u64,
    program: u32,
    padding: u32,
}

/// Attaches the program to both. It runs at the calls of every process, as each such program does, as long as the process that this one
/// becomes has the descriptors open.
pub(crate) fn attach() -> Result<(), NotHere> {
    let loading = Loading {
        kind: RAW_TRACEPOINT,
        count: PROGRAM.len() as u32,
        code: PROGRAM.as_ptr() as u64,
        license: c"GPL".as_ptr() as u64,
        ..Loading::default()
    };
    let program = bpf(LOAD, &loading).map_err(refused)?;
    for point in POINTS {
        let opening =
            Opening { name: point.as_ptr() as u64, program: program.as_raw_fd().unsigned_abs(), padding: 0 };
        let link = bpf(OPEN, &opening).map_err(refused)?;
        fcntl(&link, FcntlArg::F_SETFD(FdFlag::empty())).map_err(refused)?;
        // It stays open in the program that is executed.
        forget(link);
    }
    Ok(())
}

fn bpf<T>(command: libc::c_int, attributes: &T) -> Result<OwnedFd, Errno> {
    // SAFETY: the kernel reads as much as it is told, and what that points to lives longer.
    let file =
        unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>()) };
    let file = Errno::result(file)?;
    // SAFETY: the kernel has just made this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(i32::try_from(file).unwrap_or(-1)) })
}

fn refused(errno: Errno) -> NotHere {
    match errno {
        Errno::EPERM | Errno::EACCES => {
            NotHere("bpf(2) refuses programs at tracepoints: they take CAP_BPF and CAP_PERFMON (before Linux 5.8, CAP_SYS_ADMIN)".into())
        }
        Errno::ENOSYS => NotHere("this kernel has no bpf(2) (CONFIG_BPF_SYSCALL)".into()),
        Errno::ENOENT => NotHere("this kernel has no tracepoints at system calls (CONFIG_FTRACE_SYSCALLS)".into()),
        errno => NotHere::refused("bpf", errno),
    }
}

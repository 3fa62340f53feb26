//! Who has registered an area for restartable sequences.

use super::{ProgramRseq, Rseq};
use crate::apart::{self, Answer};
use environment::Unseen;
use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};
use std::ffi::CStr;
use std::fs::File;
use std::io::Read;
use std::time::Duration;

/// AT_RSEQ_FEATURE_SIZE, include/uapi/linux/auxvec.h.
const AT_RSEQ_FEATURE_SIZE: libc::c_ulong = 27;
/// PTRACE_GET_RSEQ_CONFIGURATION, since Linux 5.13; include/uapi/linux/ptrace.h.
const GET_CONFIGURATION: libc::c_uint = 0x420f;
/// What glibc and others sign their sequences with on x86.
const SIGNATURE: u32 = 0x5305_3053;

/// Programs that do nothing, and that every system has.
const PROGRAMS: [&CStr; 2] = [c"/bin/true", c"/usr/bin/true"];
const TIME: Duration = Duration::from_millis(120);

/// glibc's loader has a fixed path (the psABI).
const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";
const SYMBOL: &[u8] = b"__rseq_offset";
/// The most that is read of it, in bytes; it has 0.2 MB.
const LOADER_LIMIT: u64 = 2 << 20;

pub(super) fn look(unseen: &mut Vec<Unseen>) -> Rseq {
    let mut miss = |what: &str, why: String| {
        unseen.push(Unseen { what: what.into(), why, expected: true });
    };
    // SAFETY: a number goes in, and a number comes out.
    let size = unsafe { libc::getauxval(AT_RSEQ_FEATURE_SIZE) };
    let feature_size = u32::try_from(size).ok().filter(|size| *size > 0);
    let asked = || is_in_kernel().inspect_err(|why| miss("rseq of the kernel", why.clone())).ok();
    let in_kernel = feature_size.map(|_| true).or_else(asked);
    let program = program().inspect_err(|why| miss("rseq of a program", why.clone())).ok();
    Rseq { in_kernel, feature_size, in_loader: loader(), in_program: program }
}

/// Whether the kernel takes an area, or refuses it because there is one.
fn is_in_kernel() -> Result<bool, String> {
    let answer = apart::ask(Duration::from_millis(50), |answer| _ = answer.number(register().into()))?;
    let errno = apart::numbers(&answer).first().and_then(|errno| i32::try_from(*errno).ok());
    match errno {
        Some(0 | libc::EINVAL | libc::EBUSY | libc::EPERM) => Ok(true),
        Some(libc::ENOSYS) => Ok(false),
        errno => Err(format!("rseq(2): {}", Errno::from_raw(errno.unwrap_or(0)).desc())),
    }
}

/// Registers an area, which fails where there is one: EINVAL, as it is another. The error, or 0. The child that does so ends at once.
fn register() -> i32 {
    #[repr(C, align(32))]
    struct Area([u8; 32]);
    let mut area = Area([0; 32]);
    // SAFETY: the area lives as long as the registration, which is taken back below.
    let answer = unsafe { libc::syscall(libc::SYS_rseq, &raw mut area, size_of::<Area>(), 0, SIGNATURE) };
    if answer < 0 {
        return Errno::last_raw();
    }
    // SAFETY: takes back what was registered above (RSEQ_FLAG_UNREGISTER).
    unsafe { libc::syscall(libc::SYS_rseq, &raw mut area, size_of::<Area>(), 1, SIGNATURE) };
    0
}

/// Whether the system's loader has the symbol; none where there is no such loader.
fn loader() -> Option<bool> {
    let mut bytes = Vec::new();
    File::open(LOADER).ok()?.take(LOADER_LIMIT).read_to_end(&mut bytes).ok()?;
    Some(bytes.windows(SYMBOL.len()).any(|window| window == SYMBOL))
}

/// What a program of the system has when it ends, which its tracer sees.
fn program() -> Result<ProgramRseq, String> {
    let is_there = |program: &&&CStr| std::fs::metadata(program.to_string_lossy().as_ref()).is_ok();
    let program = PROGRAMS.iter().find(is_there).ok_or("there is no program `true`")?;
    let answer = apart::ask(TIME, |answer| trace(program, answer))?;
    match *apart::numbers(&answer).as_slice() {
        [0, size, signature] => Ok(ProgramRseq {
            program: program.to_string_lossy().into_owned(),
            registered: signature != 0 && size > 0,
            size: u32::try_from(size).unwrap_or(0),
        }),
        [errno, ..] => {
            let errno = Errno::from_raw(i32::try_from(errno).unwrap_or(0));
            Err(format!("a program could not be followed to its end (ptrace): {}", errno.desc()))
        }
        [] => Err("the process that asked had no answer".into()),
    }
}

/// Executes a program, and says what it has when it ends: an error or 0, the size, the signature.
fn trace(program: &CStr, answer: &mut Answer) {
    match followed(program) {
        Ok([size, signature]) => {
            _ = answer.number(0) && answer.number(size.into()) && answer.number(signature.into())
        }
        Err(errno) => _ = answer.number(errno as i64),
    }
}

fn followed(program: &CStr) -> Result<[u32; 2], Errno> {
    // SAFETY: the child makes system calls alone.
    let child = match unsafe { fork() }? {
        ForkResult::Parent { child } => child,
        ForkResult::Child => execute(program),
    };
    let mut found = Err(Errno::ESRCH);
    loop {
        match waitpid(child, Some(WaitPidFlag::__WALL))? {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => {
                let options = ptrace::Options::PTRACE_O_TRACEEXIT | ptrace::Options::PTRACE_O_EXITKILL;
                ptrace::setoptions(child, options)?;
                ptrace::cont(child, None)?;
            }
            WaitStatus::PtraceEvent(..) => {
                found = configuration(child);
                ptrace::cont(child, None)?;
            }
            WaitStatus::Stopped(_, signal) => ptrace::cont(child, signal)?,
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) => return found,
            _ => {}
        }
    }
}

fn execute(program: &CStr) -> ! {
    let arguments = [program.as_ptr(), std::ptr::null()];
    // SAFETY: numbers, and texts that end with 0; ends this process where the program cannot be executed.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if ptrace::traceme().is_ok() {
            libc::execv(program.as_ptr(), arguments.as_ptr());
        }
        libc::_exit(127)
    }
}

/// Size and signature of a stopped process's area.
fn configuration(child: Pid) -> Result<[u32; 2], Errno> {
    /// `struct ptrace_rseq_configuration`.
    #[repr(C)]
    #[derive(Default)]
    struct Configuration {
        address: u64,
        size: u32,
        signature: u32,
        flags: u32,
        pad: u32,
    }
    let mut found = Configuration::default();
    let size = size_of::<Configuration>();
    // SAFETY: the kernel writes as many bytes as it is told, which are there.
    let answer = unsafe { libc::ptrace(GET_CONFIGURATION, child.as_raw(), size, &raw mut found) };
    Errno::result(answer)?;
    Ok(if found.address == 0 { [0, 0] } else { [found.size, found.signature] })
}

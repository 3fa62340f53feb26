//! A tracer as strace is one: it reads what each call is, and lets it go on.

use super::{Become, SYSGOOD, ask, be_traced, stopped};
use crate::NotHere;
use crate::bpf::Program;
use crate::child::fork;
use crate::install::install;
use nix::libc;

/// What `PTRACE_GET_SYSCALL_INFO` writes has no more bytes: `struct ptrace_syscall_info`.
const INFORMATION: usize = 128;

/// How a stop at a call is told from others (`PTRACE_O_TRACESYSGOOD`).
const AT_CALL: i32 = libc::SIGTRAP | 0x80;

/// Which calls are stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stops {
    /// All, where they begin and where they end (`PTRACE_SYSCALL`).
    Every,
    /// Those alone that a filter reports: one that programs do not make.
    Others,
}

/// Has a child become the program, and traces it to its end.
pub(crate) fn trace(stops: Stops, program: Become) -> Result<i32, NotHere> {
    let child = fork().map_err(|errno| NotHere::refused("fork", errno))?;
    let Some(child) = child else {
        be_traced()?;
        if stops == Stops::Others {
            install(&Program::trace_others(), false)?;
        }
        return Ok(program());
    };
    stopped(child)?;
    let options = libc::PTRACE_O_EXITKILL | SYSGOOD | libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_TRACESECCOMP;
    ask(libc::PTRACE_SETOPTIONS, child, 0, options as usize)?;
    let go_on = if stops == Stops::Every { libc::PTRACE_SYSCALL } else { libc::PTRACE_CONT };
    let mut information = [0u8; INFORMATION];
    ask(go_on, child, 0, 0)?;
    loop {
        let status = stopped(child)?;
        let signal = match status.signal() {
            AT_CALL => {
                // What an old kernel (before 5.3) does not know is a stop all the same.
                let _ =
                    ask(libc::PTRACE_GET_SYSCALL_INFO, child, INFORMATION, information.as_mut_ptr() as usize);
                0
            }
            _ if status.event() != 0 => 0,
            signal => signal,
        };
        ask(go_on, child, 0, signal.unsigned_abs() as usize)?;
    }
}

//! Syscall user dispatch (`Documentation/admin-guide/syscall-user-dispatch.rst`): calls from outside of a range of addresses become signals.
//! Executing a program switches it off; so a tracer switches it on behind that, with a range that has all addresses in it, and lets go of
//! the program. Each call then takes the kernel's slow path as far as the comparison with the range, and is served.

use super::{Become, ask, be_traced, stopped};
use crate::NotHere;
use crate::child::{fork, leave, reap};
use nix::libc;
use nix::sys::signal::{Signal, kill};

/// `PTRACE_SET_SYSCALL_USER_DISPATCH_CONFIG`, since Linux 6.4
const SET_CONFIGURATION: libc::c_uint = 0x4210;

/// `PR_SYS_DISPATCH_ON`
const ON: u64 = 1;

/// `struct ptrace_sud_config`
#[repr(C)]
struct Configuration {
    mode: u64,
    /// The address of a byte that says whether calls are let through from outside of the range; there is no outside.
    selector: u64,
    offset: u64,
    length: u64,
}

/// Has a child become the program under dispatch, and waits for its end.
pub(crate) fn dispatch(program: Become) -> Result<i32, NotHere> {
    let child = fork().map_err(|errno| NotHere::refused("fork", errno))?;
    let Some(child) = child else {
        be_traced()?;
        return Ok(program());
    };
    stopped(child)?;
    let options = libc::PTRACE_O_EXITKILL | libc::PTRACE_O_TRACEEXEC;
    ask(libc::PTRACE_SETOPTIONS, child, 0, options as usize)?;
    ask(libc::PTRACE_CONT, child, 0, 0)?;
    let at = stopped(child)?;
    if at.event() != libc::PTRACE_EVENT_EXEC {
        return Err(NotHere(format!("signal {} came before the program was executed", at.signal())));
    }
    let all = Configuration { mode: ON, selector: 0, offset: 0, length: u64::MAX };
    let set = ask(SET_CONFIGURATION, child, size_of::<Configuration>(), (&raw const all) as usize);
    if set.is_err() {
        let _ = kill(child, Signal::SIGKILL);
        reap(child);
        return Err(NotHere(
            "no tracer can switch syscall user dispatch on here (since Linux 6.4; CONFIG_GENERIC_SYSCALL)"
                .into(),
        ));
    }
    ask(libc::PTRACE_DETACH, child, 0, 0)?;
    loop {
        let status = stopped(child)?;
        // Nobody traces it any more: it has ended.
        if status.is_over() {
            leave(status.code());
        }
    }
}

//! The stack that the command runs on.

use nix::sys::signal::SigSet;
use std::process::ExitCode;
use std::thread;

/// More than anything here needs, where a process may have little (`ulimit -s 64`): the parser of command lines puts every option
/// of nested subcommands on the stack, and the optimizer puts into one frame what is called from one place.
const STACK: usize = 4 << 20;

/// Runs the command on a stack of its own, or, where there may be no thread, on that of the process.
pub fn with_room(command: fn() -> ExitCode) -> ExitCode {
    let Ok(thread) = thread::Builder::new().stack_size(STACK).spawn(command) else {
        return command();
    };
    // Signals must interrupt the thread that works, not this one, which waits. Where that fails, they are noticed later.
    let _ = SigSet::all().thread_block();
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

//! What becomes of an interrupt: Ctrl-C, a hang-up, a request to end.
//!
//! They are noted from the first line of `main` on, before anything is started that would be left behind. A command that measures looks
//! at the note, shows what it has, and ends what it has started. One that does not measure ends at once, as any program does.

use crate::exit::INTERRUPTED;
use nix::sys::signal::{SigHandler, Signal, signal};
use places::host::Interrupt;
use signal_hook::low_level;
use std::io;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};

const SIGNALS: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

/// What an interrupt does now.
static NOW: AtomicU8 = AtomicU8::new(NOTE);

/// It is noted; the second ends the command: it may be blocked on a pipe.
const NOTE: u8 = 0;
/// It ends the command.
const END: u8 = 1;
/// One from the terminal is another program's; others end the command.
const LEAVE: u8 = 2;

static NOTED: LazyLock<Interrupt> = LazyLock::new(Interrupt::default);

/// From now on an interrupt is noted.
///
/// # Errors
/// The system's error.
pub fn begin() -> io::Result<()> {
    let noted = NOTED.clone();
    for asked in SIGNALS.into_iter().filter(|signal| !is_ignored(*signal)) {
        let (number, noted) = (asked as i32, noted.clone());
        let is_terminals = matches!(asked, Signal::SIGINT | Signal::SIGQUIT);
        let act = move || match NOW.load(Ordering::Relaxed) {
            NOTE if !noted.swap(true, Ordering::Relaxed) => {}
            NOTE => low_level::exit(INTERRUPTED.into()),
            LEAVE if is_terminals => {}
            _ => drop(low_level::emulate_default_handler(number)),
        };
        // SAFETY: it changes atomic numbers, and otherwise calls what may be called in a handler.
        unsafe { low_level::register(number, act) }?;
    }
    // The parent may have made us ignore SIGCHLD; then we could not wait for our children.
    // SAFETY: the default action is no handler of ours.
    let _ = unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) };
    Ok(())
}

/// Where interrupts are noted, for a command that looks: they are from now on, if they were not.
pub fn noted() -> Interrupt {
    NOW.store(NOTE, Ordering::Relaxed);
    NOTED.clone()
}

/// From now on an interrupt ends this command, which does not look whether there was one. One that came already ends it now.
pub fn end_at_once() {
    NOW.store(END, Ordering::Relaxed);
    if NOTED.load(Ordering::Relaxed) {
        low_level::exit(INTERRUPTED.into());
    }
}

/// From now on those of the terminal are the business of another program, which this one waits for.
pub fn leave() {
    NOW.store(LEAVE, Ordering::Relaxed);
}

/// Whether the parent (nohup, or a shell that starts a background job) made us ignore this signal. Then we keep ignoring it.
fn is_ignored(asked: Signal) -> bool {
    process::action_of(asked as i32).is_some_and(|action| action.sa_sigaction == nix::libc::SIG_IGN)
}

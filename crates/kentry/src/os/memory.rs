//! Memory that this process is short of: a limit of its address space (`ulimit -v`), or of a control group.
//!
//! An allocation that fails aborts a Rust program, with a status that says nothing, unless its code has a way to do without. What asks
//! for much has; what asks for little cannot go on, and is told in plain words here.

use crate::error::Error;
use nix::libc;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use signal_hook::consts::SIGABRT;
use signal_hook::low_level;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// What a command needs besides the program itself, at the least, in bytes: the stack of a thread, the table and its texts.
const LEAST: u64 = 12 << 20;

/// From here on an allocation may fail, in bytes: who asks for so much often has another way, or a message of its own.
const MUCH: usize = 1 << 20;

/// Whether one of those has failed.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// The usual exit code where there is not enough, which is that of [`Error::Environment`].
pub const TOO_LITTLE: u8 = 3;

/// The exit code where there is not enough, until the command line is known.
static CODE: AtomicU8 = AtomicU8::new(TOO_LITTLE);

/// The system's allocator, which ends the process in plain words where it cannot go on.
pub struct Allocator;

// SAFETY: memory comes from the system's allocator and goes back to it; that there is none is not returned.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        or_end(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        or_end(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        or_end(unsafe { System.realloc(at, layout, size) }, size)
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

fn or_end(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        HAS_FAILED.store(true, Ordering::Relaxed);
        if size < MUCH {
            end();
        }
    }
    memory
}

/// Ends the process; children die with it.
fn end() -> ! {
    const TEXT: &[u8] =
        b"kentry: there is not enough memory: free some, or raise what limits it (ulimit -v; the control group's memory.max)\n";
    // SAFETY: system calls with bytes that are always there. Nothing that was registered for the exit is run: it may allocate.
    unsafe {
        libc::write(2, TEXT.as_ptr().cast(), TEXT.len());
        libc::_exit(i32::from(CODE.load(Ordering::Relaxed)))
    }
}

/// With which code a command ends that has not enough.
pub fn ends_with(code: u8) {
    CODE.store(code, Ordering::Relaxed);
}

/// Prepares for a lack of memory: an abort for that ends as told here. All threads share one heap; otherwise each would reserve 64 MiB of
/// addresses for its own, which a limited address space may not have.
///
/// # Errors
/// [`Error::Environment`] where there are too few for any command.
pub fn prepare() -> Result<(), Error> {
    let aborted = || match HAS_FAILED.load(Ordering::Relaxed) {
        true => end(),
        false => drop(low_level::emulate_default_handler(SIGABRT)),
    };
    // SAFETY: it reads a number, and otherwise calls what may be called in a handler. Where this fails, an abort says nothing more.
    let _ = unsafe { low_level::register(SIGABRT, aborted) };
    // SAFETY: a setting of the C library, before there is a second thread.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    let limit = getrlimit(Resource::RLIMIT_AS).map_or(RLIM_INFINITY, |(soft, _)| soft);
    let Some(used) = used().filter(|_| limit != RLIM_INFINITY) else { return Ok(()) };
    let needed = used + LEAST;
    if needed <= limit {
        return Ok(());
    }
    let [limit, needed] = [limit, needed].map(|bytes| bytes.div_ceil(1 << 10));
    let why = format!(
        "this process may use {limit} KiB of addresses, and kentry needs {needed}: raise the limit (ulimit -v)"
    );
    Err(Error::Environment(why))
}

/// The addresses that are in use, in bytes; none without /proc.
fn used() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(pages.split(' ').next()?.parse::<u64>().ok()? * 4096)
}

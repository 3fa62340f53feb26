//! The ring buffer of a perf event: memory that the kernel writes and this process reads.

use crate::event::Event;
use nix::errno::Errno;
use nix::libc::c_void;
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use std::num::NonZero;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

const PAGE: usize = 4096;

/// In `perf_event_mmap_page`: how far the kernel has written, and how far this process has read.
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;

/// A ring.
#[derive(Debug)]
pub(crate) struct Ring {
    memory: NonNull<c_void>,
    /// Of the records, a power of two of pages.
    size: usize,
}

// SAFETY: the memory is this ring's own until it is dropped, and one thread at a time has the ring.
unsafe impl Send for Ring {}

impl Ring {
    /// Of an event, with so many bytes for records: a power of two of pages.
    pub fn of(event: &Event, size: usize) -> Result<Ring, Errno> {
        let whole = NonZero::new(PAGE + size).ok_or(Errno::EINVAL)?;
        let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: new memory, at a place that the kernel chooses.
        let memory = unsafe { mmap(None, whole, protection, MapFlags::MAP_SHARED, event, 0) }?;
        Ok(Ring { memory, size })
    }

    fn position(&self, at: usize) -> &AtomicU64 {
        // SAFETY: both positions are aligned words of the first page, which lives as long as this ring.
        unsafe { self.memory.cast::<u8>().add(at).cast::<AtomicU64>().as_ref() }
    }

    /// Takes what was written since, whole records, to the end of `bytes`.
    pub fn take(&self, bytes: &mut Vec<u8>) {
        let (head, tail) =
            (self.position(HEAD_AT).load(Ordering::Acquire), self.position(TAIL_AT).load(Ordering::Relaxed));
        // Not more than there is room for, whatever the positions say.
        let written = usize::try_from(head.wrapping_sub(tail)).unwrap_or(usize::MAX).min(self.size);
        let begin = (tail as usize) & (self.size - 1);
        let first = written.min(self.size - begin);
        // SAFETY: the records lie behind the first page, and both parts within its size. The kernel writes beyond `head` alone.
        unsafe {
            let records = self.memory.cast::<u8>().add(PAGE).as_ptr();
            bytes.extend_from_slice(std::slice::from_raw_parts(records.add(begin), first));
            bytes.extend_from_slice(std::slice::from_raw_parts(records, written - first));
        }
        self.position(TAIL_AT).store(head, Ordering::Release);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nobody has it any more.
        let _ = unsafe { munmap(self.memory, PAGE + self.size) };
    }
}

//! Memory that this process shares with its children.

use crate::notification::Message;
use nix::errno::Errno;
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous};
use std::num::NonZero;
use std::sync::atomic::{AtomicI32, AtomicU32};

/// What can be shared.
///
/// # Safety
/// All zeros are a valid value, which any thread of any process may use at any time; it fits into a page.
pub unsafe trait Shared: Sync + 'static {}

// SAFETY: numbers that are used as a whole.
unsafe impl Shared for AtomicI32 {}
// SAFETY: as above.
unsafe impl Shared for AtomicU32 {}
// SAFETY: such numbers alone.
unsafe impl Shared for Message {}

/// One that is all zeros, in memory of its own. It stays until this process ends; the children that it makes from now on share it.
///
/// # Errors
/// Where there is no memory.
pub fn shared<T: Shared>() -> Result<&'static T, Errno> {
    let length = NonZero::new(size_of::<T>()).ok_or(Errno::EINVAL)?;
    let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    // SAFETY: new memory, at a place that the kernel chooses.
    let memory = unsafe { mmap_anonymous(None, length, protection, MapFlags::MAP_SHARED) }?;
    // SAFETY: it is aligned to a page, zero, which is a valid value, and never unmapped.
    Ok(unsafe { memory.cast().as_ref() })
}

//! How many guests this machine has room for.

use crate::error::Error;
use environment::{FreeMemory, Roots, free_memory};
use linux::Kernel;

/// What a guest takes besides its files where it only measures: Linux with its tables 32 MiB, and QEMU with the code that it translates
/// 128, of which it was seen to use 120 for all rows.
const BESIDE: u64 = (32 + 128) * MIB;

const MIB: u64 = 1 << 20;

/// The memory of this machine that a guest with this kernel and this archive takes at least, in MiB, by what guests were seen to take:
/// files for QEMU, and in the guest's memory the kernel, the archive, and what that unpacks to. A program may use more of the guest's
/// memory, or less: what is never touched is never taken.
pub fn of_guest(kernel: &Kernel, archive: usize) -> u64 {
    let (kernel, archive) = (kernel.bytes.len() as u64, archive as u64);
    (2 * kernel + 3 * archive + BESIDE).div_ceil(MIB)
}

/// How many guests that take so much each, in MiB, may run at once: one on each CPU that this process may use, as far as the memory goes.
///
/// # Errors
/// [`Error::Environment`] where there is not even memory for one.
pub fn guests_at_once(each: u64) -> Result<usize, Error> {
    let cpus = places::host::allowed_cpus().map_or(1, |cpus| cpus.len().max(1));
    at_once(cpus, each, free_memory(&Roots::default()))
}

fn at_once(cpus: usize, each: u64, free: Option<FreeMemory>) -> Result<usize, Error> {
    let Some(FreeMemory { bytes, limit }) = free else { return Ok(1) };
    let free = bytes / MIB;
    let (of, or) = match limit {
        Some(limit) => {
            let of = format!(" of the {} MiB that its control group may have", limit / MIB);
            (of, ", or raise the group's limit (memory.max; a container's --memory)")
        }
        None => (String::new(), ""),
    };
    match usize::try_from(free / each.max(1)).unwrap_or(usize::MAX) {
        0 => Err(Error::Environment(format!(
            "a guest takes about {each} MiB of memory with its emulator, and {free} MiB are free here{of}: free some{or}"
        ))),
        room => Ok(room.min(cpus)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(mib: u64, limit: Option<u64>) -> Option<FreeMemory> {
        Some(FreeMemory { bytes: mib * MIB, limit: limit.map(|mib| mib * MIB) })
    }

    #[test]
    fn there_are_as_many_as_cpus_and_memory_allow() {
        assert_eq!(at_once(8, 640, free(3 * 640, None)).unwrap(), 3);
        assert_eq!(at_once(2, 640, free(1 << 20, None)).unwrap(), 2);
        assert_eq!(at_once(2, 640, None).unwrap(), 1, "nothing is known");
        assert_eq!(at_once(8, 300, free(500, Some(512))).unwrap(), 1);
    }

    #[test]
    fn too_little_is_said_in_one_sentence_with_what_there_is() {
        let error = at_once(2, 300, free(250, None)).unwrap_err();
        assert_eq!(
            (error.exit_code(), error.to_string().as_str()),
            (
                3,
                "a guest takes about 300 MiB of memory with its emulator, and 250 MiB are free here: free some"
            )
        );
        let error = at_once(2, 300, free(200, Some(256))).unwrap_err().to_string();
        assert!(
            error.contains("200 MiB are free here of the 256 MiB that its control group may have"),
            "{error}"
        );
    }

    #[test]
    fn files_are_counted_as_often_as_they_are_in_memory() {
        let kernel = Kernel { bytes: vec![0; 50 << 20], ..Kernel::default() };
        assert_eq!(of_guest(&kernel, 28 << 20), 344, "320 to 354 MiB were measured");
    }
}

//! How many guests this machine has room for.

use crate::error::Error;

/// What QEMU itself takes beside the guest's memory, in MiB.
const BESIDE: u64 = 128;

/// How many guests with so much memory may run at once: one on each CPU that this process may use, as far as the memory goes.
///
/// # Errors
/// [`Error::Environment`] where there is not even memory for one.
pub fn guests_at_once(memory_mib: u64) -> Result<usize, Error> {
    let cpus = host::allowed_cpus().map_or(1, |cpus| cpus.len().max(1));
    let told = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    at_once(cpus, memory_mib, available_mib(&told))
}

fn at_once(cpus: usize, memory_mib: u64, available: Option<u64>) -> Result<usize, Error> {
    let each = memory_mib.saturating_add(BESIDE);
    let Some(available) = available else { return Ok(1) };
    match usize::try_from(available / each).unwrap_or(usize::MAX) {
        0 => Err(Error::Environment(format!(
            "a guest with {memory_mib} MiB of memory takes {each} MiB with its emulator, and {available} MiB are free here; free \
             some, or give it less with --memory"
        ))),
        room => Ok(room.min(cpus)),
    }
}

/// `MemAvailable`, in MiB; none where the kernel does not tell.
fn available_mib(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib >> 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_cpus_and_memory_allow() {
        assert_eq!(at_once(8, 512, Some(3 * 640)).unwrap(), 3);
        assert_eq!(at_once(2, 512, Some(1 << 20)).unwrap(), 2);
        assert_eq!(at_once(2, 512, None).unwrap(), 1, "nothing is known");
        let error = at_once(2, 512, Some(500)).unwrap_err();
        assert_eq!((error.exit_code(), error.to_string().lines().count()), (3, 1));
        assert!(error.to_string().contains("500 MiB are free here"), "{error}");
    }

    #[test]
    fn the_kernel_tells_in_kib() {
        assert_eq!(available_mib("MemTotal: 1 kB\nMemAvailable:    2097152 kB\n"), Some(2048));
        for strange in ["", "MemAvailable:", "MemAvailable: x kB", "MemAvailable: 5", "MemAvailable: -5 kB"] {
            assert_eq!(available_mib(strange), None, "{strange}");
        }
    }
}

//! Which CPU to measure on.

use process::Errno;

/// Why the CPU that was asked for cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CpuError {
    /// This process may not use it.
    #[error("CPU {cpu} cannot be used; this process may run on {}", list(.allowed))]
    NotAllowed {
        /// The CPU that was asked for.
        cpu: usize,
        /// The CPUs that this process may use.
        allowed: Vec<usize>,
    },
    /// The kernel does not tell which CPUs may be used.
    #[error("the kernel does not tell which CPUs this process may use: {0}")]
    Unknown(Errno),
}

fn list(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// The CPUs that this process may run on: online, and inside its cpuset.
///
/// # Errors
/// [`CpuError::Unknown`] when the kernel does not tell.
pub fn allowed_cpus() -> Result<Vec<usize>, CpuError> {
    process::allowed_cpus().map_err(CpuError::Unknown)
}

/// The CPU that was asked for, or the last allowed one: the first is where most interrupts go.
///
/// # Errors
/// [`CpuError::NotAllowed`] with those that are.
pub fn choose_cpu(asked: Option<usize>, allowed: &[usize]) -> Result<usize, CpuError> {
    match asked {
        Some(cpu) if allowed.contains(&cpu) => Ok(cpu),
        Some(cpu) => Err(CpuError::NotAllowed { cpu, allowed: allowed.to_vec() }),
        None => allowed.last().copied().ok_or(CpuError::Unknown(Errno::ENODATA)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_allowed_cpu_unless_asked() {
        assert_eq!(choose_cpu(None, &[0, 2, 5]), Ok(5));
        assert_eq!(choose_cpu(Some(2), &[0, 2, 5]), Ok(2));
        let refused = choose_cpu(Some(1), &[0, 2]).unwrap_err().to_string();
        assert_eq!(refused, "CPU 1 cannot be used; this process may run on 0, 2");
    }
}

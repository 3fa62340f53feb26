//! What programs find in the C library and the vDSO.

mod rseq;

use environment::Unseen;
use serde::{Deserialize, Serialize};

/// What the C library and other runtimes use of what the kernel offers. `None` is unknown; [`Runtimes::unseen`] tells why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Runtimes {
    /// Restartable sequences, rseq(2): an area of each thread in which the kernel keeps the number of its CPU.
    pub rseq: Rseq,
    /// What could not be told, and why.
    pub unseen: Vec<Unseen>,
}

/// Who has registered an area.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rseq {
    /// Whether the kernel has it (since Linux 4.18).
    pub in_kernel: Option<bool>,
    /// How many bytes of an area the kernel uses, by the auxiliary vector (since Linux 6.3).
    pub feature_size: Option<u32>,
    /// Whether the system's dynamic loader exports `__rseq_offset`, as glibc's does since 2.35: then it registers an area unless it is told
    /// not to (`GLIBC_TUNABLES=glibc.pthread.rseq=0`), and other libraries use that.
    pub in_loader: Option<bool>,
    /// What a program of the system that is linked dynamically had when it ended.
    pub in_program: Option<ProgramRseq>,
}

/// Whether a program had an area.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgramRseq {
    /// The program that was executed: `/bin/true`.
    pub program: String,
    /// Whether it had one: then its C library has registered it, for the program does nothing.
    pub registered: bool,
    /// How many bytes it had.
    pub size: u32,
}

impl Runtimes {
    /// Of this machine. It takes some milliseconds, and at most a fifth of a second.
    pub fn here() -> Runtimes {
        let mut unseen = Vec::new();
        let rseq = rseq::look(&mut unseen);
        Runtimes { rseq, unseen }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn each_thing_of_this_machine_is_known_or_its_absence_is_told() {
        let found = Runtimes::here();
        let Rseq { in_kernel, in_program, .. } = &found.rseq;
        if in_kernel.is_none() || in_program.is_none() {
            assert!(!found.unseen.is_empty(), "{found:?}");
        }
        if in_program.as_ref().is_some_and(|program| program.registered) {
            assert_eq!(*in_kernel, Some(true), "{found:?}");
        }
    }

    #[test]
    fn documents_of_other_versions_load() {
        let found: Runtimes = serde_json::from_str(r#"{"rseq": {"later": 1, "in_kernel": true}}"#).unwrap();
        assert_eq!((found.rseq.in_kernel, found.rseq.in_program), (Some(true), None));
        assert!(serde_json::from_str::<Runtimes>(r#"{"rseq": {"feature_size": -1}}"#).is_err());
    }
}

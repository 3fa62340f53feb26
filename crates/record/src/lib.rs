//! The records that a probe writes (`abi/record.h`), and the lab kernel around it (`abi/lab.h`), parsed; and the request
//! that a probe takes (`abi/request.h`). What a guest executed, step by step, is in [`trace`].
//!
//! A stream comes from another process or from a guest's serial line, so it is hostile: whatever the bytes are,
//! parsing ends with records or with an [`Error`] that says which record and which byte.

#![deny(missing_docs)]

mod damage;
mod footprint;
mod lab;
mod packed;
mod parse;
mod request;
mod stream;
pub mod trace;
mod words;

pub use damage::{Damage, Error};
pub use footprint::Footprint;
pub use lab::{Boot, Counters, LabPayload, Step};
pub use parse::parse;
pub use request::{LoopRequest, Request};
pub use stream::Stream;

/// Every number of `abi/*.h` under its own name.
pub mod abi {
    include!(concat!(env!("OUT_DIR"), "/abi.rs"));
}

/// Four TSC values: around the imul chain (0, 1), the control (1, 2), the entry (2, 3). [`Payload::Bursts`] and
/// [`Payload::Order`] use them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Raw TSC values, in ticks.
    pub stamps: [u64; 4],
}

impl Sample {
    /// Ticks from stamp `from` to the next; an interval that runs backwards counts as the longest possible.
    pub fn interval(&self, from: usize) -> u64 {
        let end = self.stamps.get(from + 1).copied().unwrap_or(0);
        self.stamps.get(from).and_then(|start| end.checked_sub(*start)).unwrap_or(u64::MAX)
    }
}

/// A canary, and what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canary {
    /// Raw TSC values around nothing, the imul chain, the xor chain, the independent nots.
    pub stamps: [u64; 5],
    /// The CPU it ran on.
    pub cpu: u64,
    /// Involuntary context switches of the process so far, read just before the first stamp.
    pub preemptions: u64,
}

/// How long the probe's fixed pieces of code are, in instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// 32 or 64.
    pub bits: u64,
    /// Dependent multiplications in the clock chain.
    pub imuls: u64,
    /// Dependent exclusive-ors in the chain that checks it.
    pub xors: u64,
    /// Independent negations in the canary.
    pub nots: u64,
    /// Calls in a burst.
    pub burst: u64,
    /// Clock chains in a row, in [`Payload::Order`].
    pub chains: u64,
}

/// How a probe run ended, as the probe itself says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// `OUTCOME_*`
    pub outcome: u64,
    /// `CAUSE_*`
    pub cause: u64,
    /// Details, as the cause defines them.
    pub detail: [u64; 4],
}

/// The content of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// The first record of a measurement.
    Begin(Lengths),
    /// How it ended.
    Outcome(Verdict),
    /// Something that the probe found out.
    Fact {
        /// `FACT_*`
        fact: u64,
        /// The value, as the fact defines it.
        value: u64,
    },
    /// A canary: before each block, after the last, and after the bursts.
    Canary(Canary),
    /// One block of samples.
    Samples(Vec<Sample>),
    /// Calls back to back: controls (0, 1), entries (2, 3).
    Bursts(Vec<Sample>),
    /// Around nothing (0, 1), one clock chain (1, 2), [`Lengths::chains`] of them in a row (2, 3): whether a stamp waits
    /// for what stands before it.
    Order(Vec<Sample>),
    /// What the clock read before and behind each loop; the request said which clock, and how many calls.
    Loops(Vec<[u64; 2]>),
    /// A function of the vDSO.
    Export {
        /// Its symbol.
        name: String,
        /// Its symbol's version, empty when it has none.
        version: String,
    },
    /// The last record of every run.
    End {
        /// Involuntary context switches of the process.
        preemptions: u64,
        /// Minor page faults of the process.
        minor_faults: u64,
    },
    /// A record of the lab kernel, around the output of its programs.
    Lab(LabPayload),
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Id of the entry, 0 in a describing run.
    pub entry: u16,
    /// Id of the operation, 0 in a describing run.
    pub operation: u16,
    /// Its content.
    pub payload: Payload,
}

/// More than any probe writes, in bytes: 256 blocks of 64 samples of 32 bytes, with their headers and canaries.
pub const MOST_OUTPUT: usize = 2 << 20;

/// Why a probe run gave no verdict of its own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Its process could not be started, or did not end by itself.
    #[error("the probe {0}")]
    Process(#[from] process::Error),
    /// A signal ended it; the signal's number.
    #[error("the probe was ended by signal {0}")]
    Killed(i32),
    /// It exited with a status that no probe uses.
    #[error("the probe exited with status {0}")]
    Exited(i32),
    /// Its output is not records.
    #[error("{0}")]
    Garbage(#[from] Error),
    /// It ended normally, but without a verdict.
    #[error("the probe said nothing")]
    Silent,
    /// It was to run under a command, and the failure is that command's as well, for all that can be seen from here.
    #[error("{words}")]
    Under {
        /// What it would be called without the command.
        failure: Box<Failure>,
        /// What became of the command, in words.
        words: String,
    },
}

impl Failure {
    /// Whether the machine was momentarily short of processes, descriptors or memory. That says nothing about the entry:
    /// the round is lost, but the row goes on. By then, starting the probe has been tried repeatedly ([`process::run`]).
    pub fn is_momentary(&self) -> bool {
        match self {
            Failure::Process(error) => error.is_momentary(),
            Failure::Under { failure, .. } => failure.is_momentary(),
            Failure::Killed(_) | Failure::Exited(_) | Failure::Garbage(_) | Failure::Silent => false,
        }
    }

    /// Whether somebody interrupted kentry meanwhile, which says nothing about the entry.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Failure::Process(error) => *error == process::Error::Interrupted,
            Failure::Under { failure, .. } => failure.is_interrupted(),
            Failure::Killed(_) | Failure::Exited(_) | Failure::Garbage(_) | Failure::Silent => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use process::{Errno, Phase};

    #[test]
    fn a_shortage_is_about_the_machine_and_all_else_about_the_entry() {
        let not_started = |errno| Failure::Process(process::Error::NotStarted { phase: Phase::Fork, errno });
        assert!(not_started(Errno::EAGAIN).is_momentary());
        assert!(!not_started(Errno::ENOSYS).is_momentary());
        let timeout = process::Error::Timeout(std::time::Duration::from_secs(1));
        let garbage = Failure::Garbage(parse(&[0; 24]).unwrap_err());
        for failure in [timeout.into(), Failure::Killed(9), Failure::Exited(1), garbage, Failure::Silent] {
            assert!(!failure.is_momentary() && !failure.is_interrupted(), "{failure}");
        }
        let interrupted = Failure::from(process::Error::Interrupted);
        assert!(interrupted.is_interrupted());
        assert!(Failure::Under { failure: Box::new(interrupted), words: String::new() }.is_interrupted());
    }

    #[test]
    fn a_failure_reads_as_a_sentence() {
        let error = process::Error::NotStarted { phase: Phase::Fork, errno: Errno::EAGAIN };
        assert_eq!(
            Failure::Process(error).to_string(),
            "the probe could not be started: making its process failed with EAGAIN (Try again): this user, or this \
             control group, may have no more processes or threads, or no memory for them (ulimit -u; pids.max; ulimit -v)"
        );
    }
}

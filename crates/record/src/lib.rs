//! The records that a probe writes (`abi/record.h`), and the lab kernel around it (`abi/lab.h`), parsed; and the request
//! that a probe takes (`abi/request.h`).
//!
//! A stream comes from another process or from a guest's serial line, so it is hostile: whatever the bytes are,
//! parsing ends with records or with an [`Error`] that says which record and which byte.

mod lab;
mod parse;
mod request;
mod stream;

pub use lab::{Boot, LabPayload};
pub use parse::{Error, Fault, parse};
pub use request::Request;
pub use stream::Stream;

/// Every number of `abi/*.h` under its own name.
pub mod abi {
    include!(concat!(env!("OUT_DIR"), "/abi.rs"));
}

/// Four TSC values: around the imul chain (0, 1), the control (1, 2), the entry (2, 3); or as [`Payload::Bursts`] and
/// [`Payload::Order`] say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Raw TSC values, in ticks.
    pub stamps: [u64; 4],
}

impl Sample {
    /// Ticks from stamp `from` to the next; an interval that runs backwards counts as the longest there is.
    pub fn interval(&self, from: usize) -> u64 {
        let end = self.stamps.get(from + 1).copied().unwrap_or(0);
        self.stamps.get(from).and_then(|start| end.checked_sub(*start)).unwrap_or(u64::MAX)
    }
}

/// What the figures of one block are measured against.
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

/// How a probe run ended, by its own account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// `OUTCOME_*`
    pub outcome: u64,
    /// `CAUSE_*`
    pub cause: u64,
    /// As the cause defines them.
    pub detail: [u64; 4],
}

/// The content of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// First of a measuring run.
    Begin(Lengths),
    /// How it ended.
    Outcome(Verdict),
    /// Something found out on the way.
    Fact {
        /// `FACT_*`
        fact: u64,
        /// As the fact defines it.
        value: u64,
    },
    /// Before each block and after the last.
    Canary(Canary),
    /// One block.
    Samples(Vec<Sample>),
    /// Calls back to back: controls (0, 1), entries (2, 3).
    Bursts(Vec<Sample>),
    /// Around nothing (0, 1), one clock chain (1, 2), [`Lengths::chains`] of them in a row (2, 3): whether a stamp waits
    /// for what stands before it.
    Order(Vec<Sample>),
    /// A function of the vDSO.
    Export {
        /// Its symbol.
        name: String,
        /// Its symbol's version, empty when it has none.
        version: String,
    },
    /// Last of every run.
    End {
        /// Involuntary context switches of the process.
        preemptions: u64,
        /// Minor page faults of the process.
        minor_faults: u64,
    },
    /// What the lab kernel says, around the output of its programs.
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

/// What starting a probe takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[repr(u8)]
pub enum Step {
    /// The pipes for its output.
    #[error("making its pipes")]
    Pipe,
    /// A process for it.
    #[error("making its process")]
    Fork,
    /// A process group, a death signal, its resource limits and signal mask.
    #[error("setting up its process")]
    Setup,
    /// Pinning it to the measured CPU.
    #[error("pinning it to the CPU")]
    Pin,
    /// Real-time priority.
    #[error("giving it real-time priority")]
    Realtime,
    /// Executing the program: the only step that says something of the kernel's entries.
    #[error("executing it")]
    Execute,
    /// Reading what it says, and its end.
    #[error("reading from it")]
    Read,
}

impl Step {
    /// Every step, in the order they are taken.
    pub const ALL: [Step; 7] =
        [Step::Pipe, Step::Fork, Step::Setup, Step::Pin, Step::Realtime, Step::Execute, Step::Read];
}

/// How a probe run went wrong from the outside: it was started, or not, and gave no verdict of its own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// It could not be started.
    #[error("the probe could not be started, {step}: {}", std::io::Error::from_raw_os_error(*.errno))]
    NotStarted {
        /// What would not be done.
        step: Step,
        /// The error's number.
        errno: i32,
    },
    /// A signal ended it; the signal's number.
    #[error("the probe was ended by signal {0}")]
    Killed(i32),
    /// It exited with a status that is no probe's.
    #[error("the probe exited with status {0}")]
    Exited(i32),
    /// It did not end in time.
    #[error("the probe did not end within {0:?}")]
    Timeout(std::time::Duration),
    /// It wrote more than any probe does.
    #[error("the probe wrote more than {0} bytes")]
    Flood(usize),
    /// What it wrote are no records.
    #[error("{0}")]
    Garbage(#[from] Error),
    /// It ended well without saying how it went.
    #[error("the probe said nothing")]
    Silent,
}

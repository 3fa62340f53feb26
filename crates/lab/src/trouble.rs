use crate::Disorder;
use std::process::ExitStatus;
use std::time::Duration;

/// What went wrong with a guest, or before there was one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Trouble {
    /// The program that would run the guest is not on this machine.
    #[error("there is no {program} here: install it (Debian: apt install {packages})")]
    Missing {
        /// The program.
        program: String,
        /// Debian's packages that bring it and what it needs.
        packages: &'static str,
    },
    /// It could not be started.
    #[error("{program} could not be started: {why}")]
    NotStarted {
        /// The program.
        program: String,
        /// What the kernel answered.
        why: String,
    },
    /// What the guest needs could not be laid out for it.
    #[error("the guest cannot be prepared: {0}")]
    Files(String),
    /// The program ended before the plan was done.
    #[error("{program} ended early, {status}{}", told(.said))]
    Ended {
        /// The program.
        program: String,
        /// How.
        status: ExitStatus,
        /// What it said last.
        said: String,
    },
    /// The virtual machine stopped by itself, and would stay so.
    #[error("the virtual machine stopped: {0}")]
    Stopped(String),
    /// It did not end in time.
    #[error("the guest did not finish within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// It wrote more than any plan makes it.
    #[error("the guest wrote more than {0} bytes")]
    Flood(usize),
    /// Interrupted by the user.
    #[error("interrupted")]
    Interrupted,
    /// What it wrote are no records.
    #[error("the guest's output: {0}")]
    Garbage(#[from] record::Error),
    /// Its records do not follow the plan.
    #[error("the guest's records: {0}")]
    Disorder(#[from] Disorder),
    /// Its output could not be read.
    #[error("the guest's output could not be read: {0}")]
    Reading(nix::errno::Errno),
}

fn told(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

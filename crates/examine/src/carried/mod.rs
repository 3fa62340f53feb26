//! What a process carries into each of its system calls. Nothing here stops another process, changes one, or mounts anything; what only a
//! tracer could read of it stays unknown, with the reason.

mod audit;
mod dispatch;
mod error;
mod landlock;
mod programs;
mod speculation;
mod status;

pub use error::CarriedError;
pub use programs::KernelProgram;
pub use speculation::{IndirectBranch, StoreBypass};

use crate::proc::{Proc, name};
use environment::{Restrictions, Unseen};
use serde::{Deserialize, Serialize};
use std::io;

/// What a process carries: filters, a tracer, user dispatch, and whatever else stands on the way of its calls. Of a process with several
/// threads, that of its first. `None` is unknown; [`Carried::unseen`] tells why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Carried {
    /// Which process.
    pub process: Process,
    /// Filters of system calls.
    pub seccomp: Seccomp,
    /// Whether loads may run ahead of stores.
    pub store_bypass: Option<StoreBypass>,
    /// Whether indirect branches may be predicted by others' doings.
    pub indirect_branch: Option<IndirectBranch>,
    /// Who traces it; null where nobody does.
    pub tracer: Option<Tracer>,
    /// Whether its calls may be turned into signals (prctl PR_SET_SYSCALL_USER_DISPATCH).
    pub user_dispatch: Option<bool>,
    /// Whether the kernel audits its calls.
    pub audit: Audit,
    /// What runs at each system call of everybody: on `sys_enter` and `sys_exit`.
    pub programs: Option<Vec<KernelProgram>>,
    /// Rule sets of Landlock that it is under.
    pub landlock: Option<u32>,
    /// What could not be told, and why.
    pub unseen: Vec<Unseen>,
}

/// A process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name, as it calls itself.
    pub name: String,
    /// Whether it is the one that asks.
    pub is_own: bool,
    /// Its real user.
    pub uid: Option<u32>,
}

/// Filters of system calls, seccomp(2).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seccomp {
    /// How it filters.
    pub mode: Option<SeccompMode>,
    /// How many filters there are; since Linux 5.9.
    pub filters: Option<u32>,
}

/// How system calls are filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeccompMode {
    /// Not at all.
    Off,
    /// Four calls are allowed.
    Strict,
    /// By programs.
    Filter,
    /// In a way that a later version knows.
    #[serde(other)]
    Unknown,
}

impl SeccompMode {
    /// By its word in [`Restrictions::seccomp`].
    fn of(word: &str) -> Option<SeccompMode> {
        match word {
            "off" => Some(SeccompMode::Off),
            "strict" => Some(SeccompMode::Strict),
            "filter" => Some(SeccompMode::Filter),
            _ => None,
        }
    }
}

/// A process that traces another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tracer {
    /// Its number.
    pub pid: u32,
    /// Its name; null where it cannot be read.
    pub name: Option<String>,
}

/// What is known of auditing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Audit {
    /// Whether it is switched on.
    pub enabled: Option<bool>,
}

impl Carried {
    /// Of this process.
    pub fn here() -> Carried {
        let mut proc = Proc::at("/proc");
        let pid = std::process::id();
        let mut carried = Carried::read(&mut proc, "self", pid).unwrap_or_else(|error| {
            proc.miss("/proc/self/status", error.to_string());
            Carried::default()
        });
        carried.process = Process { pid, is_own: true, ..carried.process };
        carried.user_dispatch = known(&mut proc, "user dispatch", dispatch::here());
        carried.store_bypass = StoreBypass::here().or(carried.store_bypass);
        carried.landlock = known(&mut proc, "Landlock", landlock::layers());
        carried.of_everybody(proc)
    }

    /// Of another process, as far as this one may look.
    ///
    /// # Errors
    /// [`CarriedError`] where there is no such process, or none that makes system calls.
    pub fn of(pid: u32) -> Result<Carried, CarriedError> {
        if pid == std::process::id() {
            return Ok(Carried::here());
        }
        let mut proc = Proc::at("/proc");
        let carried = Carried::read(&mut proc, &pid.to_string(), pid)?;
        proc.miss_expected("user dispatch", "only a tracer can read it, and a tracer would stop the process");
        proc.miss_expected("Landlock", "Linux does not tell it of another process");
        Ok(carried.of_everybody(proc))
    }

    /// With what the kernel does for all processes alike, and with all that could not be told.
    fn of_everybody(mut self, mut proc: Proc) -> Carried {
        self.audit.enabled = known(&mut proc, "audit", audit::enabled());
        self.programs = programs::seen(&mut proc);
        self.unseen = proc.into_unseen();
        self
    }

    /// What `/proc` has of a process, by the name of its folder.
    fn read(proc: &mut Proc, folder: &str, pid: u32) -> Result<Carried, CarriedError> {
        let found = stat(proc, folder, pid)?;
        let status = required(proc, folder, "status", pid)?;
        let limits = Restrictions::of_status(&status);
        let carried = Carried::of_limits(&limits);
        if carried.seccomp.mode.is_none() {
            proc.miss("seccomp", format!("/proc/{folder}/status does not say it"));
        }
        let tracer = limits
            .tracer()
            .map(|pid| Tracer { pid, name: proc.text(&format!("{pid}/comm")).map(|found| name(&found)) });
        let process = Process { pid, name: found.name, is_own: false, uid: status::uid(&status) };
        Ok(Carried { process, tracer, ..carried })
    }

    /// As far as a process's status tells it.
    fn of_limits(limits: &Restrictions) -> Carried {
        let mode = limits.seccomp.as_deref().and_then(SeccompMode::of);
        let branches = limits.speculation_indirect_branch.as_deref();
        Carried {
            seccomp: Seccomp { mode, filters: limits.seccomp_filters },
            store_bypass: limits.speculation_store_bypass.as_deref().and_then(StoreBypass::of_status),
            indirect_branch: branches.and_then(IndirectBranch::of_status),
            ..Carried::default()
        }
    }
}

/// What is known, or a note of why it is not.
fn known<T>(proc: &mut Proc, what: &str, answer: Result<T, String>) -> Option<T> {
    answer.inspect_err(|why| proc.miss_expected(what, why.clone())).ok()
}

/// A file that everybody may read while there is such a process.
fn required(proc: &Proc, folder: &str, file: &'static str, pid: u32) -> Result<String, CarriedError> {
    proc.read(&format!("{folder}/{file}")).map_err(|error| {
        match error.raw_os_error().map(nix::errno::Errno::from_raw) {
            Some(nix::errno::Errno::ESRCH) => CarriedError::NoSuchProcess(pid),
            _ if error.kind() == io::ErrorKind::NotFound => CarriedError::NoSuchProcess(pid),
            _ => CarriedError::NotReadable { pid, file, why: process::in_words(&error) },
        }
    })
}

/// Whether there is such a process, and one that makes system calls.
fn stat(proc: &Proc, folder: &str, pid: u32) -> Result<status::Stat, CarriedError> {
    let text = required(proc, folder, "stat", pid)?;
    let why = || "it is not as Linux writes it".to_owned();
    let found =
        status::stat(&text).ok_or_else(|| CarriedError::NotReadable { pid, file: "stat", why: why() })?;
    match found {
        status::Stat { name, is_kernel_thread: true, .. } => Err(CarriedError::KernelThread { pid, name }),
        status::Stat { name, state: 'Z' | 'X', .. } => Err(CarriedError::Ended { pid, name }),
        found => Ok(found),
    }
}

#[cfg(test)]
mod tests;

//! What share of a workload's CPU time goes into the entries of its system calls: counted calls and measured costs in, shares out. Pure.

mod clocks;
mod costs;
mod interval;
mod make;

pub use clocks::{Replaced, replaced};
pub use costs::{Costs, entries};
pub use interval::Interval;
pub use make::Seen;

use serde::{Deserialize, Serialize};

/// The version of the document.
pub const SCHEMA: &str = "kentry.impact/1";

/// What share of a workload's CPU time goes into crossings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Impact {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of kentry.
    pub kentry: String,
    /// When counting began, RFC 3339, UTC.
    pub started: String,
    /// This machine's processor; null where it does not tell.
    pub processor: Option<String>,
    /// Its kernel's release; null where it does not tell.
    pub kernel: Option<String>,
    /// Whose calls these are.
    pub subject: Subject,
    /// How they were counted.
    pub method: Method,
    /// How long.
    pub seconds: f64,
    /// All calls.
    pub total: u64,
    /// Calls of these that are in `total` alone: nobody saw which they were.
    pub unseen: u64,
    /// The CPU time of whoever made them, counting included.
    pub cpu: CpuTime,
    /// The share of the CPU time that goes into crossings, from 0 to 1: of what it would be without counting. Null where no cost is known.
    pub share: Option<Interval>,
    /// The same in CPUs: seconds of CPU time in a second.
    pub cpus: Option<Interval>,
    /// Calls of `total` whose way into the kernel has no cost here.
    pub unpriced: u64,
    /// The CPU time that shares are of, in seconds: without what counting took.
    pub uncounted: Interval,
    /// What counting added to a call, in nanoseconds, in a loop; null where it was not measured.
    pub observing_ns: Option<Interval>,
    /// Ways into the kernel, with what a crossing costs by each.
    pub crossings: Vec<Crossing>,
    /// Calls, the most frequent first.
    pub calls: Vec<Line>,
    /// Processes, that with the most calls first.
    pub processes: Vec<Process>,
    /// What the share is made of, and what the processes carry.
    pub parts: Vec<Part>,
    /// What would give back a part of it.
    pub remedies: Vec<Remedy>,
    /// Remarks, in words.
    pub remarks: Vec<String>,
}

/// Whose calls were counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// What it is.
    pub kind: SubjectKind,
    /// Its name: a command's words, a process's program, a cgroup's path.
    pub name: String,
    /// The process; null where it is none.
    pub pid: Option<u32>,
}

/// What was watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubjectKind {
    /// A process that ran already.
    Process,
    /// A cgroup of version 2.
    Cgroup,
    /// All processes.
    System,
    /// A command that was started for it.
    Command,
}

/// How calls were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The tracepoint `raw_syscalls:sys_enter`, by perf events.
    Tracepoint,
    /// A seccomp filter with user notification.
    Notification,
}

/// CPU time in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CpuTime {
    /// All of it.
    pub seconds: f64,
    /// In user space; null where that is not known.
    pub user: Option<f64>,
    /// In the kernel; null where that is not known.
    pub system: Option<f64>,
    /// What tells it, in words.
    pub by: String,
}

/// A way into the kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// The entry whose cost stands for it; two with `or` between them where nobody knows which.
    pub entry: String,
    /// Calls that came this way.
    pub calls: u64,
    /// What a crossing costs, in nanoseconds: a whole call with the least service, getppid. Null where it has no figure.
    pub ns: Option<Interval>,
    /// The same in core cycles.
    pub cycles: Option<Interval>,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name, or its number in words.
    pub name: String,
    /// Its number, without the bit of x32.
    pub number: u32,
    /// Whose number that is: 64, 32 or x32.
    pub numbers: String,
    /// How often it was made.
    pub count: u64,
    /// The same in a second.
    pub per_second: f64,
    /// The share of the CPU time that its crossings take; null where their cost is not known.
    pub share: Option<Interval>,
}

/// A process and a program that it executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// The program's name; empty where nobody knows.
    pub name: String,
    /// How often it made each call, by the call's name, with its crossings' time in nanoseconds; null where that is not known.
    pub calls: Vec<Counted>,
}

/// How often a process made a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// The call's name.
    pub name: String,
    /// How often.
    pub count: u64,
    /// What its crossings take; null where that is not known.
    pub ns: Option<f64>,
}

/// A part of the share, or something that makes calls dearer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// In words.
    pub what: String,
    /// What it adds to a call, in nanoseconds; null where that was not measured.
    pub ns: Option<Interval>,
    /// Its share of the CPU time; null where it has no price.
    pub share: Option<Interval>,
    /// A remark: where the price comes from, or the command that measures it.
    pub note: String,
}

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartKind {
    /// A piece of the crossing.
    Crossing,
    /// A layer that the processes carry: a filter, a tracer. It comes on top of the share.
    Layer,
    /// What the kernel does against a fault of the processor. It is in the share.
    Protection,
    /// A layer that kentry carries itself, so that it was measured with each crossing: it is in the share.
    Shared,
}

/// What would give back a part of the CPU time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remedy {
    /// What to do, in words.
    pub what: String,
    /// The calls that it is about.
    pub calls: u64,
    /// Whether it saves less, as a rule: the figure is of the best case.
    pub at_most: bool,
    /// What it saves of each, in nanoseconds; null where that was not measured.
    pub ns: Option<Interval>,
    /// The share of the CPU time that it gives back; null where that was not measured.
    pub share: Option<Interval>,
    /// A remark, in words.
    pub note: String,
}

//! What a checkup looks at on a live machine, beside what probes measure and what `environment` reads: the clocks of all CPUs, what a
//! process carries into its system calls, what the C library and other runtimes use of what the kernel offers.

#![deny(missing_docs)]

mod apart;
mod carried;
mod clock_health;
mod proc;
mod runtimes;

pub use carried::{
    Audit, Carried, CarriedError, IndirectBranch, KernelProgram, Process, Seccomp, SeccompMode, StoreBypass,
    Tracer,
};
pub use clock_health::{Apart, ClockHealth, KernelLog, LogLine, NotLooked, Rate, Steadiness, Steps};
pub use runtimes::{ProgramRseq, Rseq, Runtimes};

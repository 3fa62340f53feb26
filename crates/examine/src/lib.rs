//! What a checkup looks at on a live machine, beside what probes measure and what `environment` reads: the clocks of all CPUs, what a
//! process carries into its system calls, what the C library and other runtimes use of what the kernel offers.

#![deny(missing_docs)]

mod carried;
mod clock_health;
mod runtimes;

pub use carried::Carried;
pub use clock_health::{Apart, ClockHealth, KernelLog, LogLine, NotLooked, Rate, Steadiness, Steps};
pub use runtimes::Runtimes;

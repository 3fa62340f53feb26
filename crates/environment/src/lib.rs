//! The facts about the machine that belong to a measurement: a number without its machine is worthless.
//!
//! [`capture`] reads them once, from `/proc`, `/sys`, a few files of the system and the CPUID instruction. It never
//! fails: what could not be read is `None` and stands in [`Environment::unseen`] with the reason, so that no gap is
//! silent. [`Load`] tells what else the machine did while something was measured.

#![forbid(unsafe_code)]

mod clock;
mod command_line;
mod container;
mod core_type;
mod cpu;
mod cpu_list;
mod cpuid;
mod cpuinfo;
mod cpus;
mod environment;
mod flags;
mod frequency;
mod guest;
mod hypervisor;
mod identity;
mod kernel;
mod kernel_config;
mod lab;
mod libc;
mod load;
mod memory;
mod mitigations;
mod reader;
mod restrictions;
mod ring0;
mod roots;
mod sysctls;
#[cfg(test)]
mod testing;
mod text;
mod tsc;
mod underneath;
mod version;
mod vsyscall;

pub use clock::{Clock, ClockOffset};
pub use command_line::words as command_line_words;
pub use container::{Cgroup, Container};
pub use core_type::{CoreType, core_types};
pub use cpu::{Cpu, Smt};
pub use cpus::Cpus;
pub use environment::{Environment, capture};
pub use frequency::Frequency;
pub use guest::{Guest, GuestBoot, GuestKernel};
pub use hypervisor::Hypervisor;
pub use kernel::RunningKernel;
pub use lab::{Lab, LabCounters, LabFrequency, LabLayout, LabTsc};
pub use libc::Libc;
pub use load::{Load, LoadDuring};
pub use memory::{FreeMemory, free_memory};
pub use reader::Unseen;
pub use restrictions::{ResourceLimit, Restrictions};
pub use ring0::{Ring0, RingTest, Trapped, Verdict, why_emulated};
pub use roots::Roots;
pub use tsc::Tsc;
pub use underneath::Underneath;
pub use version::{Version, this_kernel, version};

//! From a plan to a document: rounds are taken from a place, judged as they come, and concluded in the end. Nothing here
//! parses a command line or prints.

pub mod arms;
mod around;
mod conclude;
mod counted;
mod course;
mod cpus;
mod described;
mod drive;
mod earlier;
mod error;
pub mod guest;
pub mod lab;
mod linux;
mod live;
mod loops;
mod plan;
mod probes;
mod row;
mod schedule;
mod scout;
pub mod select;
mod width;

pub use around::Here;
pub use conclude::{Facts, recompute};
pub use counted::{CountedPlan, CountedSetup, count, counted_request};
pub use course::MOST_ROUNDS;
pub use document::Counter;
pub use drive::{Measurer, Progress, RoundTaken, drive};
pub use earlier::Earlier;
pub use error::Error;
pub use linux::{Setup, measure};
pub use loops::Loops;
pub use plan::{CpuChoice, HostPlan};
pub use probes::Probes;
pub use row::{Answer, Row, TableRow};
pub use scout::Scout;

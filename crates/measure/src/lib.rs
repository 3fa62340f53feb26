//! From a plan to a document: rounds are taken from a place, judged as they come, and concluded in the end. Nothing here
//! parses a command line or prints.

mod conclude;
mod cpus;
mod error;
pub mod lab;
mod linux;
mod live;
mod place;
mod plan;
mod row;
mod schedule;
mod scout;
pub mod select;
mod width;

pub use conclude::Facts;
pub use error::Error;
pub use linux::{Progress, Setting, measure};
pub use place::{Answer, Counter, Machine, Measurer, Place, Taken};
pub use plan::{CpuChoice, Plan};
pub use row::{Row, TableRow};
pub use scout::Scout;

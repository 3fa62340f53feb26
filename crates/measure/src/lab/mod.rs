//! `kentry lab`: the lab kernel in an emulator or a virtual machine, measured as a host is.

use lab::Line;
use std::time::{SystemTime, UNIX_EPOCH};

mod configuration;
mod described;
mod ended;
mod exec;
mod image;
mod machine;
mod measure;
mod plan;

pub use configuration::{Configuration, Configurations};
pub use exec::{FAILED, Output, Program, Refused, run};
pub use image::image;
pub use machine::{Machine, choose};
pub use measure::{Setting, measure};
pub use plan::{LabPlan, Timed};

/// What the kernel is told of time: the wall clock's, and the counter's frequency where it is known.
fn clock_lines(hertz: Option<u64>) -> Vec<Line> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    std::iter::once(Line::Time(now.as_secs())).chain(hertz.map(Line::Tsc)).collect()
}

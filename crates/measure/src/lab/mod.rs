//! The lab kernel in an emulator or a virtual machine, measured as a host is.

use places::lab::Line;
use std::time::{SystemTime, UNIX_EPOCH};

mod believed;
mod configuration;
mod counted;
mod described;
mod ended;
mod found;
mod image;
mod listing;
mod machine;
mod measure;
mod plan;
mod setup;

pub use configuration::{Configuration, Configurations};
pub use ended::{not_loaded, unsupported};
pub use image::image;
pub use listing::{Listed, listing};
pub use machine::{Emulator, accelerator, choose, features, is_pvm, machine_of};
pub use measure::measure;
pub use plan::{Accel, LabPlan, Options};
pub use setup::Setup;

/// What the kernel is told about time: the wall clock, and the counter's frequency where it is known.
pub fn clock_lines(hertz: Option<u64>) -> Vec<Line> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    std::iter::once(Line::Time(now.as_secs())).chain(hertz.map(Line::Tsc)).collect()
}

//! A path through a Linux kernel that was followed: each instruction by the function that it is in and by what it belongs to.

mod anatomy;
mod part;

pub use anatomy::{Anatomy, Instruction};
pub use part::{Confidence, Part};

//! A path through a Linux kernel that was followed: each instruction by the function that it is in and by what it belongs to.

#![forbid(unsafe_code)]

mod anatomy;
mod calls;
mod code;
mod decode;
mod entry;
mod features;
mod functions;
mod part;
mod path;
mod patterns;
mod symbols;
mod tell;

pub use anatomy::{Anatomy, Instruction, Place};
pub use part::{Confidence, Part};

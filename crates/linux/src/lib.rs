//! A Linux kernel as a file: where kernels are found, what a file is, and what it boots with. Nothing here boots anything.

mod archive;
mod banner;
mod elf;
mod error;
mod files;
mod find;
mod image;
mod loader;
mod needs;
mod package;
mod patched;
mod program;
mod setup;
mod share;
mod sites;
#[cfg(test)]
#[path = "../../../tests/skipped.rs"]
mod skipped;
mod stripped;
mod unpack;

pub use archive::Archive;
pub use error::{Error, Why};
pub use find::{AUTO, age, automatic, find};
pub use image::{Kernel, Load};
pub use patched::Alternative;
pub use sites::{Branch, Paravirt};
pub use stripped::stripped;

/// Where a guest's programs look for others, as a search path.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

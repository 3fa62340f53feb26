//! A Linux kernel as a file: where kernels are found, what a file is, and what it boots with. Nothing here boots anything.

mod banner;
mod config;
mod elf;
mod error;
mod files;
mod image;
mod package;
mod patched;
mod setup;
mod unpack;

pub use error::{Error, Why};
pub use image::{Alternative, Kernel, Load, Site, SiteKind};

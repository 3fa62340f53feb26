//! A Linux kernel as a file: where kernels are found, what a file is, and what it boots with. Nothing here boots anything.

mod image;

pub use image::{Alternative, Kernel, Load, Site, SiteKind};

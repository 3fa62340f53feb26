//! The kernel of protected mode (`lab/i386`): what the tests of the other one have shown of the files that both share is not shown again.

mod boots;
mod counts;
mod faults;
mod gates;
mod mach;
pub mod matrix;
mod moments;

//! The kernel of protected mode (`lab/i386`): what the tests of the other one have shown of the files that both share is not shown again.

mod boots;
mod counts;
mod driver;
mod faults;
pub mod gates;
mod ibt;
mod idt;
mod mach;
pub mod matrix;
mod moments;
mod ports;
mod random;
mod segments;
mod syscall;
mod tasks;
mod unpaged;
mod virtual8086;

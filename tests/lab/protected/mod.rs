//! The kernel of protected mode (`lab/i386`): what the tests of the other one have shown of the files that both share is not shown again.

mod matrix;
mod virtual8086;

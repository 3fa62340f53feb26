//! What is booted.

use crate::guest::{Machine, Work};
use linux::Kernel;

/// A kernel, what it boots in and with, and what it is to do.
#[derive(Debug, Clone, Copy)]
pub struct Boot<'a> {
    /// The virtual machine.
    pub machine: &'a Machine,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Its parameters, behind those that every boot has.
    pub parameters: &'a str,
    /// The program that is the guest's first: kentry's own file.
    pub program: &'a [u8],
    /// Further files, as an archive in the format of cpio; or none.
    pub archive: &'a [u8],
    /// What the program is to do.
    pub work: &'a Work,
    /// What the machine's random numbers are drawn from: two boots with the same seed are the same where instructions are counted.
    pub seed: u64,
}

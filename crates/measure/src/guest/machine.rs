//! What boots a guest: the virtual machine, or in tests one that is made up.

use places::guest::Booted;
use table::Filter;

/// What is known of a kernel before it boots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Its file.
    pub file: String,
    /// Its release as the file says it; empty where it does not.
    pub release: String,
}

/// What one boot is to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The kernel, by its place on the command line.
    pub kernel: usize,
    /// The words of its command line, besides those that every guest has.
    pub parameters: String,
    /// QEMU's word for the processor.
    pub cpu: String,
    /// QEMU's board (`-M`), if the usual one lacks something.
    pub board: Option<String>,
    /// Whether the kernel is to unpack itself.
    pub compressed: bool,
    /// The filter of system calls that the guest's first program gives itself.
    pub filter: Option<Filter>,
    /// Whether the guest's first program switches the events of all system calls on.
    pub trace: bool,
    /// The rows, by the ids of entry and operation.
    pub rows: Vec<(u16, u16)>,
    /// Whether a use of each row is followed, instruction by instruction.
    pub follows: bool,
    /// What order, random bytes and addresses are drawn from.
    pub seed: u64,
}

/// Boots guests; several at once where instructions are counted.
pub trait Machine: Sync {
    /// Boots one, and waits for its end.
    fn boot(&self, request: &Request) -> Booted;
}

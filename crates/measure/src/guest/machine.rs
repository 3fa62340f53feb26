//! What boots a guest: the virtual machine, or in tests one that is made up.

use ::guest::{Step, Symbol, Trace};
use std::time::Duration;
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
    /// QEMU's machine, if the usual one does not do.
    pub machine: Option<String>,
    /// Whether the kernel is to unpack itself.
    pub compressed: bool,
    /// The filter of system calls that the guest's first program gives itself.
    pub filter: Option<Filter>,
    /// The rows, by the ids of entry and operation.
    pub rows: Vec<(u16, u16)>,
    /// Whether a use of each row is followed, instruction by instruction.
    pub follows: bool,
    /// What order, random bytes and addresses are drawn from.
    pub seed: u64,
}

/// A boot that is over.
#[derive(Debug, Clone, Default)]
pub struct Ended {
    /// The document that the guest wrote, as it came.
    pub document: Option<Vec<u8>>,
    /// The paths that were followed.
    pub traces: Vec<Trace>,
    /// Why a row was not followed, by the ids of entry and operation.
    pub unfollowed: Vec<((u16, u16), String)>,
    /// What an interrupt of the timer's executes; empty where none was followed.
    pub interrupt: Vec<Step>,
    /// The functions of the kernel; empty where nobody asked for them.
    pub symbols: Vec<Symbol>,
    /// Parameters that the kernel did not know, and passed on to the first program.
    pub unknown: Vec<String>,
    /// The whole command line that the kernel was given.
    pub command_line: String,
    /// The end of what its console said.
    pub console: String,
    /// From starting the emulator to the guest's first record.
    pub first_record: Duration,
    /// What ended it before its work was done.
    pub trouble: Option<Trouble>,
}

/// Why a boot did not come to its end; the words follow "the guest" in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The user ended it.
    Interrupted,
    /// It took too long: in words.
    Timeout(String),
    /// It lacks what was asked for: in words.
    Unsupported(String),
    /// Anything else, in words.
    Failed(String),
}

/// Boots guests; several at once where instructions are counted.
pub trait Machine: Sync {
    /// Boots one, and waits for its end.
    fn boot(&self, request: &Request) -> Ended;
}

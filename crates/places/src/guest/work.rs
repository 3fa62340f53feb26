//! What the guest's only program is to do, as a file of the archive that it boots with.

use record::trace::Event;
use serde::{Deserialize, Serialize};
use table::Filter;

/// The work of one boot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Work {
    /// The rows, by the ids of entry and operation.
    pub rows: Vec<(u16, u16)>,
    /// Whether instructions are counted; otherwise time is measured.
    pub counts: bool,
    /// Whether a use of each row is followed, after all were counted.
    pub follows: bool,
    /// What is followed besides the rows. An execve is one of the row that makes a process, which must be among them.
    pub event: Option<Event>,
    /// Whether the kernel's symbols are wanted besides; of a guest that is not followed there are none.
    pub symbols: bool,
    /// Seconds for measuring time.
    pub budget: f64,
    /// What the order of the rounds is drawn from.
    pub seed: u64,
    /// The filter of system calls that this program gives itself, and so all that it executes.
    pub filter: Option<Filter>,
    /// Whether it switches the events of all system calls on first.
    pub trace: bool,
    /// Instead of measuring: a program to run.
    pub exec: Option<Exec>,
}

/// A program that is run in the guest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Exec {
    /// Its path in the archive, and its arguments, of which the first is its name.
    pub arguments: Vec<String>,
    /// Its environment, `NAME=value`.
    pub environment: Vec<String>,
    /// Whether it has the guest's console as its terminal.
    pub interactive: bool,
    /// Whether it reads the archive's file [`crate::guest::INPUT`] as its standard input, and not nothing.
    pub input: bool,
}

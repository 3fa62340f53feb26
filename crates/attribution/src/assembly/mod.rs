//! The assembler's part of a path through Linux beside the lab's: instruction by instruction, each by its kind. Pure: a followed path and
//! a listing in, both columns and what differs out, or what of Linux's path the lab explains.

mod explained;
mod family;
mod kind;
mod lab;
mod linux;
mod order;
mod side;

pub use explained::{Brought, explained};
pub use family::{OF_C, family, stands_for_c};
pub use lab::{of_lab, steps_of_column, steps_of_lab};
pub use linux::{besides, c_parts, of_linux, switched_off, to_the_handler};
pub use order::{Built, Judged, Order, Unknown, has_order};
pub use side::{Columns, Count, Counted, One, Pair};

use crate::anatomy::PartCount;

/// A use of an entry in the lab and in a Linux.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assembly {
    /// The entry.
    pub entry: String,
    /// What it was asked for.
    pub operation: String,
    /// The signal by which Linux answers what the lab serves as a call.
    pub signal: Option<String>,
    /// The kernel's release.
    pub kernel: String,
    /// Of the lab.
    pub profile: String,
    /// Steps of the profile that the lab was built without, for this boot of Linux has them switched off.
    pub off: Vec<String>,
    /// Steps that it was built with besides, for this boot has them switched on.
    pub on: Vec<String>,
    /// Steps that the lab could not be built with, each with the reason.
    pub lacking: Vec<String>,
    /// Whether the lab's path of this entry has that profile's order; if not, it has the lab's own.
    pub is_ordered: bool,
    /// The assembler's part of both.
    pub columns: Columns,
    /// The rest of Linux's path, by part: its C code, and functions that the assembler's part calls.
    pub c: Vec<PartCount>,
}

impl Assembly {
    /// That the lab's path keeps its own order, in words; none where it has that of Linux.
    pub fn own_order(&self) -> Option<String> {
        (!self.is_ordered).then(|| {
            format!(
                "the lab has no path of {} in Linux's order; this one has the lab's own, and not that of {}",
                self.entry, self.profile
            )
        })
    }

    /// What of Linux's path is compared, in words, where it leads to a signal's handler.
    pub fn until_the_handler(&self) -> Option<String> {
        self.signal.as_ref().map(|signal| {
            format!(
                "Linux answers with {signal}: its path ends where the program's handler begins. The handler comes back by a system call"
            )
        })
    }
}

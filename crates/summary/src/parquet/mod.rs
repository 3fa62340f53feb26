//! Two tables of Parquet, runs and rows, for analytic databases: a row says by its `run_id` which run it is of, and the facts of the machine
//! stand with the run alone. Times are UTC in microseconds, whole numbers have 64 bits, `mitigations` and `findings` are maps, what is unknown
//! is null. Both files name the summary's schema in their metadata, under [`KEY`], and have a digest of their pages there. docs/fleet.md has the columns, and queries.
//!
//! Files are hostile until parsed: [`read()`] limits what it takes, and names file and column where something is wrong. Pages are decoded by
//! the crate `parquet`, which answers damage with errors; `tests/parquet.rs` changes files at random to hold that. What remains: a page may
//! say that it has 2 GiB unpacked, and so much memory is taken before that proves wrong.

mod cells;
mod columns;
mod digest;
mod leaf;
mod pages;
mod read;
mod time;
mod write;

pub use read::{Unreadable, read};
pub use write::{Unwritable, Writer};

/// Under this name a file's metadata has the schema that its tables follow.
pub const KEY: &str = "kentry.schema";

/// No text is longer, in bytes: as long as a line of a summary.
pub const LONGEST_TEXT: usize = crate::LONGEST_LINE as usize;

/// No file has more bytes of text: all of it is read into memory.
pub const MOST_TEXT: u64 = 1 << 32;

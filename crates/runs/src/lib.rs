//! Runs that are kept: a folder in which every measurement is a compressed document.
//!
//! A file is `ID.json.gz`, so that it can be read, copied and deleted without kentry. What a list shows of it, the [`Head`],
//! stands in the comment of its gzip header, where it is read without unpacking anything. A file is written whole or not at all
//! ([`WholeFile`]); no file depends on another, and there is no index that could disagree with them.

#![forbid(unsafe_code)]

mod covers;
mod file;
mod folder;
mod head;
mod name;
mod prune;
mod store;
mod whole_file;

#[cfg(test)]
#[path = "../../../tests/skipped.rs"]
mod skipped;

pub use file::{Damage, LONGEST};
pub use folder::{Homeless, folder};
pub use head::Head;
pub use name::{InvalidName, Name, Of, Tag, is_name};
pub use prune::Keep;
pub use store::{Error, Listed, Skipped, Store, open};
pub use whole_file::WholeFile;

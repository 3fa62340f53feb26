//! A path through a Linux kernel that was followed: each instruction by the function that it is in and by what it belongs to.
//! Pure: a trace, symbols and a kernel's file in, a [`Document`] out; [docs/anatomy.md](../../../docs/anatomy.md) explains it.

mod audit;
mod beside;
mod calls;
mod code;
mod count;
mod decode;
mod difference;
mod document;
mod entry;
mod features;
pub(crate) mod functions;
mod handler;
mod instruction;
mod keys;
mod part;
mod path;
mod patterns;
mod protection;
mod sites;
mod stack_offset;
mod symbols;
mod tell;

pub use beside::{Beside, BesideLine, Verdict};
pub(crate) use code::is_nop;
pub use count::{Function, PartCount};
pub use difference::{Changed, Difference, Piece};
pub use document::{BootedConfiguration, Cycles, Document, Followed, LeftOut, SCHEMA, Timed, load};
pub use instruction::{Anatomy, Instruction, Location};
pub use part::{Confidence, Part};
pub use protection::part_protects;
pub use record::trace::Event;

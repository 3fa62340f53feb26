//! What others than kentry say of the instructions of a followed path: a kernel's debug information ([`struct@Debug`]), the lines of its assembler
//! sources, and the tables of places in its file ([`Tables`]). [`Word`] is what there is of a kernel's, and holds an anatomy against it. Nothing
//! here knows how an anatomy comes to its answers. For tests alone, and only of files that these trust: it panics where a file is damaged.
#![allow(clippy::unwrap_used)] // a file that is not as it must be is a failing test

mod assembler;
mod debug;
mod frame;
mod functions;
mod held;
mod kernels;
mod tables;
mod truth;
mod word;

pub use debug::Debug;
pub use frame::Frame;
pub use held::{Held, Wrong};
pub use kernels::{FOLDER, kernels};
pub use tables::Tables;
pub use truth::hold;
pub use word::Word;

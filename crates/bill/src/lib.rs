//! What each protection adds to an entry, by name, and a path that adds up. Pure: a profile and the table in, the
//! configurations to measure out; their rows in, a [`Bill`] out.

#![forbid(unsafe_code)]

mod bill;
mod figure;
mod step;

pub use bill::{Bill, Configured, Line, Part, PartKind, SCHEMA, State, There};
pub use figure::{Figure, Unit};
pub use step::{Need, Profile, Setting, Step};

//! Options that several commands have.

pub mod footprint;
pub mod guest;
pub mod output;
pub mod rows;
pub mod save;
pub mod time;
pub mod values;

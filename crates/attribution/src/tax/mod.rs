//! What each layer between a program and the kernel adds to a system call, in core cycles. Pure: rounds that were taken in turns in, a
//! [`Tax`] out.

mod document;
mod judge;
mod meaning;

pub use document::{Added, Base, LayerCost, OperationCost, ProfileUsed, SCHEMA, Tax, Verdict};
pub use judge::{CONFIDENCE, added};

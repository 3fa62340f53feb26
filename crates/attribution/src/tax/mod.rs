//! What each layer between a program and the kernel adds to a system call, in core cycles. Pure: rounds that were taken in turns in, a
//! [`Tax`] out.

mod document;
mod judge;
mod meaning;
mod slow_way;

pub use document::{Added, Base, LayerCost, OperationCost, ProfileUsed, SCHEMA, Tax, Verdict};
pub use judge::{CONFIDENCE, added};
pub use slow_way::{ALREADY_SLOW, TOLD, TwoLevels, is_already_slow, two_levels};

//! Whether each clock is read in user space, and what a read costs.

use crate::doctor::CheckupFacts;
use document::Finding;

pub(crate) fn findings(_facts: &CheckupFacts) -> Vec<Finding> {
    Vec::new()
}

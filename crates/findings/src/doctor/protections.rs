//! What the kernel does about the processor's faults, and what that costs here.

use crate::doctor::CheckupFacts;
use document::Finding;

pub(crate) fn findings(_facts: &CheckupFacts) -> Vec<Finding> {
    Vec::new()
}

//! Whether clocks are steady, and agree from CPU to CPU.

use crate::doctor::CheckupFacts;
use document::Finding;

pub(crate) fn findings(_facts: &CheckupFacts) -> Vec<Finding> {
    Vec::new()
}

//! Whether clocks are steady, and agree from CPU to CPU: measured by threads on them.

use serde::{Deserialize, Serialize};

/// What threads on several CPUs saw of the clocks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockHealth {}

impl ClockHealth {
    /// Looks, for about so long.
    pub fn look(_time: std::time::Duration) -> ClockHealth {
        ClockHealth::default()
    }
}

//! What programs find in the C library and the vDSO.

use serde::{Deserialize, Serialize};

/// What the C library and other runtimes use of what the kernel offers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Runtimes {}

impl Runtimes {
    /// Of this machine.
    pub fn here() -> Runtimes {
        Runtimes::default()
    }
}

//! What a process carries into each of its system calls.

use serde::{Deserialize, Serialize};

/// What a process carries: filters, a tracer, user dispatch, and whatever else stands on the way of its calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Carried {}

impl Carried {
    /// Of this process.
    pub fn here() -> Carried {
        Carried::default()
    }
}

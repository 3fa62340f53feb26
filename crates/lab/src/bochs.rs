//! Bochs.

use crate::{Guest, Limits, Trouble};

/// A Bochs.
#[derive(Debug, Clone)]
pub struct Bochs {
    /// The processor that the guest sees.
    pub cpu_model: String,
}

impl Bochs {
    /// Ticks in a second.
    pub const HERTZ: u64 = 50_000_000;

    /// new
    pub fn new(cpu_model: Option<&str>) -> Bochs {
        Bochs { cpu_model: cpu_model.unwrap_or("tigerlake").to_string() }
    }

    /// Boots.
    ///
    /// # Errors
    /// todo
    pub fn boot(&self, _: &[u8], _: usize, _: &Limits) -> Result<Guest, Trouble> {
        Err(Trouble::Interrupted)
    }

    /// version
    ///
    /// # Errors
    /// todo
    pub fn version(&self, _: &Limits) -> Result<String, Trouble> {
        Ok("Bochs".into())
    }
}

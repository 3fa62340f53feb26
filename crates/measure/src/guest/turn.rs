//! A boot among those of a measurement.

use crate::conclude::milliseconds;
use environment::GuestBoot;
use places::guest::Booted;
use std::time::Duration;

/// A boot in its turn.
pub struct Turn {
    /// Its number among the boots of its configuration, from 1 on.
    pub number: u64,
    /// What its order of rounds was drawn from.
    pub seed: u64,
    /// When it began, since the measurement did.
    pub began: Duration,
    /// What became of it.
    pub booted: Booted,
}

impl Turn {
    /// The time from starting the emulator to the guest's first record.
    pub fn boot_time(&self) -> Duration {
        self.booted.first_frame.unwrap_or_default()
    }

    /// When the guest's first record came, in milliseconds of the measurement. The guest's own times count from there.
    pub fn at_ms(&self) -> f64 {
        milliseconds(self.began + self.boot_time())
    }

    /// As a document has it.
    pub fn described(&self) -> GuestBoot {
        GuestBoot { at_ms: self.at_ms(), seed: self.seed, cpu: None }
    }
}

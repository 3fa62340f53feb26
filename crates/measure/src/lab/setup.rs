//! What runs a measurement, and where.

use super::Emulator;
use crate::Scout;
use environment::Environment;
use places::lab::Limits;

/// What a measurement needs besides its plan.
pub struct Setup {
    /// What runs the kernel.
    pub emulator: Emulator,
    /// Its name and version; where it is not known, the emulator is asked while its guests run.
    pub version: Option<String>,
    /// Of the guest.
    pub limits: Limits,
    /// This machine, where its processor runs the kernel natively.
    pub host: Option<Environment>,
    /// Ticks in a second of this machine's counter, where the guest uses it.
    pub tsc_hz: Option<f64>,
    /// What chooses the CPU that the guest is pinned to, where its processor is this machine's.
    pub scout: Option<Scout>,
}

//! The virtual machine that was started for a measurement, whichever kernel it booted.

use serde::{Deserialize, Serialize};

/// What executed a guest's instructions. What its kernel found is elsewhere: [`crate::Lab`] of kentry's own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Guest {
    /// Name and version: `QEMU 7.2.22`, `Bochs 2.7`.
    pub emulator: String,
    /// `tcg`, `kvm` or `bochs`.
    pub accelerator: String,
    /// The processor model, as the emulator was asked for it.
    pub cpu_model: String,
    /// Whether the time stamp counter counts instructions.
    pub icount: bool,
    /// Each boot: where time is measured there are several.
    pub boots: Vec<GuestBoot>,
    /// From starting the emulator to the kernel's first record, milliseconds of the host's time.
    pub boot_to_first_record_ms: f64,
}

/// One boot of the guest: a start from cold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GuestBoot {
    /// When the kernel's first record came, in milliseconds of the measurement. The rounds of this boot follow until the
    /// next one's.
    pub at_ms: f64,
    /// What its order of rounds was drawn from; in documents that do not name layouts, its layout, too.
    pub seed: u64,
    /// The CPU of this machine that the guest was pinned to; null where it was not.
    pub cpu: Option<usize>,
}

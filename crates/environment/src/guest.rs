//! The virtual machine that was started for a measurement, whichever kernel it booted.

use std::collections::BTreeMap;

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
    /// Each boot that has measured: several where the lab measures time, and of a Linux those of all configurations.
    pub boots: Vec<GuestBoot>,
    /// From starting the emulator to the kernel's first record, milliseconds of the host's time; of a guest that was booted again, from its
    /// first start.
    pub boot_to_first_record_ms: f64,
    /// Of a Linux: each configuration that was booted, in the order of the command line. The facts beside the guest are those of the first
    /// that came up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<GuestKernel>,
}

/// A Linux that was booted, in one configuration, and what came of that.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GuestKernel {
    /// What the command line names of it, as its rows have it in their configuration.
    pub settings: BTreeMap<String, String>,
    /// The kernel's file.
    pub file: String,
    /// Its release, `6.1.0-56-cloud-amd64`: what it said, or else what its file says; empty where neither does.
    pub release: String,
    /// The command line that it was booted with.
    pub command_line: String,
    /// The processor's model, as the emulator was asked for it.
    pub cpu_model: String,
    /// The boots of this configuration that have measured.
    pub boots: Vec<GuestBoot>,
    /// `ok` if its figures are in the rows; `unsupported` if it lacks what was asked for; `error` or `timeout` if no boot of it has
    /// measured.
    pub outcome: String,
    /// Why there are no figures, in words; null where there are.
    pub reason: Option<String>,
    /// Settings by name that the kernel or the processor was given, and that nothing in the guest confirms: `l1tf=off`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unverified: Vec<String>,
    /// The last lines of its console, where something went wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub console: Vec<String>,
}

impl Guest {
    /// The releases of the Linux kernels, each once, in the order of the command line.
    pub fn releases(&self) -> Vec<&str> {
        let mut releases: Vec<&str> = Vec::new();
        for kernel in self.kernels.iter().filter(|kernel| !kernel.release.is_empty()) {
            if !releases.contains(&kernel.release.as_str()) {
                releases.push(&kernel.release);
            }
        }
        releases
    }
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

//! The virtual machine that the lab kernel ran in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What ran the lab kernel, and what the kernel found when it booted. Ticks are those of the guest's time stamp counter,
/// which counts instructions under some emulators.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lab {
    /// Name and version: `QEMU 7.2.22`, `Bochs 2.7`.
    pub emulator: String,
    /// `tcg`, `kvm` or `bochs`.
    pub accelerator: String,
    /// The processor model, as the emulator was asked for it.
    pub cpu_model: String,
    /// The vendor of the processor that the guest saw: `GenuineIntel`, `AuthenticAMD`.
    pub vendor: Option<String>,
    /// Whether the time stamp counter counts instructions.
    pub icount: bool,
    /// Each switch of the kernel, with the value that it has where a row's configuration does not name it.
    pub switches: BTreeMap<String, String>,
    /// Ticks for a loop of instructions in ring 0.
    pub ring0_ticks: u64,
    /// Ticks for the same loop in ring 3.
    pub ring3_ticks: u64,
    /// Whether a `syscall` from ring 3 works.
    pub syscall_works: bool,
    /// Features that this processor has and the kernel uses.
    pub features: Vec<String>,
    /// What `__kernel_vsyscall` uses: `int80`, `sysenter`, `syscall`.
    pub gateway: Option<String>,
    /// What loaded the kernel: `pvh`, `multiboot2`.
    pub loader: Option<String>,
    /// Memory for programs, in bytes.
    pub memory: u64,
    /// What the guest's kernel knows about its time stamp counter; documents made before it said so have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tsc: Option<LabTsc>,
    /// From starting the emulator to the kernel's first record, milliseconds of the host's time.
    pub boot_to_first_record_ms: f64,
}

/// The guest's time stamp counter, as its kernel found it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LabTsc {
    /// The frequency that the kernel uses; none where it found out none.
    pub by: Option<LabFrequency>,
    /// Another, which contradicts it by more than 1 %.
    pub contradicted_by: Option<LabFrequency>,
    /// Whether the guest's CPUID promises that the frequency is constant.
    pub invariant: bool,
}

/// A frequency, and who says so.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LabFrequency {
    /// In hertz.
    pub hz: f64,
    /// `plan`, `hypervisor`, `crystal`, `pm-timer`, `pit`, `base`.
    pub source: String,
}

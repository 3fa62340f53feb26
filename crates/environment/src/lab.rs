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
    /// From starting the emulator to the kernel's first record, milliseconds of the host's time.
    pub boot_to_first_record_ms: f64,
}

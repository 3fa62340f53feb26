//! What kentry's own kernel found when it ran.

use std::collections::BTreeMap;

use crate::Ring0;
use serde::{Deserialize, Serialize};

/// What the lab kernel found when it booted, and how it was set. The machine that it ran on is a [`crate::Guest`]. Ticks are those
/// of the guest's time stamp counter, which counts instructions under some emulators.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lab {
    /// The vendor of the processor that the guest saw: `GenuineIntel`, `AuthenticAMD`.
    pub vendor: Option<String>,
    /// Each switch of the kernel, with the value that it has where a row's configuration does not name it.
    pub switches: BTreeMap<String, String>,
    /// Ticks for a loop of instructions in ring 0.
    pub ring0_ticks: u64,
    /// Ticks for the same loop in ring 3.
    pub ring3_ticks: u64,
    /// Whether a `syscall` from ring 3 works.
    pub syscall_works: bool,
    /// Whether the kernel's instructions ran on the processor, and by what that is told.
    pub ring0: Ring0,
    /// The microcode's revision as the guest saw it, `0x2b000643`. Hypervisors often make one up.
    pub microcode: Option<String>,
    /// The layouts of the rounds, in the order of time: each has rounds in several boots. Empty where layouts are not drawn;
    /// documents made before each boot had several have none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<LabLayout>,
    /// What the processor counted while probes ran; null where it counts nothing, or an emulator does.
    pub counters: Option<LabCounters>,
    /// Features that this processor has and the kernel uses.
    pub features: Vec<String>,
    /// What `__kernel_vsyscall` uses: `int80`, `sysenter`, `syscall`.
    pub gateway: Option<String>,
    /// What loaded the kernel: `pvh`, `multiboot2`.
    pub loader: Option<String>,
    /// Memory for programs, in bytes.
    pub memory: u64,
    /// Processors that ACPI lists, of which one is used; null when it is not known. The others were not started, and wait as firmware has left
    /// them: in hlt, in mwait, or in a loop.
    pub processors: Option<u64>,
    /// What the guest's kernel knows about its time stamp counter; documents made before it said so have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tsc: Option<LabTsc>,
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
    /// `plan`, `hypervisor`, `crystal`, `pm-timer`, `pit`, `base`, `model`.
    pub source: String,
}

/// Rounds in one layout: where paths begin, which physical pages programs have, and at which addresses their stacks and
/// mappings are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LabLayout {
    /// When the first of them began, in milliseconds of the measurement. The others follow until the next one's first.
    pub at_ms: f64,
    /// What it was drawn from. The same number is the same layout.
    pub number: u64,
}

/// What the processor counted while probes ran, all rounds together: in each from right before the probe's first
/// instruction to its first output, when all of its samples are taken. Null: it does not have this counter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LabCounters {
    /// Rounds that were counted.
    pub rounds: u64,
    /// System management interrupts.
    pub smis: Option<u64>,
    /// Rounds that were left out because such an interrupt fell into them.
    pub rounds_lost: u64,
    /// Retired instructions.
    pub instructions: Option<u64>,
    /// Core cycles by the fixed counter.
    pub core_cycles: Option<u64>,
    /// Ticks that the core was not halted.
    pub reference_cycles: Option<u64>,
    /// IA32_APERF: core cycles.
    pub aperf: Option<u64>,
    /// IA32_MPERF: cycles of a constant clock.
    pub mperf: Option<u64>,
    /// Ticks of the time stamp counter.
    pub ticks: u64,
    /// Median over the rounds of core cycles in a tick: by core against reference cycles, or else by APERF against MPERF.
    pub cycles_per_tick: Option<f64>,
    /// The values that IA32_SPEC_CTRL had, `0x1`; null where there is no such register.
    pub spec_ctrl: Option<Vec<String>>,
}

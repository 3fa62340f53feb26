//! The time stamp counter.

use serde::{Deserialize, Serialize};

use crate::cpuid::{Leaves, Register};
use crate::cpuinfo::CpuInfo;

/// Plausible rates of a time stamp counter, in Hz. Any other value was misread.
const PLAUSIBLE: std::ops::RangeInclusive<u64> = 100_000_000..=20_000_000_000;

/// What is known about the time stamp counter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tsc {
    /// It counts at one rate in all power states. CPUID leaf 80000007h, EDX bit 8.
    pub invariant: bool,
    /// The kernel's `constant_tsc`: its rate does not follow the core's. `/proc/cpuinfo`.
    pub constant: Option<bool>,
    /// The kernel's `nonstop_tsc`: it counts in deep sleep. `/proc/cpuinfo`.
    pub nonstop: Option<bool>,
    /// The kernel's `tsc_known_freq`: it was told the rate and did not measure it. `/proc/cpuinfo`.
    pub known_frequency: Option<bool>,
    /// Ticks per second according to CPUID, in Hz.
    pub frequency_hz: Option<u64>,
    /// Where the frequency comes from, in words.
    pub frequency_source: Option<String>,
    /// The register IA32_TSC_ADJUST exists. CPUID leaf 7, EBX bit 1.
    pub adjust: bool,
    /// The local APIC's timer takes a TSC value. CPUID leaf 1, ECX bit 24.
    pub deadline: bool,
}

impl Tsc {
    pub(crate) fn from(leaves: &Leaves, info: Option<&CpuInfo>) -> Self {
        let flag = |name: &str| Some(info?.flags.as_ref()?.contains(&name));
        let (frequency_hz, frequency_source) = frequency(leaves).unzip();
        Self {
            invariant: leaves.bit(0x8000_0007, 0, Register::Edx, 8),
            constant: flag("constant_tsc"),
            nonstop: flag("nonstop_tsc"),
            known_frequency: flag("tsc_known_freq"),
            frequency_hz,
            frequency_source: frequency_source.map(str::to_owned),
            adjust: leaves.bit(7, 0, Register::Ebx, 1),
            deadline: leaves.bit(1, 0, Register::Ecx, 24),
        }
    }
}

/// The hypervisor goes first: it may scale the counter and pass the processor's own leaves on unchanged.
fn frequency(leaves: &Leaves) -> Option<(u64, &'static str)> {
    let plausible = |found: &(u64, &str)| PLAUSIBLE.contains(&found.0);
    from_hypervisor(leaves)
        .filter(plausible)
        .or_else(|| from_crystal(leaves).filter(plausible))
        .or_else(|| from_base(leaves).filter(plausible))
}

/// Leaf 40000010h, EAX, in kHz: VMware's, and QEMU's for KVM.
fn from_hypervisor(leaves: &Leaves) -> Option<(u64, &'static str)> {
    let khz = leaves.get(0x4000_0010, 0).eax;
    Some((u64::from(khz) * 1_000, "the hypervisor, CPUID 40000010h"))
}

/// Leaf 15h: the crystal's rate (ECX, Hz) times EBX / EAX. Some processors leave the crystal out; the base
/// frequency of leaf 16h is then the counter's (Linux, `native_calibrate_tsc`).
fn from_crystal(leaves: &Leaves) -> Option<(u64, &'static str)> {
    let ratio = leaves.get(0x15, 0);
    if ratio.eax == 0 || ratio.ebx == 0 {
        return None;
    }
    if ratio.ecx == 0 {
        return Some((base_hz(leaves), "CPUID 15h without a crystal rate, base frequency of 16h"));
    }
    let hz = u128::from(ratio.ecx) * u128::from(ratio.ebx) / u128::from(ratio.eax);
    Some((u64::try_from(hz).ok()?, "CPUID 15h"))
}

fn from_base(leaves: &Leaves) -> Option<(u64, &'static str)> {
    Some((base_hz(leaves), "CPUID 16h, the nominal base frequency"))
}

/// Leaf 16h, EAX bits 15 to 0, in MHz.
fn base_hz(leaves: &Leaves) -> u64 {
    u64::from(leaves.get(0x16, 0).eax & 0xffff) * 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crystal() {
        // Core i7-8550U: 24 MHz × 166 / 2.
        let leaves = Leaves::of(&[(0x15, 0, [2, 166, 24_000_000, 0]), (0x16, 0, [2000, 4000, 100, 0])]);
        assert_eq!(frequency(&leaves), Some((1_992_000_000, "CPUID 15h")));
    }

    #[test]
    fn no_crystal_rate() {
        let leaves = Leaves::of(&[(0x15, 0, [2, 216, 0, 0]), (0x16, 0, [2600, 3500, 100, 0])]);
        assert_eq!(frequency(&leaves).map(|found| found.0), Some(2_600_000_000));
        let base_only = Leaves::of(&[(0x16, 0, [2600, 3500, 100, 0])]);
        assert_eq!(frequency(&base_only), Some((2_600_000_000, "CPUID 16h, the nominal base frequency")));
    }

    #[test]
    fn the_hypervisor_goes_first() {
        let leaves =
            Leaves::of(&[(0x15, 0, [2, 166, 24_000_000, 0]), (0x4000_0010, 0, [2_593_906, 0, 0, 0])]);
        assert_eq!(frequency(&leaves), Some((2_593_906_000, "the hypervisor, CPUID 40000010h")));
    }

    #[test]
    fn nothing_known_and_nonsense_are_null() {
        assert_eq!(frequency(&Leaves::default()), None);
        let nonsense = [
            (0x15, 0, [1, u32::MAX, u32::MAX, 0]),
            (0x16, 0, [0xffff, 0, 0, 0]),
            (0x4000_0010, 0, [u32::MAX, 0, 0, 0]),
        ];
        assert_eq!(frequency(&Leaves::of(&nonsense)), None);
    }

    #[test]
    fn kernel_flags_are_null_without_cpuinfo() {
        assert_eq!(Tsc::from(&Leaves::default(), None).constant, None);
        let info = CpuInfo { flags: Some(vec!["nonstop_tsc"]), ..CpuInfo::default() };
        let tsc = Tsc::from(&Leaves::default(), Some(&info));
        assert_eq!((tsc.constant, tsc.nonstop), (Some(false), Some(true)));
    }
}

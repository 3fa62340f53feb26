//! The processor.

use serde::{Deserialize, Serialize};

use crate::cpuid::{Leaves, Register, characters};
use crate::cpuinfo::CpuInfo;
use crate::flags;
use crate::reader::Reader;

/// Leaf 0Bh, ECX bits 15 to 8: this level counts the threads of a core.
const LEVEL_THREADS: u32 = 1;

/// The processor that was measured on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// The number of the CPU these facts are about, counted from 0 as Linux does.
    pub number: usize,
    /// CPUID leaf 0, for instance `GenuineIntel`.
    pub vendor: Option<String>,
    /// CPUID leaves 80000002h to 80000004h.
    pub brand: Option<String>,
    /// Family with the extended family added, as `/proc/cpuinfo` shows it. CPUID leaf 1.
    pub family: Option<u32>,
    /// Model with the extended model in front, as `/proc/cpuinfo` shows it. CPUID leaf 1.
    pub model: Option<u32>,
    /// CPUID leaf 1.
    pub stepping: Option<u32>,
    /// The kind of core where a processor has two: `performance` or `efficient`. CPUID leaf 1Ah.
    pub core_type: Option<String>,
    /// The microcode's revision as the kernel writes it, `0x2b000643`. Hypervisors often make one up.
    pub microcode: Option<String>,
    /// Features that decide what an entry does or costs, which CPUID reports.
    pub flags: Vec<String>,
    /// The same as the kernel sees it: a feature that it disabled is missing, what it added (`pti`) is there.
    /// `/proc/cpuinfo`.
    pub kernel_flags: Option<Vec<String>>,
    /// Faults of the processor that the kernel works around. `/proc/cpuinfo`.
    pub bugs: Option<Vec<String>>,
    /// Hyperthreads.
    pub smt: Smt,
}

/// Several threads on one core.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Smt {
    /// Threads of a core according to CPUID (leaf 0Bh, or 8000001Eh on AMD). Hypervisors often say 1 where there are 2.
    pub threads_per_core: Option<u32>,
    /// Whether any core runs more than one thread. `/sys/devices/system/cpu/smt/active`.
    pub active: Option<bool>,
    /// `on`, `off`, `forceoff`, `notsupported`, `notimplemented`. `/sys/devices/system/cpu/smt/control`.
    pub control: Option<String>,
    /// The CPUs on the same core, itself included: `0-1`. `topology/thread_siblings_list`.
    pub siblings: Option<String>,
}

impl Cpu {
    pub(crate) fn capture(reader: &mut Reader, cpu: usize, leaves: &Leaves, info: Option<&CpuInfo>) -> Self {
        let words = |words: &Vec<&str>| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            number: cpu,
            core_type: core_type(leaves),
            microcode: microcode(reader, cpu, info),
            flags: flags::of_processor(leaves),
            kernel_flags: info.and_then(|info| info.flags.as_deref()).map(flags::of_kernel),
            bugs: info.and_then(|info| info.bugs.as_ref()).map(words),
            smt: Smt::capture(reader, cpu, leaves),
            ..Self::identity(leaves)
        }
    }

    fn identity(leaves: &Leaves) -> Self {
        let vendor = leaves.get(0, 0);
        let signature = Some(leaves.get(1, 0).eax).filter(|signature| *signature != 0);
        Self {
            vendor: characters(&[vendor.ebx, vendor.edx, vendor.ecx]),
            brand: brand(leaves),
            family: signature.map(family),
            model: signature.map(model),
            stepping: signature.map(|signature| signature & 0xf),
            ..Self::default()
        }
    }
}

fn brand(leaves: &Leaves) -> Option<String> {
    let parts = (0x8000_0002..=0x8000_0004).map(|leaf| leaves.get(leaf, 0));
    let registers: Vec<u32> = parts.flat_map(|part| [part.eax, part.ebx, part.ecx, part.edx]).collect();
    characters(&registers)
}

/// Bits 11 to 8; at their highest value the extended family, bits 27 to 20, is added. Intel SDM volume 2A, CPUID.
fn family(signature: u32) -> u32 {
    let base = signature >> 8 & 0xf;
    if base == 0xf { base + (signature >> 20 & 0xff) } else { base }
}

/// Bits 7 to 4, with bits 19 to 16 in front from family 6 on, as Linux does (`x86_model`).
fn model(signature: u32) -> u32 {
    let base = signature >> 4 & 0xf;
    if family(signature) >= 6 { (signature >> 16 & 0xf) << 4 | base } else { base }
}

impl Smt {
    fn capture(reader: &mut Reader, cpu: usize, leaves: &Leaves) -> Self {
        let active = reader.line("/sys/devices/system/cpu/smt/active");
        let siblings = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        Self {
            threads_per_core: threads_per_core(leaves),
            active: active.and_then(|value| crate::sysctls::switch(&value)),
            control: reader.line("/sys/devices/system/cpu/smt/control"),
            siblings: reader.line(&siblings),
        }
    }
}

fn microcode(reader: &mut Reader, cpu: usize, info: Option<&CpuInfo>) -> Option<String> {
    match info.and_then(|info| info.microcode) {
        Some(revision) => Some(revision.to_owned()),
        None => reader.line(&format!("/sys/devices/system/cpu/cpu{cpu}/microcode/version")),
    }
}

/// Intel SDM volume 2A, CPUID leaf 1Ah, EAX bits 31 to 24.
fn core_type(leaves: &Leaves) -> Option<String> {
    if !leaves.bit(7, 0, Register::Edx, 15) {
        return None;
    }
    match leaves.get(0x1a, 0).eax >> 24 {
        0x40 => Some("performance".to_owned()),
        0x20 => Some("efficient".to_owned()),
        _ => None,
    }
}

fn threads_per_core(leaves: &Leaves) -> Option<u32> {
    let level = leaves.get(0xb, 0);
    if level.ecx >> 8 & 0xff == LEVEL_THREADS && level.ebx & 0xffff != 0 {
        return Some(level.ebx & 0xffff);
    }
    let topology_extensions = leaves.bit(0x8000_0001, 0, Register::Ecx, 22);
    topology_extensions.then(|| (leaves.get(0x8000_001e, 0).ebx >> 8 & 0xff) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const THIS: &[(u32, u32, [u32; 4])] = &[
        (0, 0, [0x24, 0x756e_6547, 0x6c65_746e, 0x4965_6e69]),
        (1, 0, [0x000a_0671, 0x0102_0800, 0xfffa_3203, 0x1f8b_fbff]),
        (7, 0, [2, 0xf1bf_2ffb, 0x1a41_5f46, 0x23c1_4010]),
        (0xb, 0, [0, 1, 0x100, 1]),
        (0x8000_0000, 0, [0x8000_0008, 0, 0, 0]),
        (0x8000_0002, 0, [0x6574_6e49, 0x2952_286c, 0x6f65_5820, 0x2952_286e]),
        (0x8000_0003, 0, [0x6f72_5020, 0x7373_6563, 0x726f, 0]),
        (0x8000_0004, 0, [0; 4]),
    ];

    #[test]
    fn a_real_processor() {
        let cpu = Cpu::identity(&Leaves::of(THIS));
        assert_eq!(cpu.vendor.as_deref(), Some("GenuineIntel"));
        assert_eq!(cpu.brand.as_deref(), Some("Intel(R) Xeon(R) Processor"));
        assert_eq!((cpu.family, cpu.model, cpu.stepping), (Some(6), Some(167), Some(1)));
        assert_eq!(threads_per_core(&Leaves::of(THIS)), Some(1));
        assert_eq!(core_type(&Leaves::of(THIS)), None);
    }

    #[test]
    fn an_amd_family_adds_its_extension() {
        // Ryzen 7 5800X: family 19h, model 21h, stepping 0.
        let amd = [
            (0, 0, [0x10, 0x6874_7541, 0x444d_4163, 0x6974_6e65]),
            (1, 0, [0x00a2_0f10, 0, 0, 0]),
            (0x8000_0001, 0, [0, 0, 1 << 22, 0]),
            (0x8000_001e, 0, [0, 0x100, 0, 0]),
        ];
        let cpu = Cpu::identity(&Leaves::of(&amd));
        assert_eq!(cpu.vendor.as_deref(), Some("AuthenticAMD"));
        assert_eq!((cpu.family, cpu.model, cpu.stepping), (Some(25), Some(33), Some(0)));
        assert_eq!(threads_per_core(&Leaves::of(&amd)), Some(2));
    }

    #[test]
    fn the_two_kinds_of_cores() {
        let hybrid = |core: u32| Leaves::of(&[(7, 0, [0, 0, 0, 1 << 15]), (0x1a, 0, [core << 24, 0, 0, 0])]);
        assert_eq!(core_type(&hybrid(0x40)).as_deref(), Some("performance"));
        assert_eq!(core_type(&hybrid(0x20)).as_deref(), Some("efficient"));
        assert_eq!(core_type(&hybrid(0)), None);
    }

    #[test]
    fn no_leaves_and_full_leaves_give_no_panic() {
        assert_eq!(Cpu::identity(&Leaves::default()), Cpu::default());
        let full: Vec<_> = THIS.iter().map(|&(leaf, subleaf, _)| (leaf, subleaf, [u32::MAX; 4])).collect();
        let cpu = Cpu::identity(&Leaves::of(&full));
        assert_eq!((cpu.vendor, cpu.family, cpu.model), (None, Some(270), Some(255)));
    }
}

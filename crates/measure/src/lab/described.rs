//! The virtual machine and what its kernel found, as facts of a document.

use super::Setup;
use document::Counter;
use environment::{
    Environment, Guest, GuestBoot, Lab, LabCounters, LabFrequency, LabLayout, LabTsc, Ring0, RingTest,
    RunningKernel,
};
use places::lab::Configured;
use record::{Boot, abi};
use std::time::Duration;
use table::Whole;

/// What came of the boots.
pub struct Booting<'a> {
    /// What the first found.
    pub boot: &'a Boot,
    /// The defaults of the switches, as the kernel has them; none if it did not come to them.
    pub defaults: Option<Configured>,
    /// How long the first took to its first record.
    pub boot_time: Duration,
    /// All of them.
    pub boots: Vec<GuestBoot>,
    /// The layouts of their rounds.
    pub layouts: Vec<LabLayout>,
    /// What the processor counted.
    pub counters: Option<LabCounters>,
}

/// The environment of a document.
pub fn environment(setup: Setup, booting: Booting) -> Environment {
    let Booting { boot, defaults, boot_time, boots, layouts, counters } = booting;
    let icount = setup.emulator.machine().counter() == Counter::Instructions;
    let test = ring_test(boot);
    let kernel = RunningKernel {
        sysname: Some("kentry lab".into()),
        release: Some(env!("CARGO_PKG_VERSION").into()),
        ..RunningKernel::default()
    };
    let features = features(boot.features);
    let guest = Guest {
        emulator: setup.version,
        accelerator: setup.emulator.machine().accelerator().unwrap_or_default().into(),
        cpu_model: setup.emulator.cpu_model().into(),
        icount,
        boots,
        boot_to_first_record_ms: boot_time.as_secs_f64() * 1e3,
        kernels: Vec::new(),
    };
    let lab = Lab {
        vendor: vendor(boot.vendor).map(str::to_string),
        switches: defaults.map(|defaults| Whole::clone(&defaults)).unwrap_or_default(),
        ring0_ticks: boot.ring0_ticks,
        ring3_ticks: boot.ring3_ticks,
        syscall_works: boot.syscall_works,
        ring0: if icount { Ring0::emulated(&test) } else { Ring0::judge(&test) },
        microcode: (boot.microcode != 0).then(|| format!("{:#x}", boot.microcode)),
        layouts,
        counters,
        features,
        gateway: gateway(boot.gateway).map(str::to_string),
        loader: loader(boot.loader).map(str::to_string),
        memory: boot.memory,
        tsc: Some(tsc(boot)),
    };
    Environment::of_lab(guest, lab, kernel, setup.host)
}

/// What the kernel found of its ring 0.
pub fn ring_test(boot: &Boot) -> RingTest {
    let each = |ticks: u64| ticks as f64 / abi::RING_TIMES as f64;
    let where_it_works = |ticks: u64| (ticks != 0).then(|| each(ticks));
    let has = |sign: u64| boot.signs >> sign & 1 == 1;
    RingTest {
        loop_ticks: boot.ring0_ticks,
        loop_ticks_outside: boot.ring3_ticks,
        loop_cycles: (abi::RING_TURNS * abi::RING_TURN_CYCLES) as f64,
        syscall_works: boot.syscall_works,
        cr3_write: each(boot.cr3_ticks),
        cpuid: each(boot.cpuid_ticks),
        interrupt: where_it_works(boot.interrupt_ticks),
        invalid_instruction: where_it_works(boot.invalid_ticks),
        deprivileged: has(abi::SIGN_DEPRIVILEGED),
        nesting: has(abi::SIGN_NESTING),
        hypervisor: has(abi::SIGN_HYPERVISOR).then(|| signature(&boot.signature)),
    }
}

/// As far as its first zero, and without what cannot be shown: a hypervisor may write anything there.
fn signature(bytes: &[u8]) -> String {
    let text = bytes.iter().take_while(|byte| **byte != 0);
    text.map(|byte| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '?' }).collect()
}

/// As CPUID spells it.
pub fn vendor(vendor: u64) -> Option<&'static str> {
    match vendor {
        abi::VENDOR_INTEL => Some("GenuineIntel"),
        abi::VENDOR_AMD => Some("AuthenticAMD"),
        abi::VENDOR_OTHER => Some("other"),
        _ => None,
    }
}

/// Those that the kernel found, by name.
pub fn features(bits: u64) -> Vec<String> {
    let there = abi::FEATURES.iter().filter(|(bit, _)| bits >> bit & 1 == 1);
    there.map(|(_, name)| name.to_string()).collect()
}

fn tsc(boot: &Boot) -> LabTsc {
    let frequency = |hz, source| tsc_source(source).map(|source| LabFrequency { hz, source: source.into() });
    LabTsc {
        by: frequency(boot.tsc_hz as f64, boot.tsc_source),
        contradicted_by: frequency(boot.tsc_other_hz as f64, boot.tsc_other),
        invariant: boot.tsc_invariant,
    }
}

fn tsc_source(source: u64) -> Option<&'static str> {
    match source {
        abi::TSC_FROM_PLAN => Some("plan"),
        abi::TSC_FROM_HYPERVISOR => Some("hypervisor"),
        abi::TSC_FROM_CRYSTAL => Some("crystal"),
        abi::TSC_FROM_PM_TIMER => Some("pm-timer"),
        abi::TSC_FROM_PIT => Some("pit"),
        abi::TSC_FROM_BASE => Some("base"),
        abi::TSC_FROM_MODEL => Some("model"),
        _ => None,
    }
}

fn gateway(gateway: u64) -> Option<&'static str> {
    match gateway {
        abi::GATEWAY_INT80 => Some("int80"),
        abi::GATEWAY_SYSENTER => Some("sysenter"),
        abi::GATEWAY_SYSCALL => Some("syscall"),
        _ => None,
    }
}

fn loader(loader: u64) -> Option<&'static str> {
    match loader {
        abi::LOADER_PVH => Some("pvh"),
        abi::LOADER_MULTIBOOT2 => Some("multiboot2"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Table;

    #[test]
    fn a_feature_that_a_switch_requires_is_one_that_the_kernel_tells() {
        let all = features(u64::MAX);
        let needed = Table::get().switches.iter().flat_map(|switch| &switch.requires);
        let needed: Vec<&String> = needed.filter_map(|requirement| requirement.feature.as_ref()).collect();
        assert!(needed.len() >= 2, "{needed:?}");
        needed.iter().for_each(|name| assert!(all.contains(name), "{name} is none of {all:?}"));
        assert_eq!(features(1 << abi::FEATURE_SMAP | 1 << abi::FEATURE_NX), ["smap", "nx"]);
        assert_eq!(features(0), [""; 0]);
    }
}

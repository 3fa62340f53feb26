//! The virtual machine and what its kernel found, as facts of a document.

use super::{LabPlan, Setting};
use document::Counter;
use environment::{Environment, Lab, LabFrequency, LabTsc, RunningKernel};
use record::{Boot, abi};
use std::collections::BTreeMap;
use std::time::Duration;

/// The environment of a document: `came_up` is how long the kernel took to its first record.
pub fn environment(plan: &LabPlan, setting: Setting, boot: &Boot, came_up: Duration) -> Environment {
    let kernel = RunningKernel {
        sysname: Some("kentry lab".into()),
        release: Some(env!("CARGO_PKG_VERSION").into()),
        ..RunningKernel::default()
    };
    let features = features(boot.features);
    let lab = Lab {
        emulator: setting.version,
        accelerator: setting.emulator.machine().accelerator().unwrap_or_default().into(),
        cpu_model: setting.emulator.cpu_model().into(),
        vendor: vendor(boot.vendor).map(str::to_string),
        icount: setting.emulator.machine().counter() == Counter::Instructions,
        switches: defaults(plan, &features),
        ring0_ticks: boot.ring0_ticks,
        ring3_ticks: boot.ring3_ticks,
        syscall_works: boot.syscall_works,
        features,
        gateway: gateway(boot.gateway).map(str::to_string),
        loader: loader(boot.loader).map(str::to_string),
        memory: boot.memory,
        tsc: Some(tsc(boot)),
        boot_to_first_record_ms: came_up.as_secs_f64() * 1e3,
    };
    Environment::of_lab(lab, kernel, setting.host)
}

/// The switches' defaults; where the processor lacks SMAP, the kernel does not use it.
fn defaults(plan: &LabPlan, features: &[String]) -> BTreeMap<String, String> {
    let has_smap = features.iter().any(|feature| feature == "smap");
    let value = |(name, value)| if name == "smap" && !has_smap { (name, "off") } else { (name, value) };
    plan.defaults.values().map(value).map(|(name, value)| (name.to_string(), value.to_string())).collect()
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

fn features(bits: u64) -> Vec<String> {
    let names = [
        (abi::FEATURE_SMEP, "smep"),
        (abi::FEATURE_SMAP, "smap"),
        (abi::FEATURE_UMIP, "umip"),
        (abi::FEATURE_PCID, "pcid"),
        (abi::FEATURE_XSAVE, "xsave"),
        (abi::FEATURE_NX, "nx"),
        (abi::FEATURE_LFENCE, "lfence"),
    ];
    let there = names.into_iter().filter(|(bit, _)| bits >> bit & 1 == 1);
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

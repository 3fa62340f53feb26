//! The virtual machine and what its kernel found, as facts of a document.

use super::Setup;
use super::found::{features, ring_test, vendor};
use document::Counter;
use environment::{
    Environment, Guest, GuestBoot, Lab, LabCounters, LabFrequency, LabLayout, LabTsc, Ring0, RunningKernel,
};
use places::lab::Configured;
use record::{Boot, abi};
use std::time::Duration;
use table::SwitchValues;

/// What came of the boots.
pub struct Booting<'a> {
    /// The emulator's name and version.
    pub version: String,
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
    let Booting { version, boot, defaults, boot_time, boots, layouts, counters } = booting;
    let icount = setup.emulator.machine().counter() == Counter::Instructions;
    let test = ring_test(boot);
    let kernel = RunningKernel {
        sysname: Some("kentry lab".into()),
        release: Some(env!("CARGO_PKG_VERSION").into()),
        ..RunningKernel::default()
    };
    let features = features(boot.features);
    let ring0 = if icount {
        Ring0::emulated(&test)
    } else {
        Ring0 {
            nested_paging: nested_paging(|path| std::fs::read_to_string(path).ok()),
            ..Ring0::judge(&test)
        }
    };
    let guest = Guest {
        emulator: version,
        accelerator: setup.emulator.machine().accelerator().unwrap_or_default().into(),
        cpu_model: setup.emulator.cpu_model().into(),
        icount,
        boots,
        boot_to_first_record_ms: boot_time.as_secs_f64() * 1e3,
        kernels: Vec::new(),
    };
    let lab = Lab {
        vendor: vendor(boot.vendor).map(str::to_string),
        switches: defaults.map(|defaults| SwitchValues::clone(&defaults)).unwrap_or_default(),
        ring0_ticks: boot.ring0_ticks,
        ring3_ticks: boot.ring3_ticks,
        syscall_works: boot.syscall_works,
        ring0,
        microcode: (boot.microcode != 0).then(|| format!("{:#x}", boot.microcode)),
        layouts,
        counters,
        features,
        gateway: gateway(boot.gateway).map(str::to_string),
        loader: loader(boot.loader).map(str::to_string),
        memory: boot.memory,
        processors: (boot.processors != 0).then_some(boot.processors),
        tsc: Some(tsc(boot)),
    };
    Environment::of_lab(guest, lab, kernel, setup.host)
}

/// Whether KVM says that its guests have page tables of their own. One of the modules is there, if KVM is one.
fn nested_paging(read: impl Fn(&str) -> Option<String>) -> Option<bool> {
    let parameters = ["/sys/module/kvm_intel/parameters/ept", "/sys/module/kvm_amd/parameters/npt"]
        .into_iter()
        .find_map(read)?;
    match parameters.trim() {
        "Y" | "1" => Some(true),
        "N" | "0" => Some(false),
        _ => None,
    }
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

    #[test]
    fn kvm_says_whether_it_has_ept_or_npt() {
        let of = |module: &'static str, value: &'static str| {
            nested_paging(move |path| path.contains(module).then(|| value.to_string()))
        };
        assert_eq!(
            [of("kvm_intel", "Y\n"), of("kvm_amd", "1\n"), of("kvm_amd", "N\n")],
            [Some(true), Some(true), Some(false)]
        );
        assert_eq!([of("kvm_pvm", "Y"), of("kvm_intel", "?")], [None, None]);
    }
}

//! Documents of the lab.

use super::{cost, found, measurement, ordinary, vdso};
use document::{Document, Machine, Outcome, Place, Row, Timing};
use environment::{
    Environment, Guest, GuestBoot, Lab, LabCounters, LabFrequency, LabLayout, LabTsc, Ring0, RunningKernel,
    Trapped, Verdict,
};
use stats::{Cost, Counts, Spread};
use std::collections::BTreeMap;

/// What an emulator of QEMU does otherwise.
const DIFFERS: &str = "a real Intel processor raises #UD";

/// Entries, operations and their instructions without any protection.
const COUNTS: [(&str, &str, f64); 9] = [
    ("call", "none", 8.0),
    ("syscall-x86_64", "none", 9.0),
    ("syscall-x86_64", "getppid", 27.0),
    ("vdso-x86_64", "gettimeofday", 49.0),
    ("vdso-x86_64", "getrandom", 0.0),
    ("syscall-i386", "none", 12.0),
    ("syscall-i386", "gettimeofday", 135.0),
    ("lcall7-i386", "none", 45.0),
    ("lcall7-i386", "getppid", 52.0),
];

/// Three configurations under QEMU's emulation, the last of which this processor does not have.
pub fn lab() -> Document {
    let mut results = Vec::new();
    for rows in COUNTS.chunk_by(|a, b| a.0 == b.0) {
        for (step, (pti, pcid)) in [("off", "off"), ("on", "off"), ("on", "on")].into_iter().enumerate() {
            let configuration = [("pti", pti), ("pcid", pcid), ("smap", "on")];
            let configuration = configuration.map(|(name, value)| (name.into(), value.into()));
            results.extend(rows.iter().map(|row| counted(row, step, BTreeMap::from(configuration.clone()))));
        }
    }
    let mut measurement = measurement();
    (measurement.tsc_hz, measurement.cycles_per_tick, measurement.cycles_per_tick_range) = (None, None, None);
    measurement.chain_ratio = BTreeMap::new();
    (measurement.cpus, measurement.quiet_share) = (Vec::new(), None);
    measurement.place = Place::new(Machine::QemuTcg, table::Kernel::Lab);
    let kernel = RunningKernel {
        sysname: Some("kentry lab".into()),
        release: Some("0.1.0".into()),
        ..RunningKernel::default()
    };
    let environment = Environment::of_lab(machine(), found_by_kernel(), kernel, None);
    found(Document { environment, measurement, results, vdso: vdso(), ..ordinary() })
}

/// The same with one configuration.
pub fn lab_of_one() -> Document {
    let mut document = lab();
    document.results.retain(|row| row.configuration["pti"] == "on" && row.configuration["pcid"] == "off");
    document
}

/// On a processor, where it is time.
pub fn lab_on_hardware() -> Document {
    let mut document = ordinary();
    document.results.retain(|row| row.entry.starts_with("syscall-x86") || row.entry == "call");
    let (accelerator, cpu_model) = ("kvm".into(), "host".into());
    let (ring0, counters) = (shadowed(), Some(counters()));
    let boot =
        |boot: u32| GuestBoot { at_ms: 40.0 + 900.0 * f64::from(boot), seed: boot.into(), cpu: Some(1) };
    let boots = (0..8).map(boot).collect();
    let layout = |round: u32| LabLayout {
        at_ms: 41.0 + 450.0 * f64::from(round),
        number: u64::from(1 + (round / 2 + round % 2) % 8),
    };
    let layouts = (0..16).map(layout).collect();
    let guest = Guest { accelerator, cpu_model, icount: false, boots, ..machine() };
    let lab = Lab { ring0, counters, layouts, ..found_by_kernel() };
    let kernel = lab_of_one().environment.kernel;
    document.environment = Environment::of_lab(guest, lab, kernel, Some(document.environment));
    document.measurement.place = Place::new(Machine::QemuKvm, table::Kernel::Lab);
    document.measurement.ended = Some("the guest did not finish within 60 s".into());
    document.measurement.out_of_time = true;
    document.measurement.partial = true;
    for (row, place) in document.results.iter_mut().zip(1..) {
        let layout = f64::from(place) / 20.0;
        let (layout_low, layout_high) = (layout / 2.0, f64::midpoint(layout, 1.0));
        let spread = Spread { layout, layout_low, layout_high, layouts: 8 };
        row.spread = row.core_cycles.is_some().then_some(spread);
        row.configuration = BTreeMap::from([("pti".into(), "on".into()), ("pcid".into(), "off".into())]);
    }
    found(document)
}

/// A KVM without EPT.
fn shadowed() -> Ring0 {
    Ring0 {
        verdict: Verdict::Partly,
        trapped: vec![Trapped::Cr3Writes, Trapped::InvalidInstructions, Trapped::Invpcid, Trapped::Invlpg],
        cr3_write_cycles: Some(2913.4),
        interrupt_cycles: Some(644.0),
        invalid_instruction_cycles: Some(2507.0),
        cpuid_cycles: Some(1297.0),
        hypervisor: Some("KVMKVMKVM".into()),
        deprivileged: false,
        nesting: true,
        cr4_write_cycles: Some(412.0),
        spec_ctrl_write_cycles: None,
        pred_cmd_write_cycles: None,
        flush_cmd_write_cycles: None,
        invpcid_cycles: Some(1388.2),
        invlpg_cycles: Some(1340.0),
        nested_paging: Some(false),
    }
}

fn counters() -> LabCounters {
    LabCounters {
        rounds: 48,
        smis: None,
        rounds_lost: 0,
        instructions: Some(83_120_411),
        core_cycles: Some(171_002_388),
        reference_cycles: Some(115_598_002),
        aperf: None,
        mperf: None,
        ticks: 117_405_119,
        cycles_per_tick: Some(1.4793),
        spec_ctrl: Some(vec!["0x0".into()]),
    }
}

fn machine() -> Guest {
    Guest {
        emulator: "QEMU 7.2.22".into(),
        accelerator: "tcg".into(),
        cpu_model: "max,vendor=GenuineIntel".into(),
        icount: true,
        boots: vec![GuestBoot { at_ms: 31.4, seed: 0, cpu: None }],
        boot_to_first_record_ms: 31.4,
        kernels: Vec::new(),
    }
}

fn found_by_kernel() -> Lab {
    let defaults = [("smap", "on"), ("pti", "off"), ("pcid", "off")];
    Lab {
        vendor: Some("GenuineIntel".into()),
        switches: defaults.map(|(name, value)| (name.into(), value.into())).into(),
        processors: Some(1),
        ring0_ticks: 80_005,
        ring3_ticks: 80_005,
        syscall_works: true,
        ring0: Ring0 { hypervisor: Some("TCGTCGTCGTCG".into()), nesting: true, ..Ring0::default() },
        microcode: Some("0x1".into()),
        layouts: Vec::new(),
        counters: None,
        features: ["smep", "smap"].map(String::from).into(),
        gateway: Some("sysenter".into()),
        loader: Some("pvh".into()),
        memory: 256 << 20,
        tsc: Some(LabTsc {
            by: Some(LabFrequency { hz: 1e9, source: "plan".into() }),
            contradicted_by: None,
            invariant: false,
        }),
    }
}

fn counted(
    (entry, operation, count): &(&str, &str, f64),
    step: usize,
    configuration: BTreeMap<String, String>,
) -> Row {
    let row = Row { configuration, timing: Timing::Emulated, ..Row::unmeasured(entry, operation, 64) };
    let closed = |outcome, reason: &str| Row { outcome, reason: Some(reason.into()), ..row.clone() };
    match (*entry, *operation, step) {
        ("lcall7-i386", ..) => closed(Outcome::Fault, "SIGSEGV: selector 7 holds no gate"),
        (.., 2) => closed(Outcome::Unsupported, "this CPU has no PCID (pcid=on)"),
        (_, "getrandom", _) => closed(Outcome::Unsupported, "this vDSO does not export it"),
        ("syscall-i386", ..) => Row {
            instructions: Some(instructions(count + 4.0 * step as f64)),
            remarks: vec![DIFFERS.into()],
            counts: Counts { rounds: 1, kept_rounds: 1, samples: 8, kept_samples: 8, ..Counts::default() },
            ..row
        },
        _ => Row {
            instructions: Some(instructions(count + 4.0 * step as f64)),
            counts: Counts { rounds: 1, kept_rounds: 1, samples: 8, kept_samples: 8, ..Counts::default() },
            ..row
        },
    }
}

fn instructions(count: f64) -> Cost<stats::Instructions> {
    let at = stats::Instructions(count);
    Cost { min: at, p50: at, p99: None, p999: None, max: (count + 300.0).into(), ..cost(count, None) }
}

//! The document that every test of this crate renders: a plausible machine, and everything that can go wrong.
#![allow(dead_code, reason = "each test file uses a part of it")]

mod lab;

#[allow(unused_imports, reason = "each test file uses a part of it")]
pub use lab::{lab, lab_of_one, lab_on_hardware};

use document::{Disturbance, Document, Export, Measurement, Outcome, Row, SCHEMA, Timing, Warning};
use environment::{Environment, LoadDuring};
use stats::{Cost, Cycles, Nanos, Ticks};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use table::{Entry, Table};

const CYCLES_PER_TICK: f64 = 1.4787;
const TSC_HZ: f64 = 2.6e9;
const IN_KERNEL: &str = "enters the kernel";
const IN_USER: &str = "served without entering the kernel";

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("entries.toml")).unwrap());

/// The table that the samples are rows of.
pub fn table() -> &'static Table {
    &TABLE
}

/// A run without anything odd: what most people see.
pub fn ordinary() -> Document {
    let mut document = Document {
        schema: SCHEMA.to_owned(),
        measurement: measurement(),
        environment: environment(),
        vdso: vdso(),
        results: table()
            .rows(table::Kernel::Linux)
            .map(|(entry, operation)| measured(entry, &operation.name))
            .collect(),
    };
    close(&mut document, "syscall-x32", Outcome::Refused, "ENOSYS");
    close(&mut document, "syscall-i386", Outcome::Unsupported, "SIGILL");
    close(&mut document, "mapped-time-devmem", Outcome::Unsupported, "ENOENT");
    close(&mut document, "mapped-time-perf", Outcome::Unsupported, "no-user-time");
    close(&mut document, "lcall7-i386", Outcome::Fault, "SIGSEGV");
    for row in &mut document.results {
        if row.entry.starts_with("vdso") && row.operation == "getrandom" {
            closed(row, Outcome::Unsupported, "this kernel's 64-bit vDSO does not export it");
        }
    }
    document
}

/// The same with every oddity that a document can have.
pub fn odd() -> Document {
    let mut document = ordinary();
    document.results.retain(|row| {
        let few =
            ["none", "getppid", "gettimeofday", "clock_gettime-monotonic-coarse", "getrandom", "signal"];
        few.contains(&row.operation.as_str()) || row.entry.contains("mem") || row.entry.contains("page")
    });
    let at = |entry: &str, operation: &str, document: &Document| {
        let found = |row: &Row| row.entry == entry && row.operation == operation;
        document.results.iter().position(found).unwrap()
    };
    let rdpid = at("rdpid", "none", &document);
    document.results[rdpid].core_cycles = Some(cost(-3.26, Some(0.4)));
    let rdtscp = at("rdtscp", "none", &document);
    document.results[rdtscp].core_cycles = Some(cost(31.0, None));
    let int80 = at("int80-i386", "getppid", &document);
    document.results[int80].core_cycles = None;
    document.results[int80].throughput = None;
    let wrong = at("gateway-i386", "gettimeofday", &document);
    closed(
        &mut document.results[wrong],
        Outcome::Mismatch,
        "tv_usec is 1000001, at most 999999 was expected",
    );
    let late = at("gateway-i386", "clock_gettime-monotonic-coarse", &document);
    closed(&mut document.results[late], Outcome::Timeout, "no answer within 2 s");
    let broken = at("libc", "getrandom", &document);
    closed(&mut document.results[broken], Outcome::Error, &long_reason());
    let own = at("vsyscall", "gettimeofday", &document);
    document.results[own].reason =
        Some(format!("{IN_KERNEL}: the page is not mapped executable here, and {}", long_reason()));
    document.results.extend([emulated(), foreign()]);
    disturb(&mut document);
    document
}

/// Four hundred columns of words, one of them longer than any line.
fn long_reason() -> String {
    format!("the answer was {} and after that nothing{}", "x".repeat(170), " more came of it".repeat(12))
}

fn disturb(document: &mut Document) {
    let measurement = &mut document.measurement;
    measurement.partial = true;
    measurement.realtime = true;
    measurement.chain_ratio.insert("32".into(), 0.142);
    measurement.disturbance.excluded_canary = 300;
    measurement.warnings = vec![
        Warning::Disturbed { rows: 7, excluded: 303, rounds: 412 },
        Warning::SharedThroughout { bits: 64, canary: 2.24 },
        Warning::Emulated { by: "TCGTCGTCGTCG".into() },
        Warning::Traced { tracer: 77 },
        Warning::Seccomp { filters: Some(2) },
        Warning::TimeNamespace,
        Warning::ChainRatio { bits: 32, ratio: 0.142 },
        Warning::FewRounds { rounds: 3 },
        Warning::Interrupted,
        Warning::GuestEnded { why: "the guest did not finish within 60 s".into() },
        Warning::TscNotInvariant,
        Warning::NoRealtime { why: "\u{1b}]0;title\u{7}EPERM".into() },
        Warning::Steal { milliseconds: 130.0 },
        Warning::Unseen { facts: 7 },
    ];
    let environment = &mut document.environment;
    environment.cpu.brand = Some("Evil\u{1b}[2J\u{9b}31m CPU | `rm` <b>".into());
    environment.hypervisor.product_name = Some("核心\u{202e}backwards\r\nnext".into());
    environment.kernel.command_line = Some(format!("quiet \u{1b}[31m{}", "a=b".repeat(60)));
    environment.limits.seccomp = Some("filter".into());
    environment.limits.seccomp_filters = Some(2);
    environment.limits.tracer_pid = Some(77);
    environment.kernel.pti = Some(true);
    environment.mitigations.insert("meltdown".into(), "Mitigation: PTI".into());
    environment.load = None;
}

/// A row of the lab under an emulator.
fn emulated() -> Row {
    let mut row = blank("syscall-x86_64", "getppid", 64);
    row.configuration = BTreeMap::from([("pti".into(), "on".into()), ("pcid".into(), "off".into())]);
    row.timing = Timing::Emulated;
    row.instructions = Some(cost(412.0, Some(0.0)));
    row.samples = 64;
    row
}

/// A row of a version that this one does not know, with a name that is no name.
fn foreign() -> Row {
    let mut row = blank("fred-\u{1b}[31mx86_64", &"very-long-operation-".repeat(6), 64);
    row.core_cycles = Some(cost(25_000.0, Some(3e4)));
    row.ns = Some(cost(4e11, Some(1e9)));
    row
}

fn close(document: &mut Document, entry: &str, outcome: Outcome, cause: &str) {
    let why = &table().entry(entry).unwrap().closed[cause].why;
    for row in document.results.iter_mut().filter(|row| row.entry == entry) {
        closed(row, outcome, why);
    }
}

fn closed(row: &mut Row, outcome: Outcome, reason: &str) {
    *row = Row { outcome, reason: Some(reason.to_owned()), ..blank(&row.entry, &row.operation, row.bits) };
}

fn blank(entry: &str, operation: &str, bits: u8) -> Row {
    Row {
        entry: entry.to_owned(),
        operation: operation.to_owned(),
        bits,
        configuration: BTreeMap::new(),
        timing: Timing::Hardware,
        outcome: Outcome::Ok,
        reason: None,
        core_cycles: None,
        ticks: None,
        ns: None,
        instructions: None,
        throughput: None,
        samples: 0,
        disturbed: 0,
    }
}

fn measured(entry: &Entry, operation: &str) -> Row {
    let user = matches!(entry.name.as_str(), "vdso-x86_64" | "vdso-i386" | "libc")
        && !matches!(operation, "getppid" | "getrandom" | "clock_gettime-thread-cputime");
    let cycles = estimate(&entry.name, operation, user);
    let scaled = |scale: f64| (cycles * scale, Some(cycles * scale * 0.0008 + 0.04));
    let (ticks, ticks_half) = scaled(1.0 / CYCLES_PER_TICK);
    let (ns, ns_half) = scaled(1e9 / TSC_HZ / CYCLES_PER_TICK);
    let crosses = entry.group.contains("bit");
    Row {
        reason: crosses.then(|| if user { IN_USER } else { IN_KERNEL }.to_owned()),
        core_cycles: Some(cost::<Cycles>(cycles, scaled(1.0).1)),
        ticks: Some(cost::<Ticks>(ticks, ticks_half)),
        ns: Some(cost::<Nanos>(ns, ns_half)),
        throughput: Some(cost::<Cycles>(cycles * 0.81, Some(0.3))),
        samples: 122_880,
        disturbed: 96,
        ..blank(&entry.name, operation, entry.bits())
    }
}

/// Core cycles, of the size seen on a Sapphire Rapids virtual machine.
fn estimate(entry: &str, operation: &str, user: bool) -> f64 {
    let crossing = match entry {
        "syscall-x86_64" | "libc" | "vdso-x86_64" => 288.0,
        "int80-x86_64" | "int80-i386" => 1622.3,
        "vsyscall" => 1871.6,
        "sysenter-i386" | "gateway-i386" | "vdso-i386" => 402.8,
        "call" => return 8.04,
        "rdtsc" => return 36.2,
        "rdtscp" => return 53.7,
        "rdpid" => return 18.9,
        "cpuid" => return 30_412.4,
        "mapped-time-vvar" => return 47.5,
        _ if operation == "minor-fault" => return 1_920.6,
        _ => return 4_210.7,
    };
    let work = match operation {
        "none" => 0.0,
        "getppid" => 23.4,
        "time" | "getcpu" => 28.1,
        "getrandom" => 391.0,
        "clock_gettime-monotonic-coarse" => 66.6,
        "clock_gettime-thread-cputime" => 161.3,
        _ => 98.9,
    };
    if user { work * 0.7 } else { crossing + work }
}

fn cost<U: From<f64>>(estimate: f64, half: Option<f64>) -> Cost<U> {
    Cost {
        estimate: estimate.into(),
        ci_low: half.map(|half| (estimate - half).into()),
        ci_high: half.map(|half| (estimate + 1.2 * half).into()),
        min: (estimate - 6.0).into(),
        p50: (estimate + 0.25).into(),
        p99: (estimate * 1.02 + 8.0).into(),
        p999: (estimate * 1.1 + 60.0).into(),
        max: (estimate * 3.0 + 9000.0).into(),
    }
}

fn measurement() -> Measurement {
    Measurement {
        kentry: "0.1.0".into(),
        started: "2026-11-21T21:11:07Z".into(),
        seconds: 9.84,
        budget_seconds: 10.0,
        cpu: 1,
        seed: 0x9e37_79b9_7f4a_7c15,
        partial: false,
        realtime: false,
        tsc_hz: Some(TSC_HZ),
        cycles_per_tick: Some(CYCLES_PER_TICK),
        cycles_per_tick_range: Some([CYCLES_PER_TICK * 0.98, CYCLES_PER_TICK * 1.01]),
        chain_ratio: BTreeMap::from([("64".into(), 3.003), ("32".into(), 3.001)]),
        canary: BTreeMap::from([("64".into(), 3.97), ("32".into(), 3.96)]),
        disturbance: Disturbance {
            rounds: 412,
            excluded_canary: 19,
            excluded_migrated: 3,
            preempted: 41,
            samples: 12_902_400,
            disturbed: 688_128,
        },
        warnings: Vec::new(),
    }
}

fn vdso() -> BTreeMap<String, Vec<Export>> {
    let export = |name: &str, version: &str| Export { name: name.into(), version: version.into() };
    let wide = vec![export("__vdso_gettimeofday", "LINUX_2.6"), export("__vdso_getcpu", "LINUX_2.6")];
    let narrow = vec![export("__kernel_vsyscall", "LINUX_2.5"), export("__vdso_time", "")];
    BTreeMap::from([("64".into(), wide), ("32".into(), narrow)])
}

fn environment() -> Environment {
    let mut environment = Environment { host: "linux".into(), ..Environment::default() };
    environment.cpu.vendor = Some("GenuineIntel".into());
    environment.cpu.brand = Some("Intel(R) Xeon(R) Platinum 8481C CPU @ 2.60GHz".into());
    (environment.cpu.family, environment.cpu.model, environment.cpu.stepping) = (Some(6), Some(143), Some(8));
    environment.tsc.invariant = true;
    environment.hypervisor.present = true;
    environment.hypervisor.signature = Some("KVMKVMKVM".into());
    environment.kernel.sysname = Some("Linux".into());
    environment.kernel.release = Some("6.18.44-cloud-amd64".into());
    environment.kernel.command_line = Some("quiet mitigations=auto".into());
    environment.kernel.pti = Some(false);
    environment.kernel.preemption_mode = Some("none".into());
    environment.mitigations = [
        ("indirect_target_selection", "Mitigation: Aligned branch/return thunks"),
        ("meltdown", "Not affected"),
        ("retbleed", "Vulnerable"),
        ("spec_store_bypass", "Vulnerable"),
        ("spectre_v2", "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; PBRSB-eIBRS: SW sequence; BHI: BHI_DIS_S"),
    ]
    .map(|(name, state)| (name.to_owned(), state.to_owned()))
    .into();
    environment.clock.current_clocksource = Some("tsc".into());
    environment.vsyscall_page = Some("--xp".into());
    environment.vsyscall = Some("xonly".into());
    environment.load = Some(LoadDuring {
        loadavg_before: Some(0.91),
        loadavg_after: Some(1.02),
        steal_ms: Some(0.0),
        busy_percent_other: Some(12.4),
        ..LoadDuring::default()
    });
    environment
}

//! The document that every test of this crate renders: a plausible machine, and everything that can go wrong.
#![allow(dead_code, reason = "each test file uses a part of it")]

mod guests;
mod lab;
mod rounds;

#[allow(unused_imports, reason = "each test file uses a part of it")]
pub use guests::{KERNELS, PANICKED, kernels, kernels_called};
#[allow(unused_imports, reason = "each test file uses a part of it")]
pub use lab::{lab, lab_of_one, lab_on_hardware};
#[allow(unused_imports, reason = "each test file uses a part of it")]
pub use rounds::{HOSTILE, filled, later, with_rounds};

use document::{CpuUse, Document, Export, Machine, Measurement, Outcome, Path, Place, Rate, Row, Timing};
use environment::{Environment, Libc, LoadDuring, Unseen};
use stats::{
    Cost, Counts, Cycles, Distribution, Lines, Mode, Nanos, Noise, NoiseKind, StoredDistribution, Ticks,
};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use table::{Entry, Table};

const CYCLES_PER_TICK: f64 = 1.4787;
const TSC_HZ: f64 = 2.6e9;

/// Some samples: compressing others for each row would take most of the tests' time.
static DISTRIBUTION: LazyLock<StoredDistribution> = LazyLock::new(|| {
    let mut distribution = Distribution::default();
    (280..320).for_each(|value| distribution.record(f64::from(value)));
    distribution.store()
});

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("entries.toml")).unwrap());

/// The table that the samples are rows of.
pub fn table() -> &'static Table {
    &TABLE
}

/// A run without anything odd: what most people see.
pub fn ordinary() -> Document {
    run_of(table())
}

/// The same with every row of a table.
pub fn run_of(table: &Table) -> Document {
    let mut document = Document {
        id: Some("00112233445566778899aabbccddeeff".to_owned()),
        measurement: measurement(),
        environment: environment(),
        vdso: vdso(),
        results: table
            .rows(table::Kernel::Linux)
            .map(|(entry, operation)| Row {
                entry_id: Some(entry.id),
                operation_id: Some(operation.id),
                ..measured(entry, &operation.name)
            })
            .collect(),
        ..Document::empty()
    };
    close(&mut document, "syscall-x32", Outcome::Refused, "ENOSYS");
    close(&mut document, "syscall-i386", Outcome::Unsupported, "SIGILL");
    close(&mut document, "mapped-time-devmem", Outcome::Unsupported, "ENOENT");
    close(&mut document, "mapped-time-perf", Outcome::Unsupported, "no-user-time");
    close(&mut document, "lcall7-i386", Outcome::Fault, "SIGSEGV");
    found(document)
}

/// With the findings that it has.
pub fn found(mut document: Document) -> Document {
    document.findings = findings::findings(&document, table());
    document
}

/// A run on cores that others used too: two rows in three have no figure.
pub fn noisy() -> Document {
    let mut document = ordinary();
    let mut number = 0;
    for row in document.results.iter_mut().filter(|row| row.outcome == Outcome::Ok) {
        number += 1;
        let kind = match number % 12 {
            0 | 3 | 6 | 9 => continue,
            1 => NoiseKind::Preempted,
            2 => NoiseKind::TooFew,
            _ => NoiseKind::Shared,
        };
        make_noisy(row, kind);
    }
    let measurement = &mut document.measurement;
    measurement.quiet_share = Some(0.118);
    measurement.cpus = vec![used(0, 0.071, 61, 402), used(1, 0.164, 117, 431)];
    measurement.counts.kept_rounds = 178;
    measurement.cycles_per_tick_range = Some([CYCLES_PER_TICK * 0.93, CYCLES_PER_TICK * 1.02]);
    measurement.changes = vec!["the clocksource was tsc at the beginning and is hpet at the end".into()];
    document.environment.clock.current_clocksource = Some("hpet".into());
    document.environment.clock.available_clocksources = Some(vec!["hpet".into(), "acpi_pm".into()]);
    document.environment.limits.seccomp = Some("filter".into());
    document.environment.limits.seccomp_filters = Some(2);
    found(document)
}

/// A kernel that clocks cannot be read from in user space, without 32-bit programs.
pub fn partly_closed() -> Document {
    let mut document = ordinary();
    document.environment.clock.current_clocksource = Some("hpet".into());
    document.environment.clock.available_clocksources = Some(vec!["hpet".into(), "tsc".into()]);
    for row in &mut document.results {
        if row.bits == 32 {
            closed(row, Outcome::Unsupported, "the kernel runs no 32-bit programs (ENOEXEC)");
        }
        let reads_clock = ["clock_gettime-monotonic", "clock_gettime-realtime", "gettimeofday"];
        if ["vdso-x86_64", "libc"].contains(&row.entry.as_str())
            && reads_clock.contains(&row.operation.as_str())
        {
            *row = Row { path: Some(Path::Kernel), ..timed(&row.entry, &row.operation, 64, 402.8) };
        }
        if row.entry == "vdso-x86_64" && row.operation == "getrandom" {
            closed(row, Outcome::Unsupported, "this kernel's 64-bit vDSO does not export it");
        }
    }
    found(document)
}

/// Two kinds of core on one processor, each row once on either.
pub fn hybrid() -> Document {
    let mut document = ordinary();
    let core = |row: &Row, kind: &str, factor: f64| {
        let configuration = BTreeMap::from([("core".to_owned(), kind.to_owned())]);
        if row.outcome != Outcome::Ok {
            return Row { configuration, ..row.clone() };
        }
        let cycles = row.core_cycles.map_or(0.0, |cost| cost.estimate.0) * factor;
        let timed = timed(&row.entry, &row.operation, row.bits, cycles);
        Row { configuration, path: row.path, ..timed }
    };
    let rows = document.results.chunk_by(|a, b| a.entry == b.entry);
    let both = rows.flat_map(|rows| {
        let performance = rows.iter().map(|row| core(row, "performance", 1.0));
        performance.chain(rows.iter().map(|row| core(row, "efficient", 1.37)))
    });
    document.results = both.collect();
    let mut cpus = [used(0, 0.97, 400, 402), used(12, 0.99, 398, 400)];
    (cpus[0].core, cpus[1].core) = ("performance".into(), "efficient".into());
    document.measurement.cpus = cpus.into();
    found(document)
}

/// Two rows among so many pages, `64`, or pages and lines, `8,512`: one evicts nothing of them, the other what fits into a first
/// cache.
pub fn among(footprints: &[&str]) -> Document {
    let mut document = ordinary();
    let point = |entry: &str, base: f64, evicts: f64, footprint: &str| {
        let pages: f64 = footprint.split(',').map(|number| number.parse::<f64>().unwrap()).sum();
        let configuration = BTreeMap::from([("footprint".to_owned(), footprint.to_owned())]);
        let cycles = base + evicts * if pages > 512.0 { 0.0 } else { pages };
        Row { configuration, throughput: None, ..timed(entry, "getppid", 64, cycles) }
    };
    let of =
        |entry, base, evicts| footprints.iter().map(move |footprint| point(entry, base, evicts, footprint));
    document.results = of("syscall-x86_64", 162.9, 0.0).chain(of("int80-x86_64", 3_979.1, 10.3)).collect();
    found(document)
}

/// Loops of UnixBench, and beside them a call that is none.
pub fn loops() -> Document {
    let mut document = ordinary();
    let loops = ["unixbench-syscall", "unixbench-close", "unixbench-getpid", "unixbench-exec"];
    let all = [("syscall-x86_64", 4), ("libc", 4), ("int80-i386", 3)].map(|(entry, count)| {
        let entry = table().entry(entry).unwrap();
        let operations = std::iter::once("getppid").chain(loops.into_iter().take(count));
        operations.map(|operation| measured(entry, operation)).collect::<Vec<Row>>()
    });
    document.results = all.concat();
    make_noisy(&mut document.results[2], NoiseKind::Shared);
    document
}

/// A host whose processor is a program: everything works, nothing is timed.
pub fn emulated_host() -> Document {
    let mut document = ordinary();
    for row in document.results.iter_mut().filter(|row| row.outcome == Outcome::Ok) {
        *row = Row {
            path: row.path,
            timing: Timing::Emulated,
            ..Row::unmeasured(&row.entry, &row.operation, row.bits)
        };
    }
    let measurement = &mut document.measurement;
    (measurement.cycles_per_tick, measurement.cycles_per_tick_range) = (None, None);
    (measurement.quiet_share, measurement.counts) = (None, Counts::default());
    measurement.cpus = Vec::new();
    document.environment.hypervisor.signature = Some("TCGTCGTCGTCG".into());
    found(document)
}

pub fn make_noisy(row: &mut Row, kind: NoiseKind) {
    let low = row.core_cycles.map_or(0.0, |cost| cost.estimate.0);
    let in_company = |factor: f64| (kind != NoiseKind::TooFew).then_some(low * factor);
    row.noise = Some(Noise { kind, low: in_company(1.14), high: in_company(1.39) });
    (row.core_cycles, row.ticks, row.ns, row.throughput) = (None, None, None, None);
    (row.modes, row.cpu, row.rate) = (Vec::new(), None, None);
    row.counts.kept_rounds = 2;
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
    document.results[own].remarks =
        vec![format!("the page is not mapped executable here, and {}", long_reason())];
    for (entry, kind) in
        [("ud", NoiseKind::Shared), ("int3", NoiseKind::Preempted), ("div0", NoiseKind::TooFew)]
    {
        let row = at(entry, "signal", &document);
        make_noisy(&mut document.results[row], kind);
    }
    let bimodal = at("page-fault", "minor-fault", &document);
    document.results[bimodal].modes =
        vec![Mode { share: 0.83, cost: 125.2 }, Mode { share: 0.17, cost: 600.1 }];
    document.results[bimodal].throughput = None;
    document.results[bimodal].throughput_withheld = Some("it is below the cost of a call and return".into());
    document.results.extend([emulated(), foreign()]);
    disturb(&mut document);
    found(document)
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
    measurement.realtime_refused = Some("\u{1b}]0;title\u{7}EPERM".into());
    measurement.command = Some("strace -f \u{1b}[2J".into());
    measurement.lfence_order = Some(0.31);
    measurement.changes = vec!["tracing \u{1b}[31mappeared".into()];
    measurement.cpus[0].vouched_by = "nothing".into();
    let environment = &mut document.environment;
    environment.cpu.brand = Some("Evil\u{1b}[2J\u{9b}31m CPU | `rm` <b>".into());
    environment.hypervisor.product_name = Some("核心\u{202e}backwards\r\nnext".into());
    environment.kernel.command_line = Some(format!("quiet \u{1b}[31m{}", "a=b".repeat(60)));
    environment.limits.seccomp = Some("filter".into());
    environment.limits.seccomp_filters = Some(2);
    environment.limits.tracer_pid = Some(77);
    environment.kernel.pti = Some(true);
    environment.mitigations.insert("meltdown".into(), "Mitigation: PTI".into());
    environment.load = Some(LoadDuring { steal_ms: Some(130.0), ..LoadDuring::default() });
    environment.tsc.invariant = false;
    let why = "Permission denied".to_owned();
    environment.unseen = vec![Unseen { what: "/proc/self/\u{1b}[2Jmaps".into(), why, expected: false }];
}

/// A row of the lab under an emulator.
fn emulated() -> Row {
    let mut row = Row::unmeasured("syscall-x86_64", "getppid", 64);
    row.configuration = BTreeMap::from([("pti".into(), "on".into()), ("pcid".into(), "off".into())]);
    row.timing = Timing::Emulated;
    row.instructions = Some(cost(412.0, Some(0.0)));
    row.counts.samples = 64;
    row
}

/// A row of a version that this one does not know, with a name that is no name.
fn foreign() -> Row {
    let mut row = Row::unmeasured("fred-\u{1b}[31mx86_64", &"very-long-operation-".repeat(6), 64);
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
    *row = Row {
        outcome,
        reason: Some(reason.to_owned()),
        ..Row::unmeasured(&row.entry, &row.operation, row.bits)
    };
}

fn measured(entry: &Entry, operation: &str) -> Row {
    let user = match entry.name.as_str() {
        "vdso-x86_64" | "vdso-i386" => !matches!(operation, "clock_gettime-thread-cputime"),
        "libc" => !matches!(operation, "getppid" | "getrandom" | "clock_gettime-thread-cputime"),
        _ => entry.kind == table::Kind::Memory,
    };
    let is_function =
        matches!(entry.kind, table::Kind::Function | table::Kind::Memory) && entry.group != "neighbours";
    let path = is_function.then_some(if user { Path::User } else { Path::Kernel });
    Row { path, ..timed(&entry.name, operation, entry.bits(), estimate(&entry.name, operation, user)) }
}

/// A row that costs so many core cycles.
fn timed(entry: &str, operation: &str, bits: u8, cycles: f64) -> Row {
    let scaled = |scale: f64| (cycles * scale, Some(cycles * scale * 0.0008 + 0.04));
    let (ticks, ticks_half) = scaled(1.0 / CYCLES_PER_TICK);
    let (ns, ns_half) = scaled(1e9 / TSC_HZ / CYCLES_PER_TICK);
    let cost = |half| cost::<Cycles>(cycles, half);
    let ns = self::cost::<Nanos>(ns, ns_half);
    Row {
        core_cycles: Some(cost(scaled(1.0).1)),
        ticks: Some(self::cost::<Ticks>(ticks, ticks_half)),
        ns: Some(ns),
        rate: Rate::of(operation, Some(&ns)),
        throughput: Some(self::cost::<Cycles>(cycles * 0.81, Some(0.3))),
        cpu: Some(1),
        counts: Counts {
            rounds: 30,
            kept_rounds: 28,
            blocks: 1920,
            kept_blocks: 1790,
            samples: 122_880,
            kept_samples: 114_464,
            interrupted: 96,
        },
        rounds: Lines {
            at_ms: vec![12.5, 400.25],
            cpu: vec![1, 1],
            cost: vec![ticks, ticks * 1.2],
            control: vec![20.0, 20.0],
            cycles_per_tick: vec![CYCLES_PER_TICK; 2],
            canary: vec![3.97, 2.1],
            least: vec![ticks - 2.0; 2],
            greatest: vec![ticks + 900.0; 2],
            throughput: vec![Some(ticks * 0.8), None],
            kept: vec![64, 0],
            lost: vec![0, 64],
            excluded: vec![None, Some(stats::Excluded::Shared)],
        },
        distribution_cycles: Some(DISTRIBUTION.clone()),
        distribution_ticks: Some(DISTRIBUTION.clone()),
        ..Row::unmeasured(entry, operation, bits)
    }
}

/// Core cycles, of the size seen on a Sapphire Rapids virtual machine.
fn estimate(entry: &str, operation: &str, user: bool) -> f64 {
    let crossing = match entry {
        "vdso-x86_64" if operation == "getrandom" => return 154.1,
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
        p99: Some((estimate * 1.02 + 8.0).into()),
        p999: Some((estimate * 1.1 + 60.0).into()),
        max: (estimate * 3.0 + 9000.0).into(),
    }
}

fn measurement() -> Measurement {
    Measurement {
        kentry: "0.1.0".into(),
        started: "2026-11-21T21:11:07Z".into(),
        seconds: 9.84,
        budget_seconds: 10.0,
        strict_budget: false,
        compiler: Some("gcc 12.2.0".into()),
        probes: BTreeMap::from([("probe64".into(), "0f".repeat(32))]),
        place: Place::new(Machine::Host, table::Kernel::Linux),
        cpus: vec![used(1, 0.964, 390, 412)],
        seed: 0x9e37_79b9_7f4a_7c15,
        partial: false,
        realtime: false,
        tsc_hz: Some(TSC_HZ),
        cycles_per_tick: Some(CYCLES_PER_TICK),
        cycles_per_tick_range: Some([CYCLES_PER_TICK * 0.99, CYCLES_PER_TICK * 1.01]),
        clock_error: Some(0.0002),
        chain_ratio: BTreeMap::from([("64".into(), 3.003), ("32".into(), 3.001)]),
        tsc_step: Some(2.0),
        lfence_order: Some(0.998),
        counts: Counts {
            rounds: 412,
            kept_rounds: 390,
            blocks: 201_600,
            kept_blocks: 190_848,
            samples: 12_902_400,
            kept_samples: 12_214_272,
            interrupted: 41,
        },
        quiet_share: Some(0.964),
        ..Measurement::default()
    }
}

/// What a CPU contributed whose core was alone in such a share of the checks.
fn used(cpu: usize, quiet_share: f64, kept_rounds: u64, rounds: u64) -> CpuUse {
    CpuUse {
        cpu,
        core: "uniform".into(),
        rounds,
        kept_rounds,
        quiet_share,
        canary: BTreeMap::from([("64".into(), 3.97), ("32".into(), 3.96)]),
        vouched_by: "known-width".into(),
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
    environment.libc = Some(Libc {
        name: "glibc".into(),
        version: Some("2.36".into()),
        package: Some("Debian GLIBC 2.36-9+deb12u14".into()),
        path: "/lib64/ld-linux-x86-64.so.2".into(),
    });
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

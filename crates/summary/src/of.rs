//! From a document to its summary.

use crate::{Cohort, Row, Run, Summary};
use document::{Document, Finding, Level, is_figure};
use environment::{Environment, Libc, command_line_words};
use sha2::{Digest, Sha256};
use stats::Cost;
use std::collections::BTreeMap;

/// Hexadecimal digits of a digest: two of a million machines have the same with a chance of one in ten million.
const DIGITS: usize = 16;

/// Words of a command line that differ from machine to machine and say nothing of what entries cost: disks, consoles, names, addresses,
/// the first program.
const OF_ONE_MACHINE: [&str; 22] = [
    "BOOT_IMAGE",
    "initrd",
    "root",
    "rootflags",
    "rootfstype",
    "rootdelay",
    "resume",
    "resume_offset",
    "console",
    "earlycon",
    "earlyprintk",
    "ip",
    "hostname",
    "systemd.hostname",
    "systemd.machine_id",
    "rd.luks.uuid",
    "rd.lvm.lv",
    "cryptdevice",
    "netroot",
    "BOOTIF",
    "init",
    "rdinit",
];

impl Summary {
    /// What a document says, without its rounds.
    pub fn of(document: &Document) -> Summary {
        Summary { run: run(document), rows: document.results.iter().map(row).collect() }
    }
}

fn run(document: &Document) -> Run {
    let (measurement, environment) = (&document.measurement, &document.environment);
    let command_line = command_line(environment);
    let core_hertz = measurement.cycles_per_tick.zip(measurement.tsc_hz).map(|(part, hertz)| part * hertz);
    let limits = &environment.limits;
    Run {
        run_id: document.id.clone().unwrap_or_else(|| unnamed(document)),
        started: measurement.started.clone(),
        duration_seconds: rounded(measurement.seconds),
        kentry: measurement.kentry.clone(),
        machine: spelled(&measurement.place.machine),
        kernel: spelled(&measurement.place.kernel),
        partial: measurement.partial,
        quiet_ratio: measurement.quiet_share.map(rounded),
        tsc_hertz: measurement.tsc_hz.map(f64::round),
        core_hertz: core_hertz.map(f64::round),
        boot_id: environment.boot_id.clone(),
        cpu_brand: environment.cpu.brand.clone(),
        core_type: environment.cpu.core_type.clone(),
        product: product(environment),
        kernel_version: environment.kernel.version.clone(),
        mitigations: environment.mitigations.clone(),
        pti: environment.kernel.pti,
        randomize_kstack_offset: environment.kernel.randomize_kstack_offset,
        vsyscall: environment.vsyscall.clone(),
        seccomp_filters: limits.seccomp_filters,
        traced: limits.tracer_pid.map(|pid| pid != 0),
        cpu_quota: environment.container.cgroup.cpu_quota,
        governor: environment.frequency.governor.clone(),
        speculation_store_bypass: limits.speculation_store_bypass.clone(),
        probes_sha256: of_map(&measurement.probes),
        findings: findings(&document.findings),
        cohort: cohort(environment, command_line.as_deref()),
        command_line,
    }
}

fn cohort(environment: &Environment, command_line: Option<&str>) -> Cohort {
    let (cpu, kernel) = (&environment.cpu, &environment.kernel);
    Cohort {
        machine_id: environment.machine_id.clone(),
        cpu_vendor: cpu.vendor.clone(),
        cpu_family: cpu.family,
        cpu_model: cpu.model,
        cpu_stepping: cpu.stepping,
        microcode: cpu.microcode.clone(),
        hypervisor: hypervisor(environment),
        smt: cpu.smt.active,
        kernel_release: kernel.release.clone(),
        command_line_sha256: command_line.map(|line| digest(line.as_bytes())),
        clocksource: environment.clock.current_clocksource.clone(),
        preemption: kernel.preemption_model().map(str::to_owned),
        mitigations_sha256: of_map(&environment.mitigations),
        libc: environment.libc.as_ref().map(Libc::in_words),
    }
}

fn row(row: &document::Row) -> Row {
    let figure = |cost: Option<Cost<f64>>| cost.filter(is_figure);
    let cycles = figure(row.core_cycles.as_ref().map(Cost::unitless));
    let nanoseconds = figure(row.ns.as_ref().map(Cost::unitless));
    let is_wide = row.core_cycles.is_some() && cycles.is_none();
    let configuration: Vec<String> =
        row.configuration.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Row {
        entry: row.entry.clone(),
        operation: row.operation.clone(),
        bits: row.bits,
        configuration: Some(configuration.join(";")).filter(|text| !text.is_empty()),
        timing: row.timing,
        outcome: row.outcome,
        reason: row.reason.clone(),
        path: row.path,
        noise: row
            .noise
            .map(|noise| noise.kind.name().to_owned())
            .or_else(|| is_wide.then(|| "wide".to_owned())),
        core_cycles: cycles.map(|cost| rounded(cost.estimate)),
        core_cycles_ci_low: cycles.and_then(|cost| cost.ci_low).map(rounded),
        core_cycles_ci_high: cycles.and_then(|cost| cost.ci_high).map(rounded),
        nanoseconds: nanoseconds.map(|cost| rounded(cost.estimate)),
        nanoseconds_ci_low: nanoseconds.and_then(|cost| cost.ci_low).map(rounded),
        nanoseconds_ci_high: nanoseconds.and_then(|cost| cost.ci_high).map(rounded),
        instructions: row.instructions.as_ref().map(|cost| cost.estimate.0),
        kept_rounds: row.counts.kept_rounds,
    }
}

/// To a thousandth: a hundred times finer than any interval.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// The name that a document has for it.
fn spelled<T: serde::Serialize>(name: &T) -> String {
    let value = serde_json::to_value(name).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

fn hypervisor(environment: &Environment) -> Option<String> {
    let below = &environment.hypervisor;
    if below.present {
        return Some(below.signature.clone().unwrap_or_else(|| "unknown".to_owned()));
    }
    environment.cpu.vendor.is_some().then(|| "none".to_owned())
}

fn product(environment: &Environment) -> Option<String> {
    let names = [&environment.hypervisor.system_vendor, &environment.hypervisor.product_name];
    let names: Vec<&str> = names.into_iter().flatten().map(String::as_str).collect();
    Some(names.join(" ")).filter(|name| !name.is_empty())
}

/// The words that could be the same on machines that are installed alike, sorted: their order says nothing but of repeated ones.
fn command_line(environment: &Environment) -> Option<String> {
    let line = environment.kernel.command_line.as_deref()?;
    let name = |word: &str| word.trim_matches('"').split('=').next().unwrap_or_default().to_owned();
    // Those behind two dashes are the first process's.
    let of_kernel = command_line_words(line).into_iter().take_while(|word| *word != "--");
    let mut words: Vec<&str> =
        of_kernel.filter(|word| !OF_ONE_MACHINE.contains(&name(word).as_str())).collect();
    words.sort_unstable();
    Some(words.join(" "))
}

fn findings(findings: &[Finding]) -> BTreeMap<String, Level> {
    let mut worst = BTreeMap::new();
    for finding in findings {
        let level = worst.entry(finding.id.clone()).or_insert(finding.level);
        *level = (*level).max(finding.level);
    }
    worst
}

/// A document of no run: the same document has the same.
fn unnamed(document: &Document) -> String {
    digest(&serde_json::to_vec(document).unwrap_or_default())
}

pub(crate) fn of_map(map: &BTreeMap<String, String>) -> Option<String> {
    let lines: String = map.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    (!map.is_empty()).then(|| digest(lines.as_bytes()))
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().take(DIGITS / 2).map(|byte| format!("{byte:02x}")).collect()
}

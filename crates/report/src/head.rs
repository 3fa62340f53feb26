//! What stands above and below the rows: facts about the machine and the run, and what disturbed it. In words, for
//! text and Markdown alike; not yet made harmless.

use crate::figure::ABSENT;
use crate::lab;
use document::{Document, Measurement, Outcome, Timing};
use environment::{Environment, Kernel};
use std::collections::BTreeMap;

/// Faults of processors whose remedies are on the path of an entry or of its return.
/// Kernel, Documentation/admin-guide/hw-vuln.
const ON_THE_PATH: [&str; 10] = [
    "indirect_target_selection",
    "mds",
    "mmio_stale_data",
    "reg_file_data_sampling",
    "retbleed",
    "spec_rstack_overflow",
    "spectre_v2",
    "tsa",
    "tsx_async_abort",
    "vmscape",
];

/// What is said of a partial document, above and below the rows.
pub(crate) const PARTIAL: &str = "PARTIAL: cut short; rows may be missing, and those here are less precise.";

/// One line of the head.
pub(crate) struct Fact {
    pub label: &'static str,
    pub text: String,
}

/// The head, line by line; a verbose one leaves nothing out that decides a cost.
pub(crate) fn facts(document: &Document, verbose: bool) -> Vec<Fact> {
    let measurement = &document.measurement;
    let mut facts = machine(document, verbose);
    facts.push(fact("measured", measured(document)));
    if !is_counted(document) {
        facts.push(fact("clocks", clocks(measurement)));
    }
    if document.environment.lab.is_none() && document.results.iter().any(|row| row.timing == Timing::Emulated)
    {
        facts.push(fact("emulated", "rows so marked count instructions executed, not time".to_owned()));
    }
    if verbose {
        facts.extend(more(document));
    }
    facts
}

/// Whether the figures are instructions of an emulated lab.
fn is_counted(document: &Document) -> bool {
    document.environment.lab.as_ref().is_some_and(|lab| lab.icount)
}

/// What the figures are from.
fn machine(document: &Document, verbose: bool) -> Vec<Fact> {
    let environment = &document.environment;
    if let Some(lab) = &environment.lab {
        let mut facts = lab::facts(document, lab);
        if !lab.icount {
            facts.push(fact("CPU", cpu(environment)));
            facts.push(fact("hypervisor", hypervisor(environment)));
        }
        return facts;
    }
    let mut facts = vec![
        fact("CPU", cpu(environment)),
        fact("kernel", kernel(&environment.kernel)),
        fact("hypervisor", hypervisor(environment)),
        fact("clocksource", text(&environment.clock.current_clocksource)),
        fact("vsyscall", vsyscall(environment)),
        fact("mitigations", mitigations(environment, verbose)),
    ];
    if environment.host != "linux" {
        facts.push(fact("host", environment.host.clone()));
    }
    facts.extend(taxes(environment).map(|text| fact("process", text)));
    facts
}

pub(crate) fn fact(label: &'static str, text: String) -> Fact {
    Fact { label, text }
}

fn text(value: &Option<String>) -> String {
    value.clone().unwrap_or_else(|| ABSENT.to_owned())
}

fn cpu(environment: &Environment) -> String {
    let cpu = &environment.cpu;
    let number = |value: Option<u32>| value.map_or(ABSENT.to_owned(), |value| value.to_string());
    format!(
        "{} (family {}, model {}, stepping {})",
        text(&cpu.brand),
        number(cpu.family),
        number(cpu.model),
        number(cpu.stepping)
    )
}

fn kernel(kernel: &Kernel) -> String {
    let name = kernel.sysname.as_deref().unwrap_or_default();
    let mode = kernel.preemption_mode.as_ref().map(|mode| format!(", preemption {mode}"));
    let name = format!("{name} {}", text(&kernel.release));
    format!("{}{}", name.trim_start(), mode.unwrap_or_default())
}

fn hypervisor(environment: &Environment) -> String {
    let hypervisor = &environment.hypervisor;
    let kind = match (hypervisor.present, hypervisor.signature.as_deref()) {
        (false, None) => "none, or it hides",
        (true, None) => "one without a name",
        (_, Some("KVMKVMKVM")) => "KVM",
        (_, Some("TCGTCGTCGTCG")) => "QEMU TCG",
        (_, Some(other)) => other,
    };
    let machine = [&hypervisor.system_vendor, &hypervisor.product_name];
    let machine: Vec<&str> = machine.into_iter().flatten().map(String::as_str).collect();
    match machine[..] {
        [] => kind.to_owned(),
        _ => format!("{kind}, on {}", machine.join(" ")),
    }
}

fn vsyscall(environment: &Environment) -> String {
    match (&environment.vsyscall, &environment.vsyscall_page) {
        (Some(mode), _) => mode.clone(),
        (None, Some(page)) if page == "absent" => "no page".to_owned(),
        (None, Some(page)) => format!("mode unknown, page {page}"),
        (None, None) => ABSENT.to_owned(),
    }
}

/// PTI first, then every fault on the path of an entry that this processor has, in the kernel's words.
fn mitigations(environment: &Environment, verbose: bool) -> String {
    let faults = environment.mitigations.iter().filter(|(name, state)| {
        verbose || (ON_THE_PATH.contains(&name.as_str()) && state.as_str() != "Not affected")
    });
    let faults = faults.map(|(name, state)| format!("{name}: {}", remedy(state, verbose)));
    let all: Vec<String> = std::iter::once(pti(environment)).chain(faults).collect();
    all.join("; ")
}

fn pti(environment: &Environment) -> String {
    let meltdown = environment.mitigations.get("meltdown").map(String::as_str);
    let state = match (environment.kernel.pti, meltdown) {
        (Some(true), _) => "on",
        (Some(false), Some("Not affected")) => "off, not needed",
        (Some(false), Some(text)) if text.starts_with("Vulnerable") => "off, vulnerable to meltdown",
        (Some(false), _) => "off",
        (None, _) => ABSENT,
    };
    format!("PTI {state}")
}

/// The kernel's line; in short without what it says about other things than the path: its first clause, and those
/// on the clearing of the branch history.
fn remedy(state: &str, verbose: bool) -> String {
    let state = state.strip_prefix("Mitigation: ").unwrap_or(state);
    if verbose {
        return state.replace("; ", ", ");
    }
    let mut clauses = state.split("; ");
    let first = clauses.next().unwrap_or_default();
    let history = clauses.filter(|clause| clause.starts_with("BHI") && !clause.ends_with("Not affected"));
    std::iter::once(first).chain(history).collect::<Vec<_>>().join(", ")
}

/// What makes every system call of this process dearer.
fn taxes(environment: &Environment) -> Option<String> {
    let limits = &environment.limits;
    let seccomp = limits.seccomp.as_deref().filter(|mode| *mode != "off").map(|mode| {
        let filters = limits.seccomp_filters.map(|count| format!(", filters: {count}"));
        format!("seccomp {mode}{}", filters.unwrap_or_default())
    });
    let tracer = limits.tracer_pid.filter(|pid| *pid != 0);
    let tracer = tracer.map(|pid| format!("traced by process {pid}"));
    let taxes: Vec<String> = seccomp.into_iter().chain(tracer).collect();
    (!taxes.is_empty()).then(|| taxes.join("; "))
}

fn measured(document: &Document) -> String {
    let measurement = &document.measurement;
    let priority = if measurement.realtime { ", real-time priority" } else { "" };
    // A guest's only CPU need not be told.
    let cpu = match document.environment.lab {
        None => format!(" on CPU {}", measurement.cpu),
        Some(_) => String::new(),
    };
    format!(
        "{}, {:.1} s{cpu}{priority}, by kentry {}",
        measurement.started, measurement.seconds, measurement.kentry
    )
}

fn clocks(measurement: &Measurement) -> String {
    let ghz = |hz: Option<f64>| hz.map_or(ABSENT.to_owned(), |hz| format!("{:.3} GHz", hz / 1e9));
    let core = measurement.tsc_hz.zip(measurement.cycles_per_tick).map(|(hz, cycles)| hz * cycles);
    let range = measurement.tsc_hz.zip(measurement.cycles_per_tick_range);
    let range = range
        .map(|(hz, [low, high])| format!(" ({:.2} to {:.2} in the run)", hz * low / 1e9, hz * high / 1e9));
    format!("TSC {}, core {}{}", ghz(measurement.tsc_hz), ghz(core), range.unwrap_or_default())
}

/// Only in verbose heads.
fn more(document: &Document) -> Vec<Fact> {
    let (environment, measurement) = (&document.environment, &document.measurement);
    let mut facts = match &environment.lab {
        Some(lab) => lab::more(lab),
        None => vec![fact("command line", text(&environment.kernel.command_line))],
    };
    if !is_counted(document) {
        facts.push(fact("microcode", text(&environment.cpu.microcode)));
        let chain = by_bits(&measurement.chain_ratio, "cycles of an imul if a xor takes one");
        facts.push(fact("chain", chain));
        facts.push(fact("canary", by_bits(&measurement.canary, "independent instructions in a core cycle")));
    }
    facts.push(fact("seed", measurement.seed.to_string()));
    facts.extend(document.vdso.iter().map(|(bits, exports)| {
        let exports = exports.iter().map(|export| match export.version.as_str() {
            "" => export.name.clone(),
            version => format!("{}@{version}", export.name),
        });
        let exports = exports.collect::<Vec<_>>().join(" ");
        fact("vDSO", format!("{bits}-bit: {exports}"))
    }));
    facts
}

fn by_bits(map: &BTreeMap<String, f64>, what: &str) -> String {
    let each: Vec<String> =
        map.iter().map(|(bits, value)| format!("{value:.3} in {bits}-bit code")).collect();
    if each.is_empty() {
        return ABSENT.to_owned();
    }
    format!("{what}: {}", each.join(", "))
}

/// How far the machine disturbed the run; nothing disturbs a count of instructions.
pub(crate) fn disturbance(document: &Document) -> Option<String> {
    if is_counted(document) {
        return None;
    }
    let disturbance = &document.measurement.disturbance;
    let excluded = disturbance.excluded_canary.saturating_add(disturbance.excluded_migrated);
    Some(format!(
        "{excluded} of {} rounds left out ({} with a slow canary, {} moved to another CPU), {} preempted but kept; {} of {} \
         samples left out{}; steal {}, load {} before and {} after, other CPUs {} busy",
        disturbance.rounds,
        disturbance.excluded_canary,
        disturbance.excluded_migrated,
        disturbance.preempted,
        disturbance.disturbed,
        disturbance.samples,
        share(disturbance.disturbed, disturbance.samples),
        load(document, |load| load.steal_ms, 0, " ms"),
        load(document, |load| load.loadavg_before, 2, ""),
        load(document, |load| load.loadavg_after, 2, ""),
        load(document, |load| load.busy_percent_other, 0, " %"),
    ))
}

fn share(part: u64, all: u64) -> String {
    if all == 0 {
        return String::new();
    }
    format!(" ({:.1} %)", 100.0 * part as f64 / all as f64)
}

fn load(
    document: &Document,
    figure: fn(&environment::LoadDuring) -> Option<f64>,
    digits: usize,
    unit: &str,
) -> String {
    let figure = document.environment.load.as_ref().and_then(figure);
    figure.map_or(ABSENT.to_owned(), |figure| format!("{figure:.digits$}{unit}"))
}

/// Whether a row has no core cycles although it was timed, so that ticks stand in.
pub(crate) fn lacks_cycles(document: &Document) -> bool {
    document.results.iter().any(|row| {
        row.outcome == Outcome::Ok
            && row.timing == Timing::Hardware
            && row.core_cycles.is_none()
            && row.ticks.is_some()
    })
}

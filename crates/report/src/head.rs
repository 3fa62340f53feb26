//! What stands above the rows: facts about the machine and the run. In words, for text and Markdown alike; not yet made
//! harmless.

use crate::configuration::common;
use crate::fact::{Fact, fact, is_counted};
use crate::figure::ABSENT;
use crate::machine::{cpu, hypervisor, kernel, libc, mitigations, taxes, text, vsyscall};
use crate::{Style, first_screen, guest, lab};
use document::{Document, Level, Measurement, Outcome, Timing};
use environment::Environment;
use std::collections::BTreeMap;

/// The finding that stands in the head.
pub(crate) const NOISE: &str = "noise";

/// The label of when and by what it was measured.
pub(crate) const MEASURED: &str = "measured";

/// The label of what makes every system call of the process dearer.
pub(crate) const PROCESS: &str = "process";

/// The label of the command that the probes ran under.
pub(crate) const COMMAND: &str = "command";

/// What is said of a partial document below the rows.
pub(crate) const PARTIAL: &str =
    "PARTIAL: the run was cut short. Rows may be missing, and times may be less precise.";

/// The head, line by line. The first screen has what a figure means nothing without; a verbose head leaves nothing out that
/// decides a cost.
pub(crate) fn facts(document: &Document, style: &Style) -> Vec<Fact> {
    let is_first_screen = first_screen::of(document, style.selection).is_some();
    let mut facts = machine(document, style.verbose);
    facts.extend(noise(document, style.verbose).map(|text| fact("noise", text)));
    if !is_first_screen || style.verbose {
        facts.extend(beyond_the_first_screen(document, style.verbose));
    }
    if !is_counted(document) && document.results.iter().any(|row| row.instructions.is_some()) {
        facts.push(fact("emulated", "rows so marked count instructions executed, not time".to_owned()));
    }
    if style.verbose {
        facts.extend(more(document));
    }
    facts
}

/// What the figures are from.
fn machine(document: &Document, verbose: bool) -> Vec<Fact> {
    let environment = &document.environment;
    let clock = || fact("clock", clocks(&document.measurement, environment));
    if let Some(lab) = &environment.lab {
        let mut facts = lab::facts(document, lab, verbose);
        if !is_counted(document) {
            facts.push(fact("CPU", cpu(environment)));
            facts.push(fact("hypervisor", hypervisor(environment)));
            facts.push(clock());
        }
        return facts;
    }
    if let Some(guest) = guest::of(document) {
        let mut facts = guest::facts(document, guest);
        if !is_counted(document) {
            facts.push(fact("CPU", cpu(environment)));
            facts.push(fact("hypervisor", hypervisor(environment)));
            facts.push(clock());
        } else if let Some(source) =
            environment.clock.current_clocksource.as_ref().filter(|_| guest::is_one(guest))
        {
            facts.push(fact("clock", format!("clocksource {source}")));
        }
        return facts;
    }
    let command = document.measurement.command.as_ref();
    let mut facts: Vec<Fact> = command
        .map(|command| fact(COMMAND, format!("{command} (the probes ran under it)")))
        .into_iter()
        .collect();
    facts.extend([
        fact("CPU", cpu(environment)),
        fact("kernel", kernel(&environment.kernel)),
        fact("hypervisor", hypervisor(environment)),
        fact("clock", clocks(&document.measurement, environment)),
        fact("C library", libc(environment)),
    ]);
    facts
}

fn beyond_the_first_screen(document: &Document, verbose: bool) -> Vec<Fact> {
    let environment = &document.environment;
    let mut facts = Vec::new();
    // Of several guests each has its own.
    let is_one = guest::of(document).is_none_or(guest::is_one);
    if !document.is_of_lab() && is_one {
        facts.push(fact("vsyscall", vsyscall(environment)));
        facts.push(fact("mitigations", mitigations(environment, verbose)));
        facts.extend(taxes(environment).map(|text| fact(PROCESS, text)));
        let is_of_guest = guest::of(document).is_some();
        let common = Some(common(document, |_| !is_of_guest)).filter(|common| !common.is_empty());
        let label = |text: &str| if text.contains("core=") { "cores" } else { "footprint" };
        facts.extend(common.map(|text| fact(label(&text), text)));
    }
    facts.push(fact(MEASURED, measured(document)));
    facts
}

/// The finding about noise, which stands here and not among the others, and what to do about it; of a document without
/// it, how much was kept.
fn noise(document: &Document, verbose: bool) -> Option<String> {
    if is_counted(document) {
        return None;
    }
    if let Some(finding) = document.findings.iter().find(|finding| finding.id == NOISE) {
        let cause = finding.cause.as_deref().filter(|_| verbose);
        let remedy = finding.remedy.as_deref().filter(|_| finding.level != Level::Ok);
        let evidence =
            finding.evidence.as_ref().filter(|_| verbose).map(|evidence| format!("Seen: {evidence}."));
        let next = finding.next.as_ref().map(|next| format!("→ {next}"));
        let words = [Some(finding.verdict.as_str()), cause, remedy, evidence.as_deref(), next.as_deref()];
        return Some(words.into_iter().flatten().collect::<Vec<_>>().join(" "));
    }
    let counts = &document.measurement.counts;
    (counts.rounds > 0).then(|| format!("{} of {} rounds kept", counts.kept_rounds, counts.rounds))
}

pub(crate) fn measured(document: &Document) -> String {
    let measurement = &document.measurement;
    let priority = if measurement.realtime { ", real-time priority" } else { "" };
    // A guest has one CPU, whose number says nothing.
    let cpus = Some(measurement).filter(|_| document.is_of_host()).and_then(cpus);
    let cpus = cpus.map(|cpus| format!(" on {cpus}"));
    format!(
        "{}, {:.1} s{}{priority}, by kentry {}",
        measurement.started,
        measurement.seconds,
        cpus.unwrap_or_default(),
        measurement.kentry
    )
}

/// `CPU 1`, `CPUs 0, 1`: those that rounds were taken on.
pub(crate) fn cpus(measurement: &Measurement) -> Option<String> {
    let used = measurement.cpus.iter().filter(|cpu| cpu.rounds > 0 || measurement.cpus.len() == 1);
    let named = used.map(|cpu| match cpu.core.as_str() {
        "" | "uniform" => cpu.cpu.to_string(),
        core => format!("{} ({core})", cpu.cpu),
    });
    let named: Vec<String> = named.collect();
    match &named[..] {
        [] => None,
        [one] => Some(format!("CPU {one}")),
        several => Some(format!("CPUs {}", several.join(", "))),
    }
}

fn clocks(measurement: &Measurement, environment: &Environment) -> String {
    let ghz = |hz: Option<f64>| hz.map_or(ABSENT.to_owned(), |hz| format!("{:.3} GHz", hz / 1e9));
    let core = measurement.tsc_hz.zip(measurement.cycles_per_tick).map(|(hz, cycles)| hz * cycles);
    let range = measurement.tsc_hz.zip(measurement.cycles_per_tick_range);
    let range = range
        .map(|(hz, [low, high])| format!(" ({:.2} to {:.2} in the run)", hz * low / 1e9, hz * high / 1e9));
    let source = environment.clock.current_clocksource.as_ref();
    let source = source.map(|source| format!("; clocksource {source}"));
    format!(
        "TSC {}, core {}{}{}",
        ghz(measurement.tsc_hz),
        ghz(core),
        range.unwrap_or_default(),
        source.unwrap_or_default()
    )
}

/// Only in verbose heads.
fn more(document: &Document) -> Vec<Fact> {
    let (environment, measurement) = (&document.environment, &document.measurement);
    let mut facts = match &environment.lab {
        Some(lab) => lab::more(environment.guest.as_ref(), lab),
        None => match guest::of(document) {
            Some(guest) => guest::more(guest),
            None => vec![fact("command line", text(&environment.kernel.command_line))],
        },
    };
    if !is_counted(document) {
        facts.push(fact("microcode", text(&environment.cpu.microcode)));
        let chain = by_bits(&measurement.chain_ratio, "cycles of an imul if a xor takes one");
        facts.push(fact("chain", chain));
        facts.extend(measurement.cpus.iter().map(|cpu| {
            let canary = by_bits(&cpu.canary, "independent instructions in a core cycle when alone");
            let vouched = match cpu.vouched_by.as_str() {
                "" => String::new(),
                by => format!("; vouched for by {by}"),
            };
            fact("canary", format!("CPU {}, {canary}{vouched}", cpu.cpu))
        }));
        facts.push(fact("counts", counts(document)));
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

/// How much was measured and kept, and what else the machine did meanwhile.
fn counts(document: &Document) -> String {
    let counts = &document.measurement.counts;
    format!(
        "{} of {} rounds kept, {} of {} blocks, {} of {} samples, {} of these left out for an interrupt; steal {}, load {} \
         before and {} after, other CPUs {} busy",
        counts.kept_rounds,
        counts.rounds,
        counts.kept_blocks,
        counts.blocks,
        counts.kept_samples,
        counts.samples,
        counts.interrupted,
        load(document, |load| load.steal_ms, 0, " ms"),
        load(document, |load| load.loadavg_before, 2, ""),
        load(document, |load| load.loadavg_after, 2, ""),
        load(document, |load| load.busy_percent_other, 0, " %"),
    )
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

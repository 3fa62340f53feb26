use crate::configuration::telling;
use crate::figure::{ABSENT, interval, number, shown};
use crate::head;
use crate::plain::plain;
use document::{Document, Level, Outcome, Path, Row, Timing};
use stats::NoiseKind;

/// Where a document's figures come from, and what to know before quoting one: a line each.
pub fn origin(document: &Document) -> Vec<String> {
    let (environment, measurement) = (&document.environment, &document.measurement);
    let known = |text: &Option<String>| text.as_deref().unwrap_or(ABSENT).to_owned();
    let machine = match &environment.guest {
        Some(guest) => format!(
            "{} in {}, CPU model {}",
            match environment.kernel.release.as_ref().filter(|_| document.is_of_linux()) {
                _ if document.is_of_lab() => "the lab".to_owned(),
                Some(release) => format!("Linux {release}"),
                None => "a guest's kernel".to_owned(),
            },
            guest.emulator,
            guest.cpu_model
        ),
        None => format!(
            "{}, Linux {}{}",
            known(&environment.cpu.brand),
            known(&environment.kernel.release),
            head::cpus(measurement).map(|cpus| format!(", on {cpus}")).unwrap_or_default()
        ),
    };
    let partial = if measurement.partial { ", PARTIAL" } else { "" };
    let machine = format!("{machine}, {}{partial}", measurement.started);
    let warnings = document.findings.iter().filter(|finding| finding.level == Level::Warning);
    let warnings = warnings.map(|finding| format!("warning: {}", finding.verdict));
    std::iter::once(machine).chain(warnings).map(|line| plain(&line)).collect()
}

/// One line about a row, for the explanation of its entry.
///
/// `getppid: 288.0 core cycles (287.9 – 288.2), 75.0 ns, 99 % of samples at most 301.0`
pub fn summary_of_row(document: &Document, row: &Row) -> String {
    let reason = row.reason.as_deref().map(plain);
    let mut operation = plain(&row.operation);
    let switches = telling(document, row);
    if !switches.is_empty() {
        operation.push_str(&plain(&format!(" ({switches})")));
    }
    let place = match row.timing {
        Timing::Hardware => operation.to_string(),
        Timing::Emulated => format!("{operation}, emulated"),
    };
    if row.outcome != Outcome::Ok {
        let reason = reason.unwrap_or_else(|| ABSENT.to_owned());
        return format!("{place}: {}: {reason}", row.outcome.name());
    }
    let mut parts = vec![cost(row)];
    if let (Timing::Hardware, Some(ns)) = (row.timing, &row.ns) {
        parts.push(format!("{} ns", number(ns.unitless().estimate)));
    }
    // Counted instructions are the same in every sample.
    let timed = shown(row).filter(|_| row.timing == Timing::Hardware);
    parts.extend(timed.and_then(|shown| {
        let p99 = shown.number(shown.cost.p99?);
        Some(format!("99 % of samples at most {p99} {}", shown.unit.name()))
    }));
    parts.extend(row.path.map(|path| match path {
        Path::User => "served in user space".to_owned(),
        Path::Kernel => "served by the kernel".to_owned(),
    }));
    let remarks = row.remarks.iter().map(|remark| format!("; {}", plain(remark)));
    format!("{place}: {}{}", parts.join(", "), remarks.collect::<String>())
}

fn cost(row: &Row) -> String {
    if let Some(noise) = &row.noise {
        let why = match noise.kind {
            NoiseKind::Shared => "noisy: the core was shared, so that there is no estimate",
            NoiseKind::Preempted => "noisy: other processes took the CPU, so that there is no estimate",
            NoiseKind::TooFew => "too few rounds for an estimate",
        };
        return why.to_owned();
    }
    let Some(shown) = shown(row) else {
        return "it works; no figure".to_owned();
    };
    let figure = format!("{} {}", shown.estimate(), shown.unit.name());
    match interval(&shown.cost) {
        // A count is exact.
        None if row.timing == Timing::Emulated => figure,
        None => format!("{figure} (no interval)"),
        Some(interval) => format!("{figure} ({interval})"),
    }
}

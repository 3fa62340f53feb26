use crate::figure::{ABSENT, interval, number, shown, unitless};
use crate::lab::switches;
use crate::plain::plain;
use document::{Document, Outcome, Row, Timing};

/// Where a document's figures come from, and what to know before quoting one: a line each.
pub fn origin(document: &Document) -> Vec<String> {
    let (environment, measurement) = (&document.environment, &document.measurement);
    let known = |text: &Option<String>| text.as_deref().unwrap_or(ABSENT).to_owned();
    let machine = match &environment.lab {
        Some(lab) => format!("the lab in {}, CPU model {}", lab.emulator, lab.cpu_model),
        None => format!(
            "{}, Linux {}, on CPU {}",
            known(&environment.cpu.brand),
            known(&environment.kernel.release),
            measurement.cpu
        ),
    };
    let partial = if measurement.partial { ", PARTIAL" } else { "" };
    let machine = format!("{machine}, {}{partial}", measurement.started);
    let warnings = measurement.warnings.iter().map(|warning| format!("warning: {warning}"));
    std::iter::once(machine).chain(warnings).map(|line| plain(&line)).collect()
}

/// One line about a row, for the explanation of its entry.
///
/// `getppid: 288.0 core cycles (287.9 – 288.2), 75.0 ns, 99 % of samples at most 301.0`
pub fn summary_of_row(row: &Row) -> String {
    let reason = row.reason.as_deref().map(plain);
    let mut operation = plain(&row.operation);
    if !row.configuration.is_empty() {
        operation.push_str(&plain(&format!(" ({})", switches(&row.configuration))));
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
        parts.push(format!("{} ns", number(unitless(ns).estimate)));
    }
    // Counted instructions are the same in every sample.
    parts.extend(shown(row).filter(|_| row.timing == Timing::Hardware).map(|shown| {
        format!("99 % of samples at most {} {}", shown.number(shown.cost.p99), shown.unit.name())
    }));
    let reason = reason.map(|reason| format!("; {reason}"));
    format!("{place}: {}{}", parts.join(", "), reason.unwrap_or_default())
}

fn cost(row: &Row) -> String {
    let Some(shown) = shown(row) else {
        return format!("{ABSENT} core cycles");
    };
    let figure = format!("{} {}", shown.estimate(), shown.unit.name());
    match interval(&shown.cost) {
        // What is counted needs none.
        None if row.timing == Timing::Emulated => figure,
        None => format!("{figure} (no interval)"),
        Some(interval) => format!("{figure} ({interval})"),
    }
}

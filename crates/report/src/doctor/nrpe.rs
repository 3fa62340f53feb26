//! A checkup as Nagios wants it of a plugin: a line `STATUS: text | perfdata`, then the findings, a line each, and the other figures.
//! Monitoring Plugins Development Guidelines, 2.

use super::counts;
use crate::plain::plain;
use document::{Checkup, Diagnosis, Figure, Level, Unit};
use std::collections::BTreeSet;

/// The name of the state: of the worst finding, if it is `fail_on` or worse.
fn state(checkup: &Checkup, fail_on: Option<Level>) -> &'static str {
    match fail_on.and_then(|least| checkup.worst(least)) {
        None => "OK",
        Some(Level::Critical) => "CRITICAL",
        Some(_) => "WARNING",
    }
}

pub(super) fn render(checkup: &Checkup, fail_on: Option<Level>) -> Vec<u8> {
    let state = state(checkup, fail_on);
    let of_level = |level: Level| super::count(checkup, level);
    let levels = [
        (Level::Critical, "critical"),
        (Level::Warning, "warnings"),
        (Level::Note, "notes"),
        (Level::Ok, "ok"),
    ];
    let numbers: Vec<String> =
        levels.iter().map(|(level, name)| format!("{name}={};;;0", of_level(*level))).collect();
    let first = checkup.diagnoses.first().filter(|_| state != "OK");
    let worst = first.map(|diagnosis| format!(": {}", text(&diagnosis.finding.verdict))).unwrap_or_default();
    let mut out = format!("{state}: {}{worst} | {}\n", text(&counts(checkup)), numbers.join(" "));
    for diagnosis in &checkup.diagnoses {
        out.push_str(&line(diagnosis));
    }
    let mut seen = BTreeSet::new();
    let figures = checkup.diagnoses.iter().flat_map(|diagnosis| &diagnosis.finding.figures);
    let figures: Vec<String> = figures
        .filter_map(perfdata)
        .filter(|(label, _)| seen.insert(label.clone()))
        .map(|(_, all)| all)
        .collect();
    if !figures.is_empty() {
        // What stands behind a bar in the last lines is perfdata, too.
        out.truncate(out.trim_end().len());
        out.push_str(&format!(" | {}\n", figures.join("\n")));
    }
    out.into_bytes()
}

/// What stands where nothing could be looked at.
pub fn unknown(why: &str) -> Vec<u8> {
    format!("UNKNOWN: {}\n", text(why)).into_bytes()
}

fn line(diagnosis: &Diagnosis) -> String {
    let finding = &diagnosis.finding;
    let costs = finding.costs.as_ref().map(|costs| format!(" {costs}")).unwrap_or_default();
    format!(
        "{} {}: {}\n",
        finding.level.name(),
        diagnosis.check,
        text(&format!("{}{costs}", finding.verdict))
    )
}

/// A bar would begin perfdata.
fn text(words: &str) -> String {
    plain(words).replace('|', "/")
}

/// The label, and `'label'=value[unit]`; nothing of what is no number.
fn perfdata(figure: &Figure) -> Option<(String, String)> {
    if !figure.value.is_finite() {
        return None;
    }
    let words = std::iter::once(figure.name.as_str()).chain(figure.labels.values().map(String::as_str));
    // An equals sign and a quotation mark end a label.
    let label = plain(&words.collect::<Vec<_>>().join(" ")).replace(['=', '\'', '|'], "_");
    let unit = if figure.unit == Unit::Seconds { "s" } else { "" };
    Some((label.clone(), format!("'{label}'={}{unit}", number(figure.value))))
}

/// Without an exponent, which the guidelines do not know.
fn number(value: f64) -> String {
    let text = format!("{value:.12}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

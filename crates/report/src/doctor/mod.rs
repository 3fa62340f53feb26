//! What `kentry doctor` found, for people, for Nagios and for Prometheus.

mod markdown;
mod nrpe;
mod prometheus;
mod text;

pub use nrpe::unknown as unknown_status;

use crate::grid::{Column, Grid};
use crate::line::written;
use crate::{Error, Format, Kind, Style, json, machine};
use document::{Checkup, Diagnosis, Level};
use serde::Serialize;

/// A checkup, in `format`. Nagios counts as bad what is at `fail_on` or worse; nothing, where there is none.
///
/// # Errors
/// [`Error`] when a serializer refuses; no checkup makes it do so.
pub fn checkup(
    checkup: &Checkup,
    fail_on: Option<Level>,
    format: Format,
    style: &Style,
) -> Result<Vec<u8>, Error> {
    match format {
        Format::Text => Ok(text::render(checkup, style)),
        Format::Json => json::render(checkup),
        Format::Markdown => Ok(markdown::render(checkup)),
        Format::Nrpe => Ok(nrpe::render(checkup, fail_on)),
        Format::Prometheus => Ok(prometheus::render(checkup)),
        _ => Err(Error::unfit(Kind::CHECKUP, format)),
    }
}

/// A check's name, and what it looks at.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Described {
    /// As `--check` has it.
    pub name: &'static str,
    /// One line.
    pub what: &'static str,
}

/// What there is to check, in `format`.
///
/// # Errors
/// [`Error`] when a serializer refuses.
pub fn checks(all: &[Described], format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    let items = Grid::of(all).column(Column::word("check"), |check| check.name);
    let grid = items.column(Column::text("what it looks at"), |check| check.what).grid();
    match format {
        Format::Text => Ok(written(&grid.lines(style.columns()), style)),
        Format::Json => json::render(&all),
        Format::Csv => grid.csv(),
        Format::Markdown => Ok(grid.markdown().into_bytes()),
        _ => Err(Error::unfit(Kind::LIST, format)),
    }
}

/// How many diagnoses are of this level.
fn count(checkup: &Checkup, level: Level) -> usize {
    checkup.diagnoses.iter().filter(|diagnosis| diagnosis.finding.level == level).count()
}

/// `1 warning, 2 notes, 9 ok`.
fn counts(checkup: &Checkup) -> String {
    let of = |level, one: &str, more: &str| match count(checkup, level) {
        0 => None,
        1 => Some(format!("1 {one}")),
        many => Some(format!("{many} {more}")),
    };
    let all = [
        of(Level::Critical, "critical", "critical"),
        of(Level::Warning, "warning", "warnings"),
        of(Level::Note, "note", "notes"),
        of(Level::Ok, "ok", "ok"),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    if all.is_empty() { "nothing was found out".to_owned() } else { all.join(", ") }
}

/// In one sentence: whether something is wrong, and how many findings there are.
fn summary(checkup: &Checkup) -> String {
    let begins = match checkup.worst(Level::Note) {
        Some(Level::Critical) => "Programs get wrong answers here",
        Some(Level::Warning) => "Something costs more here than it need",
        _ if checkup.diagnoses.is_empty() => return "Nothing was found out.".to_owned(),
        _ => "Nothing was found that costs more than it need",
    };
    format!("{begins}: {}.", counts(checkup))
}

/// What must be said of one that was interrupted.
fn partial(checkup: &Checkup) -> &'static str {
    if checkup.run.measurement.partial { " Interrupted: PARTIAL, checks may be missing." } else { "" }
}

/// Where it was made: label and text.
fn head(checkup: &Checkup) -> Vec<(&'static str, String)> {
    let environment = &checkup.run.environment;
    let measurement = &checkup.run.measurement;
    let cpus: Vec<String> = measurement.cpus.iter().map(|cpu| cpu.cpu.to_string()).collect();
    let cpus = if cpus.is_empty() { String::new() } else { format!(" on CPU {}", cpus.join(", ")) };
    vec![
        ("checkup", format!("{}{}", summary(checkup), partial(checkup))),
        ("CPU", machine::cpu(environment)),
        ("kernel", machine::kernel(&environment.kernel)),
        ("hypervisor", machine::hypervisor(environment)),
        (
            "measured",
            format!(
                "{}, {:.1} s{cpus}, by kentry {}",
                measurement.started, measurement.seconds, measurement.kentry
            ),
        ),
    ]
}

/// What is said of a finding below its verdict: label and text.
fn details(diagnosis: &Diagnosis, verbose: bool) -> Vec<(&'static str, &str)> {
    let finding = &diagnosis.finding;
    let is_odd = finding.level != Level::Ok;
    let all = [
        ("costs", finding.costs.as_deref(), is_odd || verbose),
        ("cause", finding.cause.as_deref(), is_odd || verbose),
        ("remedy", finding.remedy.as_deref(), is_odd || verbose),
        // What has no cause to name is at least shown.
        ("seen", finding.evidence.as_deref(), verbose || (is_odd && finding.cause.is_none())),
        ("more", finding.next.as_deref(), is_odd || verbose),
    ];
    all.into_iter().filter_map(|(label, text, shown)| Some((label, text.filter(|_| shown)?))).collect()
}

/// What a verdict rests on, where it was not seen.
fn confidence(diagnosis: &Diagnosis) -> &'static str {
    match diagnosis.finding.confidence {
        document::Confidence::Seen | document::Confidence::Unknown => "",
        document::Confidence::Inferred => " (inferred)",
        document::Confidence::Likely => " (likely)",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;

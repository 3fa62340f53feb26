//! A checkup as metrics, in the text format of Prometheus, version 0.0.4, as node_exporter's textfile collector reads it: base units, no
//! timestamps, one HELP and TYPE for a name. What is not known has no sample.

use super::count;
use document::{Checkup, Figure, Level, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The value of a level, in words.
const LEVELS: &str = "0 ok, 1 note, 2 warning, 3 critical";

/// A metric: what it says, and its samples, each by its labels.
struct Metric {
    help: String,
    samples: BTreeMap<String, f64>,
}

pub(super) fn render(checkup: &Checkup) -> Vec<u8> {
    let mut metrics: BTreeMap<String, Metric> = BTreeMap::new();
    let mut add = |name: String, help: String, labels: String, value: f64| {
        let metric = metrics.entry(name).or_insert(Metric { help, samples: BTreeMap::new() });
        metric.samples.insert(labels, value);
    };
    let version = labels([("version", checkup.run.measurement.kentry.as_str())]);
    add("kentry_info".into(), "The kentry that made this checkup.".into(), version, 1.0);
    let seconds = checkup.run.measurement.seconds;
    add("kentry_checkup_duration_seconds".into(), "How long was measured.".into(), String::new(), seconds);
    for level in [Level::Ok, Level::Note, Level::Warning, Level::Critical] {
        let help = "Findings of a level.".to_owned();
        add("kentry_findings".into(), help, labels([("level", level.name())]), count(checkup, level) as f64);
    }
    for (id, check, level) in worst(checkup) {
        let labels = labels([("check", check), ("id", id)]);
        add(
            "kentry_finding_level".into(),
            format!("How bad a finding is: {LEVELS}."),
            labels,
            f64::from(level),
        );
    }
    for diagnosis in &checkup.diagnoses {
        let id = &diagnosis.finding.id;
        for figure in diagnosis.finding.figures.iter().filter(|figure| figure.value.is_finite()) {
            let help = format!("A figure of the finding {id}: kentry explain {id} tells more.");
            add(
                name(figure),
                help,
                labels(figure.labels.iter().map(|(label, value)| (label.as_str(), value.as_str()))),
                figure.value,
            );
        }
    }
    written(&metrics).into_bytes()
}

/// The worst level of each finding's id and check: several findings may have the same.
fn worst(checkup: &Checkup) -> BTreeSet<(&str, &str, u8)> {
    let mut worst: BTreeMap<(&str, &str), u8> = BTreeMap::new();
    for diagnosis in &checkup.diagnoses {
        let level = worst.entry((&diagnosis.finding.id, &diagnosis.check)).or_default();
        *level = (*level).max(diagnosis.finding.level.rank());
    }
    worst.into_iter().map(|((id, check), level)| (id, check, level)).collect()
}

/// `kentry_crossing_seconds`.
fn name(figure: &Figure) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let name: String = figure.name.chars().map(allowed).collect();
    match figure.unit {
        Unit::Count => format!("kentry_{name}"),
        unit => format!("kentry_{name}_{}", unit.suffix()),
    }
}

/// `{check="clocks",id="clock-served"}`; nothing where there are none.
fn labels<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let one = |(label, value): (&str, &str)| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("{}=\"{value}\"", label.replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
    };
    let all: Vec<String> = all.into_iter().map(one).collect();
    if all.is_empty() { String::new() } else { format!("{{{}}}", all.join(",")) }
}

fn written(metrics: &BTreeMap<String, Metric>) -> String {
    let mut out = String::new();
    for (name, metric) in metrics {
        let help = metric.help.replace('\\', "\\\\").replace('\n', "\\n");
        // Writing to a String cannot fail.
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} gauge");
        for (labels, value) in &metric.samples {
            let _ = writeln!(out, "{name}{labels} {value}");
        }
    }
    out
}

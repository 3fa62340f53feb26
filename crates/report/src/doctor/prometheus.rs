//! A checkup as metrics.

use super::count;
use crate::metrics::{Metrics, labels};
use document::{Checkup, Figure, Level, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// The value of a level, in words.
const LEVELS: &str = "0 ok, 1 note, 2 warning, 3 critical";

pub(super) fn render(checkup: &Checkup) -> Vec<u8> {
    let mut metrics = Metrics::default();
    let version = labels([("version", checkup.run.measurement.kentry.as_str())]);
    metrics.add("kentry_info", "The kentry that made this checkup.", version, 1.0);
    let seconds = checkup.run.measurement.seconds;
    metrics.add("kentry_checkup_duration_seconds", "How long was measured.", String::new(), seconds);
    for level in [Level::Ok, Level::Note, Level::Warning, Level::Critical] {
        let help = "Findings of a level.";
        metrics.add("kentry_findings", help, labels([("level", level.name())]), count(checkup, level) as f64);
    }
    for (id, check, level) in worst(checkup) {
        let labels = labels([("check", check), ("id", id)]);
        metrics.add(
            "kentry_finding_level",
            format!("How bad a finding is: {LEVELS}."),
            labels,
            f64::from(level),
        );
    }
    for diagnosis in &checkup.diagnoses {
        let id = &diagnosis.finding.id;
        for figure in diagnosis.finding.figures.iter().filter(|figure| figure.value.is_finite()) {
            let help = format!("A figure of the finding {id}: kentry explain {id} tells more.");
            metrics.add(
                name(figure),
                help,
                labels(figure.labels.iter().map(|(label, value)| (label.as_str(), value.as_str()))),
                figure.value,
            );
        }
    }
    metrics.written()
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

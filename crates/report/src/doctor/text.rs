//! A checkup as text.

use super::{confidence, details, head};
use crate::Style;
use crate::line::{Line, labelled, look, written};
use crate::text::{TEXT_COLUMN, level_look, units_stay};
use document::{Checkup, Diagnosis};

pub(super) fn render(checkup: &Checkup, style: &Style) -> Vec<u8> {
    let mut lines = Vec::new();
    for (label, text) in head(checkup) {
        lines.extend(labelled(
            Line::new(look::FAINT, label),
            look::PLAIN,
            &units_stay(&text),
            style.columns(),
            TEXT_COLUMN,
        ));
    }
    let mut check = "";
    for diagnosis in &checkup.diagnoses {
        // One that needs several lines stands apart from the others.
        if check.is_empty() || !details(diagnosis, style.verbose).is_empty() {
            lines.push(Line::default());
        }
        check = &diagnosis.check;
        lines.extend(of(diagnosis, style));
    }
    written(&lines, style)
}

fn of(diagnosis: &Diagnosis, style: &Style) -> Vec<Line> {
    let finding = &diagnosis.finding;
    let label = Line::new(level_look(finding.level), finding.level.name());
    let verdict = format!("{}: {}{}", diagnosis.check, finding.verdict, confidence(diagnosis));
    let mut lines = labelled(label, look::PLAIN, &units_stay(&verdict), style.columns(), TEXT_COLUMN);
    for (label, text) in details(diagnosis, style.verbose) {
        let label = Line::new(look::FAINT, &format!("  {label}"));
        lines.extend(labelled(label, look::PLAIN, &units_stay(text), style.columns(), TEXT_COLUMN));
    }
    lines
}

//! A checkup as Markdown.

use super::{confidence, details, head};
use crate::escape::{code, escaped};
use document::{Checkup, Diagnosis};

pub(super) fn render(checkup: &Checkup) -> Vec<u8> {
    let mut out = String::from("# kentry doctor\n\n");
    for (label, text) in head(checkup) {
        out.push_str(&format!("- {label}: {}\n", escaped(&text)));
    }
    out.push_str("\n## findings\n\n");
    checkup.diagnoses.iter().for_each(|diagnosis| out.push_str(&item(diagnosis)));
    out.into_bytes()
}

fn item(diagnosis: &Diagnosis) -> String {
    let finding = &diagnosis.finding;
    let mut item = format!(
        "- **{}** {}: {}{}\n",
        finding.level.name(),
        code(&diagnosis.check),
        escaped(&finding.verdict),
        confidence(diagnosis)
    );
    for (label, text) in details(diagnosis, true) {
        let text = if label == "more" { code(text) } else { escaped(text) };
        item.push_str(&format!("  - {label}: {text}\n"));
    }
    item
}

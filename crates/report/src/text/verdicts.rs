//! Findings: a level, a sentence, and what belongs to it.

use super::{Report, TEXT_COLUMN};
use crate::head::NOISE;
use crate::line::{Line, NO_BREAK, labelled, look};
use document::{Finding, Level};

/// How much is shown of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// The verdict and the next command.
    Verdicts,
    /// Of warnings the remedy too.
    Remedies,
    /// Of all but those that are ok the cause and the remedy.
    Causes,
    /// Everything.
    Evidence,
}

impl Report<'_> {
    /// Below the head of a whole report.
    pub(super) fn verdicts(&self) -> Vec<Line> {
        let depth = if self.verbose { Depth::Evidence } else { Depth::Causes };
        self.each_verdict(depth).into_iter().flatten().collect()
    }

    /// The findings below the head, in which that about noise stands.
    pub(super) fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.document.findings.iter().filter(|finding| finding.id != NOISE)
    }

    /// The lines of each of them.
    pub(super) fn each_verdict(&self, depth: Depth) -> Vec<Vec<Line>> {
        self.findings().map(|finding| self.verdict(finding, depth)).collect()
    }

    fn verdict(&self, finding: &Finding, depth: Depth) -> Vec<Line> {
        let label = Line::new(level_look(finding.level), finding.level.name());
        let text = units_stay(&words(finding, depth).join(" "));
        labelled(label, look::PLAIN, &text, self.width, TEXT_COLUMN)
    }
}

/// The sentences of a finding, in the order of their importance.
fn words(finding: &Finding, depth: Depth) -> Vec<String> {
    let is_odd = finding.level != Level::Ok;
    let (cause, remedy, evidence) = match depth {
        Depth::Verdicts => (false, false, false),
        Depth::Remedies => (false, finding.level >= Level::Warning, false),
        // What has no cause to name is at least shown.
        Depth::Causes => (is_odd, is_odd, is_odd && finding.cause.is_none()),
        Depth::Evidence => (true, true, true),
    };
    let mut words = vec![finding.verdict.clone()];
    words.extend(finding.costs.clone());
    words.extend(finding.cause.clone().filter(|_| cause));
    words.extend(finding.remedy.clone().filter(|_| remedy));
    words.extend(finding.evidence.as_ref().filter(|_| evidence).map(|evidence| format!("Seen: {evidence}.")));
    // The command stays on one line.
    let command = |next: &String| format!("→ {next}").replace(' ', &NO_BREAK.to_string());
    words.extend(finding.next.as_ref().map(command));
    words
}

/// A number and its unit stay on one line.
pub(crate) fn units_stay(text: &str) -> String {
    let joined = |text: String, unit: &str| text.replace(&format!(" {unit}"), &format!("{NO_BREAK}{unit}"));
    ["ns", "cycles", "GHz", "%"].into_iter().fold(text.to_owned(), joined)
}

pub(crate) fn level_look(level: Level) -> anstyle::Style {
    match level {
        Level::Ok => look::GOOD,
        Level::Note | Level::Unknown => look::NAME,
        Level::Warning => look::WARNING,
        Level::Critical => look::WRONG,
    }
}

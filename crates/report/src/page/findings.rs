//! What was found, in words.

use crate::plain::plain;
use document::Document;

/// A finding as the page says it.
pub(super) struct Said {
    /// `ok`, `note` or `warning`.
    pub level: &'static str,
    pub verdict: String,
    /// What it costs, cause and remedy, where they are known.
    pub sentences: Vec<String>,
    pub evidence: Option<String>,
    /// The command that tells more.
    pub next: Option<String>,
}

pub(super) fn said(document: &Document) -> Vec<Said> {
    let all = document.findings.iter().map(|finding| Said {
        level: finding.level.name(),
        verdict: plain(&finding.verdict),
        sentences: [&finding.costs, &finding.cause, &finding.remedy]
            .into_iter()
            .flatten()
            .map(|text| plain(text))
            .collect(),
        evidence: finding.evidence.as_deref().map(plain),
        next: finding.next.as_deref().map(plain),
    });
    all.collect()
}

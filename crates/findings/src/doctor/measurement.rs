//! How far the figures can be trusted: the findings of every run that are about its measurement. None of them says that something is wrong
//! with the machine, so that none is a warning here.

use crate::doctor::CheckupFacts;
use crate::id::Id;
use document::{Finding, Level};

/// Findings that other checks make from more than a run.
const ELSEWHERE: [Id; 7] =
    [Id::ClockServed, Id::SystemCall, Id::Libc, Id::RandomPath, Id::Mitigations, Id::Pti, Id::TimeNamespace];

pub(crate) fn findings(facts: &CheckupFacts) -> Vec<Finding> {
    let is_own = |finding: &Finding| ELSEWHERE.iter().all(|id| id.name() != finding.id);
    let mut findings = crate::findings(facts.run.document, facts.run.table);
    findings.retain(is_own);
    for finding in findings.iter_mut().filter(|finding| finding.level == Level::Warning) {
        finding.level = Level::Note;
    }
    findings
}

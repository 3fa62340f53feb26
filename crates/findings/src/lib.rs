//! Verdicts: from the facts and figures of a document to [`Finding`]s. Nothing here reads a clock or a file, prints, or
//! measures; the same document always has the same findings.
//!
//! A module for each subject. [`Id`] lists every finding; `docs/findings.md` says of each when it appears, what it means
//! and what to do.

#![forbid(unsafe_code)]

mod changes;
mod clock;
mod facts;
mod id;
mod libc;
mod mitigations;
mod noise;
mod run;
mod system_call;
mod timing;

#[cfg(test)]
mod testing;

pub use id::Id;

use document::{Document, Finding, Level};
use facts::Facts;
use table::Table;

/// The findings of a document, the most important first. What its own `findings` hold plays no part.
pub fn findings(document: &Document, table: &Table) -> Vec<Finding> {
    let facts = Facts { document, table };
    let subjects: [fn(&Facts) -> Vec<Finding>; 8] = [
        run::findings,
        changes::findings,
        timing::findings,
        clock::findings,
        system_call::findings,
        libc::findings,
        mitigations::findings,
        noise::findings,
    ];
    let mut findings: Vec<Finding> = subjects.iter().flat_map(|subject| subject(&facts)).collect();
    findings.sort_by_key(rank);
    findings
}

/// What everybody asks: these come before any note, whatever the answer.
const ANSWERS: [Id; 2] = [Id::ClockPath, Id::SystemCall];

/// The order in which findings are shown: warnings, answers, notes, the rest.
fn rank(finding: &Finding) -> u8 {
    let is_answer = ANSWERS.iter().any(|id| id.name() == finding.id);
    match finding.level {
        Level::Warning => 0,
        _ if is_answer => 1,
        Level::Note => 2,
        Level::Ok | Level::Unknown => 3,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Maker;
    use document::Path;

    #[test]
    fn warnings_come_first_then_the_answers() {
        let mut maker = Maker::host()
            .served("libc", "getrandom", 1270.0, Path::Kernel)
            .served("vdso-x86_64", "getrandom", 182.0, Path::User)
            .served("vdso-x86_64", "gettimeofday", 87.0, Path::User)
            .cost("syscall-x86_64", "none", 288.0);
        maker.document.measurement.changes = vec!["tracing appeared".into()];
        maker.document.environment.mitigations = [("mds".to_owned(), "Not affected".to_owned())].into();
        let ids: Vec<String> = maker.findings().into_iter().map(|finding| finding.id).collect();
        assert_eq!(ids, ["changed", "clock-path", "system-call", "libc", "mitigations"]);
    }
}

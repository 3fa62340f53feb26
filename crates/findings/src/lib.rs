//! Verdicts: from the facts and figures of a document to [`Finding`]s. Nothing here reads a clock or a file, prints, or
//! measures; the same document always has the same findings.
//!
//! A module for each subject. [`Id`] lists every finding; `docs/findings.md` says of each when it appears, what it means
//! and what to do.

#![forbid(unsafe_code)]

mod changes;
mod clock;
pub mod doctor;
mod facts;
mod faults;
mod id;
mod lab;
mod like_here;
mod mitigations;
mod noise;
mod quota;
mod random;
mod run;
mod system_call;
mod timing;

#[cfg(test)]
mod testing;

pub use id::Id;
pub use like_here::{LIKE_HERE, LikeStep, Likeness, like_here};
pub use system_call::kernel_taxes;

use document::{Document, Finding, Level};
use facts::Facts;
use table::Table;

/// The findings of a document, the most important first. What its own `findings` hold plays no part.
pub fn findings(document: &Document, table: &Table) -> Vec<Finding> {
    let facts = Facts { document, table };
    let subjects: &[fn(&Facts) -> Vec<Finding>] = &[
        run::findings,
        changes::findings,
        quota::findings,
        timing::findings,
        lab::findings,
        clock::findings,
        served,
        system_call::findings,
        library,
        random::findings,
        mitigations::findings,
        noise::findings,
    ];
    let mut findings: Vec<Finding> = subjects.iter().flat_map(|subject| subject(&facts)).collect();
    findings.sort_by_key(rank);
    findings
}

/// Who serves clocks, as far as the rows of a run tell.
fn served(facts: &Facts) -> Vec<Finding> {
    doctor::clocks::findings(&doctor::CheckupFacts::of_run(*facts))
}

/// What the C library uses of the vDSO, as far as the rows of a run tell.
fn library(facts: &Facts) -> Vec<Finding> {
    let is_one = facts.are_of_one_linux();
    is_one
        .then(|| doctor::runtimes::library(&doctor::CheckupFacts::of_run(*facts)))
        .flatten()
        .into_iter()
        .collect()
}

/// What everybody asks: these come before any note, whatever the answer.
const ANSWERS: [Id; 2] = [Id::ClockServed, Id::SystemCall];

/// The order in which findings are shown: warnings, answers, notes, the rest.
fn rank(finding: &Finding) -> u8 {
    let is_answer = ANSWERS.iter().any(|id| id.name() == finding.id);
    match finding.level {
        Level::Critical | Level::Warning => 0,
        _ if is_answer => 1,
        Level::Note => 2,
        Level::Ok | Level::Unknown => 3,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use crate::Id;
    use crate::testing::{Maker, make_noisy};
    use document::{CpuUse, Finding, Outcome, Path, Timing};
    use environment::{LabCounters, Ring0, Trapped};
    use std::collections::BTreeSet;

    /// Documents that have every finding there is, between them.
    fn everything() -> [Maker; 4] {
        let vdso = |path| {
            Maker::host()
                .served("vdso-x86_64", "gettimeofday", 87.0, path)
                .served("libc", "gettimeofday", 500.0, Path::Kernel)
                .cost("syscall-x86_64", "none", 288.0)
        };
        let mut ordinary = vdso(Path::User).closed(
            "vdso-x86_64",
            "getrandom",
            Outcome::Unsupported,
            "this kernel's 64-bit vDSO does not export it",
        );
        let environment = &mut ordinary.document.environment;
        environment.mitigations = [("meltdown".to_owned(), "Not affected".to_owned())].into();
        environment.kernel.pti = Some(true);
        environment.tsc.invariant = false;
        environment.load = Some(environment::LoadDuring { steal_ms: Some(900.0), ..Default::default() });
        environment.container.cgroup.cpu_quota = Some(0.5);
        let offset = environment::ClockOffset { seconds: 1, nanoseconds: 0 };
        environment.clock.time_namespace = Some([("monotonic".to_owned(), offset)].into());
        environment.unseen = vec![environment::Unseen::default()];
        let measurement = &mut ordinary.document.measurement;
        measurement.partial = true;
        measurement.changes = vec!["tracing appeared".into()];
        measurement.lfence_order = Some(0.3);
        measurement.chain_ratio = [("64".to_owned(), 2.0)].into();
        (measurement.cycles_per_tick, measurement.cycles_per_tick_range) = (Some(1.5), Some([1.2, 1.6]));
        measurement.realtime_refused = Some("EPERM".into());

        let mut noisy = vdso(Path::User);
        let measurement = &mut noisy.document.measurement;
        measurement.quiet_share = Some(0.1);
        measurement.seconds = 4.0;
        let vouched_by = "nothing".to_owned();
        measurement.cpus = vec![CpuUse { rounds: 40, vouched_by, ..CpuUse::default() }];
        let row = noisy.row("syscall-x86_64", "none");
        make_noisy(row);
        row.noise.as_mut().unwrap().kind = stats::NoiseKind::TooFew;

        let mut emulated = Maker::host().cost("call", "none", 8.0);
        emulated.row("call", "none").timing = Timing::Emulated;
        let ring0 = Ring0 { trapped: vec![Trapped::Cr3Writes], ..Ring0::default() };
        let mut ended = Maker::lab(ring0).cost("call", "none", 8.0);
        let lab = ended.document.environment.lab.get_or_insert_default();
        let clock = Some(1.6);
        lab.counters = Some(LabCounters {
            rounds_lost: 2,
            smis: Some(3),
            cycles_per_tick: clock,
            ..LabCounters::default()
        });
        let measurement = &mut ended.document.measurement;
        (measurement.cycles_per_tick, measurement.cycles_per_tick_range) = (Some(1.5), Some([1.49, 1.51]));
        ended.document.measurement.ended = Some("the guest hung".into());
        let frequency = Some(environment::LabFrequency::default());
        let tsc = environment::LabTsc { by: frequency.clone(), contradicted_by: frequency, invariant: true };
        ended.document.environment.lab.get_or_insert_default().tsc = Some(tsc);
        [ordinary, noisy, emulated, ended]
    }

    #[test]
    fn every_finding_can_appear_and_is_a_sentence() {
        let of_checkups = crate::doctor::testing::everything().into_iter().flat_map(|checkup| {
            crate::doctor::diagnoses(&checkup, table::Table::get())
                .into_iter()
                .map(|diagnosis| diagnosis.finding)
        });
        let all: Vec<Finding> = everything().iter().flat_map(Maker::findings).chain(of_checkups).collect();
        let seen: BTreeSet<&str> = all.iter().map(|finding| finding.id.as_str()).collect();
        // Those of recorded machines are seen by the tests of these.
        let recorded = crate::doctor::OF_CHECKUPS.iter().flat_map(|ids| ids.iter()).map(|id| id.name());
        let seen: BTreeSet<&str> = seen.into_iter().chain(recorded).collect();
        assert_eq!(seen, Id::ALL.iter().map(|id| id.name()).collect());
        for finding in &all {
            for words in [
                Some(&finding.verdict),
                finding.cause.as_ref(),
                finding.costs.as_ref(),
                finding.remedy.as_ref(),
            ]
            .into_iter()
            .flatten()
            {
                assert!(words.ends_with('.') && words.trim() == words, "{}: {words:?}", finding.id);
            }
            assert!(finding.next.as_ref().is_none_or(|next| next.starts_with("kentry ")), "{finding:?}");
        }
    }

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
        assert_eq!(ids, ["changed", "clock-served", "system-call", "libc", "mitigations"]);
    }
}

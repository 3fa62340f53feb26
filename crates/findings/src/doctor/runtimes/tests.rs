#![allow(clippy::unwrap_used, reason = "a test")]

use crate::doctor::tests::{checkup_of, diagnosed, plain};
use document::{Checkup, Finding, Level, Path};

fn one(checkup: &Checkup, id: &str) -> Option<Finding> {
    let all = diagnosed(checkup).into_iter().filter(|diagnosis| diagnosis.check == "runtimes");
    all.map(|diagnosis| diagnosis.finding).find(|finding| finding.id == id)
}

#[test]
fn a_call_that_the_vdso_would_save_is_told_with_what_applies_here() {
    // glibc 2.36 on Linux 6.18.
    let found = one(&checkup_of("zen5-guest"), "libc").unwrap();
    assert_eq!(found.level, Level::Note);
    assert_eq!(
        found.verdict,
        "glibc 2.36 makes a system call for getrandom, which the vDSO answers in user space."
    );
    assert_eq!(found.costs.as_deref(), Some("Through glibc 2.36, getrandom takes 330 ns instead of 47."));
    assert_eq!(
        found.cause.as_deref(),
        Some("glibc uses the vDSO's getrandom from 2.41 on; glibc 2.36 is older.")
    );
    let remedy = found.remedy.unwrap();
    assert!(remedy.contains("2.41") && remedy.contains("6.18, has the function already"), "{remedy}");
    assert_eq!(found.figures.len(), 2);
    // A new glibc that makes the call all the same is not told to become newer.
    let newer = one(&checkup_of("zen4-guest"), "libc").unwrap();
    assert!(
        !newer.remedy.unwrap().contains("2.41")
            && newer.cause.unwrap().contains("does not look for getrandom")
    );
}

#[test]
fn a_library_that_takes_the_vdso_is_as_it_should_be_and_no_row_says_nothing() {
    let mut served = plain();
    served.run.results.iter_mut().for_each(|row| row.path = row.path.map(|_| Path::User));
    assert_eq!(one(&served, "libc").unwrap().level, Level::Ok);
    served.run.results.clear();
    assert_eq!((one(&served, "libc"), one(&served, "getcpu")), (None, None));
}

#[test]
fn rows_without_figures_are_told_without_numbers() {
    let mut noisy = plain();
    noisy.run.results.iter_mut().for_each(crate::testing::make_noisy);
    let found = one(&noisy, "libc").unwrap();
    assert_eq!((found.costs, found.figures.len()), (None, 0));
}

#[test]
fn who_registered_rseq_is_told_and_why_nobody_did() {
    let found = one(&checkup_of("zen5-guest"), "rseq").unwrap();
    assert!(found.level == Level::Ok && found.verdict.contains("by glibc 2.36 (it exports __rseq_offset)"));
    let without = |name: &str, version: &str| {
        let mut checkup = checkup_of("zen5-guest");
        let libc = checkup.run.environment.libc.as_mut().unwrap();
        (libc.name, libc.version) = (name.into(), Some(version.into()));
        let program = checkup.runtimes.as_mut().unwrap().rseq.in_program.as_mut().unwrap();
        program.registered = false;
        one(&checkup, "rseq").unwrap()
    };
    assert!(without("glibc", "2.31").cause.unwrap().contains("from 2.35 on"));
    assert!(without("glibc", "2.36").cause.unwrap().contains("told not to"));
    assert!(without("musl", "1.2.5").cause.unwrap().contains("musl 1.2.5 has no part in it"));
    assert!(without("musl", "1.2.5").level == Level::Note);
}

#[test]
fn the_cpus_number_has_a_price_by_each_way() {
    let found = one(&plain(), "getcpu").unwrap();
    let verdict = &found.verdict;
    assert!(
        verdict.contains("7 cycles (1.8 ns) by a load from an rseq area")
            && verdict.contains("by the vDSO")
            && verdict.contains("by the C library and 320 cycles"),
        "{verdict}"
    );
    assert_eq!(found.figures.len(), 4);
}

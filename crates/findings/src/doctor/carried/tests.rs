#![allow(clippy::unwrap_used, reason = "a test")]

use crate::doctor::tests::{diagnosed, plain};
use document::{Checkup, Finding, Level};
use examine::{Carried, IndirectBranch, KernelProgram, Seccomp, SeccompMode, StoreBypass, Tracer};

/// A process that carries these.
fn with(change: impl FnOnce(&mut Carried)) -> Checkup {
    let mut checkup = plain();
    change(checkup.carried.get_or_insert_default());
    checkup
}

fn filtered(carried: &mut Carried) {
    carried.seccomp = Seccomp { mode: Some(SeccompMode::Filter), filters: Some(2) };
}

fn programs(carried: &mut Carried) {
    let name = Some("opensnoop".to_owned());
    carried.programs = Some(vec![KernelProgram { tracepoint: "sys_enter".into(), name, id: Some(31) }]);
}

/// A checkup for each thing that can be carried, and one of nothing.
pub(in crate::doctor) fn all() -> Vec<Checkup> {
    vec![
        plain(),
        with(filtered),
        with(programs),
        with(|carried| carried.tracer = Some(Tracer { pid: 9, name: Some("strace".into()) })),
        with(|carried| carried.store_bypass = Some(StoreBypass::ThreadForcedOff)),
        with(|carried| carried.store_bypass = Some(StoreBypass::OffUntilExec)),
        with(|carried| carried.indirect_branch = Some(IndirectBranch::ThreadOff)),
        with(|carried| carried.user_dispatch = Some(true)),
        with(|carried| carried.audit.enabled = Some(true)),
        with(|carried| carried.landlock = Some(3)),
    ]
}

fn found(checkup: &Checkup) -> Vec<Finding> {
    let all = diagnosed(checkup).into_iter().filter(|diagnosis| diagnosis.check == "carried");
    all.map(|diagnosis| diagnosis.finding).collect()
}

fn one(checkup: &Checkup, id: &str) -> Finding {
    found(checkup).into_iter().find(|finding| finding.id == id).unwrap()
}

#[test]
fn nothing_carried_is_as_it_should_be_and_nothing_known_says_nothing() {
    let nothing = found(&plain());
    assert_eq!((nothing.len(), nothing[0].level), (1, Level::Ok));
    assert!(nothing[0].verdict.contains("no filter, no tracer, no SSBD"), "{}", nothing[0].verdict);
    assert_eq!(found(&with(|carried| *carried = Carried::default())), []);
    let unknown = with(|carried| carried.programs = None);
    assert!(!found(&unknown)[0].verdict.contains("program"));
}

#[test]
fn a_tracer_ssbd_and_a_program_on_every_call_are_warnings_and_the_rest_notes() {
    let levels: Vec<(String, Level)> =
        all().iter().flat_map(found).map(|finding| (finding.id, finding.level)).collect();
    for (id, level) in &levels {
        let warns = ["tracer", "store-bypass", "call-programs"].contains(&id.as_str());
        assert_eq!(*level == Level::Warning, warns, "{id}");
    }
    let single = with(|carried| {
        programs(carried);
        carried.programs.as_mut().unwrap()[0].tracepoint = "sys_enter_openat".into();
    });
    assert_eq!(one(&single, "call-programs").level, Level::Note);
    assert!(one(&with(programs), "call-programs").verdict.contains("opensnoop (program 31) on sys_enter"));
}

#[test]
fn ssbd_is_kept_apart_from_the_filter_that_forced_it() {
    let both = with(|carried| {
        filtered(carried);
        carried.store_bypass = Some(StoreBypass::ThreadForcedOff);
    });
    let ids: Vec<String> = found(&both).into_iter().map(|finding| finding.id).collect();
    assert_eq!(ids, ["store-bypass", "filters"]);
    assert!(one(&both, "store-bypass").verdict.contains("hardly a system call"));
    assert_eq!(one(&both, "store-bypass").costs, None, "nothing measured it");
}

#[test]
fn a_filters_cost_is_told_only_where_a_run_proves_a_least() {
    let measured = |none: f64, getppid: f64, change: fn(&mut Checkup)| {
        let mut checkup = with(filtered);
        for (operation, cycles) in [("none", none), ("getppid", getppid)] {
            let rows = checkup.run.results.iter_mut();
            let row = rows.filter(|row| row.entry == "syscall-x86_64").find(|row| row.operation == operation);
            let cost = row.unwrap().core_cycles.as_mut().unwrap();
            *cost = stats::Cost::single(cycles.into()).within((cycles - 2.0).into(), (cycles + 2.0).into());
        }
        change(&mut checkup);
        let found = one(&checkup, "filters");
        (found.costs.unwrap(), found.figures)
    };
    let untold = |none, getppid, change| {
        let (costs, figures) = measured(none, getppid, change);
        assert!(costs.starts_with("- (kentry tax --layer seccomp-1 ") && figures.is_empty(), "{costs}");
    };
    untold(280.0, 300.0, |_| {});
    let (costs, figures) = measured(420.0, 300.0, |_| {});
    assert!(costs.contains("at least 116 cycles") && figures[0].value == 116.0, "{costs}");
    // The rows are not that process's.
    untold(420.0, 300.0, |checkup| checkup.carried.as_mut().unwrap().process.is_own = false);
    // strace --seccomp-bpf -e trace=reboot: its filter stops no call but that, and each stop is no cost of a filter.
    untold(420.0, 300.0, |checkup| {
        checkup.carried.as_mut().unwrap().tracer = Some(Tracer { pid: 9, name: None });
    });
    untold(420.0, 300.0, |checkup| checkup.run.environment.limits.tracer_pid = Some(9));
    untold(71_891.0, 300.0, |_| {});
}

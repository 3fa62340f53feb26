//! What a judgement says of fleets that are small enough to be known by heart.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

#[allow(dead_code)] // the other test uses the rest
mod world;

use document::{Level, Outcome};
use fleet::{Answer, Fleet, Judgement, Settings, Verdict};
use jsonschema::Validator;
use serde::{Serialize, de::DeserializeOwned};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::LazyLock;
use summary::{Cohort, Run, Summary};
use world::{PLAIN, ROWS, Random, World, row};

/// A quiet host of thirty-two, `more` dearer.
fn summary(name: &str, seed: u64, more: f64) -> Summary {
    let mut random = Random::new(seed);
    let cost = |row: usize| 100.0 * 1.2_f64.powi(row as i32);
    let part = |random: &mut Random| 1.0 + more + 0.003 * random.normal();
    let rows =
        (0..ROWS).map(|number| row(number, cost(number) * part(&mut random), 0.002 * cost(number))).collect();
    let run = Run {
        run_id: format!("run of {name}"),
        started: "2026-01-01T00:00:00Z".to_owned(),
        duration_seconds: 20.0,
        machine: "host".to_owned(),
        kernel: "linux".to_owned(),
        kentry: "0.1.0".to_owned(),
        boot_id: Some(format!("boot of {name}")),
        command_line: Some(format!("quiet serial={name}")),
        seccomp_filters: Some(0),
        mitigations: BTreeMap::from([("meltdown".to_owned(), "Not affected".to_owned())]),
        cohort: Cohort {
            machine_id: Some(format!("machine {name}")),
            cpu_vendor: Some("GenuineIntel".to_owned()),
            cpu_family: Some(6),
            cpu_model: Some(143),
            hypervisor: Some("none".to_owned()),
            kernel_release: Some("6.1.0".to_owned()),
            ..Cohort::default()
        },
        ..Run::default()
    };
    Summary { run, rows }
}

/// So many hosts, each changed by its number.
fn fleet_of(hosts: usize, more: impl Fn(usize) -> f64, change: impl Fn(usize, &mut Summary)) -> Fleet {
    let mut fleet = Fleet::new();
    for number in 0..hosts {
        let name = format!("node{number:02}");
        let mut summary = summary(&name, number as u64, more(number));
        change(number, &mut summary);
        fleet.add(&name, &summary);
    }
    fleet
}

fn judge(fleet: &Fleet) -> Judgement {
    let judgement = fleet.judge(&Settings::default()).unwrap();
    of_the_schema(&judgement);
    judgement
}

/// What is written is as `docs/fleet.schema.json` says, and means the same when it is read.
fn of_the_schema<T: Serialize + DeserializeOwned + PartialEq + Debug>(written: &T) {
    static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| {
        let schema = serde_json::from_str(include_str!("../../../docs/fleet.schema.json")).unwrap();
        jsonschema::draft202012::meta::validate(&schema).unwrap();
        jsonschema::draft202012::new(&schema).unwrap()
    });
    let value = serde_json::to_value(written).unwrap();
    let objections: Vec<String> =
        VALIDATOR.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(objections.is_empty(), "{objections:?}");
    assert_eq!(&serde_json::from_value::<T>(value).unwrap(), written);
}

fn remarks(judgement: &Judgement) -> Vec<(&str, usize)> {
    judgement.remarks.iter().map(|remark| (remark.id.as_str(), remark.hosts.count)).collect()
}

#[test]
fn an_odd_host_is_named_with_what_differs_and_no_fact_that_is_another_on_every_host() {
    let fleet = fleet_of(
        32,
        |number| if number == 7 { 0.5 } else { 0.0 },
        |number, summary| {
            if number == 7 {
                summary.run.seccomp_filters = Some(2);
                summary.run.mitigations.insert("meltdown".to_owned(), "Mitigation: PTI".to_owned());
                summary.run.findings.insert("seccomp".to_owned(), Level::Warning);
            }
        },
    );
    let judgement = judge(&fleet);
    let [odd] = judgement.odd.as_slice() else { panic!("{:?}", judgement.odd) };
    assert_eq!((odd.host.as_str(), odd.runs, odd.moves_together, odd.rows.len()), ("node07", 1, true, ROWS));
    assert!(
        odd.q <= 0.01 && odd.common_percent.is_some_and(|percent| (49.0..51.0).contains(&percent)),
        "{odd:?}"
    );
    let first = &odd.rows[0];
    assert!(
        first.percent_low.unwrap() < 50.0 && first.percent_high.unwrap() > 50.0 && first.is_clear,
        "{first:?}"
    );
    let differs: Vec<_> = odd
        .differs
        .iter()
        .map(|differs| (differs.fact.id.as_str(), differs.with_usual, differs.of))
        .collect();
    assert_eq!(differs, [("seccomp", 31, 31), ("mitigation:meltdown", 31, 31), ("finding:seccomp", 31, 31)]);
    assert_eq!(odd.differs[0].fact.value.as_deref(), Some("2"));
    assert_eq!(odd.differs[0].usual.as_deref(), Some("0"));
    assert_eq!(odd.differs[2].usual.as_deref(), Some("absent"));
    let cohort = &judgement.cohorts[0];
    assert!(cohort.has_verdict && cohort.odd == 1 && cohort.rows.len() == ROWS);
    assert!(cohort.rows.iter().all(|row| row.odd == [7] && row.host.len() == 32 && row.estimate.is_sorted()));
}

#[test]
fn a_host_that_differs_in_nothing_has_no_reason() {
    let judgement = judge(&fleet_of(32, |number| if number == 3 { -0.4 } else { 0.0 }, |_, _| ()));
    assert_eq!(judgement.odd.len(), 1);
    assert!(judgement.odd[0].differs.is_empty() && judgement.odd[0].rows[0].difference < 0.0);
}

#[test]
fn hosts_of_another_kernel_are_a_mode_and_not_odd() {
    let has = |number: usize| number.is_multiple_of(3);
    let fleet = fleet_of(
        60,
        |number| if has(number) { 0.05 } else { 0.0 },
        |number, summary| {
            if has(number) {
                summary.run.cohort.kernel_release = Some("6.12.0".to_owned());
                summary.run.kernel_version = Some("#2 SMP".to_owned());
            } else {
                summary.run.kernel_version = Some("#1 SMP".to_owned());
            }
        },
    );
    let judgement = judge(&fleet);
    assert!(judgement.odd.is_empty(), "{:?}", judgement.odd);
    let [split] = judgement.splits.as_slice() else { panic!("{:?}", judgement.splits) };
    assert_eq!((split.fact.id.as_str(), split.fact.value.as_deref()), ("kernel", Some("6.12.0")));
    assert_eq!(split.alike.iter().map(|fact| fact.id.as_str()).collect::<Vec<_>>(), ["kernel-version"]);
    assert_eq!((split.hosts_with, split.hosts_without, split.others[0].hosts), (20, 40, 40));
    assert!(split.rows.iter().all(|row| row.percent.is_some_and(|percent| (4.0..6.0).contains(&percent))));
    assert_eq!(judgement.cohorts.len(), 2);
    let [with, without] = [&split.cohorts_with, &split.cohorts_without].map(|ids| {
        let cohort = judgement.cohorts.iter().find(|cohort| ids.contains(&cohort.id)).unwrap();
        cohort.hosts.len()
    });
    assert_eq!((with, without), (20, 40));
}

#[test]
fn two_halves_that_no_fact_separates_are_not_odd_to_each_other() {
    for hosts in [6, 8, 10, 20] {
        let judgement = judge(&fleet_of(hosts, |number| if number % 2 == 0 { 0.8 } else { 0.0 }, |_, _| ()));
        assert!(judgement.odd.is_empty(), "{hosts}: {:?}", judgement.odd);
    }
}

#[test]
fn fewer_than_five_alike_are_not_judged() {
    let fleet = fleet_of(
        12,
        |number| if number == 11 { 2.0 } else { 0.0 },
        |number, summary| {
            if number >= 8 {
                summary.run.cohort.cpu_model = Some(1);
            }
        },
    );
    let judgement = judge(&fleet);
    assert_eq!((judgement.hosts, judgement.judged, judgement.odd.len()), (12, 8, 0));
    assert_eq!(judgement.cohorts.iter().map(|cohort| cohort.has_verdict).collect::<Vec<_>>(), [true, false]);
    assert_eq!(remarks(&judgement), [("small-cohort", 4)]);
}

#[test]
fn copies_of_one_image_are_told_apart_by_their_labels() {
    let cloned = |number: usize, summary: &mut Summary| {
        summary.run.cohort.machine_id = Some("of the image".to_owned());
        summary.run.started = format!("2026-01-01T00:00:{number:02}Z");
    };
    let judgement = judge(&fleet_of(12, |_| 0.0, cloned));
    assert_eq!((judgement.hosts, remarks(&judgement)), (12, vec![("shared-machine-id", 12)]));
    // One machine that boots every ten minutes.
    let boots = |number: usize, summary: &mut Summary| {
        summary.run.cohort.machine_id = Some("of the machine".to_owned());
        summary.run.started = format!("2026-01-01T{:02}:00:00Z", number + 1);
    };
    let judgement = judge(&fleet_of(12, |_| 0.0, boots));
    let expected = vec![("joined-labels", 1), ("small-cohort", 1)];
    assert_eq!((judgement.hosts, judgement.runs, remarks(&judgement)), (1, 12, expected));
    assert!(judgement.remarks[0].hosts.first[0].starts_with("node00 = node01 = "), "{judgement:?}");
}

#[test]
fn a_machine_that_was_changed_is_a_host_of_each_kind() {
    let mut fleet = Fleet::new();
    let product = |day: u32, name: &str| {
        let mut summary = summary("node00", 0, 0.0);
        summary.run.run_id = format!("day {day}");
        summary.run.started = format!("2026-01-{day:02}T00:00:00Z");
        summary.run.product = Some(name.to_owned());
        summary
    };
    fleet.add("node00", &product(1, "small"));
    fleet.add("node00", &product(2, "large"));
    let judgement = judge(&fleet);
    assert_eq!((judgement.hosts, judgement.cohorts.len()), (2, 2));
    assert_eq!(remarks(&judgement), [("hardware-changed", 1), ("small-cohort", 1)]);
}

/// Thirty-two hosts with two boots each; one of them is so much dearer in each.
fn of_two_boots(more: [f64; 2]) -> Judgement {
    let mut fleet = Fleet::new();
    for number in 0..32 {
        for (boot, more) in more.into_iter().enumerate() {
            let name = format!("node{number:02}");
            let seed = 100 * boot as u64 + number;
            let mut summary = summary(&name, seed, if number == 5 { more } else { 0.0 });
            summary.run.run_id = format!("{boot} of {name}");
            summary.run.boot_id = Some(format!("{boot} of {name}"));
            summary.run.started = format!("2026-01-0{}T00:00:00Z", boot + 1);
            fleet.add(&name, &summary);
        }
    }
    judge(&fleet)
}

#[test]
fn a_host_is_odd_by_what_its_boots_agree_on() {
    assert!(of_two_boots([0.0, 0.6]).odd.is_empty());
    let judgement = of_two_boots([0.6, 0.6]);
    assert_eq!(
        judgement.odd.iter().map(|odd| (odd.host.as_str(), odd.runs)).collect::<Vec<_>>(),
        [("node05", 2)]
    );
}

#[test]
fn a_run_that_is_given_twice_counts_once() {
    let mut fleet = fleet_of(6, |_| 0.0, |_, _| ());
    fleet.add("again", &summary("node00", 0, 0.0));
    let judgement = judge(&fleet);
    assert_eq!((judgement.runs, judgement.hosts, remarks(&judgement)), (6, 6, vec![("same-run", 1)]));
}

#[test]
fn one_host_that_knows_core_cycles_does_not_unjudge_those_that_do_not() {
    let without =
        |_: usize, summary: &mut Summary| summary.rows.iter_mut().for_each(|row| row.core_cycles = None);
    let judgement = judge(&fleet_of(6, |_| 0.0, without));
    assert!(
        judgement.cohorts[0]
            .rows
            .iter()
            .all(|row| row.unit == fleet::Unit::Nanoseconds && row.low == [None; 6])
    );
    let one = |number: usize, summary: &mut Summary| {
        if number == 0 {
            without(number, summary);
        }
    };
    let judgement = judge(&fleet_of(6, |_| 0.0, one));
    assert!(
        judgement.cohorts[0]
            .rows
            .iter()
            .all(|row| row.unit == fleet::Unit::CoreCycles && row.host.len() == 5)
    );
    assert_eq!(remarks(&judgement), [("other-unit", 1)]);
    let most = |number: usize, summary: &mut Summary| {
        if number > 0 {
            without(number, summary);
        }
    };
    let judgement = judge(&fleet_of(100, |number| if number == 9 { 0.5 } else { 0.0 }, most));
    let rows = &judgement.cohorts[0].rows;
    assert!(rows.iter().all(|row| row.unit == fleet::Unit::Nanoseconds && row.host.len() == 100));
    assert_eq!((judgement.judged, judgement.odd[0].host.as_str(), judgement.odd.len()), (100, "node09", 1));
}

#[test]
fn closed_entries_findings_and_mitigations_are_counted() {
    let change = |number: usize, summary: &mut Summary| {
        let closed = &mut summary.rows[2];
        if number < 2 {
            (closed.outcome, closed.reason, closed.core_cycles, closed.nanoseconds) =
                (Outcome::Unsupported, Some("no such instruction".to_owned()), None, None);
            summary.run.findings.insert("clocksource".to_owned(), Level::Warning);
            summary.run.mitigations.clear();
        }
    };
    let judgement = judge(&fleet_of(30, |_| 0.0, change));
    let [closed] = judgement.closed.as_slice() else { panic!("{:?}", judgement.closed) };
    assert_eq!((closed.outcome, closed.works, closed.of), (Outcome::Unsupported, 28, 30));
    assert_eq!(closed.hosts.first, ["node00", "node01"]);
    assert_eq!(closed.reason.as_deref(), Some("no such instruction"));
    assert_eq!(
        (judgement.findings[0].id.as_str(), judgement.findings[0].hosts.count, judgement.findings[0].of),
        ("clocksource", 2, 30)
    );
    let counts = |place: usize| {
        (
            judgement.mitigations[0].values[place].value.as_deref(),
            judgement.mitigations[0].values[place].hosts.count,
        )
    };
    assert_eq!((counts(0), counts(1)), ((Some("Not affected"), 28), (None, 2)));
}

#[test]
fn a_fact_splits_cohorts_where_it_is_asked_for_and_an_unknown_one_is_refused() {
    let fleet =
        fleet_of(12, |_| 0.0, |number, summary| summary.run.seccomp_filters = Some(number as u32 % 2));
    let by = |id: &str| Settings { by: vec![id.to_owned()], ..Settings::default() };
    assert_eq!(fleet.judge(&by("seccomp")).unwrap().cohorts.len(), 2);
    let error = fleet.judge(&by("secomp")).unwrap_err().to_string();
    assert!(
        error.starts_with("there is no fact \"secomp\" to split cohorts by; there are: cpu-model, "),
        "{error}"
    );
}

#[test]
fn a_judgement_is_read_back_as_it_was_written() {
    let judgement = judge(&fleet_of(32, |number| if number == 7 { 0.5 } else { 0.0 }, |_, _| ()));
    let text = serde_json::to_string(&judgement).unwrap();
    assert_eq!(serde_json::from_str::<Judgement>(&text).unwrap(), judgement);
}

/// The second side of a roll-out.
fn after(hosts: usize, more: f64) -> Fleet {
    let again = |_: usize, summary: &mut Summary| {
        summary.run.run_id = format!("{} again", summary.run.run_id);
        summary.run.cohort.kernel_release = Some("6.12.0".to_owned());
    };
    fleet_of(hosts, |number| more + 0.001 * (number % 7) as f64, again)
}

#[test]
fn a_roll_out_has_pairs_verdicts_and_a_gate() {
    let before = fleet_of(32, |_| 0.0, |_, _| ());
    let settings = Settings { fail_above_percent: Some(3.0), ..Settings::default() };
    let slower = before.roll_out(&after(30, 0.05), &settings).unwrap();
    of_the_schema(&slower);
    assert_eq!(
        (slower.pairs, slower.only_before.first.as_slice()),
        (30, &["node30".to_owned(), "node31".to_owned()][..])
    );
    assert_eq!((slower.changed[0].id.as_str(), slower.changed[0].hosts.count), ("kernel", 30));
    assert!(
        slower.strata[0]
            .rows
            .iter()
            .all(|row| row.verdict == Verdict::Slower && row.gate == Some(Answer::Regression))
    );
    let gate = slower.gate.unwrap();
    assert_eq!(
        (gate.answer, gate.decided_by.len(), gate.decided_by[0].as_str()),
        (Answer::Regression, ROWS, "s1 entry0 operation0 64")
    );
    let before = fleet_of(30, |_| 0.0, |_, _| ());
    let same = before.roll_out(&after(30, -0.003), &settings).unwrap();
    of_the_schema(&same);
    assert_eq!(same.gate.as_ref().unwrap().answer, Answer::Pass);
    assert!(
        same.strata[0]
            .rows
            .iter()
            .all(|row| matches!(row.verdict, Verdict::Same | Verdict::Slower | Verdict::Faster))
    );
    let few = before.roll_out(&after(4, 0.5), &settings).unwrap();
    of_the_schema(&few);
    assert!(
        few.strata[0]
            .rows
            .iter()
            .all(|row| row.verdict == Verdict::Unknown && row.percent.is_none() && row.pairs == 4)
    );
    assert_eq!(few.gate.unwrap().answer, Answer::Inconclusive);
}

/// A gate at 3 %.
fn gated(before: &Fleet, after: &Fleet) -> fleet::Rollout {
    let settings = Settings { fail_above_percent: Some(3.0), ..Settings::default() };
    let rollout = before.roll_out(after, &settings).unwrap();
    of_the_schema(&rollout);
    rollout
}

/// The second side of a roll-out that changed nothing, with what `change` does to it.
fn second(hosts: usize, more: impl Fn(usize) -> f64, change: impl Fn(usize, &mut Summary)) -> Fleet {
    let mut fleet = Fleet::new();
    for number in 0..hosts {
        let name = format!("node{number:02}");
        let mut summary = summary(&name, 1000 + number as u64, more(number));
        summary.run.run_id = format!("{name} again");
        change(number, &mut summary);
        fleet.add(&name, &summary);
    }
    fleet
}

fn decided(rollout: &fleet::Rollout) -> (Answer, Vec<&str>) {
    let gate = rollout.gate.as_ref().unwrap();
    (gate.answer, gate.decided_by.iter().map(String::as_str).collect())
}

#[test]
fn ten_hosts_of_a_hundred_that_became_slower_do_not_hide_behind_the_middle_one() {
    let before = fleet_of(100, |_| 0.0, |_, _| ());
    let rollout = gated(&before, &second(100, |number| if number < 10 { 0.5 } else { 0.0 }, |_, _| ()));
    let hosts: Vec<&str> = rollout.otherwise.iter().map(|host| host.host.as_str()).collect();
    assert_eq!(hosts.len(), 10, "{hosts:?}");
    assert!(hosts.iter().all(|host| *host < "node10"), "{hosts:?}");
    let row = &rollout.otherwise[0].rows[0];
    assert!(row.is_clear && (49.0..51.0).contains(&row.more_percent), "{row:?}");
    assert!(row.more_percent_low < 50.0 && row.more_percent_high > 50.0, "{row:?}");
    let (answer, by) = decided(&rollout);
    assert_eq!((answer, by.len()), (Answer::Inconclusive, 10 + ROWS), "{by:?}");
    assert!(by[..10].iter().all(|by| by.starts_with("s1 node0") && by.ends_with(" %")), "{by:?}");
    // One that became faster is told, and stops no roll-out.
    let rollout = gated(&before, &second(100, |number| if number == 7 { -0.4 } else { 0.0 }, |_, _| ()));
    assert_eq!((rollout.otherwise.len(), decided(&rollout)), (1, (Answer::Pass, vec![])));
}

#[test]
fn where_all_hosts_change_alike_none_changed_otherwise() {
    let mut named = 0;
    for seed in 0..40 {
        let [before, after] = World { cohorts: 2, ..PLAIN }.roll_out(seed, 0.05);
        let rollout = before.roll_out(&after, &Settings::default()).unwrap();
        named += usize::from(!rollout.otherwise.is_empty());
    }
    // A mean of 1 % gives so many in 40 once in some 1,000 times.
    assert!(named < 4, "{named} of 40");
}

#[test]
fn a_gate_does_not_pass_over_a_row_that_closed() {
    let close = |summary: &mut Summary| {
        let row = &mut summary.rows[2];
        (row.outcome, row.reason) = (Outcome::Refused, Some("seccomp".to_owned()));
        (row.core_cycles, row.nanoseconds) = (None, None);
    };
    let before = fleet_of(30, |_| 0.0, |_, _| ());
    let rollout = gated(&before, &second(30, |_| 0.0, |_, summary| close(summary)));
    let [lost] = rollout.strata[0].lost.as_slice() else { panic!("{:?}", rollout.strata[0].lost) };
    assert_eq!((lost.pairs, lost.lost.count, lost.name.operation.as_str()), (30, 30, "operation2"));
    assert_eq!((lost.outcome_before, lost.outcome_after), (Some(Outcome::Ok), Some(Outcome::Refused)));
    assert_eq!(lost.reason_after.as_deref(), Some("seccomp"));
    let by = vec!["s1 entry0 operation2 64, which has no figure afterwards"];
    assert_eq!(decided(&rollout), (Answer::Inconclusive, by));
    // A few that lost it are told.
    let few = |number: usize, summary: &mut Summary| {
        if number < 3 {
            close(summary);
        }
    };
    let rollout = gated(&before, &second(30, |_| 0.0, few));
    let lost = &rollout.strata[0].lost[0];
    assert_eq!((lost.pairs, lost.lost.count, rollout.strata[0].rows[2].pairs), (30, 3, 27));
    assert_eq!(decided(&rollout).0, Answer::Pass);
    // A row that is not even tried any more.
    let rollout = gated(&before, &second(30, |_| 0.0, |_, summary| drop(summary.rows.remove(2))));
    let lost = &rollout.strata[0].lost[0];
    assert_eq!((lost.lost.count, lost.outcome_after), (30, None));
    assert_eq!(decided(&rollout).0, Answer::Inconclusive);
}

#[test]
fn a_gate_does_not_pass_over_hosts_in_no_pair() {
    let before = fleet_of(32, |_| 0.0, |_, _| ());
    let rollout = gated(&before, &second(30, |_| 0.0, |_, _| ()));
    let by = vec!["node30, node31, only before and in no pair"];
    assert_eq!(decided(&rollout), (Answer::Inconclusive, by));
    let moved = |number: usize, summary: &mut Summary| {
        if number == 4 {
            summary.run.cohort.cpu_model = Some(144);
        }
    };
    let rollout = gated(&before, &second(32, |_| 0.0, moved));
    let by = vec!["node04, only before and in no pair"];
    assert_eq!(decided(&rollout), (Answer::Inconclusive, by));
    let changed: Vec<_> = rollout.remarks.iter().filter(|remark| remark.id == "generation-changed").collect();
    assert_eq!((changed.len(), changed[0].hosts.first[0].as_str()), (1, "node04"));
}

#[test]
fn runs_that_stand_on_both_sides_pass_no_gate() {
    let before = fleet_of(30, |_| 0.0, |_, _| ());
    let rollout = gated(&before, &before);
    assert_eq!((rollout.pairs, rollout.runs), (0, [30, 30]));
    let by = vec!["no row has a figure on both sides"];
    assert_eq!(decided(&rollout), (Answer::Inconclusive, by));
    let [remark] = rollout.remarks.as_slice() else { panic!("{:?}", rollout.remarks) };
    assert_eq!((remark.id.as_str(), remark.hosts.count), ("run-on-both-sides", 30));
}

#[test]
fn a_step_of_a_coarse_clock_is_not_odd() {
    let mut named = 0;
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let part = if seed % 2 == 0 { 0.01 } else { 0.02 };
        let coarse = |_: usize, summary: &mut Summary| {
            for (number, of) in summary.rows.iter_mut().enumerate() {
                let step = if random.uniform() < part { 4.0 } else { 0.0 };
                *of = row(number, 100.0 * (1 + number) as f64 + step, 0.0);
            }
        };
        let coarse = std::cell::RefCell::new(coarse);
        named +=
            usize::from(!judge(&fleet_of(100, |_| 0.0, |n, s| coarse.borrow_mut()(n, s))).odd.is_empty());
    }
    assert!(named <= 1, "{named} of 100 fleets");
}

#[test]
fn odd_hosts_that_agree_are_said_to() {
    let odd = |number: usize| [7, 8, 9].contains(&number);
    let judgement = judge(&fleet_of(100, |number| if odd(number) { 0.2 } else { 0.0 }, |_, _| ()));
    assert_eq!((judgement.odd.len(), remarks(&judgement)), (3, vec![("agreeing-hosts", 3)]));
    let apart = |number: usize| if odd(number) { 0.1 * (number - 5) as f64 } else { 0.0 };
    let judgement = judge(&fleet_of(100, apart, |_, _| ()));
    assert_eq!((judgement.odd.len(), remarks(&judgement)), (3, vec![]));
}

#[test]
fn forty_of_a_hundred_hosts_that_cost_more_are_a_mode_that_is_told() {
    let judgement = judge(&fleet_of(100, |number| if number < 40 { 0.2 } else { 0.0 }, |_, _| ()));
    assert_eq!((judgement.odd.len(), remarks(&judgement)), (0, vec![("unexplained-mode", 40)]));
    assert_eq!(judgement.remarks[0].hosts.first[0], "node00");
    for (freedom, hosts) in [(3.0, 10), (3.0, 30), (3.0, 100), (1e3, 30), (1e3, 100)] {
        for seed in 0..20 {
            let simulated = World { freedom, hosts, ..PLAIN }.simulate(seed);
            let judgement = judge(&simulated.fleet);
            assert!(judgement.remarks.is_empty(), "{hosts} hosts, t of {freedom}: {:?}", judgement.remarks);
        }
    }
}

/// Twenty of a hundred hosts have another kernel, where a row is a fifth dearer and hosts differ by 8 %.
#[test]
fn intervals_of_splits_hold_the_truth_where_the_smaller_side_is_wide() {
    let (mut held, mut all) = (0, 0);
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let parts: Vec<Vec<f64>> = (0..100)
            .map(|host| {
                let part = |random: &mut Random| {
                    let wide = host < 20;
                    1.0 + if wide { 0.2 } else { 0.0 } + if wide { 0.08 } else { 0.005 } * random.normal()
                };
                (0..ROWS).map(|_| part(&mut random)).collect()
            })
            .collect();
        let change = |host: usize, summary: &mut Summary| {
            for (number, of) in summary.rows.iter_mut().enumerate() {
                *of = row(number, 100.0 * (1 + number) as f64 * parts[host][number], 0.5);
            }
            if host < 20 {
                summary.run.cohort.kernel_release = Some("6.12.0".to_owned());
            }
        };
        let judgement = judge(&fleet_of(100, |_| 0.0, change));
        for row in judgement.splits.iter().flat_map(|split| &split.rows) {
            let (low, high) = row.percent_low.zip(row.percent_high).unwrap();
            held += usize::from(low <= 20.0 && high >= 20.0);
            all += 1;
        }
    }
    assert!(all >= 400 && held as f64 >= 0.98 * all as f64, "{held} of {all}");
}

#[test]
fn a_host_without_intervals_is_named_where_the_others_have_them() {
    let without = |number: usize, summary: &mut Summary| {
        if number == 4 {
            summary.rows.iter_mut().for_each(|row| row.core_cycles_ci_low = None);
        }
    };
    let judgement = judge(&fleet_of(30, |_| 0.0, without));
    assert_eq!(remarks(&judgement), [("no-intervals", 1)]);
    assert_eq!(judgement.remarks[0].hosts.first, ["node04"]);
}

#[test]
fn a_part_of_the_hosts_that_is_too_near_to_be_named_holds_up_the_gate() {
    let before = fleet_of(100, |_| 0.0, |_, _| ());
    for (part, more) in [(10, 0.1), (40, 0.05), (40, 0.1)] {
        let rollout =
            gated(&before, &second(100, |number| if number < part { more } else { 0.0 }, |_, _| ()));
        let (answer, _) = decided(&rollout);
        assert_eq!(answer, Answer::Inconclusive, "{part} hosts, +{more}");
        assert!(
            rollout.strata[0].rows.iter().all(|row| row.above_limit == Some(part)),
            "{part} hosts, +{more}"
        );
    }
    // Noise has no side.
    let mut held_up = 0;
    for seed in 0..40 {
        let [before, after] = World { between: 0.03, ..PLAIN }.roll_out(seed, 0.0);
        held_up += usize::from(gated(&before, &after).gate.unwrap().answer != Answer::Pass);
    }
    assert!(held_up <= 4, "{held_up} of 40");
}

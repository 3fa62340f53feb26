//! What a comparison says of documents: verdicts, confounders, refusals, gates; and that no document makes it panic.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use compare::{
    Comparison, Gate, GateAnswer, On, Paired, Row as Compared, Run, Same, Settings, Severity, SideRuns,
    Source, Unit, Verdict, compare, compare_pairs,
};
use document::{CpuUse, Document, Identity, Machine, Measurement, Outcome, Path, Place, Row, Timing};
use environment::{Environment, Guest, GuestBoot, GuestKernel};
use serde_json::{Value, json};
use stats::{Cost, Counts, Cycles, Instructions, Nanos, Pair, SignedRank};
use std::collections::BTreeMap;
use table::{Kernel, Table};

fn cost<U: From<f64> + Copy>(estimate: f64, reach: f64) -> Cost<U> {
    Cost::single(U::from(estimate)).within(U::from(estimate - reach), U::from(estimate + reach))
}

fn measured(entry: &str, operation: &str, cycles: f64) -> Row {
    Row {
        core_cycles: Some(cost::<Cycles>(cycles, 0.001 * cycles)),
        ns: Some(cost::<Nanos>(cycles / 2.0, 0.001 * cycles)),
        counts: Counts { samples: 1000, ..Counts::default() },
        ..Row::unmeasured(entry, operation, 64)
    }
}

fn closed(entry: &str, outcome: Outcome, reason: &str) -> Row {
    Row { outcome, reason: Some(reason.into()), ..Row::unmeasured(entry, "none", 64) }
}

/// A host's document with these rows.
fn document(id: u64, rows: Vec<Row>) -> Document {
    Document {
        id: Some(format!("{id:032x}")),
        measurement: Measurement {
            kentry: "1.0.0".into(),
            place: Place::new(Machine::Host, Kernel::Linux),
            started: "2026-11-23T12:00:00Z".into(),
            seconds: 12.0,
            cycles_per_tick: Some(1.0),
            ..Measurement::default()
        },
        environment: Environment {
            boot_id: Some("a boot".into()),
            machine_id: Some("a machine".into()),
            ..Environment::default()
        },
        results: rows,
        ..Document::empty()
    }
}

fn given(documents: &[Document]) -> SideRuns {
    let runs = documents.iter().map(|document| Run::of(Table::get(), document, None)).collect();
    SideRuns { label: "side".into(), runs }
}

fn with(settings: &Settings, base: &[Document], new: &[Document]) -> Comparison {
    let found = compare(Table::get(), &given(base), &given(new), &[], settings);
    // Whatever was compared can be written and read again.
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Comparison>(&text).unwrap(), found);
    found
}

fn between(base: &[Document], new: &[Document]) -> Comparison {
    with(&Settings::default(), base, new)
}

/// Of two documents with one row each.
fn of_rows(base: Row, new: Row) -> Compared {
    between(&[document(1, vec![base])], &[document(2, vec![new])]).rows.remove(0)
}

/// Three documents of one row, a little apart.
fn three(from: u64, entry: &str, cycles: f64) -> [Document; 3] {
    [(0, 0.999), (1, 1.0), (2, 1.001)]
        .map(|(run, factor)| document(from + run, vec![measured(entry, "none", cycles * factor)]))
}

#[test]
fn a_document_is_the_same_as_itself() {
    let rows = vec![
        measured("syscall-x86_64", "none", 300.0),
        measured("call", "none", 4.0),
        measured("rdpid", "none", -0.5),
        closed("syscall-x32", Outcome::Refused, "ENOSYS"),
    ];
    let one = [document(1, rows)];
    let found = between(&one, &one);
    let verdicts: Vec<Verdict> = found.rows.iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts, [Verdict::Same, Verdict::Same, Verdict::Same, Verdict::StillClosed]);
    assert!(
        found.rows.iter().filter_map(|row| row.change.as_ref()).all(|change| change.estimate.abs() < 1e-9)
    );
    let same: Vec<&str> = found.confounders.iter().map(|confounder| confounder.id.as_str()).collect();
    assert_eq!(same, ["same-run"]);
}

/// A bare system call cost 14 % more when nothing else was measured, and that was told as a change.
#[test]
fn what_was_measured_beside_a_row_stands_before_any_number() {
    let syscall = |operation: &str| measured("syscall-x86_64", operation, 300.0);
    let one = || document(1, vec![syscall("none")]);
    let two = |id: u64| document(id, vec![syscall("none"), syscall("getppid")]);
    let said = |base: Document, new: Document| -> Vec<(Severity, String, String)> {
        let found = between(&[base], &[new]);
        let rows = found.confounders.iter().filter(|found| found.id == "rows-measured");
        rows.map(|rows| (rows.severity, rows.base.join(","), rows.new.join(","))).collect()
    };
    let command = "kentry --entry syscall-x86_64 --operation none".to_owned();
    let both = "kentry --entry syscall-x86_64 --operation getppid --operation none".to_owned();
    assert_eq!(said(one(), two(2)), [(Severity::Caution, command, both)]);
    assert_eq!(said(two(1), two(2)), []);
    let other =
        |name: &str| document(3, vec![measured(name, "none", 4.0), syscall("getppid"), syscall("time")]);
    assert_eq!(
        said(other("call"), other("rdtsc")),
        [(Severity::Caution, "3 rows".to_owned(), "3 other rows".to_owned())]
    );
    // Where instructions are counted no row knows of another.
    let emulated = |id, rows: &[(&str, f64)]| counted(id, rows);
    let (less, more) = (&[("call", 4.0)][..], &[("call", 4.0), ("syscall-x86_64", 48.0)][..]);
    assert_eq!(said(emulated(4, less), emulated(5, more)), []);
}

#[test]
fn a_great_change_is_told_by_single_runs_and_a_small_one_is_not() {
    let syscall = |cycles| measured("syscall-x86_64", "none", cycles);
    let slower = of_rows(syscall(200.0), syscall(320.0));
    assert_eq!(
        (slower.verdict, slower.unit, slower.within_margin),
        (Verdict::Slower, Some(Unit::Cycles), false)
    );
    let change = slower.change.unwrap();
    assert!(
        (change.estimate - 120.0).abs() < 1e-9 && (change.percent.unwrap() - 60.0).abs() < 1e-9,
        "{change:?}"
    );
    assert!(
        change.low > 100.0 && change.percent_low.unwrap() > 50.0 && change.confidence >= 0.95,
        "{change:?}"
    );
    assert_eq!(slower.variation.unwrap().source, Source::Prior);
    assert_eq!(of_rows(syscall(320.0), syscall(200.0)).verdict, Verdict::Faster);
    let int80 = |cycles| measured("int80-x86_64", "none", cycles);
    let open = of_rows(int80(1296.0), int80(1340.0));
    assert_eq!(open.verdict, Verdict::Inconclusive, "one minute and the next, on the same machine");
    assert!((1..=100).contains(&open.more_runs.unwrap()), "{:?}", open.more_runs);
}

#[test]
fn a_change_within_the_margin_is_not_called_the_same() {
    // A function that stays in user space, where a CPU's state adds nothing.
    let in_user_space = |mut run: Document| {
        run.results.iter_mut().for_each(|row| row.path = Some(Path::User));
        run
    };
    let of = |from: u64, cycles: f64| three(from, "vdso-x86_64", cycles).map(in_user_space);
    let (base, new) = (of(10, 1000.0), of(20, 1010.0));
    let row = between(&base, &new).rows.remove(0);
    assert_eq!((row.verdict, row.within_margin), (Verdict::Slower, true), "{row:?}");
    assert!(row.variation.as_ref().unwrap().of_runs >= 4.0, "{row:?}");
    let change = row.change.unwrap();
    assert!(change.low > 0.0 && change.high < row.margin.unwrap(), "{change:?}");
    let settings = Settings { same: "0.5%".parse().unwrap(), ..Settings::default() };
    let strict = with(&settings, &base, &new).rows.remove(0);
    assert_eq!((strict.verdict, strict.within_margin), (Verdict::Slower, false));
    assert!((strict.margin.unwrap() - 5.0).abs() < 0.01, "{strict:?}");
}

#[test]
fn swapped_sides_say_the_opposite() {
    let side = |from: u64, factor: f64| {
        [1.0, 1.002].map(|run| {
            let cycles = |cost: f64| cost * factor * run;
            let rows = vec![
                measured("syscall-x86_64", "none", cycles(300.0)),
                measured("int80-x86_64", "none", cycles(1300.0)),
                measured("cpuid", "none", cycles(1300.0)),
            ];
            document(from + (run > 1.0) as u64, rows)
        })
    };
    let (a, b) = (side(10, 1.0), side(20, 1.08));
    let (there, back) = (between(&a, &b), between(&b, &a));
    for row in &there.rows {
        let other = back.rows.iter().find(|other| other.entry == row.entry).unwrap();
        let opposite = match row.verdict {
            Verdict::Slower => Verdict::Faster,
            Verdict::Faster => Verdict::Slower,
            same => same,
        };
        assert_eq!(
            (other.verdict, other.within_margin, other.more_runs),
            (opposite, row.within_margin, row.more_runs)
        );
        let (there, back) = (row.change.as_ref().unwrap(), other.change.as_ref().unwrap());
        let is_opposite = |a: f64, b: f64| (a + b).abs() < 1e-6 * a.abs().max(1.0);
        assert!(is_opposite(there.estimate, back.estimate), "{there:?} {back:?}");
        assert!(is_opposite(there.low, back.high) && is_opposite(there.high, back.low), "{there:?} {back:?}");
        assert!((there.p - back.p).abs() < 1e-9);
    }
    assert!(there.rows.iter().any(|row| row.verdict == Verdict::Slower));
}

#[test]
fn what_opened_or_closed_has_no_number() {
    let works = || measured("syscall-x32", "none", 300.0);
    let refused = || closed("syscall-x32", Outcome::Refused, "the kernel answers ENOSYS");
    assert_eq!(of_rows(works(), refused()).verdict, Verdict::Closed);
    let opened = of_rows(refused(), works());
    assert_eq!((opened.verdict, &opened.change), (Verdict::Opened, &None));
    assert_eq!(opened.base.unwrap().reason.unwrap(), "the kernel answers ENOSYS");
    let other = closed("syscall-x32", Outcome::Refused, "the kernel answers EPERM");
    assert_eq!(of_rows(refused(), other).verdict, Verdict::CauseChanged);
    let fault =
        |address: &str| closed("call", Outcome::Fault, &format!("SIGSEGV (#PF at {address}, error code 4)"));
    let moved = of_rows(fault("0x7f01"), fault("0x7f02"));
    assert_eq!(moved.verdict, Verdict::StillClosed, "addresses are drawn anew");
    // Trouble of the measurement is no fact about the entry.
    assert_eq!(
        of_rows(works(), closed("syscall-x32", Outcome::Error, "no memory")).verdict,
        Verdict::NoFigure
    );
    let mut noisy = works();
    (noisy.core_cycles, noisy.ns) = (None, None);
    assert_eq!(of_rows(works(), noisy).verdict, Verdict::NoFigure);
    let found =
        between(&[document(1, vec![works(), measured("call", "none", 4.0)])], &[document(2, vec![works()])]);
    assert_eq!(
        found.rows.last().map(|row| (row.verdict, row.entry.as_str())),
        Some((Verdict::Absent, "call"))
    );
}

#[test]
fn a_function_that_enters_the_kernel_now_is_remarked() {
    let served = |path| Row { path: Some(path), ..measured("vdso-x86_64", "time", 20.0) };
    let row = of_rows(served(Path::User), served(Path::Kernel));
    assert_eq!(row.remarks, ["it was served without entering the kernel, and is now served by the kernel"]);
    assert!(of_rows(served(Path::User), served(Path::User)).remarks.is_empty());
}

#[test]
fn nanoseconds_stand_in_only_where_core_cycles_are_withheld() {
    let mut withheld = measured("syscall-x86_64", "none", 300.0);
    withheld.core_cycles = None;
    let row = of_rows(withheld, measured("syscall-x86_64", "none", 300.0));
    assert_eq!(row.unit, Some(Unit::Ns));
    assert!((row.base.unwrap().estimate.unwrap() - 150.0).abs() < 1e-9);
    let percent = row.variation.unwrap().percent.unwrap();
    assert!((3.0..6.0).contains(&percent), "the clock's own variation: {percent}");
}

/// Rows of an emulator, whose instructions are counted.
fn counted(id: u64, rows: &[(&str, f64)]) -> Document {
    let row = |(entry, count): &(&str, f64)| {
        let exact = Cost { ci_low: None, ci_high: None, ..cost::<Instructions>(*count, 0.0) };
        Row {
            timing: Timing::Emulated,
            instructions: Some(exact),
            core_cycles: None,
            ns: None,
            ..measured(entry, "none", 0.0)
        }
    };
    let mut document = document(id, rows.iter().map(row).collect());
    document.measurement.place = Place::new(Machine::QemuTcg, Kernel::Lab);
    document
}

#[test]
fn instructions_are_counted_and_need_no_more_runs() {
    let base = counted(1, &[("syscall-x86_64", 100.0), ("call", 2.0), ("int80-x86_64", 150.0)]);
    let new = counted(2, &[("syscall-x86_64", 110.0), ("call", 3.0), ("int80-x86_64", 150.0)]);
    let found = between(&[base], &[new]);
    let said: Vec<_> = found.rows.iter().map(|row| (&*row.entry, row.verdict, row.within_margin)).collect();
    assert_eq!(
        said,
        [
            ("syscall-x86_64", Verdict::Slower, false),
            ("call", Verdict::Slower, true),
            ("int80-x86_64", Verdict::Same, true)
        ]
    );
    let change = found.rows[0].change.as_ref().unwrap();
    assert_eq!((change.low, change.high, change.confidence), (10.0, 10.0, 1.0));
    assert_eq!(found.rows[0].variation.as_ref().unwrap().source, Source::Counted);
}

#[test]
fn what_makes_no_sense_is_refused_unless_it_is_forced() {
    let timed = document(1, vec![measured("syscall-x86_64", "none", 300.0)]);
    let emulated = counted(2, &[("syscall-x86_64", 100.0)]);
    let found = between(std::slice::from_ref(&timed), std::slice::from_ref(&emulated));
    assert!(found.refused && found.rows.is_empty() && found.gate.is_none());
    let ids: Vec<&str> = found.confounders.iter().map(|confounder| confounder.id.as_str()).collect();
    assert_eq!(&ids[..3], ["figures", "kernel-kind", "rows"], "the most serious first");
    let forced = with(&Settings { force: true, ..Settings::default() }, &[timed], &[emulated]);
    assert!(!forced.refused && forced.rows.iter().all(|row| row.change.is_none()));
}

#[test]
fn nothing_at_all_is_refused_and_never_a_panic() {
    let empty = document(1, Vec::new());
    for (base, new) in [(vec![], vec![]), (vec![empty.clone()], vec![]), (vec![empty.clone()], vec![empty])] {
        for force in [false, true] {
            let settings = Settings { force, gate: gate(&["3%"], &[]), ..Settings::default() };
            let found = with(&settings, &base, &new);
            assert!(found.rows.is_empty() && found.refused != force);
        }
    }
}

#[test]
fn what_else_differs_stands_before_any_number() {
    let base = document(1, vec![measured("libc", "time", 20.0)]);
    let mut new = document(2, vec![measured("libc", "time", 20.0)]);
    for (side, kernel, hash) in [(&mut base.clone(), "6.1", "aa"), (&mut new, "6.2", "bb")] {
        side.environment.kernel.release = Some(kernel.into());
        side.measurement.probes.insert("probe64".into(), hash.into());
    }
    let mut base = base;
    base.environment.kernel.release = Some("6.1".into());
    base.measurement.probes.insert("probe64".into(), "aa".into());
    base.environment.mitigations.insert("meltdown".into(), "Mitigation: PTI".into());
    new.environment.mitigations.insert("meltdown".into(), "Not affected".into());
    new.environment.boot_id = Some("another boot".into());
    base.environment.cpu.microcode = Some("0x1".into());
    let found = between(&[base], &[new]);
    let said: Vec<_> =
        found.confounders.iter().map(|c| (&*c.id, c.severity, c.base.join(","), c.new.join(","))).collect();
    let expected = [
        ("kernel", Severity::Caution, "6.1", "6.2"),
        ("mitigation:meltdown", Severity::Caution, "Mitigation: PTI", "Not affected"),
        ("probe:probe64", Severity::Caution, "aa", "bb"),
        ("boot", Severity::Caution, "a boot", "another boot"),
        ("microcode", Severity::Note, "0x1", ""),
    ];
    assert_eq!(said, expected.map(|(id, severity, base, new)| (id, severity, base.into(), new.into())));
    assert!(!found.refused);
}

#[test]
fn a_single_boot_against_others_is_a_caution_and_several_on_both_sides_are_a_note() {
    let of_boot = |id: u64, boot: &str| {
        let mut run = document(id, vec![measured("syscall-x86_64", "none", 300.0)]);
        run.environment.boot_id = Some(boot.into());
        run
    };
    let said = |base: &[Document], new: &[Document]| {
        let found = between(base, new);
        found.confounders.iter().find(|c| c.id == "boot").map(|c| (c.severity, c.meaning.clone()))
    };
    let (a, b, c, d) = (of_boot(1, "a"), of_boot(2, "b"), of_boot(3, "c"), of_boot(4, "d"));
    let again = of_boot(5, "a");
    let one = |base: &[Document]| {
        let (severity, meaning) = said(base, &[c.clone(), d.clone()]).unwrap();
        severity == Severity::Caution && meaning.contains("two or more boots a side")
    };
    assert!(one(std::slice::from_ref(&a)), "one run");
    assert!(one(&[a.clone(), again.clone()]), "two runs of one boot");
    assert_eq!(said(&[a.clone(), b.clone()], &[c, d]).unwrap().0, Severity::Note);
    assert_eq!(
        said(&[a.clone(), b], std::slice::from_ref(&again)).unwrap().0,
        Severity::Note,
        "a is on both"
    );
    assert_eq!(said(&[a], &[again]), None);
}

#[test]
fn the_history_of_this_machine_tells_how_much_a_row_varies() {
    let int80 = |id: u64, cycles: f64| document(id, vec![measured("int80-x86_64", "none", cycles)]);
    let history: Vec<Document> = (0..16).map(|run| int80(100 + run, 1300.0 + (run % 3) as f64)).collect();
    let compared = |history: &[Document]| {
        let (base, new) = (given(&[int80(1, 1300.0)]), given(&[int80(2, 1400.0)]));
        compare(Table::get(), &base, &new, &given(history).runs, &Settings::default()).rows.remove(0)
    };
    let heads = |history: &[Document]| {
        let (base, new) = (given(&[int80(1, 1300.0)]), given(&[int80(2, 1400.0)]));
        let found = compare(Table::get(), &base, &new, &given(history).runs, &Settings::default());
        found.history.into_iter().filter_map(|run| run.id).collect::<Vec<String>>()
    };
    assert_eq!((heads(&[]).len(), heads(&history).len()), (0, 16), "those that were used are named");
    let (without, with) = (compared(&[]), compared(&history));
    assert_eq!((without.verdict, with.verdict), (Verdict::Inconclusive, Verdict::Slower));
    let variation = with.variation.unwrap();
    assert_eq!((variation.source, variation.kept_runs), (Source::History, 16));
    assert!(variation.deviation.unwrap() < variation.prior.unwrap() / 2.0, "{variation:?}");
    // Runs of another kernel, and those of the sides, say nothing.
    let mut other = history.clone();
    other.iter_mut().for_each(|document| document.environment.kernel.release = Some("6.2".into()));
    assert_eq!(compared(&other).variation.unwrap().kept_runs, 0);
    assert_eq!(compared(&vec![int80(1, 1300.0); 5]).variation.unwrap().kept_runs, 0);
}

/// What was changed was measured again and again before and after; the kept runs of both were one group, in which the change itself
/// was taken for variation from run to run.
#[test]
fn kept_runs_on_both_sides_of_a_change_do_not_hide_it() {
    type Change = fn(&mut Document);
    let changes: [(&str, Change); 5] = [
        ("seccomp", |run| {
            run.environment.limits.seccomp = Some("filter".into());
            run.environment.limits.seccomp_filters = Some(1);
        }),
        ("mitigation", |run| {
            run.environment.mitigations.insert("meltdown".into(), "Mitigation: PTI".into());
        }),
        ("tracer", |run| run.environment.limits.tracer_pid = Some(1)),
        ("hypervisor", |run| run.environment.hypervisor.present = true),
        ("command", |run| run.measurement.command = Some("strace".into())),
    ];
    let run = |id: u64, cycles: f64| {
        let cycles = cycles * (1.0 + 0.001 * (id % 3) as f64);
        document(id, vec![measured("syscall-x86_64", "none", cycles)])
    };
    for (what, change) in changes {
        let changed = |id: u64| {
            let mut run = run(id, 414.0);
            change(&mut run);
            run
        };
        for (before, after) in [(0, 0), (1, 1), (1, 16), (4, 2), (16, 1), (16, 16)] {
            let mut history: Vec<Document> = (0..before).map(|id| run(100 + id, 300.0)).collect();
            history.extend((0..after).map(|id| changed(200 + id)));
            let (base, new) = (given(&[run(1, 300.0)]), given(&[changed(2)]));
            let history = given(&history).runs;
            let found = compare(Table::get(), &base, &new, &history, &Settings::default());
            let row = &found.rows[0];
            assert_eq!(row.verdict, Verdict::Slower, "{what}, {before} and {after}: {row:?}");
            let usable: u64 = [before, after].into_iter().filter(|runs| *runs > 1).sum();
            assert_eq!(row.variation.as_ref().unwrap().kept_runs, usable, "{what}");
        }
    }
}

#[test]
fn a_run_that_is_given_twice_counts_once() {
    let syscall = |id| document(id, vec![measured("syscall-x86_64", "none", 300.0)]);
    let found = between(&[syscall(1), syscall(1), syscall(3)], &[syscall(2)]);
    assert_eq!((found.base.runs.len(), found.new.runs.len()), (2, 1));
    assert!(found.confounders.iter().any(|confounder| confounder.id == "repeated-run"));
    assert_eq!(found.rows[0].base.as_ref().unwrap().figures, 2);
}

fn gate(above: &[&str], on: &[On]) -> Gate {
    Gate {
        above: above.iter().map(|rule| rule.parse().unwrap()).collect(),
        on: on.to_vec(),
        ..Gate::default()
    }
}

#[test]
fn a_gate_fails_where_the_interval_clears_the_limit_and_says_which_rows() {
    let side = |from: u64, syscall: f64, int80: f64| {
        [0.999, 1.0, 1.001].map(|run| {
            let rows = vec![
                measured("syscall-x86_64", "none", syscall * run),
                measured("int80-x86_64", "none", int80 * run),
                measured("vdso-x86_64", "time", 20.0),
            ];
            document(from + (run * 1000.0_f64).round() as u64, rows)
        })
    };
    let judged = |above: &[&str]| {
        let settings = Settings { gate: gate(above, &[]), ..Settings::default() };
        let gate = with(&settings, &side(0, 300.0, 1300.0), &side(5000, 345.0, 1335.0)).gate.unwrap();
        (gate.answer, gate.decided_by)
    };
    let syscall = || vec!["syscall-x86_64 none".to_string()];
    assert_eq!(judged(&["3%"]).0, GateAnswer::Regression);
    assert_eq!(judged(&["syscall-*=3%"]), (GateAnswer::Regression, syscall()));
    assert_eq!(judged(&["syscall-* none=10cycles"]), (GateAnswer::Regression, syscall()));
    assert_eq!(judged(&["syscall-*=15%"]), (GateAnswer::Inconclusive, syscall()), "the interval holds 15 %");
    assert_eq!(judged(&["syscall-*=25%"]), (GateAnswer::Pass, vec![]));
    assert_eq!(judged(&["3%", "syscall-*=25%"]).1, ["int80-x86_64 none"], "the last rule that fits counts");
    assert_eq!(judged(&["nothing-*=0%"]), (GateAnswer::Pass, vec![]));
    assert_eq!(
        judged(&["syscall-*=3%", "1000%"]),
        (GateAnswer::Regression, syscall()),
        "a rule for all rows names none"
    );
    for short in ["syscall=3%", "syscall none=3%", "syscall-x86_64=3%"] {
        assert_eq!(judged(&[short]), (GateAnswer::Regression, syscall()), "{short}");
    }
    assert_eq!(judged(&["vdso=1000%", "syscall=1000%", "int80=1000%"]), (GateAnswer::Pass, vec![]));
    // Of both limits the greater counts.
    assert_eq!(judged(&["syscall=3%,10cycles"]).0, GateAnswer::Regression);
    assert_eq!(judged(&["syscall=3%,1000cycles"]).0, GateAnswer::Pass);
    assert_eq!(judged(&["syscall=1000%,1cycle"]).0, GateAnswer::Pass);
    assert_eq!(judged(&["syscall=3%,45cycles"]).0, GateAnswer::Inconclusive);
}

/// Two runs a side failed a gate, because nothing told how much they vary.
#[test]
fn a_gate_fails_by_three_runs_a_side_and_not_by_fewer() {
    let runs = |from: u64, cycles: f64, runs: u64| -> Vec<Document> {
        (0..runs).map(|run| document(from + run, vec![measured("syscall-x86_64", "none", cycles)])).collect()
    };
    let settings = Settings { gate: gate(&["5%"], &[]), ..Settings::default() };
    let judged = |base: u64, new: u64, cost: f64| {
        let found = with(&settings, &runs(10, 300.0, base), &runs(20, cost, new));
        let row = found.rows[0].gate.clone().unwrap();
        (found.gate.unwrap(), found.rows[0].verdict, row.why)
    };
    for (base, new, missing) in [(1, 1, [2, 2]), (2, 2, [1, 1]), (5, 2, [0, 1]), (2, 3, [1, 0])] {
        let (answer, verdict, why) = judged(base, new, 600.0);
        assert_eq!((answer.answer, answer.missing), (GateAnswer::Inconclusive, missing));
        assert!(why.contains(&format!("{} more of the new side", missing[1])), "{why}");
        assert_eq!(verdict, Verdict::Slower, "which may be said without a gate");
    }
    let (answer, _, _) = judged(3, 3, 600.0);
    assert_eq!((answer.answer, answer.missing), (GateAnswer::Regression, [0, 0]));
    assert_eq!(judged(1, 1, 150.0).0.answer, GateAnswer::Pass, "fewer runs may pass");
}

/// So many more runs were told of inconclusive rows alone, and by the margin, whatever the gate's limit is.
#[test]
fn a_row_that_leaves_a_gate_open_tells_how_many_more_runs_decide_it() {
    let runs = |from: u64, cycles: f64, runs: u64| -> Vec<Document> {
        let cost = |run: u64| cycles * [0.98, 1.0, 1.02][run as usize % 3];
        (0..runs)
            .map(|run| document(from + run, vec![measured("syscall-x86_64", "none", cost(run))]))
            .collect()
    };
    let judged = |limit: &str, runs_a_side: u64, cost: f64| {
        let settings = Settings { gate: gate(&[limit], &[]), ..Settings::default() };
        let found = with(&settings, &runs(10, 300.0, runs_a_side), &runs(500, cost, runs_a_side));
        found.rows[0].clone()
    };
    let row = judged("7%", 3, 330.0);
    let gate = row.gate.unwrap();
    let interval = gate.interval.unwrap();
    assert_eq!((row.verdict, gate.answer), (Verdict::Slower, GateAnswer::Inconclusive), "{interval:?}");
    assert!(interval.low < 7.0 && interval.high > 7.0 && interval.limit == 7.0 && interval.unit.is_none());
    let more = gate.more_runs.unwrap();
    let after = |limit: &str, runs: u64| judged(limit, runs, 330.0).gate.unwrap().answer;
    assert!(more > 1 && after("7%", 3 + more) == GateAnswer::Regression, "{more}");
    // From above, too.
    let more = judged("13%", 3, 330.0).gate.unwrap().more_runs.unwrap();
    assert!(more > 1 && after("13%", 3 + more) == GateAnswer::Pass, "{more}");
    assert_eq!(judged("10%", 3, 330.0).gate.unwrap().more_runs, None, "just at the limit");
    assert_eq!(judged("50%", 3, 330.0).gate.unwrap().more_runs, None, "it passes");
    let lacks = judged("5%", 1, 600.0).gate.unwrap();
    assert!(lacks.answer == GateAnswer::Inconclusive && lacks.more_runs >= Some(2), "{lacks:?}");
}

#[test]
fn a_gate_names_rows_as_a_measurement_does() {
    let rows = [("syscall-x86_64", "none"), ("vdso-x86_64", "clock_gettime-realtime")];
    let idle = |rules: &[&str]| {
        let gate = gate(rules, &[]);
        let found = gate.idle(Table::get(), Some(Kernel::Linux), rows.into_iter());
        found.map(|(above, _)| above.to_string())
    };
    assert_eq!(idle(&["3%", "syscall=5%", "vdso clock_gettime=5%", "*=3%", "* clock_*=2%"]), None);
    for none in ["sysall=5%", "syscall clock_gettime=5%", "vdso none=5%", "int80-*=5%", "* time=5%"] {
        assert_eq!(idle(&["3%", none, "syscall=5%"]).as_deref(), Some(none));
    }
    let twice = gate(&["syscall=3%", "5%", "vdso=1%", "6%"], &[]);
    assert_eq!(twice.contradiction().unwrap().map(ToString::to_string), ["5%", "6%"]);
    assert!(gate(&["5%", "syscall=5%"], &[]).contradiction().is_none());
}

#[test]
fn the_rows_that_decide_come_first_among_those_of_their_verdict() {
    let side = |id: u64, factor: f64| {
        let rows = ["syscall-x86_64", "int80-x86_64", "vdso-x86_64"];
        document(id, rows.into_iter().map(|entry| measured(entry, "time", 300.0 * factor)).collect())
    };
    let names = |above: &str| {
        let settings = Settings { gate: gate(&[above], &[]), ..Settings::default() };
        let found = with(&settings, &[side(1, 1.0)], &[side(2, 3.0)]);
        assert!(found.rows.iter().all(|row| row.verdict == Verdict::Slower));
        found.rows[0].entry.clone()
    };
    for entry in ["syscall-x86_64", "int80-x86_64", "vdso-x86_64"] {
        assert_eq!(names(&format!("{entry}=1%")), entry);
    }
}

#[test]
fn a_gate_may_fail_on_what_closed() {
    let works = || document(1, vec![measured("syscall-x32", "none", 300.0), measured("call", "none", 4.0)]);
    let refused = || {
        document(2, vec![closed("syscall-x32", Outcome::Refused, "ENOSYS"), measured("call", "none", 4.0)])
    };
    let judged = |base: Document, new: Document, on: &[On]| {
        let settings = Settings { gate: gate(&[], on), ..Settings::default() };
        with(&settings, &[base], &[new]).gate.unwrap().answer
    };
    assert_eq!(judged(works(), refused(), &[On::Closed]), GateAnswer::Regression);
    assert_eq!(judged(works(), refused(), &[On::Opened]), GateAnswer::Pass);
    assert_eq!(judged(refused(), works(), &[On::Closed, On::Opened]), GateAnswer::Regression);
    let mut noisy = works();
    noisy.results[1].core_cycles = None;
    noisy.results[1].ns = None;
    let settings = Settings { gate: gate(&["call=3%"], &[]), ..Settings::default() };
    let noisy_again = noisy.clone();
    let found = with(&settings, &[works()], &[noisy]).gate.unwrap();
    assert_eq!((found.answer, found.decided_by), (GateAnswer::Inconclusive, vec!["call none".to_string()]));
    let found = with(&settings, &[works()], &[noisy_again]);
    let of_call = found.rows.iter().find(|row| row.entry == "call").unwrap();
    assert_eq!(of_call.gate.as_ref().unwrap().why, "it has no figure on the new side");
}

#[test]
fn settings_say_what_is_wrong_with_them() {
    let above =
        |text: &str| text.parse::<compare::Above>().map(|above| above.to_string()).map_err(|e| e.to_string());
    for good in ["3%", "0.5%", "10cycles", "5%,5cycles", "int80-*=5%,2cycles", "vdso-* getcpu=4cycles"] {
        assert_eq!(above(good), Ok(good.to_string()));
    }
    assert_eq!(above(" 1 cycle "), Ok("1cycles".into()));
    for bad in ["3", "", "%", "x%", "3 percent", "int80="] {
        assert_eq!(
            above(bad).unwrap_err(),
            format!(
                "\"{}\" is no limit: write a number with its unit, such as 3%, 10cycles or 3%,5cycles",
                bad.trim_start_matches("int80=")
            )
        );
    }
    for bad in ["-1%", "inf%", "NaN%", "1e999cycles"] {
        assert!(above(bad).unwrap_err().contains("zero or more"), "{bad}");
    }
    assert!(above("[=3%").unwrap_err().contains("is not a glob"));
    assert!(above("a b c=3%").unwrap_err().contains("is not a glob"));
    assert_eq!("1%,3cycles".parse(), Ok(Same { percent: 1.0, cycles: 3.0 }));
    assert_eq!("1%".parse(), Ok(Same { percent: 1.0, cycles: 0.0 }));
    assert!("1%,2%".parse::<Same>().unwrap_err().to_string().contains("twice"));
    assert_eq!("closed".parse(), Ok(On::Closed));
    assert!("shut".parse::<On>().unwrap_err().to_string().contains("opened, closed or changed"));
}

/// The row of an entry and no operation.
fn alone(entry: &str) -> Identity {
    let table = Table::get();
    Identity::of((table.entry(entry).unwrap(), table.operation("none").unwrap()))
}

#[test]
fn rows_stand_by_verdict_and_then_by_how_many_margins_they_changed() {
    // As docs/compare.md has it: 2.3 margins of 2 %, 8 of 5 cycles, within the margin, faster, the same.
    let base = [("int80-i386", 1435.0), ("call", 60.0), ("ud", 200.0), ("int3", 300.0), ("rdtsc", 20.0)];
    let new = [("int80-i386", 1501.0), ("call", 100.0), ("ud", 204.0), ("int3", 200.0), ("rdtsc", 20.0)];
    let found = between(&[counted(1, &base)], &[counted(2, &new)]);
    let order: Vec<&str> = found.rows.iter().map(|row| &*row.entry).collect();
    assert_eq!(order, ["call", "int80-i386", "ud", "int3", "rdtsc"]);
}

#[test]
fn pairs_of_rounds_count_alone() {
    let syscall = |id, cycles| given(&[document(id, vec![measured("syscall-x86_64", "none", cycles)])]);
    let pair = |change: f64| Pair { base: 300.0, new: 300.0 + change };
    let pairs = |change: f64| Paired {
        row: alone("syscall-x86_64"),
        pairs: (0..40).map(|turn| pair(change + f64::from(turn * 7 % 9) - 4.0)).collect(),
    };
    let found = |change: f64| {
        let (base, new) = (syscall(1, 300.0), syscall(2, 302.0));
        compare_pairs(Table::get(), &base, &new, &[pairs(change)], &Settings::default()).rows.remove(0)
    };
    let (told, same) = (found(3.0), found(0.1));
    assert_eq!((told.verdict, told.within_margin, same.verdict), (Verdict::Slower, true, Verdict::Same));
    let variation = told.variation.unwrap();
    assert_eq!((variation.source, variation.pairs), (Source::Pairs, 40));
    assert_eq!((variation.deviation, variation.prior, variation.of_runs), (None, None, 0.0));
    let change = told.change.unwrap();
    let rank = SignedRank::of(&pairs(3.0).pairs).unwrap();
    assert_eq!((change.low, change.high), rank.interval(0.05));
    assert_eq!((change.estimate, change.p), (3.0, rank.p(0.0)));
    assert_eq!(told.new.unwrap().estimate, Some(302.0), "as it was measured");
}

/// A run of the lab with a row in each of these configurations.
fn in_lab(id: u64, entry: &str, configurations: &[&[(&str, &str)]]) -> Document {
    let row = |configuration: &&[(&str, &str)]| {
        let pairs = configuration.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Row { configuration: pairs.collect(), ..measured(entry, "none", 300.0) }
    };
    let mut document = document(id, configurations.iter().map(row).collect());
    document.measurement.place = Place::new(Machine::QemuTcg, Kernel::Lab);
    document
}

#[test]
fn rows_of_the_same_calls_in_other_configurations_are_refused_with_what_the_configurations_differ_in() {
    let said = |base: &Document, new: &Document| {
        let found = between(std::slice::from_ref(base), std::slice::from_ref(new));
        assert!(found.refused);
        found.confounders.into_iter().find(|one| one.id == "rows").unwrap()
    };
    let of = |id, pti| in_lab(id, "call", &[&[("pti", pti), ("smap", "on")]]);
    let rows = said(&of(1, "on"), &of(2, "off"));
    assert_eq!((&rows.base[..], &rows.new[..]), (&["pti=on".into()][..], &["pti=off".into()][..]));
    assert!(rows.meaning.contains("kentry lab with a --set for each"), "{}", rows.meaning);
    let several = in_lab(3, "call", &[&[("pti", "on"), ("smap", "on")], &[("pti", "on"), ("smap", "off")]]);
    let rows = said(&several, &of(2, "off"));
    assert_eq!(
        (rows.base, rows.new),
        (vec!["pti=on,smap=off".into(), "pti=on,smap=on".into()], vec!["pti=off,smap=on".into()])
    );
    let rows = said(&of(1, "on"), &in_lab(4, "syscall-x86_64", &[&[("pti", "off"), ("smap", "on")]]));
    assert_eq!((&rows.base[..], &rows.new[..]), (&["1 row".into()][..], &["1 row".into()][..]));
    assert!(rows.meaning.contains("other calls"), "{}", rows.meaning);
    // Where no kernel has both, no configuration makes them comparable.
    let linux = document(5, vec![measured("call", "none", 300.0)]);
    let rows = said(&of(1, "on"), &linux);
    assert_eq!((&rows.base[..], &rows.new[..]), (&["1 row".into()][..], &["1 row".into()][..]));
    assert!(rows.meaning.contains("of different kernels"), "{}", rows.meaning);
}

#[test]
fn arms_on_two_kinds_of_core_have_their_rows_in_common() {
    let on = |id: u64, core: &str, cycles| {
        let mut document = document(id, vec![measured("syscall-x86_64", "none", cycles)]);
        let cpu = id as usize;
        document.measurement.cpus = vec![CpuUse { cpu, core: core.into(), ..CpuUse::default() }];
        document.results[0].cpu = Some(cpu);
        document
    };
    let (fast, small) = (on(1, "performance", 300.0), on(2, "efficient", 400.0));
    let as_runs = between(std::slice::from_ref(&fast), std::slice::from_ref(&small));
    assert!(as_runs.refused, "rows of different cores");
    let rows = as_runs.confounders.iter().find(|found| found.id == "rows").unwrap();
    assert_eq!(
        (&rows.base[..], &rows.new[..]),
        (&["core=performance".into()][..], &["core=efficient".into()][..])
    );
    let arm = |document: &Document| SideRuns {
        label: "arm".into(),
        runs: vec![Run::of_configuration(Table::get(), document, None, &BTreeMap::new())],
    };
    let pairs = (0..20).map(|turn| Pair { base: 300.0 + f64::from(turn % 3), new: 400.0 }).collect();
    let paired = [Paired { row: alone("syscall-x86_64"), pairs }];
    let found = compare_pairs(Table::get(), &arm(&fast), &arm(&small), &paired, &Settings::default());
    assert_eq!((found.refused, found.rows.len()), (false, 1));
    assert_eq!(found.rows[0].verdict, Verdict::Slower);
    assert_eq!(found.rows[0].variation.as_ref().unwrap().pairs, 20);
}

#[test]
fn a_guest_with_two_configurations_of_one_boot_each_was_taken_for_one_of_two_boots() {
    let side = |id: u64, boot: &str, cycles: f64, boots: usize| {
        let mut document = document(id, vec![measured("syscall-x86_64", "none", cycles)]);
        document.measurement.place = Place::new(Machine::QemuKvm, Kernel::Linux);
        document.environment.boot_id = Some(boot.into());
        let kernel = |outcome: &str, boots: usize| GuestKernel {
            outcome: outcome.into(),
            boots: vec![GuestBoot::default(); boots],
            ..GuestKernel::default()
        };
        document.environment.guest = Some(Guest {
            boots: vec![GuestBoot::default(); 2 * boots + 1],
            // Where nothing has figures, the number of boots does not matter.
            kernels: vec![
                kernel("ok", boots),
                kernel("ok", boots),
                kernel("unsupported", 1),
                kernel("error", 0),
            ],
            ..Guest::default()
        });
        document
    };
    let warned = |boots: usize| {
        let found = between(&[side(1, "a", 300.0, boots)], &[side(2, "b", 400.0, boots)]);
        found
            .confounders
            .iter()
            .any(|confounder| confounder.meaning.contains("one of them has a single boot"))
    };
    assert!(warned(1), "nothing in them tells how much boots differ");
    assert!(!warned(2));
}

#[test]
fn two_configurations_of_one_document_can_be_compared() {
    let row = |pti: &str, count| {
        let configuration = BTreeMap::from([("pti".to_string(), pti.to_string())]);
        Row { configuration, ..counted(1, &[("syscall-x86_64", count)]).results.remove(0) }
    };
    let mut both = document(1, vec![row("off", 20.0), row("on", 44.0)]);
    both.measurement.place = Place::new(Machine::QemuTcg, Kernel::Lab);
    let side = |document: &Document, pti: &str| {
        let configuration = BTreeMap::from([("pti".to_string(), pti.to_string())]);
        let run = Run::of_configuration(Table::get(), document, None, &configuration);
        SideRuns { label: pti.into(), runs: vec![run.unkept()] }
    };
    let found = compare(Table::get(), &side(&both, "off"), &side(&both, "on"), &[], &Settings::default());
    assert_eq!(found.rows.len(), 1);
    let row = &found.rows[0];
    assert_eq!((row.in_words(), row.verdict), ("syscall-x86_64 none".to_string(), Verdict::Slower));
    assert_eq!(row.change.as_ref().unwrap().estimate, 24.0);
    let neither = side(&both, "trampoline");
    assert!(compare(Table::get(), &side(&both, "off"), &neither, &[], &Settings::default()).refused);
}

#[test]
fn a_row_that_a_document_had_twice_was_dropped_without_a_word() {
    let syscall = |cycles| measured("syscall-x86_64", "none", cycles);
    let twice = document(1, vec![syscall(300.0), measured("call", "none", 8.0), syscall(900.0)]);
    let found = between(&[twice], &[document(2, vec![syscall(300.0), measured("call", "none", 8.0)])]);
    let warned = found.confounders.iter().find(|confounder| confounder.id == "repeated-row").unwrap();
    assert_eq!(
        (warned.severity, &*warned.base, &*warned.new),
        (Severity::Caution, &["syscall-x86_64 none".to_string()][..], &[][..])
    );
    let row = found.rows.iter().find(|row| row.entry == "syscall-x86_64").unwrap();
    assert_eq!(row.base.as_ref().unwrap().of_runs, [Some(300.0)], "the first counts");
}

/// Whatever numbers a document holds.
#[test]
fn hostile_numbers_make_no_panic_and_no_number_that_is_none() {
    let odd = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1e-300,
        1e19,
        -1e19,
        1e308,
        -1e308,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let row = |estimate: f64, reach: f64| {
        let mut row = measured("syscall-x86_64", "none", 1.0);
        row.core_cycles = Some(cost(estimate, reach));
        row
    };
    for (number, a) in odd.into_iter().enumerate() {
        for b in odd {
            for reach in [0.0, a, b, 1.0] {
                let side = |id: u64, value: f64| {
                    vec![
                        document(id, vec![row(value, reach)]),
                        document(id + 1, vec![row(value, 1.0)]),
                        document(id + 2, vec![row(b, reach)]),
                    ]
                };
                let settings =
                    Settings { gate: gate(&["3%", "call=1cycles"], &[On::Closed]), ..Settings::default() };
                let (base, new) = (given(&side(10, a)), given(&side(20, b)));
                let found = compare(Table::get(), &base, &new, &given(&side(30, b)).runs, &settings);
                let value = serde_json::to_value(&found).unwrap();
                let change = &value["rows"][0]["change"];
                // What is not finite is written as null.
                let is_whole = ["estimate", "low", "high", "confidence", "p"]
                    .iter()
                    .all(|name| change[name].is_number());
                assert!(change.is_null() || is_whole, "{number}: {a} {b} {reach}: {change}");
            }
        }
    }
}

#[test]
fn what_is_written_is_of_the_schema() {
    let schema: Value = serde_json::from_str(include_str!("../../../docs/compare.schema.json")).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let objections = |value: &Value| -> Vec<String> {
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
    };
    let settings = Settings {
        gate: gate(&["3%", "call none=1cycles"], &[On::Closed, On::Changed]),
        ..Settings::default()
    };
    let rows = |cycles: f64| {
        vec![
            measured("syscall-x86_64", "none", cycles),
            measured("int80-x86_64", "none", cycles),
            Row { path: Some(Path::User), ..measured("vdso-x86_64", "time", 20.0) },
            closed("lcall7-i386", Outcome::Fault, "SIGSEGV"),
            measured("rdpid", "none", -0.1),
        ]
    };
    let [timed, other] = [(1, 300.0), (2, 400.0)].map(|(id, cycles)| document(id, rows(cycles)));
    let [counts, more] = [(3, 10.0), (4, 90.0)].map(|(id, count)| counted(id, &[("call", count)]));
    let cases = [
        (timed.clone(), other),
        (counts.clone(), more),
        (timed.clone(), counts),
        (timed.clone(), document(5, vec![])),
    ];
    for (base, new) in cases {
        let found = serde_json::to_value(with(&settings, &[base], &[new])).unwrap();
        assert_eq!(objections(&found), Vec::<String>::new());
    }
    let one = [timed];
    let mut broken = serde_json::to_value(with(&settings, &one, &one)).unwrap();
    broken["rows"][0]["verdict"] = json!("better");
    broken["extra"] = json!(1);
    assert_eq!(objections(&broken).len(), 2, "{:?}", objections(&broken));
}

/// Reading a thread's CPU time costs 1,880 cycles in most runs and 3,000 in one of twenty. Two such runs on one side were a change where they were
/// surer of themselves than the others.
#[test]
fn two_odd_runs_of_five_are_no_change() {
    let run = |id: u64, cycles: f64, reach: f64| {
        let row = measured("libc", "clock_gettime-thread-cputime", cycles);
        document(id, vec![Row { core_cycles: Some(cost::<Cycles>(cycles, reach)), ..row }])
    };
    let side = |first: u64, runs: [(f64, f64); 5]| -> Vec<Document> {
        runs.iter().zip(first..).map(|((cycles, reach), id)| run(id, *cycles, *reach)).collect()
    };
    let base = side(1, [(1870.0, 600.0), (1878.0, 600.0), (1890.0, 600.0), (1874.0, 600.0), (1881.0, 600.0)]);
    let odd = side(11, [(1872.0, 600.0), (2992.0, 60.0), (1885.0, 600.0), (3009.0, 60.0), (1876.0, 600.0)]);
    let verdict = |new: &[Document]| {
        compare(Table::get(), &given(&base), &given(new), &[], &Settings::default()).rows.remove(0).verdict
    };
    assert_eq!(verdict(&odd), Verdict::Inconclusive);
    let dearer = side(21, [2990.0, 3000.0, 2995.0, 3004.0, 2991.0].map(|cycles| (cycles, 60.0)));
    assert_eq!(verdict(&dearer), Verdict::Slower, "what all runs have is one");
}

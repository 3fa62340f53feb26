//! The whole measurement on simulated machines, whose true costs are known: from a plan to a document, without a real probe
//! and without a clock. What a real machine's noise must not decide is checked here.

use crate::simulated::*;
use crate::tampered::tampered;
use document::{Document, Identity, Outcome, Row, Timing};
use environment::CoreType;
use measure::{CpuChoice, Earlier, Here, HostPlan, Setup, measure, select};
use process::{Errno, Error, Phase};
use record::{Failure, Footprint, Payload, Record, Verdict, abi};
use simulator::{Company, Cost, Counter, Cpu, Machine, Model, Neighbour, Subject};
use stats::{Cycles, LEAST_ROUNDS, NoiseKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::Duration;
use table::special::FIRST_SCREEN;
use table::{Kernel, Table};

/// A core that somebody uses all the time who takes little of it: the canary is 12 % slower, and an entry 13 % dearer.
fn mildly_shared(seed: u64) -> Machine {
    let mild = Neighbour {
        canary: (1.12, 1.12),
        entry: (1.13, 1.13),
        within: 0.001,
        ..Neighbour::new(Company::Always)
    };
    Machine::new(seed, Model { cpus: vec![Cpu { neighbour: mild, ..Cpu::default() }], ..Model::default() })
}

#[test]
fn only_earlier_runs_know_that_a_core_is_mildly_shared_throughout() {
    let syscall = |earlier: Earlier| {
        let document = Case { earlier, ..Case::few(mildly_shared(7)) }.document();
        document.results.into_iter().find(|row| row.entry == "syscall-x86_64").unwrap()
    };
    let alone = syscall(Earlier::default());
    assert!(alone.core_cycles.is_some(), "nothing in this run tells: {:?}", alone.noise);
    let core = Case::few(machine(7, &[Company::Never])).document().measurement.cpus[0].canary["64"];
    let known = syscall(Earlier { alone: [(CoreType::Uniform, core)].into(), ..Earlier::default() });
    assert_eq!(
        (known.core_cycles, known.noise.map(|noise| noise.kind)),
        (None, Some(stats::NoiseKind::Shared))
    );
    let elsewhere = syscall(Earlier { alone: [(CoreType::Efficient, core)].into(), ..Earlier::default() });
    assert!(elsewhere.core_cycles.is_some());
}

fn row<'a>(document: &'a Document, entry: &str, operation: &str) -> &'a Row {
    let found = document.results.iter().find(|row| row.entry == entry && row.operation == operation);
    found.unwrap_or_else(|| panic!("no row {entry} {operation}"))
}

fn ids_of(row: &Row) -> Ids {
    (row.entry_id.unwrap(), row.operation_id.unwrap())
}

fn estimate(row: &Row) -> f64 {
    row.core_cycles.unwrap_or_else(|| panic!("{} {}: {:?}", row.entry, row.operation, row.noise)).estimate.0
}

fn assert_true(row: &Row, truth: f64) {
    let found = estimate(row);
    let allowed = (truth.abs() * 0.005).max(0.5);
    assert!((found - truth).abs() <= allowed, "{} {}: {found} instead of {truth}", row.entry, row.operation);
}

fn has_no_figures(row: &Row) -> bool {
    (row.core_cycles, row.ticks, row.ns, row.throughput) == (None, None, None, None)
}

fn finding<'a>(document: &'a Document, id: &str) -> Option<&'a str> {
    document.findings.iter().find(|finding| finding.id == id).map(|finding| finding.verdict.as_str())
}

#[test]
fn every_row_of_the_table_comes_out_as_it_truly_costs() {
    let document = Case::on(quiet(1)).document();
    let expected: Vec<Ids> = Table::get().rows(Kernel::Linux).map(|(e, o)| (e.id, o.id)).collect();
    assert_eq!(document.results.iter().map(ids_of).collect::<Vec<_>>(), expected, "in the table's order");
    for row in &document.results {
        assert_true(row, cost(ids_of(row)));
        let cycles = row.core_cycles.unwrap();
        let (low, high) = (cycles.ci_low.unwrap(), cycles.ci_high.unwrap());
        let percentiles: Vec<Cycles> =
            [Some(cycles.min), Some(cycles.p50), cycles.p99, cycles.p999, Some(cycles.max)]
                .into_iter()
                .flatten()
                .collect();
        assert!(percentiles.is_sorted_by(|a, b| a.0 <= b.0), "{} {}: {cycles:?}", row.entry, row.operation);
        assert!(low.0 <= cycles.estimate.0 && cycles.estimate.0 <= high.0, "{cycles:?}");
        assert_eq!((row.outcome, row.timing, row.noise), (Outcome::Ok, Timing::Hardware, None));
        let (ticks, hertz) = (row.ticks.unwrap().estimate.0, document.measurement.tsc_hz.unwrap());
        let ns = row.ns.unwrap().estimate.0;
        assert!((ticks * 1e9 / hertz - ns).abs() <= 1e-6 * ns.abs(), "{ns} ns are {ticks} ticks");
    }
    assert!(finding(&document, "noise").unwrap().starts_with("Quiet: "), "{:?}", document.findings);
    assert_eq!(finding(&document, "changed"), None);
}

#[test]
fn an_entry_among_a_footprint_costs_what_it_evicts_besides() {
    for company in [Company::QUIET, Company::MIXED] {
        let footprints: Vec<Footprint> =
            ["0", "1", "64", "1024", "8,512"].map(|text| text.parse().unwrap()).into();
        let evicting = |row| Subject {
            evicts: if row == ids("syscall-x86_64", "none") { 9.0 } else { 0.0 },
            ..Subject::from(cost(row))
        };
        let case = Case { footprints: footprints.clone(), budget: 4.0, ..Case::few(machine(11, &[company])) };
        let document = case.costing(evicting).document();
        assert_eq!(document.results.len(), 3 * footprints.len());
        let mut figures = 0;
        for row in &document.results {
            let footprint = row.footprint().unwrap();
            assert_eq!(row.configuration[document::FOOTPRINT], footprint.to_string());
            assert!(
                footprint == Footprint::NONE || row.throughput.is_none(),
                "nothing is touched between bursts"
            );
            let evicted = if row.entry == "syscall-x86_64" { 9.0 } else { 0.0 };
            if row.core_cycles.is_some() {
                figures += 1;
                assert_true(row, cost(ids_of(row)) + evicted * (footprint.pages + footprint.lines) as f64);
            }
        }
        // Beside a neighbour there may be too few quiet rounds of the dearest.
        assert!(figures >= if company == Company::QUIET { document.results.len() } else { 6 }, "{figures}");
        let all: BTreeSet<_> =
            document.results.iter().map(|row| document.identity(Table::get(), row)).collect();
        assert_eq!(all.len(), document.results.len());
    }
}

/// Whole runs of all rows: a hundredth of the runs that others take, because each is minutes of a machine, and at most 20.
fn whole_runs() -> u64 {
    (simulator::runs(400) / 100).min(20)
}

/// The same on a processor whose counter advances in steps of 10 ns.
fn coarse(seed: u64, neighbours: &[Company]) -> Machine {
    let model = machine(seed, neighbours).model().clone();
    Machine::new(seed, Model { counter: Counter::with_step(2.6e9, 10.0), ..model })
}

/// The few rounds of one probe, that of the C library, did not know the clock well enough, and all rows were taken to be as unsure.
#[test]
fn on_a_coarse_counter_every_interval_was_three_percent_wide() {
    let document = Case::on(coarse(22, &[Company::QUIET; 2])).document();
    assert_eq!(document.measurement.tsc_step, Some(26.0));
    assert!(document.measurement.clock_error < Some(0.002), "{:?}", document.measurement.clock_error);
    let width = |row: &Row| {
        let cycles = row.core_cycles.unwrap();
        (cycles.ci_high.unwrap().0 - cycles.ci_low.unwrap().0) / cycles.estimate.0
    };
    let usual = |document: &Document| {
        let dear = document.results.iter().filter(|row| cost(ids_of(row)) > 200.0);
        stats::quantile_of(dear.map(width), 0.5).unwrap()
    };
    // What levels may add is in both.
    let fine = Case::on(machine(22, &[Company::QUIET; 2])).document();
    let (coarse, fine) = (usual(&document), usual(&fine));
    assert!(coarse < 1.1 * fine, "{coarse}, with a fine counter {fine}");
}

/// The clock's error is common to all rows of a run, so that they miss the truth together. So there are several runs, on quiet
/// cores and on such as lose rounds, with fine counters and coarse ones.
#[test]
fn intervals_hold_the_truth_over_whole_runs() {
    let (runs, mut rows, mut held, mut missed) = (whole_runs(), 0, 0, Vec::new());
    for seed in 30..30 + runs {
        let company = if seed % 2 == 0 { Company::QUIET } else { Company::MIXED };
        let machine = if seed % 4 < 2 { machine } else { coarse };
        let document = Case::on(machine(seed, &[company; 2])).document();
        for row in document.results.iter().filter(|row| row.core_cycles.is_some()) {
            let (cycles, truth) = (row.core_cycles.unwrap(), cost(ids_of(row)));
            let (low, high) = (cycles.ci_low.unwrap().0, cycles.ci_high.unwrap().0);
            rows += 1;
            match (low..=high).contains(&truth) {
                true => held += 1,
                false => {
                    missed.push(format!("{seed} {} {}: {truth:.1} {cycles:.1?}", row.entry, row.operation))
                }
            }
        }
    }
    println!("{held} of {rows} intervals hold the truth");
    // 95 of 100 are due; of 500 independent ones, give or take 1.
    assert!(rows >= 125 * runs, "{rows} rows have an interval");
    assert!(held * 100 >= rows * 93, "{held} of {rows} are held; missed are:\n{}", missed.join("\n"));
}

#[test]
fn it_goes_where_it_is_quiet() {
    for (neighbours, best) in [([Company::QUIET, Company::Always], 0), ([Company::NOISY, Company::QUIET], 1)]
    {
        let document = Case::on(machine(2, &neighbours)).document();
        for row in &document.results {
            assert_true(row, cost(ids_of(row)));
            assert_eq!(row.cpu, Some(best), "{} {}", row.entry, row.operation);
        }
        let rounds = |cpu| {
            let used = document.measurement.cpus.iter().find(|used| used.cpu == cpu);
            used.map_or(0, |used| used.rounds)
        };
        assert!(rounds(best) > 20 * rounds(1 - best), "{:?}", document.measurement.cpus);
    }
}

#[test]
fn where_every_core_is_shared_there_is_no_estimate_and_it_is_said() {
    let shared = || machine(3, &[Company::Always, Company::Always]);
    let (document, _) = Case::on(shared()).run();
    for row in &document.results {
        assert!(has_no_figures(row), "{} {}", row.entry, row.operation);
        assert_eq!(row.outcome, Outcome::Ok);
        let noise = row.noise.unwrap();
        assert_eq!(noise.kind, NoiseKind::Shared);
        let truth = cost(ids_of(row));
        assert!(noise.low.unwrap() <= noise.high.unwrap());
        assert!(noise.high.unwrap() > truth, "{} {}: {noise:?}, alone {truth}", row.entry, row.operation);
    }
    assert!(finding(&document, "noise").unwrap().contains("rows have no figure"), "{:?}", document.findings);
    assert!(finding(&document, "never-seen-quiet").is_some(), "{:?}", document.findings);
    // A round and a look at a CPU may begin just before the end.
    let seconds = document.measurement.seconds;
    assert!((2.0..6.1).contains(&seconds), "it tries on, up to three times the budget: {seconds} s");
}

#[test]
fn a_strict_budget_is_kept_whatever_rows_lack() {
    let shared = machine(3, &[Company::Always]);
    let document = Case { strict: true, ..Case::on(shared) }.document();
    let measurement = &document.measurement;
    assert!(measurement.seconds < 2.1 && measurement.strict_budget, "{} s", measurement.seconds);
    let quiet = Case { strict: true, ..Case::few(quiet(3)) }.document();
    assert!((0.9..1.1).contains(&quiet.measurement.seconds), "{} s", quiet.measurement.seconds);
}

#[test]
fn a_seed_decides_the_order() {
    let order = |seed| {
        let (_, executor) = Case { seed, budget: 0.001, strict: true, ..Case::on(quiet(4)) }.run();
        executor.asked
    };
    let (one, other) = (order(7), order(8));
    assert_eq!(one, order(7));
    assert_ne!(one, other);
    let each = |order: &[Asked]| order.iter().map(|asked| asked.row).collect::<BTreeSet<Ids>>();
    assert_eq!((each(&one), one.len()), (each(&other), other.len()), "the same rows, one whole sweep");
    assert_eq!(one.len(), Table::get().rows(Kernel::Linux).count());
}

#[test]
fn one_wrong_answer_takes_the_figures_away() {
    let wrong = ids("syscall-x86_64", "none");
    let case = Case::few(quiet(5)).changing(move |asked, records| {
        if asked.row != wrong || asked.before < 3 {
            return Ok(records);
        }
        let outcome =
            Verdict { outcome: abi::OUTCOME_MISMATCH, cause: abi::CAUSE_ANSWER, detail: [1, 2, 2, 0] };
        let (entry, operation) = asked.row;
        Ok(vec![Record { entry, operation, payload: Payload::Outcome(outcome) }])
    });
    let (document, executor) = case.run();
    let row = row(&document, "syscall-x86_64", "none");
    assert_eq!(row.outcome, Outcome::Mismatch);
    assert!(has_no_figures(row) && row.noise.is_none());
    assert_eq!(row.reason.as_deref(), Some("it answered 1 where 2 is right"));
    let asked = executor.asked.iter().filter(|asked| asked.row == wrong).count();
    assert_eq!(asked, 4, "it is not asked again");
}

/// A row of an entry that always fails so, beside one that does not.
fn failing(entry: &str, failure: Failure) -> (Outcome, String) {
    let failing = ids(entry, "none");
    let entries = vec!["call".into(), entry.into()];
    let case = Case { budget: 0.1, entries, ..Case::few(quiet(6)) };
    let change = move |asked: Asked, records| {
        if asked.row == failing { Err(failure.clone()) } else { Ok(records) }
    };
    let document = case.changing(change).document();
    assert_true(row(&document, "call", "none"), 8.0);
    let failed = row(&document, entry, "none");
    assert!(has_no_figures(failed) && failed.noise.is_none(), "{failed:?}");
    (failed.outcome, failed.reason.clone().unwrap())
}

fn not_started(phase: Phase, errno: Errno) -> Failure {
    Failure::Process(Error::NotStarted { phase, errno })
}

#[test]
fn failures_are_outcomes_with_their_reason() {
    let garbage = record::parse(b"no records at all, but long enough").unwrap_err();
    let two_seconds = Duration::from_secs(2);
    for (failure, outcome, reason) in [
        (Error::Timeout(two_seconds).into(), Outcome::Timeout, "the probe did not end within 2s"),
        (Error::Flood(100).into(), Outcome::Error, "the probe wrote more than 100 bytes"),
        (Failure::Killed(9), Outcome::Error, "the probe was killed by SIGKILL"),
        (Failure::Killed(31), Outcome::Refused, "killed by SIGSYS: a seccomp filter forbids the call"),
        (Failure::Exited(3), Outcome::Error, "the probe exited with status 3"),
        (Failure::Silent, Outcome::Error, "the probe said nothing"),
        (
            Failure::Garbage(garbage),
            Outcome::Error,
            "probe64: record 0 does not begin with the magic number at byte 0",
        ),
        (
            not_started(Phase::Pin, Errno::EINVAL),
            Outcome::Error,
            "the probe could not be started: pinning it to the CPU failed with EINVAL (Invalid argument)",
        ),
    ] {
        assert_eq!(failing("rdtsc", failure), (outcome, reason.to_string()));
    }
    // A kernel may well not execute 32-bit programs; the 64-bit probe must run.
    let not_executed = || not_started(Phase::Execute, Errno::ENOEXEC);
    assert_eq!(failing("int80-i386", not_executed()).0, Outcome::Unsupported);
    assert_eq!(failing("rdtsc", not_executed()).0, Outcome::Error);
}

#[test]
fn one_eagain_discarded_the_rows_good_rounds() {
    let busy = not_started(Phase::Fork, Errno::EAGAIN);
    let failure = busy.clone();
    let case =
        Case::few(quiet(7)).changing(
            move |asked, records| {
                if asked.before % 4 == 2 { Err(failure.clone()) } else { Ok(records) }
            },
        );
    let (document, executor) = case.run();
    for row in &document.results {
        assert_true(row, cost(ids_of(row)));
        let asked = executor.asked.iter().filter(|asked| asked.row == ids_of(row)).count() as u64;
        assert_eq!(row.counts.rounds, asked - (asked + 1) / 4, "every fourth is lost, and no other");
    }
    // A machine that never has room is another matter.
    let (outcome, reason) = failing("rdtsc", busy);
    assert_eq!(outcome, Outcome::Error);
    assert!(reason.contains("making its process failed with EAGAIN"), "{reason}");
}

#[test]
fn records_of_another_row_are_not_taken() {
    let case = Case::few(quiet(8)).changing(|_, mut records| {
        records.iter_mut().for_each(|record| record.operation += 1);
        Ok(records)
    });
    for row in &case.document().results {
        assert_eq!(row.outcome, Outcome::Error);
        assert_eq!(row.reason.as_deref(), Some("the probe answered for another row"));
    }
}

#[test]
fn records_without_a_verdict_are_an_error() {
    let case = Case::few(quiet(9)).changing(|_, mut records| {
        records.retain(|record| !matches!(record.payload, Payload::Outcome(_)));
        Ok(records)
    });
    for row in &case.document().results {
        assert_eq!((row.outcome, row.reason.as_deref()), (Outcome::Error, Some("the probe gave no verdict")));
    }
}

#[test]
fn an_interruption_leaves_what_was_measured_marked_partial() {
    let all = Table::get().rows(Kernel::Linux).count();
    for (after, rows) in [(3, 3), (40 + all, all)] {
        let case = Case { budget: 60.0, ..Case::on(quiet(10)) };
        let (interrupt, mut runs) = (case.interrupt.clone(), 0);
        let (document, executor) = case
            .changing(move |_, records| {
                runs += 1;
                interrupt.store(runs >= after, Ordering::Relaxed);
                Ok(records)
            })
            .run();
        assert!(document.measurement.partial);
        assert!(finding(&document, "partial").is_some(), "{:?}", document.findings);
        assert_eq!(executor.asked.len(), after, "nothing is begun after it");
        assert_eq!(document.results.len(), rows, "rows that had no turn are left out");
        assert!(document.results.iter().all(|row| row.outcome == Outcome::Ok));
    }
}

/// The rows of the first screen come first: an interruption after a quarter of the budget finds them measured.
#[test]
fn an_interrupted_run_has_the_first_screen() {
    let case = Case { budget: 8.0, ..Case::on(quiet(10)) };
    let interrupt = case.interrupt.clone();
    let first: Vec<Ids> = FIRST_SCREEN.iter().map(|name| ids(name.entry, name.operation)).collect();
    let enough = first.len() * LEAST_ROUNDS;
    let (first_rows, mut of_them) = (first.clone(), 0);
    let document = case
        .changing(move |asked, records| {
            of_them += usize::from(first_rows.contains(&asked.row) && asked.before < LEAST_ROUNDS);
            interrupt.store(of_them >= enough, Ordering::Relaxed);
            Ok(records)
        })
        .document();
    assert!(
        document.measurement.partial && document.measurement.seconds < 2.0,
        "{}",
        document.measurement.seconds
    );
    let shown = document.results.iter().filter(|row| first.contains(&ids_of(row)));
    assert!(shown.clone().count() == first.len() && shown.clone().all(|row| row.core_cycles.is_some()));
    let others = document.results.iter().filter(|row| !first.contains(&ids_of(row)));
    assert!(
        others.clone().all(|row| row.counts.rounds < LEAST_ROUNDS as u64),
        "the others had one round or two"
    );
}

#[test]
fn a_probe_that_ends_with_the_command_is_no_failure_of_its_row() {
    let case = Case::few(quiet(11));
    let interrupt = case.interrupt.clone();
    let document = case
        .changing(move |asked, records| {
            if asked.before < 8 {
                return Ok(records);
            }
            interrupt.store(true, Ordering::Relaxed);
            Err(Failure::Killed(2))
        })
        .document();
    assert!(document.results.iter().all(|row| row.outcome == Outcome::Ok && row.counts.rounds >= 1));
    assert!(document.results.iter().any(|row| row.counts.rounds == 8), "one of them was ended in its ninth");
}

#[test]
fn an_emulator_that_says_its_name_is_not_timed() {
    let mut environment = known_processor(0x8f);
    environment.hypervisor.signature = Some("TCGTCGTCGTCG".into());
    let document = Case { environment, ..Case::few(quiet(12)) }.document();
    assert_not_timed(&document);
    assert!(finding(&document, "emulated").is_some(), "{:?}", document.findings);
}

fn assert_not_timed(document: &Document) {
    for row in &document.results {
        assert_eq!((row.outcome, row.timing), (Outcome::Ok, Timing::Emulated));
        assert!(has_no_figures(row) && row.noise.is_none() && row.rounds.is_empty(), "{row:?}");
    }
    let measurement = &document.measurement;
    assert_eq!((measurement.cycles_per_tick, measurement.quiet_share), (None, None));
}

/// As in an emulator, where one instruction takes about as long as another: the chain of xor, which has three times as many,
/// takes three times as long as that of imul.
fn emulated(mut records: Vec<Record>) -> Vec<Record> {
    for record in &mut records {
        if let Payload::Canary(canary) = &mut record.payload {
            // On the simulated core, as on a real one, both take equally long.
            let [_, second, third, ..] = canary.stamps;
            canary.stamps[3] += 2 * (third - second);
            canary.stamps[4] += 2 * (third - second);
        }
    }
    records
}

#[test]
fn an_emulator_is_known_by_its_behavior_too() {
    let document = Case::few(quiet(13)).changing(|_, records| Ok(emulated(records))).document();
    assert_not_timed(&document);
    assert!(finding(&document, "emulated").is_some(), "{:?}", document.findings);
}

#[test]
fn where_lfence_does_not_order_nothing_is_timed() {
    let mut model = quiet(14).model().clone();
    model.counter.ordered = false;
    let document = Case::few(Machine::new(14, model)).document();
    for row in &document.results {
        assert!(has_no_figures(row) && row.outcome == Outcome::Ok, "{row:?}");
    }
    assert!(finding(&document, "order").is_some(), "{:?}", document.findings);
    assert!((document.measurement.lfence_order.unwrap() - 1.0).abs() > stats::ORDER_TOLERANCE);
}

#[test]
fn tracing_that_is_switched_on_in_mid_run_is_noticed() {
    let sentinel = ids("syscall-x86_64", "none");
    let tracing = |at| {
        Case::few(quiet(15)).costing(move |row| {
            let switched = Cost::steps(305.0, &[(Duration::from_secs_f64(at), 9417.0)]);
            if row == sentinel { Subject::new(switched) } else { Subject::from(cost(row)) }
        })
    };
    let document = tracing(0.5).document();
    let change = finding(&document, "changed").unwrap();
    // The row is measured every 150 ms.
    let is_when = ["0.5 s", "0.6 s"].iter().any(|at| change.contains(&format!("until {at}")));
    assert!(is_when && change.contains("cost 305 core cycles") && change.contains("and 94"), "{change}");
    let steady = tracing(1000.0).document();
    assert_eq!(finding(&steady, "changed"), None);
}

#[test]
fn two_kinds_of_core_are_shown_side_by_side() {
    let case = Case {
        cpus: CpuChoice::EveryKind,
        cores: vec![CoreType::Performance, CoreType::Performance, CoreType::Efficient, CoreType::Efficient],
        environment: known_processor(0x97),
        budget: 2.0,
        ..Case::few(machine(16, &[Company::QUIET; 4]))
    };
    let costs = |row| Subject::new(Cost::per_cpu(&[cost(row), cost(row), 2.0 * cost(row)]));
    let document = case.costing(costs).document();
    let kinds: Vec<&str> = document.results.iter().map(|row| row.configuration["core"].as_str()).collect();
    assert_eq!(kinds, [["performance"; 3], ["efficient"; 3]].concat());
    for row in &document.results {
        let factor = if row.configuration["core"] == "efficient" { 2.0 } else { 1.0 };
        assert_true(row, factor * cost(ids_of(row)));
    }
    // Without being asked for, efficient cores are not measured.
    let case = Case {
        cores: vec![CoreType::Efficient, CoreType::Performance],
        ..Case::few(machine(16, &[Company::QUIET; 2]))
    };
    let ordinary = Case { environment: known_processor(0x97), ..case }.document();
    assert!(ordinary.results.iter().all(|row| row.configuration.is_empty() && row.cpu == Some(1)));
    // What was measured is the same as on the performance cores of the other run.
    let identities = |document: &Document| -> Vec<Identity> {
        document.results.iter().map(|row| document.identity(Table::get(), row)).collect()
    };
    let (of_every, of_ordinary) = (identities(&document), identities(&ordinary));
    assert_eq!(of_every[..3], of_ordinary);
    assert!(of_every[3..].iter().all(|efficient| !of_ordinary.contains(efficient)));
}

#[test]
fn one_cpu_that_is_named_is_the_only_one() {
    let noisy_second = machine(17, &[Company::QUIET, Company::Always]);
    let (document, executor) = Case { cpus: CpuChoice::Only(1), ..Case::few(noisy_second) }.run();
    assert!(executor.asked.iter().all(|asked| asked.cpu == 1));
    assert!(document.results.iter().all(has_no_figures), "it stays there, noisy as it is");
}

#[test]
fn of_more_than_a_thousand_cpus_some_are_used() {
    let (document, executor) = Case::few(machine(18, &[Company::QUIET; 1500])).run();
    let used: BTreeSet<usize> = executor.asked.iter().map(|asked| asked.cpu).collect();
    assert!((2..=16).contains(&used.len()) && used.contains(&1499), "{used:?}");
    document.results.iter().for_each(|row| assert_true(row, cost(ids_of(row))));
}

#[test]
fn costs_that_differ_by_cpu_are_not_mixed() {
    let sentinel = ids("syscall-x86_64", "none");
    let mut cpus = BTreeSet::new();
    for seed in 0..4 {
        let case = Case { budget: 0.5, ..Case::few(machine(seed, &[Company::MIXED, Company::MIXED])) };
        let costs = move |row| match row == sentinel {
            true => Subject::new(Cost::per_cpu(&[1285.0, 1330.0])),
            false => Subject::from(cost(row)),
        };
        let (document, executor) = case.costing(costs).run();
        cpus.extend(executor.asked.iter().map(|asked| asked.cpu));
        let row = row(&document, "syscall-x86_64", "none");
        assert_true(row, [1285.0, 1330.0][row.cpu.unwrap()]);
        assert_eq!(finding(&document, "changed"), None, "a CPU's own cost is no change");
    }
    assert_eq!(cpus.len(), 2, "both were measured on");
}

#[test]
fn a_saved_document_gives_the_same_figures_and_findings_to_the_last_bit() {
    for machine in [quiet(19), machine(19, &[Company::MIXED; 2]), machine(19, &[Company::Always])] {
        let document = Case { budget: 1.0, ..Case::on(machine) }.document();
        let saved = document::load(&serde_json::to_string(&document).unwrap()).unwrap();
        assert_eq!(saved, document);
        assert!(!document.findings.is_empty());
        assert_eq!(measure::recompute(&saved).unwrap(), document);
        let tampered = tampered(saved);
        for (tampered, row) in tampered.results.iter().zip(&document.results) {
            assert_ne!(tampered, row, "every row was tampered with");
        }
        assert_eq!(measure::recompute(&tampered).unwrap(), document);
    }
}

#[test]
fn a_figure_that_is_not_finite_is_none() {
    let mut document = Case::few(quiet(22)).document();
    document.measurement.tsc_hz = Some(0.0);
    let error = document::recompute(&document).unwrap_err().to_string();
    assert_eq!(error, "call none: a figure that its rounds give is not finite");
}

#[test]
fn a_throughput_below_that_of_a_call_is_withheld() {
    let withheld = ids("rdtsc", "none");
    let costs = move |row| {
        let burst = (row == withheld).then_some(Cost::Constant(-0.3));
        Subject { burst, ..Subject::from(cost(row)) }
    };
    let document = Case::few(quiet(20)).costing(costs).document();
    for row in &document.results {
        assert_true(row, cost(ids_of(row)));
        let is_withheld = ids_of(row) == withheld;
        assert_eq!((row.throughput.is_none(), row.throughput_withheld.is_some()), (is_withheld, is_withheld));
    }
    let reason = row(&document, "rdtsc", "none").throughput_withheld.clone().unwrap();
    assert!(reason.contains("less than a call and return takes"), "{reason}");
    assert_eq!(measure::recompute(&tampered(document.clone())).unwrap(), document, "it stays withheld");
    let mut without_floor = document.clone();
    without_floor.results.retain(|row| ids_of(row) != ids("call", "none"));
    let again = measure::recompute(&without_floor).unwrap();
    assert_eq!(
        again.results, without_floor.results,
        "even if the row that it was compared with is not shown"
    );
}

#[test]
fn there_is_nothing_to_measure_on_without_a_cpu() {
    let rows = select::rows(Table::get(), Kernel::Linux, &["call".into()], &[]).unwrap();
    let plan = HostPlan {
        rows,
        footprints: Vec::new(),
        cpus: CpuChoice::Quiet,
        budget: Duration::from_secs(1),
        strict_budget: false,
        seed: 1,
        realtime: false,
    };
    let Case { machine, cost, change, interrupt, environment, .. } = Case::few(quiet(21));
    let mut executor = Simulated { machine, cost, change, asked: Vec::new() };
    let setup = Setup {
        executor: &mut executor,
        parent: 1,
        here: Here {
            cpus: BTreeMap::new(),
            realtime_refused: None,
            interrupt,
            environment,
            earlier: Earlier::default(),
        },
    };
    let error = measure(&plan, setup, &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "there is no CPU to measure on");
}

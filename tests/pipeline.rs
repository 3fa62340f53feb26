//! The measurement with an executor that answers from memory: what a machine's noise must not decide is checked here.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use document::{Document, Outcome, Warning};
use environment::Environment;
use host::{Executor, Interrupt};
use kentry::cli::{Cli, MeasureArgs};
use kentry::measure::{Setting, measure};
use kentry::plan::Plan;
use process::{Errno, Error, Phase};
use record::{Canary, Failure, Lengths, Payload, Record, Sample, Verdict, abi};
use table::{Kernel, Probe, Table};

/// What a probe run answers, by row and by how often that row was asked before.
type Answer = dyn FnMut(u16, u16, usize) -> Result<Vec<Record>, Failure>;

struct Fake {
    answer: Box<Answer>,
    asked: Vec<(u16, u16)>,
}

impl Executor for Fake {
    fn run(&mut self, _probe: Probe, _cpu: usize, arguments: &[String]) -> Result<Vec<Record>, Failure> {
        if arguments.len() == 1 {
            return Err(Failure::Silent);
        }
        let number = |place: u64| arguments[place as usize - 1].parse().unwrap();
        let row = (number(abi::REQUEST_ENTRY), number(abi::REQUEST_OPERATION));
        let before = self.asked.iter().filter(|asked| **asked == row).count();
        self.asked.push(row);
        (self.answer)(row.0, row.1, before)
    }
}

/// The records of a round on a machine where a tick is half a cycle and the entry costs `ticks`.
fn round(entry: u16, operation: u16, ticks: u64) -> Vec<Record> {
    let of = |payload| Record { entry, operation, payload };
    let verdict = Verdict { outcome: abi::OUTCOME_OK, cause: 0, detail: [0; 4] };
    let canary = Canary { stamps: [0, 40, 464, 888, 1178], cpu: 0, preemptions: 0 };
    let sample = Sample { stamps: [0, 424, 464, 504 + ticks] };
    vec![
        of(Payload::Begin(Lengths { bits: 64, imuls: 256, xors: 768, nots: 2000, burst: 16, chains: 8 })),
        of(Payload::Fact { fact: abi::FACT_PATH, value: abi::PATH_USER }),
        of(Payload::Outcome(verdict)),
        of(Payload::Canary(canary)),
        of(Payload::Samples(vec![sample; 64])),
        of(Payload::Canary(canary)),
        of(Payload::Bursts(vec![Sample { stamps: [0, 16, 16, 32 + 16 * ticks] }])),
        of(Payload::End { preemptions: 0, minor_faults: 0 }),
    ]
}

fn arguments(words: &[&str]) -> MeasureArgs {
    use clap::Parser;
    Cli::try_parse_from([&["kentry"], words].concat()).unwrap().measure
}

fn run(
    words: &[&str],
    answer: impl FnMut(u16, u16, usize) -> Result<Vec<Record>, Failure> + 'static,
) -> (Document, Fake) {
    let plan = Plan::new(Table::get(), &arguments(words), 1).unwrap();
    let mut fake = Fake { answer: Box::new(answer), asked: Vec::new() };
    let setting = Setting {
        executor: &mut fake,
        cpu: 0,
        realtime: false,
        interrupt: Interrupt::default(),
        environment: Environment::default(),
        warnings: Vec::new(),
    };
    let document = measure(&plan, setting, &mut |_, _| {});
    (document, fake)
}

#[test]
fn every_row_of_the_table_gets_its_figure_in_the_tables_order() {
    let (document, fake) = run(&["--budget", "0.3"], |entry, operation, _| Ok(round(entry, operation, 100)));
    let expected: Vec<_> =
        Table::get().rows(Kernel::Linux).map(|(e, o)| (e.name.clone(), o.name.clone())).collect();
    let found: Vec<_> =
        document.results.iter().map(|row| (row.entry.clone(), row.operation.clone())).collect();
    assert_eq!(found, expected);
    assert!(fake.asked.len() >= expected.len());
    for row in &document.results {
        assert_eq!(row.outcome, Outcome::Ok);
        let (cycles, ticks) = (row.core_cycles.unwrap(), row.ticks.unwrap());
        assert_eq!((cycles.estimate.0, ticks.estimate.0), (200.0, 100.0), "{}", row.entry);
        assert_eq!(row.instructions, None);
    }
}

#[test]
fn a_seed_decides_the_order_of_the_first_sweep() {
    let order = |seed: &str| {
        let (_, fake) = run(&["--budget", "0.001", "--seed", seed], |e, o, _| Ok(round(e, o, 100)));
        fake.asked
    };
    assert_eq!(order("7"), order("7"));
    assert_ne!(order("7"), order("8"));
}

#[test]
fn one_wrong_answer_takes_the_number_away() {
    let (document, fake) =
        run(&["--entry", "syscall-x86_64", "--operation", "getppid", "--budget", "0.2"], |e, o, before| {
            if before < 3 {
                return Ok(round(e, o, 100));
            }
            let verdict =
                Verdict { outcome: abi::OUTCOME_MISMATCH, cause: abi::CAUSE_ANSWER, detail: [1, 2, 2, 0] };
            Ok(vec![Record { entry: e, operation: o, payload: Payload::Outcome(verdict) }])
        });
    let [row] = document.results.as_slice() else { panic!() };
    assert_eq!((row.outcome, row.core_cycles, row.ns), (Outcome::Mismatch, None, None));
    assert_eq!(row.reason.as_deref(), Some("it answered 1 where 2 is right"));
    assert_eq!(fake.asked.len(), 4, "and it is not asked again");
}

#[test]
fn failures_are_outcomes_with_their_reason() {
    fn failing(failure: impl Fn() -> Failure + 'static) -> (Outcome, String) {
        let (document, _) =
            run(&["--entry", "vdso-i386", "--operation", "time", "--budget", "0.01"], move |_, _, _| {
                Err(failure())
            });
        let row = document.results.into_iter().next().unwrap();
        (row.outcome, row.reason.unwrap())
    }
    assert_eq!(
        failing(|| Failure::Process(Error::Timeout(std::time::Duration::from_secs(2)))).0,
        Outcome::Timeout
    );
    assert_eq!(failing(|| Failure::Killed(9)), (Outcome::Error, "the probe was killed by SIGKILL".into()));
    let not_executed = Error::NotStarted { phase: Phase::Execute, errno: Errno::ENOEXEC };
    assert_eq!(failing(move || Failure::Process(not_executed)).0, Outcome::Unsupported);
    assert_eq!(failing(|| Failure::Silent).0, Outcome::Error);
    let garbage = || Failure::Garbage(record::parse(b"no records at all, but long enough").unwrap_err());
    assert_eq!(failing(garbage).1, "probe32: record 0 does not begin with the magic number at byte 0");
}

#[test]
fn one_eagain_discarded_the_rows_good_rounds() {
    let busy = |phase| Failure::Process(Error::NotStarted { phase, errno: Errno::EAGAIN });
    let (document, fake) = run(&["--entry", "call", "--budget", "0.1"], move |e, o, before| match before {
        2 => Err(busy(Phase::Fork)),
        3 => Err(busy(Phase::Execute)),
        _ => Ok(round(e, o, 100)),
    });
    assert!(fake.asked.len() > 4, "it is asked again");
    let row = &document.results[0];
    assert_eq!((row.outcome, row.ticks.unwrap().estimate.0), (Outcome::Ok, 100.0));

    let (document, _) = run(&["--entry", "call", "--budget", "0.1"], move |_, _, _| Err(busy(Phase::Fork)));
    let row = &document.results[0];
    assert_eq!((row.outcome, row.ticks), (Outcome::Error, None));
    assert!(row.reason.as_deref().unwrap().contains("making its process failed with EAGAIN"), "{row:?}");
}

#[test]
fn records_of_another_row_are_not_taken() {
    let (document, _) = run(&["--entry", "call", "--budget", "0.01"], |e, o, _| Ok(round(e + 1, o, 100)));
    assert_eq!(document.results[0].outcome, Outcome::Error);
    assert_eq!(document.results[0].reason.as_deref(), Some("the probe answered for another row"));
}

#[test]
fn a_chain_that_does_not_hold_takes_core_cycles_away_and_says_so() {
    let (document, _) = run(&["--entry", "call", "--budget", "0.01"], |e, o, _| {
        let mut records = round(e, o, 100);
        for record in &mut records {
            if let Payload::Canary(canary) = &mut record.payload {
                canary.stamps = [0, 40, 664, 1088, 1378];
            }
        }
        Ok(records)
    });
    let row = &document.results[0];
    assert_eq!((row.core_cycles, row.throughput), (None, None));
    assert!(row.ticks.is_some());
    let told = document
        .measurement
        .warnings
        .iter()
        .any(|warning| matches!(warning, Warning::ChainRatio { bits: 64, .. }));
    assert!(told, "{:?}", document.measurement.warnings);
    assert_eq!(document.measurement.cycles_per_tick, None);
}

#[test]
fn with_most_rounds_on_a_shared_core_there_is_no_interval_but_a_warning() {
    let (document, _) = run(&["--entry", "call", "--budget", "0.3"], |e, o, before| {
        let mut records = round(e, o, 100);
        // One round in five has the core to itself; the nots of the others take half as long again.
        for record in records.iter_mut().filter(|_| before % 5 != 0) {
            if let Payload::Canary(canary) = &mut record.payload {
                canary.stamps[4] += 125;
            }
        }
        Ok(records)
    });
    let cycles = document.results[0].core_cycles.unwrap();
    assert_eq!((cycles.ci_low, cycles.ci_high), (None, None));
    assert!(document.results[0].disturbed * 2 > document.results[0].samples);
    let told =
        document.measurement.warnings.iter().any(|warning| matches!(warning, Warning::Disturbed { .. }));
    assert!(told, "{:?}", document.measurement.warnings);
}

#[test]
fn an_interruption_leaves_what_was_measured_marked_partial() {
    let plan = Plan::new(Table::get(), &arguments(&["--budget", "60"]), 1).unwrap();
    let interrupt = Interrupt::default();
    let flag = interrupt.clone();
    let answer = move |e, o, _| {
        if o == 4 {
            flag.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(round(e, o, 100))
    };
    let mut fake = Fake { answer: Box::new(answer), asked: Vec::new() };
    let setting = Setting {
        executor: &mut fake,
        cpu: 0,
        realtime: false,
        interrupt,
        environment: Environment::default(),
        warnings: Vec::new(),
    };
    let document = measure(&plan, setting, &mut |_, _| {});
    assert!(document.measurement.partial);
    assert!(document.measurement.warnings.contains(&Warning::Interrupted));
    assert_eq!(document.results.len(), fake.asked.len(), "rows that had no turn are left out");
    assert!(document.results.len() < Table::get().rows(Kernel::Linux).count());
    assert!(document.results.iter().all(|row| row.core_cycles.is_some()));
}

#[test]
fn a_row_whose_every_round_was_disturbed_says_so() {
    let (document, _) = run(&["--entry", "call", "--entry", "rdtsc", "--budget", "0.1"], |e, o, _| {
        let mut records = round(e, o, 100);
        for record in records.iter_mut().filter(|_| e == 1) {
            if let Payload::Canary(canary) = &mut record.payload {
                canary.stamps[4] += 125;
            }
        }
        Ok(records)
    });
    let [call, rdtsc] = document.results.as_slice() else { panic!() };
    assert_eq!((call.ticks, call.reason.as_deref()), (None, Some("every round was disturbed")));
    assert!(rdtsc.ticks.is_some());
}

#[test]
fn on_an_emulated_machine_there_are_outcomes_but_no_times() {
    let plan = Plan::new(Table::get(), &arguments(&["--entry", "call", "--budget", "0.01"]), 1).unwrap();
    let mut fake = Fake { answer: Box::new(|e, o, _| Ok(round(e, o, 100))), asked: Vec::new() };
    let mut environment = Environment::default();
    environment.hypervisor.signature = Some("TCGTCGTCGTCG".into());
    let setting = Setting {
        executor: &mut fake,
        cpu: 0,
        realtime: false,
        interrupt: Interrupt::default(),
        environment,
        warnings: Vec::new(),
    };
    let document = measure(&plan, setting, &mut |_, _| {});
    let row = &document.results[0];
    assert_eq!((row.outcome, row.timing), (Outcome::Ok, document::Timing::Emulated));
    assert_eq!((row.core_cycles, row.ticks, row.ns, row.throughput), (None, None, None, None));
    let told =
        document.measurement.warnings.iter().any(|warning| matches!(warning, Warning::Emulated { .. }));
    assert!(told && document.measurement.cycles_per_tick.is_none());
}

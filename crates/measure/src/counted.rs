//! Counts what the rows of this Linux execute, where the counter counts instructions: in a guest of an emulator. Every count of a
//! row is the same, so that each is taken once, in an order that is drawn.

use crate::conclude::{Facts, conclude};
use crate::described::describe;
use crate::drive::{Measurer, Progress, RoundTaken, drive};
use crate::probes::Probes;
use crate::row::{Answer, Row, TableRow};
use crate::schedule;
use crate::{Earlier, Error};
use document::{Counter, Document, Machine, Outcome, Place};
use environment::{CoreType, Environment};
use places::host::{Executor, Interrupt};
use record::{Footprint, Request};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};
use table::{Kernel, Probe};

/// Samples of a row. The timer interrupts once in a million instructions where Linux ticks at 250 Hz, in 250 000 at 1000 Hz (four
/// times that many where the counter has its own rate), and samples take thousands, so that few of these are disturbed, and the most
/// frequent count is the row's. The probe has used the entry before: what a first use pays for (pages that are touched, functions that
/// are looked up) is in none of them.
const SAMPLES: u64 = 8;

/// The longest that a probe samples, in instructions; a round takes less than a million.
const TICKS: u64 = 100_000_000;

/// What is to be counted.
#[derive(Debug, Clone)]
pub struct CountedPlan<'a> {
    /// The rows, in the table's order.
    pub rows: Vec<TableRow<'a>>,
    /// What the order of the rounds is drawn from.
    pub seed: u64,
}

/// Where it is counted.
pub struct CountedSetup<'a> {
    /// Runs the probes.
    pub executor: &'a mut dyn Executor,
    /// The CPU that runs them.
    pub cpu: usize,
    /// The process id that getppid must answer.
    pub parent: u64,
    /// Ends the measurement when set.
    pub interrupt: Interrupt,
    /// The machine, captured before.
    pub environment: Environment,
}

/// Counts every row once. `progress` gets each row when it was counted.
///
/// The document's place is this machine, for that is all that can be known here; who started the machine knows what it is.
///
/// # Errors
/// [`Error::Interrupted`] when the user interrupted it before any row was counted.
pub fn count<'a>(
    plan: &CountedPlan<'a>,
    setup: CountedSetup,
    progress: &mut dyn FnMut(Progress<'a>),
) -> Result<Document, Error> {
    let CountedSetup { executor, cpu, parent, interrupt, mut environment } = setup;
    let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let begin = executor.now();
    let vdso = describe(executor, cpu, &mut environment);
    let new = |row: &TableRow<'a>| Row::new(*row, Counter::Instructions, BTreeMap::new());
    let mut rows: Vec<Row> = plan.rows.iter().map(new).collect();
    let order = schedule::order(rows.len(), plan.seed);
    let mut counted = Counted { executor, order, next: 0, cpu, parent, begin, interrupt };
    drive(&mut counted, &mut rows, progress);
    let interrupted = counted.is_interrupted();
    if interrupted && !rows.iter().any(Row::was_tried) {
        return Err(Error::Interrupted);
    }
    let facts = Facts {
        place: Place::new(Machine::Host, Kernel::Linux),
        started,
        seconds: counted.elapsed().as_secs_f64(),
        budget: Duration::ZERO,
        strict_budget: true,
        seed: plan.seed,
        interrupted,
        ended: None,
        out_of_time: false,
        realtime: false,
        realtime_refused: None,
        tsc_hz: None,
        cores: BTreeMap::from([(cpu, CoreType::Uniform)]),
        earlier: Earlier::default(),
        changes: Vec::new(),
        command: None,
        probes: Probes::embedded(),
    };
    Ok(conclude(&rows, facts, environment, vdso))
}

/// This Linux, each row of which is counted once.
struct Counted<'a> {
    executor: &'a mut dyn Executor,
    /// The rows, by index.
    order: Vec<usize>,
    /// How many of these were taken.
    next: usize,
    cpu: usize,
    parent: u64,
    begin: Duration,
    interrupt: Interrupt,
}

impl Counted<'_> {
    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    fn elapsed(&self) -> Duration {
        self.executor.now().saturating_sub(self.begin)
    }

    fn answer(&mut self, row: TableRow) -> Answer {
        let (entry, _) = row;
        if entry.probe == Probe::Libc && !Path::new(places::probes::LIBC_LOADER).exists() {
            let why = format!(
                "guests have no C library ({}); kentry --entry libc measures this machine's",
                places::probes::LIBC_LOADER
            );
            return Answer::Unrun(Outcome::Unsupported, why);
        }
        match self.executor.measure(entry.probe, self.cpu, &counted_request(row, self.cpu, self.parent)) {
            Ok(records) => Answer::Records(records),
            Err(failure) => Answer::Failed(failure),
        }
    }
}

impl Measurer for Counted<'_> {
    fn next(&mut self, rows: &[Row]) -> Option<RoundTaken> {
        if self.is_interrupted() {
            return None;
        }
        let index = *self.order.get(self.next)?;
        let row = rows.get(index)?.row;
        self.next += 1;
        let at = self.elapsed().as_secs_f64();
        let answer = self.answer(row);
        // The interrupt ended the probe, too; its failure says nothing about the entry.
        (!self.is_interrupted()).then_some(RoundTaken { row: index, at, answer })
    }

    fn progress<'r>(&self, row: TableRow<'r>) -> Option<Progress<'r>> {
        let share = self.next as f64 / self.order.len().max(1) as f64;
        Some(Progress { share, row, quiet: None })
    }
}

/// What a probe is asked where instructions are counted.
pub fn counted_request((entry, operation): TableRow, cpu: usize, parent: u64) -> Request {
    Request {
        entry: entry.id,
        operation: operation.id,
        blocks: 1,
        ticks: TICKS,
        bursts: 1,
        parent,
        cpu: cpu as u64,
        path: true,
        samples: SAMPLES,
        footprint: Footprint::NONE,
        uses: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Failure, Payload, Record, Sample, Verdict, abi};
    use table::Table;

    /// Answers as a probe of an emulator does, whose entries cost 300 instructions and their id, but for one sample.
    struct Counting {
        asked: Vec<Vec<String>>,
    }

    impl Executor for Counting {
        fn run(&mut self, _: Probe, cpu: usize, arguments: &[String]) -> Result<Vec<Record>, Failure> {
            assert_eq!(cpu, 0);
            self.asked.push(arguments.to_vec());
            let [_, entry, operation, ..] = arguments else { return Err(Failure::Silent) };
            let (entry, operation) = (entry.parse().unwrap(), operation.parse().unwrap());
            let sample = |cost: u64| Sample { stamps: [0, 256, 266, 276 + 300 + u64::from(entry) + cost] };
            let samples = [0, 0, 0, 5000, 0, 0, 0, 0].map(sample).to_vec();
            let verdict = Verdict { outcome: abi::OUTCOME_OK, cause: abi::CAUSE_NONE, detail: [0; 4] };
            let payloads = [Payload::Outcome(verdict), Payload::Samples(samples)];
            Ok(payloads.map(|payload| Record { entry, operation, payload }).into())
        }
    }

    fn counted(rows: &[TableRow<'static>], interrupt: bool) -> (Result<Document, Error>, Counting) {
        let mut executor = Counting { asked: Vec::new() };
        let flag = Interrupt::default();
        flag.store(interrupt, Ordering::Relaxed);
        let setup = CountedSetup {
            executor: &mut executor,
            cpu: 0,
            parent: 1,
            interrupt: flag,
            environment: Environment::default(),
        };
        let plan = CountedPlan { rows: rows.to_vec(), seed: 7 };
        (count(&plan, setup, &mut |_| ()), executor)
    }

    #[test]
    fn every_row_is_counted_once_and_the_most_frequent_count_is_its_own() {
        let rows: Vec<TableRow> = Table::get().rows(Kernel::Linux).take(20).collect();
        let (document, executor) = counted(&rows, false);
        let document = document.unwrap();
        assert_eq!(document.results.len(), 20);
        for ((entry, operation), row) in rows.iter().zip(&document.results) {
            assert_eq!((&row.entry, &row.operation), (&entry.name, &operation.name), "in the table's order");
            let cost = row.instructions.as_ref().unwrap();
            assert_eq!(cost.estimate.0, 300.0 + f64::from(entry.id));
            assert_eq!(cost.max.0, cost.estimate.0 + 5000.0);
            assert_eq!(row.outcome, Outcome::Ok);
        }
        // Two describe the vDSO.
        let measured: Vec<_> = executor.asked.iter().filter(|asked| asked.len() > 1).collect();
        assert_eq!(measured.len(), 20);
        let order: Vec<&[String]> = measured.iter().map(|asked| &asked[1..3]).collect();
        assert!(!order.is_sorted(), "in an order that is drawn");
    }

    #[test]
    fn an_interrupt_before_the_first_row_leaves_nothing() {
        let rows: Vec<TableRow> = Table::get().rows(Kernel::Linux).take(2).collect();
        assert!(matches!(counted(&rows, true).0, Err(Error::Interrupted)));
    }
}

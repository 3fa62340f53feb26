//! Counts what the rows of this Linux execute, where the counter counts instructions: in a guest of an emulator. Every count of a
//! row is the same, so that each is taken once, in an order that is drawn.

use crate::conclude::{Facts, Probes, conclude};
use crate::described::describe;
use crate::drive::{Answer, Measurer, Progress, Taken, drive};
use crate::row::{Row, TableRow};
use crate::schedule;
use crate::{Earlier, Error};
use document::{Counter, Document, Machine, Outcome, Place};
use environment::{CoreType, Environment};
use host::{Executor, Interrupt};
use record::{Footprint, Request};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};
use table::{Kernel, Probe};

/// Samples of a row. Timer interrupts come every few million instructions and samples take thousands, so that few of these are
/// disturbed, and the most frequent count is the row's. The probe has used the entry before: what a first use pays for (pages that are
/// touched, functions that are looked up) is in none of them.
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
pub struct CountedSetting<'a> {
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
    setting: CountedSetting,
    progress: &mut dyn FnMut(Progress<'a>),
) -> Result<Document, Error> {
    let CountedSetting { executor, cpu, parent, interrupt, mut environment } = setting;
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
        realtime: false,
        realtime_refused: None,
        tsc_hz: None,
        cores: BTreeMap::from([(cpu, CoreType::Uniform)]),
        earlier: Earlier::new(),
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
        if entry.probe == Probe::Libc && !Path::new(probes::LIBC_LOADER).exists() {
            let why = format!("there is no C library here ({})", probes::LIBC_LOADER);
            return Answer::Unrun(Outcome::Unsupported, why);
        }
        match self.executor.measure(entry.probe, self.cpu, &counted_request(row, self.cpu, self.parent)) {
            Ok(records) => Answer::Records(records),
            Err(failure) => Answer::Failed(failure),
        }
    }
}

impl Measurer for Counted<'_> {
    fn next(&mut self, rows: &[Row]) -> Option<Taken> {
        if self.is_interrupted() {
            return None;
        }
        let index = *self.order.get(self.next)?;
        let row = rows.get(index)?.row;
        self.next += 1;
        let at = self.elapsed().as_secs_f64();
        let answer = self.answer(row);
        // The interrupt ended the probe, too; its failure says nothing about the entry.
        (!self.is_interrupted()).then_some(Taken { row: index, at, answer })
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
    }
}

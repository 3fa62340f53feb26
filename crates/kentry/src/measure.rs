//! The measurement: rounds in shuffled order, each reduced at once; in the end the document.

use crate::conclude::conclude;
use crate::plan::Plan;
use crate::select::Row;
use environment::Environment;
use record::{Payload, Record, Request, abi};
use run::{Disturbance, Document, Export, Measurement, Outcome, Timing, Warning};
use runner::{Executor, Interrupt, Reading, Schedule};
use stats::{Reference, Round, Rounds, Scale, Summary, summarize};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};
use table::Probe;

/// Shorter runs are stretched to this before the counter's rate is read off them: 100 ns in 50 ms are 2 ppm.
const SHORTEST_CALIBRATION: Duration = Duration::from_millis(50);

/// Why an entry that works has no cost.
const LOST: &str = "every round was disturbed";

/// What is known of one row while it is measured.
pub(crate) struct State<'a> {
    pub row: Row<'a>,
    outcome: Outcome,
    reason: Option<String>,
    pub rounds: Rounds,
}

/// What a measurement needs besides its plan.
pub struct Setting<'a> {
    /// Runs the probes.
    pub executor: &'a mut dyn Executor,
    /// The CPU that they run on.
    pub cpu: usize,
    /// Whether they have real-time priority.
    pub realtime: bool,
    /// Ends the measurement when set.
    pub interrupt: Interrupt,
    /// The machine, captured before.
    pub environment: Environment,
    /// What was found out on the way here.
    pub warnings: Vec<Warning>,
}

/// Measures what the plan asks for. `progress` is told the share of the budget that is used up, and the row.
pub fn measure(plan: &Plan, setting: Setting, progress: &mut dyn FnMut(f64, Row)) -> Document {
    let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let (begin, first) = (Instant::now(), Reading::now());
    let Setting { executor, cpu, realtime, interrupt, mut environment, warnings } = setting;
    let roots = environment::Roots::default();
    let load = environment::Load::now(&roots, cpu);

    let vdso = describe(executor, &mut environment);
    let mut states: Vec<State> = plan.rows.iter().map(|row| State::new(*row)).collect();
    let mut schedule = Schedule::new(plan.rows.len(), plan.seed, plan.budget.saturating_sub(begin.elapsed()));
    while !interrupt.load(Ordering::Relaxed) {
        let Some((sweep, index)) = schedule.next_row() else {
            break;
        };
        let Some(state) = states.get_mut(index) else { break };
        progress(begin.elapsed().as_secs_f64() / plan.budget.as_secs_f64(), state.row);
        state.take(executor, &plan.request(state.row, cpu, sweep == 0), &interrupt);
        if state.outcome != Outcome::Ok {
            schedule.close(index);
        }
    }

    std::thread::sleep(SHORTEST_CALIBRATION.saturating_sub(begin.elapsed()));
    let tsc_hz = first.zip(Reading::now()).and_then(|(first, last)| first.tsc_hz(&last));
    environment.load = Some(environment::Load::between(&load, &environment::Load::now(&roots, cpu)));
    let measurement = Measurement {
        kentry: env!("CARGO_PKG_VERSION").to_string(),
        started,
        seconds: begin.elapsed().as_secs_f64(),
        budget_seconds: plan.budget.as_secs_f64(),
        cpu,
        seed: plan.seed,
        partial: interrupt.load(Ordering::Relaxed),
        realtime,
        tsc_hz,
        cycles_per_tick: None,
        cycles_per_tick_range: None,
        chain_ratio: BTreeMap::new(),
        canary: BTreeMap::new(),
        disturbance: Disturbance::default(),
        warnings,
    };
    conclude(&states, measurement, environment, vdso)
}

impl Plan<'_> {
    fn request(&self, (entry, operation): Row, cpu: usize, first: bool) -> Request {
        Request {
            entry: entry.id,
            operation: operation.id,
            blocks: self.blocks,
            ticks: self.ticks,
            bursts: self.bursts,
            parent: u64::from(std::process::id()),
            cpu: cpu as u64,
            path: first,
        }
    }
}

impl<'a> State<'a> {
    fn new(row: Row<'a>) -> State<'a> {
        State { row, outcome: Outcome::Ok, reason: None, rounds: Rounds::default() }
    }

    /// Takes one round. The first that is not well ends the row, whatever came before: an entry that answers
    /// wrongly once has no number.
    fn take(&mut self, executor: &mut dyn Executor, request: &Request, interrupt: &Interrupt) {
        let (entry, _) = self.row;
        match executor.measure(entry.probe, request) {
            Ok(records) => self.read(&records),
            Err(_) if interrupt.load(Ordering::Relaxed) => {}
            Err(failure) => self.end(run::judge_failure(entry, &failure)),
        }
    }

    fn read(&mut self, records: &[Record]) {
        let (entry, operation) = self.row;
        let foreign = |record: &&Record| (record.entry, record.operation) != (entry.id, operation.id);
        if records.iter().any(|record| foreign(&record)) {
            return self.end((Outcome::Error, "the probe answered for another row".into()));
        }
        let verdict = records.iter().find_map(|record| match record.payload {
            Payload::Outcome(verdict) => Some(verdict),
            _ => None,
        });
        match verdict {
            Some(verdict) if verdict.outcome != abi::OUTCOME_OK => {
                return self.end(run::judge(entry, &verdict));
            }
            None => return self.end((Outcome::Error, "the probe gave no verdict".into())),
            Some(_) => {}
        }
        if let Some(value) = fact(records, abi::FACT_PATH) {
            let is_function = matches!(entry.kind, table::Kind::Function | table::Kind::Memory);
            self.reason = run::path_in_words(value).filter(|_| is_function).map(str::to_string);
        }
        match Round::reduce(records) {
            Ok(round) => self.rounds.push(round),
            Err(error) => self.end((Outcome::Error, error.to_string())),
        }
    }

    /// Interrupted before its turn, a row has no outcome and is left out.
    pub fn was_tried(&self) -> bool {
        self.outcome != Outcome::Ok || !self.rounds.all().is_empty()
    }

    fn end(&mut self, (outcome, reason): (Outcome, String)) {
        self.outcome = outcome;
        self.reason = Some(reason);
    }

    /// Its row of the document, and the figures behind it.
    pub fn document(
        &self,
        reference: Option<&Reference>,
        nanos_per_tick: Option<f64>,
    ) -> (run::Row, Option<Summary>) {
        let mut row = self.row_without_costs(Timing::Hardware);
        let Some(reference) = reference.filter(|_| self.outcome == Outcome::Ok) else { return (row, None) };
        let scale = Scale { nanos_per_tick, cycles: reference.chain_holds() };
        let summary = summarize(self.rounds.all(), reference, &scale);
        if summary.excluded == summary.rounds {
            row.reason = Some(LOST.into());
        }
        row.core_cycles = summary.core_cycles;
        row.ticks = summary.ticks;
        row.ns = summary.ns;
        row.throughput = summary.throughput;
        row.samples = summary.samples as u64;
        row.disturbed = summary.disturbed as u64;
        (row, Some(summary))
    }

    /// Its row where no time means anything.
    pub fn emulated(&self) -> (run::Row, Option<Summary>) {
        (self.row_without_costs(Timing::Emulated), None)
    }

    fn row_without_costs(&self, timing: Timing) -> run::Row {
        let (entry, operation) = self.row;
        run::Row {
            entry: entry.name.clone(),
            operation: operation.name.clone(),
            bits: entry.bits(),
            configuration: BTreeMap::new(),
            timing,
            outcome: self.outcome,
            reason: self.reason.clone(),
            core_cycles: None,
            ticks: None,
            ns: None,
            instructions: None,
            throughput: None,
            samples: 0,
            disturbed: 0,
        }
    }
}

fn fact(records: &[Record], wanted: u64) -> Option<u64> {
    records.iter().find_map(|record| match record.payload {
        Payload::Fact { fact, value } if fact == wanted => Some(value),
        _ => None,
    })
}

/// What the vDSO images export, by bitness; and the vsyscall page's mode, into the environment.
fn describe(executor: &mut dyn Executor, environment: &mut Environment) -> BTreeMap<String, Vec<Export>> {
    let mut vdso = BTreeMap::new();
    for probe in [Probe::Probe64, Probe::Probe32] {
        let Ok(records) = executor.describe(probe) else {
            continue;
        };
        if probe == Probe::Probe64 {
            environment.vsyscall = vsyscall_mode(&records).map(str::to_string);
        }
        let exports = records.into_iter().filter_map(|record| match record.payload {
            Payload::Export { name, version } => Some(Export { name, version }),
            _ => None,
        });
        vdso.insert(probe.bits().to_string(), exports.collect());
    }
    vdso
}

const SIGSEGV: u64 = 11;

/// arch/x86/include/uapi/asm/vsyscall.h
const VSYSCALL_PAGE: u64 = 0xffff_ffff_ff60_0000;

/// The probe calls the page to find out; where there is none, that is a fault on it.
fn vsyscall_mode(records: &[Record]) -> Option<&'static str> {
    let faulted = records.iter().any(|record| match record.payload {
        Payload::Outcome(verdict) => {
            (verdict.cause, verdict.detail[0], verdict.detail[3] & !0xfff)
                == (abi::CAUSE_SIGNAL, SIGSEGV, VSYSCALL_PAGE)
        }
        _ => false,
    });
    match fact(records, abi::FACT_VSYSCALL) {
        Some(abi::VSYSCALL_XONLY) => Some("xonly"),
        Some(abi::VSYSCALL_EMULATE) => Some("emulate"),
        Some(abi::VSYSCALL_NATIVE) => Some("native"),
        None if faulted => Some("none"),
        _ => None,
    }
}

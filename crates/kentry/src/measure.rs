//! The measurement: rounds in shuffled order, each reduced at once; in the end the document.

use crate::conclude::conclude;
use crate::plan::Plan;
use crate::select::Row;
use crate::state::{State, fact};
use document::{Document, Export, Measurement, Outcome, Warning};
use environment::Environment;
use host::{Executor, Interrupt, Reading, Schedule};
use record::{Payload, Record, Request, abi};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};
use table::Probe;

/// Shorter runs are stretched to this before the counter's rate is read off them: 100 ns in 50 ms are 2 ppm.
const SHORTEST_CALIBRATION: Duration = Duration::from_millis(50);

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

    let vdso = describe(executor, cpu, &mut environment);
    let mut states: Vec<State> = plan.rows.iter().map(|row| State::new(*row)).collect();
    let mut schedule = Schedule::new(plan.rows.len(), plan.seed, plan.budget.saturating_sub(begin.elapsed()));
    while !interrupt.load(Ordering::Relaxed) {
        let Some((sweep, index)) = schedule.next_row() else {
            break;
        };
        let Some(state) = states.get_mut(index) else { break };
        progress(begin.elapsed().as_secs_f64() / plan.budget.as_secs_f64(), state.row);
        state.take(executor, cpu, &plan.request(state.row, cpu, sweep == 0), &interrupt);
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
        warnings,
        ..Measurement::default()
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
            samples: abi::BLOCK_SAMPLES,
        }
    }
}

/// What the vDSO images export, by bitness; and the vsyscall page's mode, into the environment.
fn describe(
    executor: &mut dyn Executor,
    cpu: usize,
    environment: &mut Environment,
) -> BTreeMap<String, Vec<Export>> {
    let mut vdso = BTreeMap::new();
    for probe in [Probe::Probe64, Probe::Probe32] {
        let Ok(records) = executor.describe(probe, cpu) else {
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
        Some(abi::VSYSCALL_MODE_XONLY) => Some("xonly"),
        Some(abi::VSYSCALL_MODE_EMULATE) => Some("emulate"),
        Some(abi::VSYSCALL_MODE_NATIVE) => Some("native"),
        None if faulted => Some("none"),
        _ => None,
    }
}

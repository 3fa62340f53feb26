//! A measurement in the lab: one boot, its runs sorted by row, the document.

use super::described::{environment, vendor};
use super::ended;
use super::plan::{Numbered, Work};
use super::{LabPlan, Machine, Timed};
use crate::conclude::conclude;
use crate::error::Error;
use crate::select::Row;
use crate::state::State;
use document::{Document, Export, Measurement, Warning};
use environment::Environment;
use lab::{Collected, End, Events, Limits, Trouble};
use record::{Boot, Payload, abi};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

/// What a measurement needs besides its plan.
pub struct Setting {
    /// What runs the kernel.
    pub machine: Machine,
    /// Its name and version.
    pub version: String,
    /// Of the guest.
    pub limits: Limits,
    /// This machine, where its processor runs the kernel natively.
    pub host: Option<Environment>,
    /// Ticks in a second of this machine's counter, where the guest's is the same.
    pub tsc_hz: Option<f64>,
}

/// Measures what the plan asks for. `progress` is told the share that is done, and the row.
///
/// # Errors
/// [`Error::Environment`] when the guest does not even come up, [`Error::Interrupted`] when it had no time to.
pub fn measure(
    plan: &LabPlan,
    setting: Setting,
    progress: &mut dyn FnMut(f64, Row),
) -> Result<Document, Error> {
    let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let begin = Instant::now();
    let timed = setting.machine.timed();
    let work = plan.work(timed);
    let boot = Booted::read(plan, &setting, &work, progress)?;
    let states = states(plan, &setting, &boot, &work);
    let interrupted = setting.limits.interrupt.load(Ordering::Relaxed);
    let ended = boot.trouble.as_ref().filter(|trouble| **trouble != Trouble::Interrupted);
    let warnings: Vec<_> =
        ended.map(|why| Warning::GuestEnded { why: why.to_string() }).into_iter().collect();
    let hertz = setting.tsc_hz.filter(|_| timed == Timed::Hardware);
    let measurement = Measurement {
        kentry: env!("CARGO_PKG_VERSION").to_string(),
        started,
        seconds: begin.elapsed().as_secs_f64(),
        budget_seconds: plan.time.as_secs_f64(),
        cpu: abi::LAB_CPU as usize,
        seed: plan.seed,
        partial: interrupted || !warnings.is_empty(),
        realtime: false,
        tsc_hz: hertz,
        warnings,
        ..Measurement::default()
    };
    let vdso = vdso(&boot.collected, &work);
    let environment = environment(plan, setting, &boot.boot, boot.came_up);
    Ok(conclude(&states, measurement, environment, vdso))
}

/// A boot that is over.
struct Booted {
    boot: Boot,
    /// From starting the emulator to the first record.
    came_up: Duration,
    collected: Collected,
    trouble: Option<Trouble>,
}

impl Booted {
    /// Boots and reads to the end. Trouble is an error only before the kernel was up.
    fn read(
        plan: &LabPlan,
        setting: &Setting,
        work: &Work,
        progress: &mut dyn FnMut(f64, Row),
    ) -> Result<Booted, Trouble> {
        let archive = archive(setting, work)?;
        let begin = Instant::now();
        let mut guest = setting.machine.boot(&archive, work.numbered.len(), &setting.limits)?;
        let first = guest.next()?;
        let came_up = begin.elapsed();
        let mut collected = Collected::default();
        collected.take(first);
        let mut show = |number: u64| {
            if let Some(Numbered::Round(index)) = work.numbered.get(number as usize)
                && let Some(job) = plan.jobs.get(*index)
            {
                progress(number as f64 / work.numbered.len() as f64, job.row);
            }
        };
        let trouble = collected.read(&mut guest, &mut show).err();
        match (collected.boot, trouble) {
            (Some(boot), trouble) => Ok(Booted { boot, came_up, collected, trouble }),
            (None, trouble) => Err(trouble.unwrap_or(Trouble::Interrupted)),
        }
    }
}

fn archive(setting: &Setting, work: &Work) -> Result<Vec<u8>, Trouble> {
    let mut lines = super::clock_lines(setting.machine.tsc_hz().or(setting.tsc_hz.map(|hertz| hertz as u64)));
    lines.extend(work.plan.lines.iter().cloned());
    Ok(lab::pack(&lab::Plan { lines }, &lab::probes())?)
}

fn states<'a>(plan: &LabPlan<'a>, setting: &Setting, boot: &Booted, work: &Work) -> Vec<State<'a>> {
    let place =
        format!("{} {}", setting.machine.accelerator(), vendor(boot.boot.vendor).unwrap_or("unknown"));
    let counts = setting.machine.timed() == Timed::Instructions;
    let new = |job: &super::plan::Job<'a>| {
        let remark = job.row.0.differs.get(&place).map(String::as_str);
        State::in_lab(job.row, job.configuration.only(&plan.configurations.named), counts, remark)
    };
    let mut states: Vec<State> = plan.jobs.iter().map(new).collect();
    for (number, what) in (0..).zip(&work.numbered) {
        let Numbered::Round(index) = *what else { continue };
        let (Some(state), Some(job)) = (states.get_mut(index), plan.jobs.get(index)) else { continue };
        if state.outcome != document::Outcome::Ok {
            continue;
        }
        match (boot.collected.ran.get(&number), &boot.trouble) {
            (Some(ran), _) => ended::take(state, &job.configuration, ran),
            // Interrupted before its turn, a row is left out.
            (None, None | Some(Trouble::Interrupted)) => {}
            (None, Some(trouble)) => state.end_unrun(ended::missing(&boot.collected, number, trouble)),
        }
    }
    remark_on_gates(&mut states, &boot.collected, work);
    states
}

/// What was observed of interrupts, beside the figures of the rows that it holds for.
fn remark_on_gates(states: &mut [State], collected: &Collected, work: &Work) {
    for (number, what) in (0..).zip(&work.numbered) {
        let Numbered::Observe(entry) = *what else { continue };
        let observed = collected.ran.get(&number).and_then(|ran| ran.interrupts);
        let Some(words) = observed.map(document::interrupts_in_words) else { continue };
        let rows = states.iter_mut().filter(|state| state.row.0.id == entry);
        rows.filter(|state| state.outcome == document::Outcome::Ok).for_each(|state| state.remark(words));
    }
}

/// What the vDSO images export, by bitness.
fn vdso(collected: &Collected, work: &Work) -> BTreeMap<String, Vec<Export>> {
    let mut vdso = BTreeMap::new();
    for (number, what) in (0..).zip(&work.numbered) {
        let Numbered::Describe(probe) = what else { continue };
        let ran = collected.ran.get(&number).filter(|ran| matches!(ran.end, End::Exited(_)));
        let Some(records) = ran.and_then(|ran| record::parse(ran.output.as_ref()?).ok()) else { continue };
        let exports = records.into_iter().filter_map(|record| match record.payload {
            Payload::Export { name, version } => Some(Export { name, version }),
            _ => None,
        });
        vdso.insert(probe.bits().to_string(), exports.collect());
    }
    vdso
}

//! A measurement in the lab: one boot, its runs sorted by row, the document.

use super::described::{environment, features, vendor};
use super::plan::{Numbered, Work};
use super::{Emulator, LabPlan, ended};
use crate::conclude::{Facts, conclude};
use crate::drive::{Answer, Measurer, Taken, drive};
use crate::{Error, Progress, Row};
use document::{Counter, Document, Export, Outcome, Place};
use environment::{CoreType, Environment};
use lab::{Collected, End, Events, Limits, Trouble};
use record::{Boot, Payload, abi};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};
use table::Kernel;

/// What a measurement needs besides its plan.
pub struct Setting {
    /// What runs the kernel.
    pub emulator: Emulator,
    /// Its name and version.
    pub version: String,
    /// Of the guest.
    pub limits: Limits,
    /// This machine, where its processor runs the kernel natively.
    pub host: Option<Environment>,
    /// Ticks in a second of this machine's counter, where the guest uses it.
    pub tsc_hz: Option<f64>,
}

/// Measures what the plan asks for. `progress` gets the share that is done, and the row.
///
/// # Errors
/// [`Error::Environment`] when the guest does not boot, [`Error::Interrupted`] when the user interrupted it before.
pub fn measure<'a>(
    plan: &LabPlan<'a>,
    setting: Setting,
    progress: &mut dyn FnMut(Progress<'a>),
) -> Result<Document, Error> {
    let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let begin = Instant::now();
    let machine = setting.emulator.machine();
    let work = plan.work(machine.counter());
    let boot = Booted::read(plan, &setting, &work, progress)?;
    let rows = rows(plan, &setting, &boot, &work);
    let ended = boot.trouble.as_ref().filter(|trouble| **trouble != Trouble::Interrupted);
    let facts = Facts {
        place: Place::new(machine, Kernel::Lab),
        started,
        seconds: begin.elapsed().as_secs_f64(),
        budget: plan.time,
        strict_budget: true,
        seed: plan.seed,
        interrupted: setting.limits.interrupt.load(Ordering::Relaxed),
        ended: ended.map(Trouble::to_string),
        realtime: false,
        realtime_refused: None,
        tsc_hz: setting.tsc_hz.filter(|_| machine.counter() == Counter::Time),
        cores: BTreeMap::from([(abi::LAB_CPU as usize, CoreType::Uniform)]),
        changes: Vec::new(),
    };
    let vdso = vdso(&boot.collected, &work);
    let environment = environment(plan, setting, &boot.boot, boot.came_up);
    Ok(conclude(&rows, facts, environment, vdso))
}

/// A boot that is over.
struct Booted {
    boot: Boot,
    /// The time from starting the emulator to the first record.
    came_up: Duration,
    collected: Collected,
    trouble: Option<Trouble>,
}

impl Booted {
    /// Boots and reads to the end. Trouble is an error only before the kernel has booted.
    fn read<'a>(
        plan: &LabPlan<'a>,
        setting: &Setting,
        work: &Work,
        progress: &mut dyn FnMut(Progress<'a>),
    ) -> Result<Booted, Trouble> {
        let archive = archive(setting, work)?;
        let begin = Instant::now();
        let mut guest = setting.emulator.boot(&archive, work.numbered.len(), &setting.limits)?;
        let first = guest.next()?;
        let came_up = begin.elapsed();
        let mut collected = Collected::default();
        collected.take(first);
        let mut show = |number: u64| {
            if let Some(Numbered::Round(index)) = work.numbered.get(number as usize)
                && let Some(job) = plan.jobs.get(*index)
            {
                let share = number as f64 / work.numbered.len() as f64;
                progress(Progress { share, row: job.row, quiet: None });
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
    let mut lines =
        super::clock_lines(setting.emulator.tsc_hz().or(setting.tsc_hz.map(|hertz| hertz as u64)));
    lines.extend(work.plan.lines.iter().cloned());
    Ok(lab::pack(&lab::Plan { lines }, &lab::probes())?)
}

fn rows<'a>(plan: &LabPlan<'a>, setting: &Setting, boot: &Booted, work: &Work) -> Vec<Row<'a>> {
    let machine = setting.emulator.machine();
    let accelerator = machine.accelerator().unwrap_or_default();
    let place = format!("{accelerator} {}", vendor(boot.boot.vendor).unwrap_or("unknown"));
    let features = features(boot.boot.features);
    let new = |job: &super::plan::Job<'a>| {
        let configuration = job.configuration.clone().on(&features, &plan.configurations.named);
        let mut row = Row::new(job.row, machine.counter(), configuration.whole());
        row.remarks.extend(job.row.0.differs.get(&place).cloned());
        row
    };
    let mut rows: Vec<Row> = plan.jobs.iter().map(new).collect();
    let mut lab = Lab { plan, boot, work, next: 0 };
    // Progress was told while the guest ran.
    drive(&mut lab, &mut rows, &mut |_| ());
    remark_on_gates(&mut rows, plan, &boot.collected, work);
    rows
}

/// The lab. All rounds are there before the first is taken, because the guest has ended by then.
struct Lab<'a, 'b> {
    plan: &'b LabPlan<'a>,
    boot: &'b Booted,
    work: &'b Work,
    next: usize,
}

impl Measurer for Lab<'_, '_> {
    fn next(&mut self, rows: &[Row]) -> Option<Taken> {
        loop {
            let number = self.next as u64;
            let what = *self.work.numbered.get(self.next)?;
            self.next += 1;
            let Numbered::Round(index) = what else { continue };
            let job = self.plan.jobs.get(index)?;
            if !rows.get(index).is_some_and(Row::is_open) {
                continue;
            }
            let answer = match (self.boot.collected.ran.get(&number), &self.boot.trouble) {
                (Some(ran), _) => ended::answer_of(job.row.0, &job.configuration, ran),
                // A row that was not tried before an interruption is left out.
                (None, None | Some(Trouble::Interrupted)) => continue,
                (None, Some(trouble)) => {
                    let (outcome, why) = ended::missing(&self.boot.collected, number, trouble);
                    Answer::Unrun(outcome, why)
                }
            };
            let at = self.boot.collected.begun.get(&number).map_or(0.0, Duration::as_secs_f64);
            return Some(Taken { row: index, at, answer });
        }
    }
}

/// Adds what was observed of interrupts to the remarks of the rows that use the gate.
fn remark_on_gates(rows: &mut [Row], plan: &LabPlan, collected: &Collected, work: &Work) {
    for (number, what) in (0..).zip(&work.numbered) {
        let Numbered::Observe(index) = *what else { continue };
        let Some(observed_job) = plan.jobs.get(index) else { continue };
        let observed = collected.ran.get(&number).and_then(|ran| ran.interrupts);
        let Some(words) = observed.map(document::interrupts_in_words) else { continue };
        let of_jobs = rows.iter_mut().zip(&plan.jobs).filter(|(_, job)| job.has_gate_of(observed_job));
        let worked = of_jobs.map(|(row, _)| row).filter(|row| row.outcome == Outcome::Ok);
        worked.for_each(|row| row.remarks.push(words.to_string()));
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

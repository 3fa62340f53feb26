//! A measurement in the lab: boots that share the rows where instructions are counted, eight of all where time is measured; their runs sorted by
//! row; the document.

use super::boots::{Booted, boot_all};
use super::counted::{Counted, is_lost};
use super::described::{Booting, environment};
use super::found::{features, ring_test, vendor};
use super::plan::{Job, Numbered, Work};
use super::{LabPlan, Setup, believed, ended};
use crate::Earlier;
use crate::conclude::{Facts, conclude};
use crate::drive::{Measurer, RoundTaken, drive};
use crate::probes::Probes;
use crate::row::Answer;
use crate::{Error, Progress, Row};
use document::{Counter, Document, Export, Machine, Outcome, Place};
use environment::{CoreType, LabCounters, Ring0};
use places::lab::{Collected, Configured, End, Strays, Trouble};
use record::{Boot, abi};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime};
use table::SwitchValues;

/// Measures what the plan asks for. `progress` gets the share that is done, and the row.
///
/// # Errors
/// [`Error::Environment`] when the guest does not boot, [`Error::Interrupted`] when the user interrupted it before.
pub fn measure<'a>(
    plan: &LabPlan<'a>,
    mut setup: Setup,
    progress: &mut dyn FnMut(Progress<'a>),
) -> Result<Document, Error> {
    let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let begin = Instant::now();
    let machine = setup.emulator.machine();
    let boots = boot_all(plan, &mut setup, begin, progress);
    let first = boots.first().and_then(|boot| Some((boot.collected.boot?, boot.boot_time)));
    let (Some((boot, boot_time)), Some(version)) = (first, setup.version.clone()) else {
        let trouble = boots.into_iter().find_map(|boot| boot.trouble);
        return Err(trouble.map_or(Error::Interrupted, Error::from));
    };
    let (mut rows, counters) = rows(plan, (machine, &version), &boot, &boots);
    if setup.emulator.forgives() {
        remark_on_harmless_steps(&mut rows, plan, &features(boot.features));
    }
    let trouble = boots.iter().find_map(|boot| boot.trouble.as_ref());
    let facts = Facts {
        place: Place::new(machine, plan.mode.kernel()),
        started,
        seconds: begin.elapsed().as_secs_f64(),
        budget: plan.time,
        strict_budget: true,
        seed: plan.seed,
        interrupted: setup.limits.interrupt.load(Ordering::Relaxed),
        ended: trouble.filter(|trouble| !trouble.is_interruption()).map(Trouble::to_string),
        out_of_time: trouble.is_some_and(Trouble::is_timeout),
        realtime: false,
        realtime_refused: None,
        tsc_hz: setup.tsc_hz.filter(|_| machine.counter() == Counter::Time),
        cores: cores(&setup, &boots),
        earlier: Earlier::default(),
        changes: Vec::new(),
        command: None,
        probes: Probes::embedded(),
    };
    let vdso = boots.first().map(|boot| vdso(&boot.collected, &boot.work)).unwrap_or_default();
    let layouts = boots.iter().flat_map(Booted::layouts).collect();
    let defaults = boots.iter().find_map(|boot| boot.collected.defaults.clone());
    let boots = boots.iter().filter(|boot| boot.collected.boot.is_some()).map(Booted::described).collect();
    let environment =
        environment(setup, Booting { version, boot: &boot, defaults, boot_time, boots, layouts, counters });
    Ok(conclude(&rows, facts, environment, vdso))
}

/// The CPUs of this machine that the guest was pinned to; or the guest's own.
fn cores(setup: &Setup, boots: &[Booted]) -> BTreeMap<usize, CoreType> {
    let kind = |cpu| setup.scout.as_ref().map_or(CoreType::Uniform, |scout| scout.core(cpu));
    let pinned: BTreeMap<_, _> =
        boots.iter().filter_map(|boot| boot.cpu).map(|cpu| (cpu, kind(cpu))).collect();
    if pinned.is_empty() { BTreeMap::from([(abi::LAB_CPU as usize, CoreType::Uniform)]) } else { pinned }
}

/// All rows with their rounds; and what was counted in these.
fn rows<'a>(
    plan: &LabPlan<'a>,
    (machine, version): (Machine, &str),
    boot: &Boot,
    boots: &[Booted],
) -> (Vec<Row<'a>>, Option<LabCounters>) {
    let accelerator = machine.accelerator().unwrap_or_default();
    let place = format!("{accelerator} {}", vendor(boot.vendor).unwrap_or("unknown"));
    let configured: BTreeMap<usize, &Configured> = said(boots).collect();
    let defaults = boots.iter().find_map(|boot| boot.collected.defaults.as_deref());
    let ring0 = (machine.counter() == Counter::Time).then(|| Ring0::judge(&ring_test(boot)));
    let new = |(index, job): (usize, &Job<'a>)| {
        let said = configured.get(&index).map(|said| SwitchValues::clone(said));
        let configuration =
            said.or_else(|| unsaid(boots, index)).unwrap_or_else(|| job.configuration.all_values());
        let row = Row::new(job.row, machine.counter(), configuration);
        let mut row = match job.footprint {
            Some(footprint) => row.among(footprint),
            None => row,
        };
        let differs =
            job.row.0.differs.get(&place).filter(|differs| differs.is_in(version, plan.mode.kernel()));
        row.remarks.extend(plan.configurations.remarks(job.row.0, defaults));
        row.remarks.extend(differs.map(|differs| differs.how.clone()));
        row.remarks.extend(ring0.iter().flat_map(|ring0| believed::remarks(ring0, job)));
        row
    };
    let mut rows: Vec<Row> = plan.jobs.iter().enumerate().map(new).collect();
    let mut lab = Lab { plan, boots, boot: 0, next: 0, counted: Counted::default(), lost: Vec::new() };
    // Progress was told while the guest ran.
    drive(&mut lab, &mut rows, &mut |_| ());
    let Lab { counted, lost, .. } = lab;
    for index in lost {
        if let Some(row) = rows.get_mut(index).filter(|row| !row.was_tried()) {
            row.take(Answer::Ended(Outcome::Error, LOST.into()), 0.0);
        }
    }
    for index in disagreeing(boots) {
        if let Some(row) = rows.get_mut(index) {
            row.take(Answer::Ended(Outcome::Error, DISAGREE.into()), 0.0);
        }
    }
    if let Some(first) = boots.first() {
        remark_on_gates(&mut rows, plan, &first.collected, &first.work);
    }
    remark_on_strays(&mut rows, boots);
    // What an emulator counts is its own.
    (rows, counted.into_counters().filter(|_| machine.counter() == Counter::Time))
}

/// What the kernel says that each job runs with, by the job's index; once for each round of it.
fn said(boots: &[Booted]) -> impl Iterator<Item = (usize, &Configured)> {
    boots.iter().flat_map(|boot| {
        let rounds = boot.rounds();
        rounds.filter_map(|(number, index)| Some((index, boot.collected.configured.get(&number)?)))
    })
}

/// Jobs of which two rounds ran with different values of a switch, as where a default depends on the CPU and boots were on different ones.
fn disagreeing(boots: &[Booted]) -> BTreeSet<usize> {
    let mut first = BTreeMap::new();
    said(boots)
        .filter_map(|(index, configuration)| {
            let known = first.entry(index).or_insert(configuration);
            (**known != *configuration).then_some(index)
        })
        .collect()
}

/// Why their rows have no figures.
const DISAGREE: &str =
    "its boots ran with different values of a switch: a default depends on the CPU that a boot was on";

/// What a job would have run with that the kernel did not come to: what the plan sets, and else what the kernel says of its defaults.
fn unsaid(boots: &[Booted], index: usize) -> Option<SwitchValues> {
    let of_job = |boot: &'_ Booted| boot.rounds().find(|(_, of)| *of == index).map(|(number, _)| number);
    let (boot, number) = boots.iter().find_map(|boot| Some((boot, of_job(boot)?)))?;
    let mut configuration = SwitchValues::clone(boot.collected.defaults.as_ref()?);
    configuration.extend(boot.work.plan.set_before(number));
    Some(configuration)
}

/// Why a row has no round.
const LOST: &str = "a system management interrupt of the firmware fell into every round";

/// The lab. All rounds are there before the first is taken, because the guest has ended by then.
struct Lab<'a, 'b> {
    plan: &'b LabPlan<'a>,
    boots: &'b [Booted],
    /// The boot that the next round is of.
    boot: usize,
    /// Its number in that.
    next: usize,
    counted: Counted,
    /// Rows that lost a round.
    lost: Vec<usize>,
}

impl Lab<'_, '_> {
    /// The CPU that the last round was taken on.
    fn cpu(&self) -> Option<usize> {
        self.boots.get(self.boot)?.cpu
    }

    /// The next round of this boot, of a row that is still measured.
    fn next_of(&mut self, boot: &Booted, rows: &[Row]) -> Option<RoundTaken> {
        loop {
            let number = self.next as u64;
            let what = *boot.work.numbered.get(self.next)?;
            self.next += 1;
            let Numbered::Round(index) = what else { continue };
            let job = self.plan.jobs.get(index)?;
            if !rows.get(index).is_some_and(Row::is_open) {
                continue;
            }
            let answer = match (boot.collected.ran.get(&number), &boot.trouble) {
                (Some(ran), _) => {
                    ran.counters.iter().for_each(|counters| self.counted.take(counters));
                    if ran.counters.as_ref().is_some_and(is_lost) {
                        self.lost.push(index);
                        continue;
                    }
                    ended::answer_of(job.row.0, &job.configuration, ran, boot.collected.boot.as_ref())
                }
                // A row that was not tried before an interruption is left out.
                (None, None) => continue,
                (None, Some(trouble)) if trouble.is_interruption() => continue,
                // Earlier boots have measured it; this one did not come to it.
                (None, Some(_)) if boot.collected.running != Some(number) && has_rounds(rows, index) => {
                    continue;
                }
                (None, Some(trouble)) => {
                    let (outcome, why) = ended::missing(&boot.collected, number, trouble);
                    Answer::Unrun(outcome, why)
                }
            };
            let at = boot.begun(number).unwrap_or(boot.at);
            return Some(RoundTaken { row: index, at: at.as_secs_f64(), answer });
        }
    }
}

fn has_rounds(rows: &[Row], index: usize) -> bool {
    rows.get(index).is_some_and(|row| !row.rounds.is_empty())
}

impl Measurer for Lab<'_, '_> {
    fn next(&mut self, rows: &[Row]) -> Option<RoundTaken> {
        let boots = self.boots;
        loop {
            let boot = boots.get(self.boot)?;
            if let Some(taken) = self.next_of(boot, rows) {
                return Some(taken);
            }
            (self.boot, self.next) = (self.boot + 1, 0);
        }
    }

    fn look(&mut self, rows: &mut [Row], index: usize) {
        // The guest's only CPU is number 0 to it.
        if let (Some(cpu), Some(round)) = (self.cpu(), rows.get_mut(index).and_then(Row::newest)) {
            round.cpu = cpu;
        }
    }
}

/// Adds to the remarks of each row which of its steps had no effect.
fn remark_on_harmless_steps(rows: &mut [Row], plan: &LabPlan, features: &[String]) {
    for (row, job) in rows.iter_mut().zip(&plan.jobs) {
        let without = job.configuration.without_effect(features);
        row.remarks.extend(without.into_iter().map(|(switch, value, feature)| {
            let feature = feature.to_uppercase();
            format!("{switch}={value} was executed without effect: this CPU has no {feature}")
        }));
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

/// Adds the interrupts that nobody asked for to the remarks of the rows that they disturbed.
fn remark_on_strays(rows: &mut [Row], boots: &[Booted]) {
    let mut by_row = BTreeMap::<usize, Strays>::new();
    let of_boot = |boot: &'_ Booted| {
        let round = |number: u64| match boot.work.numbered.get(number as usize) {
            Some(Numbered::Round(index)) => Some(*index),
            _ => None,
        };
        let known =
            boot.collected.strays.iter().filter_map(|(number, strays)| Some((round((*number)?)?, strays)));
        known.map(|(index, strays)| (index, strays.clone())).collect::<Vec<_>>()
    };
    for (index, strays) in boots.iter().flat_map(of_boot) {
        let came = by_row.entry(index).or_default();
        for (vector, count) in strays {
            let sum = came.entry(vector).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    for (index, came) in by_row {
        if let Some(row) = rows.get_mut(index) {
            row.remarks.extend(strays_in_words(&came));
        }
    }
}

/// Nothing when there were none.
fn strays_in_words(came: &Strays) -> Option<String> {
    let all = came.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
    let name = |vector: &u64| if *vector == 2 { "NMI".into() } else { format!("vector {vector:#x}") };
    let each: Vec<String> = came.iter().map(|(vector, count)| format!("{}: {count}", name(vector))).collect();
    let (interrupts, were) = if all == 1 { ("interrupt", "was") } else { ("interrupts", "were") };
    (all > 0).then(|| {
        format!(
            "{all} {interrupts} that nobody asked for {were} handled while this was measured ({})",
            each.join(", ")
        )
    })
}

/// What the vDSO images export, by bitness.
fn vdso(collected: &Collected, work: &Work) -> BTreeMap<String, Vec<Export>> {
    let mut vdso = BTreeMap::new();
    for (number, what) in (0..).zip(&work.numbered) {
        let Numbered::Describe(probe) = what else { continue };
        let ran = collected.ran.get(&number).filter(|ran| matches!(ran.end, End::Exited(_)));
        let Some(records) = ran.and_then(|ran| record::parse(ran.output.as_ref()?).ok()) else { continue };
        vdso.insert(probe.bits().to_string(), Export::all(&records));
    }
    vdso
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strays_are_counted_and_named() {
        assert_eq!(strays_in_words(&Strays::new()), None);
        let one = "1 interrupt that nobody asked for was handled while this was measured (vector 0x37: 1)";
        assert_eq!(strays_in_words(&Strays::from([(0x37, 1)])).as_deref(), Some(one));
        let more = "4 interrupts that nobody asked for were handled while this was measured (NMI: 3, vector 0x37: 1)";
        assert_eq!(strays_in_words(&Strays::from([(0x37, 1), (2, 3)])).as_deref(), Some(more));
    }
}

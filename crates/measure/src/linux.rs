//! Measures the Linux that this program runs on: chooses the next row and the CPU, runs the probe, and looks whether
//! anything changed underneath.

use crate::Error;
use crate::around::{Around, Here};
use crate::conclude::conclude;
use crate::course::{Course, MOST_ROUNDS, TimeSlice};
use crate::cpus::groups;
use crate::described::describe;
use crate::drive::{Measurer, Progress, RoundTaken, drive};
use crate::plan::HostPlan;
use crate::row::{Row, TableRow};
use crate::scout::Lookout;
use document::{Counter, Document};
use environment::CoreType;
use places::host::Executor;
use record::Request;
use std::collections::BTreeMap;

/// What a measurement needs besides its plan.
pub struct Setup<'a> {
    /// Runs the probes.
    pub executor: &'a mut dyn Executor,
    /// The process id that getppid must answer.
    pub parent: u64,
    /// Where it is made.
    pub here: Here,
}

/// Measures what the plan asks for.
///
/// # Errors
/// [`Error::Environment`] when there is no CPU to measure on.
pub fn measure<'a>(
    plan: &HostPlan<'a>,
    setup: Setup,
    progress: &mut dyn FnMut(Progress<'a>),
) -> Result<Document, Error> {
    let Setup { executor, parent, mut here } = setup;
    let groups = groups(plan.cpus, &here.cpus);
    let first_cpu =
        groups.first().and_then(|group| group.keys().last()).copied().ok_or_else(Error::no_cpu)?;
    let around = Around::begin(executor, first_cpu);
    let vdso = describe(executor, first_cpu, &mut here.environment);

    let mut rows = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        let part = TimeSlice { number: number as u32, of: groups.len() as u32, begin: around.begin };
        let mut of_group = rows_of(plan, group, groups.len() > 1);
        let lookout =
            Lookout::new(group, &here.environment, &here.earlier.alone, parent).ok_or_else(Error::no_cpu)?;
        let course = Course::new(plan, lookout, here.interrupt.clone(), part, executor, true);
        let most_rounds = MOST_ROUNDS / (plan.measured() * groups.len()).max(1);
        drive(&mut Linux { executor, course, parent, most_rounds }, &mut of_group, progress);
        rows.append(&mut of_group);
    }
    let (facts, environment) = around.end(plan, executor, here);
    Ok(conclude(&rows, facts, environment, vdso))
}

fn rows_of<'a>(plan: &HostPlan<'a>, group: &BTreeMap<usize, CoreType>, are_several: bool) -> Vec<Row<'a>> {
    let kind = group.values().next().filter(|_| are_several);
    let configuration: BTreeMap<String, String> =
        kind.map(|kind| ("core".to_string(), kind.name().to_string())).into_iter().collect();
    let of_row = |row: &TableRow<'a>| {
        let new = || Row::new(*row, Counter::Time, configuration.clone());
        match plan.footprints.as_slice() {
            [] => vec![new()],
            footprints => footprints.iter().map(|footprint| new().among(*footprint)).collect(),
        }
    };
    plan.rows.iter().flat_map(of_row).collect()
}

/// The host's Linux, measured on CPUs of one kind.
struct Linux<'a> {
    executor: &'a mut dyn Executor,
    course: Course,
    parent: u64,
    /// The most rounds that a row keeps.
    most_rounds: usize,
}

impl Measurer for Linux<'_> {
    fn next(&mut self, rows: &[Row]) -> Option<RoundTaken> {
        if self.course.is_interrupted() {
            return None;
        }
        let index = self.course.next_row(self.executor, rows)?;
        let row = rows.get(index)?;
        let cpu = self.course.lookout.cpus.now();
        let request = Request {
            parent: self.parent,
            cpu: cpu as u64,
            path: row.rounds.is_empty(),
            samples: self.course.samples(row),
            uses: row.uses(),
            ..HostPlan::request(row.row, self.course.lookout.cpus.longer(cpu)).among(row.footprint)
        };
        let at = self.course.at(self.executor);
        let answer = self.course.take(self.executor, row.row, cpu, &request)?;
        Some(RoundTaken { row: index, at, answer })
    }

    fn look(&mut self, rows: &mut [Row], index: usize) {
        let Some(row) = rows.get_mut(index) else { return };
        let good = row.good;
        if self.course.look(row).is_some() {
            row.thin(self.most_rounds, good);
            self.course.review(rows);
        }
    }

    fn progress<'r>(&self, row: TableRow<'r>) -> Option<Progress<'r>> {
        Some(self.course.progress(self.executor, row))
    }
}

//! What a command line asks the lab for. Made without touching the system.

use super::Accel;
use super::{Configuration, Configurations};
use crate::{Error, TableRow, schedule, select};
use document::Counter;
use lab::Line;
use record::{Request, abi};
use std::collections::BTreeMap;
use std::time::Duration;
use table::{Kernel, Probe, Table};

/// One row in one configuration.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// The entry and the operation.
    pub row: TableRow<'a>,
    /// The switches while it is measured: as asked for, with those that the entry requires.
    pub configuration: Configuration<'a>,
}

impl Job<'_> {
    /// Whether it enters as another does, through the same type of gate.
    pub fn has_gate_of(&self, other: &Job) -> bool {
        let gate = |job: &Job| job.configuration.only(&[DECIDING]);
        self.row.0.id == other.row.0.id && gate(self) == gate(other)
    }
}

/// The purpose of a run, exec or check line of the kernel's plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbered {
    /// What the vDSO exports.
    Describe(Probe),
    /// Whether interrupts are on in the kernel after the entry of the job of this index came through a gate; for all jobs
    /// of the entry whose configuration has the same gate.
    Observe(usize),
    /// A round of the job of this index.
    Round(usize),
}

/// Files of the lab's entries whose paths begin at a gate. The gate decides whether interrupts stay on in the kernel; with
/// other entries the instruction decides.
const GATES: [&str; 5] = ["int80", "call-gate", "ud", "int3", "div0"];

/// The switch that decides the same for one of them.
const DECIDING: &str = "gate";

/// What is asked of the lab.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names and globs of entries; if empty, all.
    pub entry: Vec<String>,
    /// Names and globs of operations; if empty, all.
    pub operation: Vec<String>,
    /// `SWITCH=VALUE,...`: a configuration each.
    pub set: Vec<String>,
    /// What is to execute the kernel's instructions.
    pub accel: Accel,
    /// The processor, as the emulator names it.
    pub cpu_model: Option<String>,
    /// Whether the emulator is Bochs.
    pub bochs: bool,
    /// The seed of the order, the address layout and random bytes.
    pub seed: u64,
    /// The longest that all of it may take.
    pub time: Duration,
}

/// Runs of each row: for times, twice as many as an estimate needs; for counts one, since every count is the same.
fn rounds(counter: Counter) -> u64 {
    match counter {
        Counter::Instructions => 1,
        Counter::Time => 12,
    }
}

/// A program that runs for more ticks is considered hung.
fn limit(counter: Counter) -> u64 {
    match counter {
        // A tick is an instruction, and a round takes less than a million.
        Counter::Instructions => 100_000_000,
        // About half a second; a round takes milliseconds.
        Counter::Time => 1_000_000_000,
    }
}

/// A run of every job.
struct Round {
    /// Where paths begin in their slots, drawn from this.
    layout: Option<u64>,
    /// Their order.
    jobs: Vec<usize>,
}

/// The layout of a round, so that what is measured contains what a layout happens to cost; a count does not depend on it.
fn layout(counter: Counter, seed: u64) -> Option<u64> {
    match counter {
        Counter::Instructions => None,
        // 0 would be the layout without offsets, in every boot the same.
        Counter::Time => Some(seed.wrapping_add(1).max(1)),
    }
}

fn request(counter: Counter, (entry, operation): TableRow) -> Request {
    let (blocks, ticks, bursts, samples) = match counter {
        Counter::Instructions => (1, 100_000_000, 1, 8),
        Counter::Time => (16, 5_000_000, 16, abi::BLOCK_SAMPLES),
    };
    Request {
        entry: entry.id,
        operation: operation.id,
        blocks,
        ticks,
        bursts,
        parent: abi::LAB_PARENT,
        cpu: abi::LAB_CPU,
        path: false,
        samples,
    }
}

/// What to measure in the lab.
#[derive(Debug, Clone)]
pub struct LabPlan<'a> {
    /// Every row in every configuration: in the table's order, an entry's configurations one after the other.
    pub jobs: Vec<Job<'a>>,
    /// The configurations that are compared.
    pub configurations: Configurations<'a>,
    /// The defaults of the switches.
    pub defaults: Configuration<'a>,
    /// The seed of the order, the address layout and random bytes.
    pub seed: u64,
    /// The longest that all of it may take.
    pub time: Duration,
}

/// One boot's work.
#[derive(Debug, Clone)]
pub struct Work {
    /// The plan for the kernel.
    pub plan: lab::Plan,
    /// The purpose of each numbered line.
    pub numbered: Vec<Numbered>,
}

impl<'a> LabPlan<'a> {
    /// The plan for a command line.
    ///
    /// # Errors
    /// [`Error::Usage`] when it asks for rows, switches or values that do not exist.
    pub fn new(table: &'a Table, options: &Options) -> Result<LabPlan<'a>, Error> {
        let rows = select::rows(table, Kernel::Lab, &options.entry, &options.operation)?;
        let configurations = Configurations::new(table, &options.set)?;
        Ok(LabPlan {
            jobs: jobs(&rows, &configurations),
            configurations,
            defaults: Configuration::defaults(table),
            seed: options.seed,
            time: options.time,
        })
    }

    /// The work of a boot: all rounds of all jobs, the configurations interleaved, in an order drawn from the seed.
    pub fn work(&self, counter: Counter) -> Work {
        let seeds = (0..rounds(counter)).map(|round| self.seed.wrapping_add(round));
        let order =
            |seed| Round { layout: layout(counter, seed), jobs: schedule::order(self.jobs.len(), seed) };
        self.work_in_order(counter, seeds.map(order))
    }

    /// The work of a boot that somebody watches: a round of each job, one configuration after the other, in the table's
    /// order.
    pub fn work_for_a_reader(&self) -> Work {
        let place = |job: &Job<'a>| {
            let asked = self.configurations.all.iter();
            asked.map(|asked| asked.for_entry(job.row.0)).position(|asked| asked == job.configuration)
        };
        let mut jobs: Vec<usize> = (0..self.jobs.len()).collect();
        jobs.sort_by_key(|index| self.jobs.get(*index).and_then(place));
        self.work_in_order(Counter::Time, std::iter::once(Round { layout: None, jobs }))
    }

    fn work_in_order(&self, counter: Counter, rounds: impl Iterator<Item = Round>) -> Work {
        let mut lines = vec![Line::Seed(self.seed), Line::Limit(limit(counter))];
        let mut numbered = Vec::new();
        for probe in [Probe::Probe64, Probe::Probe32] {
            lines.push(Line::Run { file: probe.name().into(), arguments: Request::describe() });
            numbered.push(Numbered::Describe(probe));
        }
        let mut now = self.defaults.clone();
        for (index, job) in self.observed() {
            set_changes(&mut lines, &mut now, &job.configuration.clone().but("observe", "on"));
            lines.push(run(job.row, counter));
            numbered.push(Numbered::Observe(index));
        }
        // A switch that is named is always set explicitly: on a processor that lacks the feature, the default differs.
        let named = self.defaults.only(&self.configurations.named);
        let back = self.defaults.changes_from(&now).into_iter();
        let set: BTreeMap<_, _> = named.into_iter().chain(back).collect();
        if !set.is_empty() {
            lines.push(Line::Set(set.into_iter().collect()));
        }
        now = self.defaults.clone();
        for round in rounds {
            lines.extend(round.layout.map(Line::Layout));
            for index in round.jobs {
                let Some(job) = self.jobs.get(index) else { continue };
                set_changes(&mut lines, &mut now, &job.configuration);
                lines.push(run(job.row, counter));
                numbered.push(Numbered::Round(index));
            }
        }
        Work { plan: lab::Plan { lines }, numbered }
    }

    /// For every entry that goes through a gate, the first job with each type of gate, and its index.
    fn observed(&self) -> Vec<(usize, &Job<'a>)> {
        let is_gate = |job: &Job| job.row.0.lab.as_ref().is_some_and(|file| GATES.contains(&file.as_str()));
        let mut first: Vec<(usize, &Job)> = Vec::new();
        for (index, job) in self.jobs.iter().enumerate().filter(|(_, job)| is_gate(job)) {
            if !first.iter().any(|(_, seen)| seen.has_gate_of(job)) {
                first.push((index, job));
            }
        }
        first
    }
}

/// Rows of one entry: first all in the first configuration, then in the next. Values that an entry requires may make two
/// configurations equal; then one of them is measured.
fn jobs<'a>(rows: &[TableRow<'a>], configurations: &Configurations<'a>) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for rows in rows.chunk_by(|a, b| a.0.id == b.0.id) {
        let mut seen: Vec<Configuration> = Vec::new();
        for configuration in configurations.all.iter().map(|asked| asked.for_entry(rows[0].0)) {
            if !seen.contains(&configuration) {
                jobs.extend(rows.iter().map(|row| Job { row: *row, configuration: configuration.clone() }));
                seen.push(configuration);
            }
        }
    }
    jobs
}

/// Appends a line that sets the switches that differ from the previous configuration, if any do.
fn set_changes<'a>(lines: &mut Vec<Line>, now: &mut Configuration<'a>, next: &Configuration<'a>) {
    let changes = next.changes_from(now);
    if !changes.is_empty() {
        lines.push(Line::Set(changes));
        *now = next.clone();
    }
}

fn run(row: TableRow, counter: Counter) -> Line {
    Line::Run { file: row.0.probe.name().into(), arguments: request(counter, row).arguments() }
}

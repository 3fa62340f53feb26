//! What a command line asks the lab for. Made without touching the system.

use super::{Configuration, Configurations};
use crate::cli::LabArgs;
use crate::error::Error;
use crate::select::{self, Row};
use host::Schedule;
use lab::Line;
use record::{Request, abi};
use report::Format;
use std::collections::BTreeMap;
use std::time::Duration;
use table::{Kernel, Probe, Table};

/// One row in one configuration.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// The entry and the operation.
    pub row: Row<'a>,
    /// What the switches are while it is measured: as asked for, and what the entry fixes.
    pub configuration: Configuration<'a>,
}

/// What a run, exec or check line of the kernel's plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbered {
    /// What the vDSO exports.
    Describe(Probe),
    /// Whether interrupts are on behind the gate of the entry of this id.
    Observe(u16),
    /// A round of the job of this index.
    Round(usize),
}

/// Files of the lab's entries whose paths begin at a gate. There the gate decides whether interrupts are on behind it; with
/// the other entries the instruction itself does.
const GATES: [&str; 5] = ["int80", "call-gate", "ud", "int3", "div0"];

/// What is measured with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timed {
    /// An emulator's count of instructions: it is always the same, so that few samples do.
    Instructions,
    /// A processor's counter: rounds, as on a host.
    Hardware,
}

impl Timed {
    /// Runs of each row.
    fn rounds(self) -> u64 {
        if self == Timed::Instructions { 1 } else { 8 }
    }

    /// After how many ticks a program is taken to run away.
    fn limit(self) -> u64 {
        // An instruction is a tick under an emulator, and a round takes less than a million; on hardware this is about
        // half a second, and a round takes milliseconds.
        if self == Timed::Instructions { 100_000_000 } else { 1_000_000_000 }
    }

    fn request(self, (entry, operation): Row) -> Request {
        let counted = self == Timed::Instructions;
        Request {
            entry: entry.id,
            operation: operation.id,
            blocks: if counted { 1 } else { 16 },
            ticks: if counted { 100_000_000 } else { 5_000_000 },
            bursts: if counted { 1 } else { 16 },
            parent: abi::LAB_PARENT,
            cpu: abi::LAB_CPU,
            path: false,
            samples: if counted { 8 } else { abi::BLOCK_SAMPLES },
        }
    }
}

/// What to measure in the lab.
#[derive(Debug, Clone)]
pub struct LabPlan<'a> {
    /// Every row in every configuration: in the table's order, an entry's configurations one after the other.
    pub jobs: Vec<Job<'a>>,
    /// What is compared.
    pub configurations: Configurations<'a>,
    /// The switches without any `--set`.
    pub defaults: Configuration<'a>,
    /// What the order, the address layout and random bytes are drawn from.
    pub seed: u64,
    /// The longest that all of it may take.
    pub time: Duration,
}

/// One boot's work.
#[derive(Debug, Clone)]
pub struct Work {
    /// For the kernel.
    pub plan: lab::Plan,
    /// What its numbered lines are for.
    pub numbered: Vec<Numbered>,
}

impl<'a> LabPlan<'a> {
    /// The plan for a command line.
    ///
    /// # Errors
    /// [`Error::Usage`] when it asks for rows, switches or values that there are not.
    pub fn new(table: &'a Table, args: &LabArgs) -> Result<LabPlan<'a>, Error> {
        let rows = select::rows(table, Kernel::Lab, &args.entry, &args.operation)?;
        let configurations = Configurations::new(table, &args.set)?;
        Ok(LabPlan {
            jobs: jobs(&rows, &configurations),
            configurations,
            defaults: Configuration::defaults(table),
            seed: args.seed,
            time: args.time(),
        })
    }

    /// The work of a boot: all rounds of all jobs, the configurations interleaved, in an order drawn from the seed.
    pub fn work(&self, timed: Timed) -> Work {
        let rounds = 0..timed.rounds();
        self.work_in_order(
            timed,
            rounds.flat_map(|round| order(self.jobs.len(), self.seed.wrapping_add(round))),
        )
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
        self.work_in_order(Timed::Hardware, jobs.into_iter())
    }

    fn work_in_order(&self, timed: Timed, order: impl Iterator<Item = usize>) -> Work {
        let mut lines = vec![Line::Seed(self.seed), Line::Limit(timed.limit())];
        let mut numbered = Vec::new();
        for probe in [Probe::Probe64, Probe::Probe32] {
            lines.push(Line::Run { file: probe.name().into(), arguments: Request::describe() });
            numbered.push(Numbered::Describe(probe));
        }
        let mut now = self.defaults.clone();
        for row in self.gates() {
            let observing = self.defaults.for_entry(row.0).but("observe", "on");
            set_changes(&mut lines, &mut now, &observing);
            lines.push(run(row, timed));
            numbered.push(Numbered::Observe(row.0.id));
        }
        // What is asked for by name is set in any case: a processor that lacks it starts with another default.
        let named = self.defaults.only(&self.configurations.named);
        let back = self.defaults.changes_from(&now).into_iter();
        let set: BTreeMap<_, _> = named.into_iter().chain(back).collect();
        if !set.is_empty() {
            lines.push(Line::Set(set.into_iter().collect()));
        }
        now = self.defaults.clone();
        for index in order {
            let Some(job) = self.jobs.get(index) else { continue };
            set_changes(&mut lines, &mut now, &job.configuration);
            lines.push(run(job.row, timed));
            numbered.push(Numbered::Round(index));
        }
        Work { plan: lab::Plan { lines }, numbered }
    }

    /// The first row of every entry that goes through a gate.
    fn gates(&self) -> impl Iterator<Item = Row<'a>> {
        let entries = self.jobs.chunk_by(|a, b| a.row.0.id == b.row.0.id);
        let first = entries.filter_map(|jobs| jobs.first()).map(|job| job.row);
        first.filter(|(entry, _)| entry.lab.as_ref().is_some_and(|file| GATES.contains(&file.as_str())))
    }

    /// The plan for a reader: text, or JSON.
    ///
    /// # Errors
    /// [`Error::Usage`] for the formats that are for measurements only.
    pub fn render(&self, timed: Timed, format: Format) -> Result<Vec<u8>, Error> {
        let work = self.work(timed);
        match format {
            Format::Text => Ok(format!("{}\n{}", self.summary(&work), work.plan.render()).into_bytes()),
            Format::Json => Ok(format!("{:#}\n", self.json(&work)).into_bytes()),
            other => {
                Err(Error::Usage(format!("a plan (--dry-run) can be shown as text or json, not as {other}")))
            }
        }
    }

    fn summary(&self, work: &Work) -> String {
        format!(
            "{} rows, {}, {} runs of a probe in one boot, seed {}, at most {} s; the kernel's plan:\n",
            self.jobs.len(),
            match self.configurations.all.len() {
                1 => "one configuration".to_string(),
                many => format!("{many} configurations"),
            },
            work.numbered.len(),
            self.seed,
            self.time.as_secs_f64(),
        )
    }

    fn json(&self, work: &Work) -> serde_json::Value {
        let row = |job: &Job| {
            let (entry, operation) = job.row;
            serde_json::json!({
                "probe": entry.probe.name(),
                "entry": entry.name,
                "operation": operation.name,
                "configuration": job.configuration.only(&self.configurations.named),
            })
        };
        serde_json::json!({
            "schema": "kentry.lab-plan/1",
            "seed": self.seed,
            "timeout_seconds": self.time.as_secs_f64(),
            "rows": self.jobs.iter().map(row).collect::<Vec<_>>(),
            "plan": work.plan.render(),
        })
    }
}

/// Rows of one entry, first all in the first configuration, then in the next; what an entry fixes may make two
/// configurations one.
fn jobs<'a>(rows: &[Row<'a>], configurations: &Configurations<'a>) -> Vec<Job<'a>> {
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

/// Appends what leads from one configuration to the next, where they differ.
fn set_changes<'a>(lines: &mut Vec<Line>, now: &mut Configuration<'a>, next: &Configuration<'a>) {
    let changes = next.changes_from(now);
    if !changes.is_empty() {
        lines.push(Line::Set(changes));
        *now = next.clone();
    }
}

fn run(row: Row, timed: Timed) -> Line {
    Line::Run { file: row.0.probe.name().into(), arguments: timed.request(row).arguments() }
}

fn order(jobs: usize, seed: u64) -> impl Iterator<Item = usize> {
    // Without time there is one whole sweep.
    let mut schedule = Schedule::new(jobs, seed, Duration::ZERO);
    std::iter::from_fn(move || schedule.next_row()).map(|(_, index)| index)
}

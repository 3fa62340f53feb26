//! What a command line asks the lab for. Made without touching the system.

use super::{Configuration, Configurations};
use crate::{Error, HostPlan, TableRow, schedule, select};
use document::Counter;
use places::lab::{Line, Mode};
use record::{Footprint, Request, abi};
use std::collections::BTreeMap;
use std::time::Duration;
use table::{Probe, SwitchValues, Table, Whose};

/// One row in one configuration.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// The entry and the operation.
    pub row: TableRow<'a>,
    /// The switches while it is measured: as asked for, with those that the entry requires.
    pub configuration: Configuration<'a>,
    /// What is touched behind every use; none if that is not asked for.
    pub footprint: Option<Footprint>,
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

/// Files of the lab's entries whose paths begin at an interrupt or trap gate.
pub(super) const BY_INTERRUPT: [&str; 11] = [
    "int80",
    "double-fault",
    "v86",
    "ud",
    "int3",
    "div0",
    "into",
    "bound",
    "np-fault",
    "ss-fault",
    "limit-fault",
];

/// Those whose paths begin at a call gate.
pub(super) const BY_CALL_GATE: [&str; 6] =
    ["call-gate", "call-gate-32-1", "call-gate-32-8", "call-gate-16-0", "call-gate-16-1", "call-gate-16-8"];

/// Whether the gate decides if interrupts stay on in the kernel; with other entries the instruction decides.
fn is_gate(job: &Job) -> bool {
    let file = job.row.0.lab.as_deref().unwrap_or_default();
    BY_INTERRUPT.contains(&file) || BY_CALL_GATE.contains(&file)
}

/// The switch that decides the same for one of them.
const DECIDING: &str = "gate";

/// What executes the kernel's instructions, as asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accel {
    /// The processor if KVM runs ring 0 natively on it, otherwise QEMU's emulation.
    Auto,
    /// The processor.
    Kvm,
    /// QEMU's emulation.
    Tcg,
}

/// What is asked of the lab.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names and globs of entries; if empty, all.
    pub entry: Vec<String>,
    /// Names and globs of operations; if empty, all.
    pub operation: Vec<String>,
    /// Whose calls the rows are by: those of Linux that the lab has, or another personality's.
    pub whose: Whose,
    /// `SWITCH=VALUE,...`: a configuration each.
    pub set: Vec<String>,
    /// What is touched behind every use, a row each; if empty, nothing.
    pub footprints: Vec<Footprint>,
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

/// Runs of each row in a boot: for counts one, since every count is the same; for times two, in different layouts.
fn rounds(counter: Counter) -> u64 {
    match counter {
        Counter::Instructions => 1,
        Counter::Time => 2,
    }
}

/// Boots of a measurement of so many jobs. For times each starts from cold and has all jobs; with its rounds, these are more than twice as
/// many as an estimate needs. Boots that count share the jobs: they run side by side, so that two are done in half the time. How many there
/// are depends on the jobs alone, so that a plan is the same on every machine.
fn boots(counter: Counter, jobs: usize) -> u64 {
    match (counter, jobs) {
        (Counter::Time, _) => 8,
        (Counter::Instructions, MANY_JOBS..) => 4,
        (Counter::Instructions, SOME_JOBS..) => 2,
        (Counter::Instructions, _) => 1,
    }
}

/// A boot takes QEMU as long as it takes the kernel to count some fifty jobs.
const SOME_JOBS: usize = 150;
const MANY_JOBS: usize = 1000;

/// How many boots later a layout has its other round. It is no divisor of the number of boots, and near half of it.
const LAYOUT_STRIDE: u64 = 3;

/// Seeds are below: JSON readers keep every whole number up to 2^53.
const SEEDS: u64 = (1 << 53) + 1;

/// Rounds of all rows, of each one.
struct Sweep {
    /// The layout while they are measured, where it is drawn: a cost depends on where code and data happen to lie, but a count
    /// does not.
    layout: Option<u64>,
    /// The jobs, by index.
    order: Vec<usize>,
}

/// A program that runs for more ticks is considered hung. Where the processor is emulated, the kernel takes more, by its test of ring 0.
fn limit(counter: Counter) -> u64 {
    match counter {
        // A tick is an instruction, and a round takes less than a million.
        Counter::Instructions => 100_000_000,
        // About half a second; a round takes milliseconds.
        Counter::Time => 1_000_000_000,
    }
}

fn request(counter: Counter, (entry, operation): TableRow, footprint: Footprint) -> Request {
    let (blocks, ticks, bursts, samples) = match counter {
        Counter::Instructions => (1, 100_000_000, 1, 8),
        Counter::Time => (HostPlan::BLOCKS, HostPlan::TICKS, HostPlan::BURSTS, HostPlan::SAMPLES),
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
        footprint: Footprint::NONE,
        uses: 1,
    }
    .among(footprint)
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
    /// The mode of the processor whose kernel is measured.
    pub mode: Mode,
    /// Whether the value of every switch is asked for, so that none is left to what the kernel had at boot.
    names_all: bool,
    /// The seed of the order, the address layout and random bytes.
    pub seed: u64,
    /// The longest that all of it may take.
    pub time: Duration,
    /// The jobs that are also run to see whether interrupts are on, and their configurations then.
    observed: Vec<(usize, Configuration<'a>)>,
}

/// One boot's work.
#[derive(Debug, Clone)]
pub struct Work {
    /// The plan for the kernel.
    pub plan: places::lab::Plan,
    /// The purpose of each numbered line.
    pub numbered: Vec<Numbered>,
    /// The layouts: of each, the first numbered line that has it, and the number that it is drawn from.
    pub layouts: Vec<(usize, u64)>,
}

impl<'a> LabPlan<'a> {
    /// The plan for a command line.
    ///
    /// # Errors
    /// [`Error::Usage`] when it asks for rows, switches or values that do not exist.
    pub fn new(table: &'a Table, options: &Options) -> Result<LabPlan<'a>, Error> {
        let rows = select::rows(table, options.whose, &options.entry, &options.operation)?;
        let configurations = Configurations::new(table, options.whose.kernel(), &options.set)?;
        let jobs = jobs(&rows, &configurations, &options.footprints);
        Ok(LabPlan {
            observed: observed(&jobs),
            jobs,
            configurations,
            defaults: Configuration::defaults(table),
            mode: Mode::of(options.whose.kernel()),
            names_all: false,
            seed: options.seed,
            time: options.time,
        })
    }

    /// The plan for these configurations of rows, each with a value of the table's for every switch. Two that an entry makes equal are
    /// one.
    pub fn of(
        table: &'a Table,
        wanted: &[(TableRow<'a>, &SwitchValues)],
        seed: u64,
        time: Duration,
    ) -> LabPlan<'a> {
        let defaults = Configuration::defaults(table);
        let mut jobs: Vec<Job> = Vec::new();
        for (row, values) in wanted {
            let values = values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let configuration = defaults.clone().with(values);
            let job = Job { row: *row, configuration: configuration.for_row(*row), footprint: None };
            let is_job = |known: &Job| known.row == job.row && known.configuration == job.configuration;
            if !jobs.iter().any(is_job) {
                jobs.push(job);
            }
        }
        let mut all: Vec<Configuration> = Vec::new();
        for job in &jobs {
            if !all.contains(&job.configuration) {
                all.push(job.configuration.clone());
            }
        }
        let configurations = Configurations { all, named: Vec::new() };
        let (observed, mode, names_all) = (Vec::new(), Mode::Long, true);
        LabPlan { observed, jobs, configurations, defaults, mode, names_all, seed, time }
    }

    /// The same with another seed.
    pub fn seeded(self, seed: u64) -> LabPlan<'a> {
        LabPlan { seed, ..self }
    }

    /// Whether some row has a footprint, even if it is none.
    pub fn has_footprints(&self) -> bool {
        self.jobs.iter().any(|job| job.footprint.is_some())
    }

    /// How many boots the measurement has.
    pub fn boots(&self, counter: Counter) -> u64 {
        boots(counter, self.jobs.len())
    }

    /// What a boot of this number draws its order from.
    pub fn seed_of(&self, boot: u64) -> u64 {
        self.seed.wrapping_add(boot) % SEEDS
    }

    /// The layout of a round of a boot. Each layout has as many rounds as a boot, and no boot has two rounds of it: so what lies
    /// between layouts can be told from what lies between boots, and from what lies within both. The boots that share a layout
    /// are far apart, too: neighbours are alike when the machine drifts, which would look like layout.
    fn layout_of(&self, counter: Counter, boot: u64, round: u64) -> Option<u64> {
        match counter {
            Counter::Instructions => None,
            // 0 would be the layout without offsets.
            Counter::Time => Some(self.seed_of((boot + LAYOUT_STRIDE * round) % self.boots(counter)) + 1),
        }
    }

    /// The work of the boot of this number: some rounds of all jobs, or one of its share of them, the configurations interleaved, in an
    /// order drawn from the seed. What is the same in every boot is looked at in the first.
    pub fn work(&self, counter: Counter, boot: u64) -> Work {
        let rounds = rounds(counter);
        let sweep = |round| Sweep {
            layout: self.layout_of(counter, boot, round),
            order: match counter {
                Counter::Instructions => self.share(boot),
                Counter::Time => self.order(boot * rounds + round),
            },
        };
        self.work_in_order(counter, boot, (0..rounds).map(sweep))
    }

    /// All jobs, in the order of this number.
    fn order(&self, number: u64) -> Vec<usize> {
        schedule::order(self.jobs.len(), self.seed.wrapping_add(number))
    }

    /// Those that a boot counts.
    fn share(&self, boot: u64) -> Vec<usize> {
        let share = self.jobs.len().div_ceil(self.boots(Counter::Instructions) as usize).max(1);
        self.order(0).chunks(share).nth(boot as usize).unwrap_or_default().to_vec()
    }

    /// The work of a boot that somebody watches: a round of each job, one configuration after the other, in the table's
    /// order.
    pub fn work_for_a_reader(&self) -> Work {
        let place = |job: &Job<'a>| {
            let asked = self.configurations.all.iter();
            asked.map(|asked| asked.for_row(job.row)).position(|asked| asked == job.configuration)
        };
        let mut jobs: Vec<usize> = (0..self.jobs.len()).collect();
        jobs.sort_by_key(|index| self.jobs.get(*index).and_then(place));
        // With a single layout, paths begin their slots, so that the figures of two images can be compared.
        self.work_in_order(Counter::Time, 0, std::iter::once(Sweep { layout: None, order: jobs }))
    }

    fn work_in_order(&self, counter: Counter, boot: u64, sweeps: impl Iterator<Item = Sweep>) -> Work {
        let mut lines =
            vec![Line::Seed(self.seed_of(boot)), Line::Kernel(self.mode), Line::Limit(limit(counter))];
        let (mut numbered, mut layouts) = (Vec::new(), Vec::new());
        let mut now = self.defaults.clone();
        if boot == 0 {
            self.look(counter, &mut lines, &mut numbered, &mut now);
        }
        // A switch that is named is always set explicitly: on a processor that lacks the feature, the default differs.
        let named = self.defaults.only(&self.configurations.named);
        let back = self.changes(&now, &self.defaults).into_iter();
        let set: BTreeMap<_, _> = named.into_iter().chain(back).collect();
        if !set.is_empty() {
            lines.push(Line::Set(set.into_iter().collect()));
        }
        now = self.defaults.clone();
        for Sweep { layout, order } in sweeps {
            layouts.extend(layout.map(|layout| (numbered.len(), layout)));
            lines.extend(layout.map(Line::Layout));
            for index in order {
                let Some(job) = self.jobs.get(index) else { continue };
                self.set_changes(&mut lines, &mut now, &job.configuration);
                lines.extend(run(job, counter));
                numbered.push(Numbered::Round(index));
            }
        }
        Work { plan: places::lab::Plan { lines }, numbered, layouts }
    }

    /// What the vDSO exports, and whether interrupts are on behind each gate.
    fn look(
        &self,
        counter: Counter,
        lines: &mut Vec<Line>,
        numbered: &mut Vec<Numbered>,
        now: &mut Configuration<'a>,
    ) {
        let probes = match self.mode {
            Mode::Long => [Probe::Probe64, Probe::Probe32].as_slice(),
            Mode::Protected => &[Probe::Probe32],
        };
        for probe in probes.iter().copied() {
            lines.push(Line::Run { file: probe.name().into(), arguments: Request::describe() });
            numbered.push(Numbered::Describe(probe));
        }
        for (index, configuration) in &self.observed {
            let Some(job) = self.jobs.get(*index) else { continue };
            self.set_changes(lines, now, configuration);
            lines.extend(run(job, counter));
            numbered.push(Numbered::Observe(*index));
        }
    }

    /// Appends a line that sets the switches that differ from the previous configuration, if any do.
    fn set_changes(&self, lines: &mut Vec<Line>, now: &mut Configuration<'a>, next: &Configuration<'a>) {
        let changes = self.changes(now, next);
        if !changes.is_empty() {
            lines.push(Line::Set(changes));
            *now = next.clone();
        }
    }

    /// What leads from one configuration to the next. A switch that nobody named, and that only rows need otherwise, goes back to what the
    /// kernel had at boot: on a processor that lacks the feature, that is not the table's default.
    fn changes(&self, now: &Configuration, next: &Configuration) -> Vec<(String, String)> {
        let mut changes = next.changes_from(now);
        let defaults = self.defaults.all_values();
        let is_back = |name: &str, value: &str| {
            !self.names_all
                && !self.configurations.named.contains(&name)
                && defaults.get(name).is_some_and(|default| default == value)
        };
        for (name, value) in &mut changes {
            if is_back(name, value) {
                *value = places::lab::DEFAULT.into();
            }
        }
        changes
    }
}

/// For every entry that goes through a gate, the first job with each type of gate, by its index; and its configuration while
/// it is observed.
fn observed<'a>(jobs: &[Job<'a>]) -> Vec<(usize, Configuration<'a>)> {
    let mut first: Vec<(usize, &Job)> = Vec::new();
    for (index, job) in jobs.iter().enumerate().filter(|(_, job)| is_gate(job)) {
        if !first.iter().any(|(_, seen)| seen.has_gate_of(job)) {
            first.push((index, job));
        }
    }
    let observed = |job: &Job<'a>| job.configuration.clone().with([("observe", "on")]);
    first.into_iter().map(|(index, job)| (index, observed(job))).collect()
}

/// Rows of one entry: first all in the first configuration, then in the next. Values that an entry requires may make two
/// configurations equal; then one of them is measured.
fn jobs<'a>(
    rows: &[TableRow<'a>],
    configurations: &Configurations<'a>,
    footprints: &[Footprint],
) -> Vec<Job<'a>> {
    let footprints: Vec<Option<Footprint>> =
        if footprints.is_empty() { vec![None] } else { footprints.iter().copied().map(Some).collect() };
    let mut jobs = Vec::new();
    let are_alike = |a: &TableRow, b: &TableRow| a.0.id == b.0.id && a.1.personality == b.1.personality;
    for rows in rows.chunk_by(are_alike) {
        let mut seen: Vec<Configuration> = Vec::new();
        for configuration in configurations.all.iter().map(|asked| asked.for_row(rows[0])) {
            if !seen.contains(&configuration) {
                jobs.extend(rows.iter().flat_map(|row| {
                    let job = |footprint: &Option<Footprint>| Job {
                        row: *row,
                        configuration: configuration.clone(),
                        footprint: *footprint,
                    };
                    footprints.iter().map(job)
                }));
                seen.push(configuration);
            }
        }
    }
    jobs
}

/// The probe, and beside it the server where that is another task.
fn run(job: &Job, counter: Counter) -> impl Iterator<Item = Line> {
    let request = request(counter, job.row, job.footprint.unwrap_or_default());
    let file = || job.row.0.probe.name().to_string();
    let operation = job.row.1;
    let is_beside = operation.server && !operation.thread;
    let server = is_beside.then(|| Line::Beside { file: file(), arguments: request.server_arguments() });
    server.into_iter().chain([Line::Run { file: file(), arguments: request.arguments() }])
}

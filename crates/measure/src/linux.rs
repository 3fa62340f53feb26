//! Measures the Linux that this program runs on: chooses the next row and the CPU, runs the probe, and looks whether
//! anything changed underneath.

use crate::Error;
use crate::around::Around;
use crate::conclude::{Facts, conclude};
use crate::drive::{Answer, Measurer, Progress, Taken, drive};
use crate::earlier::Earlier;
use crate::plan::{CpuChoice, HostPlan};
use crate::row::{Row, TableRow, fact};
use crate::schedule::Schedule;
use crate::scout::Lookout;
use document::{Counter, Document, Export};
use environment::{CoreType, Environment};
use host::{Executor, Interrupt};
use record::{Footprint, Payload, Record, Request, abi};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;
use table::{Probe, special};

/// Core cycles that a block should take, so that canaries lie close enough together whatever an entry costs.
const CYCLES_OF_A_BLOCK: f64 = 200_000.0;

/// The fewest samples of a block.
const FEWEST_SAMPLES: u64 = 8;

/// Core cycles of an imul chain and its stamps.
const CYCLES_OF_A_CHAIN: f64 = 820.0;

/// Core cycles of a sample besides the entry: chain, stamps, bookkeeping.
const CYCLES_OF_A_SAMPLE: f64 = 1_100.0;

/// The most rounds that a run keeps. Each takes some 6 KiB of memory, and some 400 bytes of the document, which stays
/// within what `kentry show` reads. Taking them takes five minutes or more.
pub const MOST_ROUNDS: usize = 1 << 17;

/// What a measurement needs besides its plan.
pub struct Setting<'a> {
    /// Runs the probes.
    pub executor: &'a mut dyn Executor,
    /// The CPUs that it may use, and their kinds.
    pub cpus: BTreeMap<usize, CoreType>,
    /// Whether real-time priority was refused, and why.
    pub realtime_refused: Option<String>,
    /// Ends the measurement when set.
    pub interrupt: Interrupt,
    /// The machine, captured before.
    pub environment: Environment,
    /// The process id that getppid must answer.
    pub parent: u64,
    /// What earlier runs of this machine found.
    pub earlier: Earlier,
}

/// Measures what the plan asks for.
///
/// # Errors
/// [`Error::Environment`] when there is no CPU to measure on.
pub fn measure<'a>(
    plan: &HostPlan<'a>,
    setting: Setting,
    progress: &mut dyn FnMut(Progress<'a>),
) -> Result<Document, Error> {
    let Setting { executor, cpus, realtime_refused, interrupt, mut environment, parent, earlier } = setting;
    let groups = groups(plan.cpus, &cpus);
    let first_cpu = groups.first().and_then(|group| group.keys().last()).copied().ok_or_else(no_cpu)?;
    let around = Around::begin(executor, first_cpu);
    let vdso = describe(executor, first_cpu, &mut environment);

    let mut rows = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        let part = Part { number: number as u32, of: groups.len() as u32, begin: around.begin };
        let mut of_group = rows_of(plan, group, groups.len() > 1);
        let lookout = Lookout::new(group, &environment, &earlier, parent).ok_or_else(no_cpu)?;
        let mut linux = Linux::new(plan, executor, lookout, &interrupt, parent, part);
        drive(&mut linux, &mut of_group, progress);
        rows.append(&mut of_group);
    }

    let interrupted = interrupt.load(Ordering::Relaxed);
    let (facts, load) = around.end(plan, executor, interrupted, realtime_refused, cpus);
    environment.load = Some(load);
    Ok(conclude(&rows, Facts { earlier, ..facts }, environment, vdso))
}

/// There is nothing to measure on.
pub(crate) fn no_cpu() -> Error {
    Error::Environment("there is no CPU to measure on".into())
}

/// The CPUs of each kind that is measured.
pub(crate) fn groups(choice: CpuChoice, cpus: &BTreeMap<usize, CoreType>) -> Vec<BTreeMap<usize, CoreType>> {
    let of = |wanted: &dyn Fn(usize, CoreType) -> bool| -> BTreeMap<usize, CoreType> {
        let chosen = cpus.iter().map(|(cpu, core)| (*cpu, *core));
        chosen.filter(|(cpu, core)| wanted(*cpu, *core)).collect()
    };
    let kinds = [CoreType::Performance, CoreType::Uniform, CoreType::Efficient];
    let by_kind = kinds.map(|kind| of(&|_, core| core == kind));
    let mut by_kind = by_kind.into_iter().filter(|group| !group.is_empty());
    match choice {
        CpuChoice::Only(cpu) => vec![of(&|other, _| other == cpu)],
        CpuChoice::Quiet => by_kind.next().into_iter().collect(),
        CpuChoice::EveryKind => by_kind.collect(),
    }
}

fn rows_of<'a>(plan: &HostPlan<'a>, group: &BTreeMap<usize, CoreType>, are_several: bool) -> Vec<Row<'a>> {
    let kind = group.values().next().filter(|_| are_several);
    let configuration: BTreeMap<String, String> =
        kind.map(|kind| ("core".to_string(), kind.name().to_string())).into_iter().collect();
    let among = |row: &TableRow<'a>| {
        let row = *row;
        let (none, configuration) = (plan.footprints.is_empty(), configuration.clone());
        let single = none.then(|| Row::new(row, Counter::Time, configuration.clone()));
        let each = plan.footprints.iter();
        let each =
            each.map(move |footprint| Row::new(row, Counter::Time, configuration.clone()).among(*footprint));
        single.into_iter().chain(each)
    };
    plan.rows.iter().flat_map(among).collect()
}

/// The row that is measured from beginning to end, if it is measured; of several footprints, the first.
pub(crate) fn sentinel(plan: &HostPlan) -> Option<usize> {
    let is_sentinel = |(entry, operation): &TableRow| special::BARE_SYSCALL.is(&entry.name, &operation.name);
    plan.rows.iter().position(is_sentinel).map(|place| place * plan.footprints.len().max(1))
}

/// The samples of a block of this sweep: so many that a block takes about the same time whatever an entry costs. The number
/// varies, so that an entry whose cost repeats every few calls does not keep step with the blocks.
pub(crate) fn samples(row: &Row, sweep: u64) -> u64 {
    // By the same block's chain, whose length in cycles is known well enough.
    let cost = row.rounds.last().and_then(|round| round.blocks.first()).and_then(|block| {
        let chain = block.chain / block.sound as f64;
        // A footprint's loads are in either interval.
        let touched = if row.footprint == Footprint::NONE { 0.0 } else { 2.0 * block.control };
        Some((block.cost()? + touched / block.sound as f64) / chain * CYCLES_OF_A_CHAIN)
    });
    let cost = cost.filter(|cost| cost.is_finite()).unwrap_or(0.0).max(0.0);
    let fitting = CYCLES_OF_A_BLOCK / (CYCLES_OF_A_SAMPLE + cost);
    (fitting as u64).clamp(FEWEST_SAMPLES, abi::BLOCK_SAMPLES) - sweep % 4
}

/// Which part of the measurement's time a group of CPUs has.
#[derive(Debug, Clone, Copy)]
struct Part {
    number: u32,
    of: u32,
    /// When the measurement began, by the executor.
    begin: Duration,
}

/// The host's Linux, measured on CPUs of one kind.
struct Linux<'a> {
    executor: &'a mut dyn Executor,
    schedule: Schedule,
    lookout: Lookout,
    interrupt: &'a Interrupt,
    parent: u64,
    longest: Duration,
    part: Part,
    /// When the measurement of this group began.
    start: Duration,
    /// The CPU of the last round.
    cpu: usize,
    /// The most rounds that a row keeps.
    most_rounds: usize,
}

impl<'a> Linux<'a> {
    fn new(
        plan: &HostPlan,
        executor: &'a mut dyn Executor,
        mut lookout: Lookout,
        interrupt: &'a Interrupt,
        parent: u64,
        part: Part,
    ) -> Linux<'a> {
        let start = executor.now();
        let used = start.saturating_sub(part.begin);
        let sentinel = sentinel(plan);
        let seed = plan.seed.wrapping_add(u64::from(part.number));
        // The time before the first round counts as used.
        let share = |time: Duration| {
            if part.number == 0 { (time / part.of).saturating_sub(used) } else { time / part.of }
        };
        let (budget, longest) = (share(plan.budget), share(plan.longest()));
        lookout.survey(executor);
        let cpu = lookout.cpus.now();
        Linux {
            executor,
            schedule: Schedule::new(plan.measured(), seed, budget, longest, sentinel),
            lookout,
            interrupt,
            parent,
            longest,
            part,
            start,
            cpu,
            most_rounds: MOST_ROUNDS / (plan.measured() * part.of as usize).max(1),
        }
    }

    fn elapsed(&self) -> Duration {
        self.executor.now().saturating_sub(self.start)
    }

    /// The share that is used of the longest time that the whole measurement may take, 0 to 1.
    fn share(&self) -> f64 {
        let of_part = self.elapsed().as_secs_f64() / self.longest.as_secs_f64().max(1e-9);
        (f64::from(self.part.number) + of_part.min(1.0)) / f64::from(self.part.of)
    }

    fn request(&self, row: &Row, cpu: usize) -> Request {
        let (entry, operation) = row.row;
        let longer = self.lookout.cpus.longer(cpu);
        Request {
            entry: entry.id,
            operation: operation.id,
            blocks: HostPlan::BLOCKS * longer,
            ticks: HostPlan::TICKS * longer,
            // Calls back to back have no footprint between them.
            bursts: if row.footprint == Footprint::NONE { HostPlan::BURSTS } else { 0 },
            parent: self.parent,
            cpu: cpu as u64,
            path: row.rounds.is_empty(),
            samples: samples(row, self.schedule.sweep),
            footprint: row.footprint,
        }
    }
}

impl Measurer for Linux<'_> {
    fn next(&mut self, rows: &[Row]) -> Option<Taken> {
        if self.interrupt.load(Ordering::Relaxed) {
            return None;
        }
        let elapsed = self.elapsed();
        if let Some(cpu) = self.lookout.cpus.next_to_try(elapsed) {
            self.lookout.look_at(self.executor, cpu);
        }
        let index = self.schedule.next_row(rows, elapsed)?;
        let row = rows.get(index)?;
        let cpu = self.lookout.cpus.now();
        let request = self.request(row, cpu);
        let at = self.executor.now().saturating_sub(self.part.begin).as_secs_f64();
        let answer = match self.executor.measure(row.row.0.probe, cpu, &request) {
            Ok(records) => Answer::Records(records),
            // The interrupt ended the probe, too; its failure says nothing about the entry.
            Err(_) if self.interrupt.load(Ordering::Relaxed) => return None,
            Err(failure) => Answer::Failed(failure),
        };
        self.cpu = cpu;
        Some(Taken { row: index, at, answer })
    }

    /// Updates what is known of the noise by a row's latest round.
    fn look(&mut self, rows: &mut [Row], index: usize) {
        let Some(row) = rows.get_mut(index) else { return };
        let (bits, good) = (row.row.0.bits(), row.good);
        let Some(round) = row.newest() else { return };
        let look = self.lookout.live.take(bits, self.lookout.cpus.core(self.cpu), round);
        row.good += usize::from(look.is_good());
        row.thin(self.most_rounds, good);
        self.lookout.cpus.take(self.cpu, look.quiet);
        self.lookout.cpus.take_kept(self.cpu, look.kept);
        self.lookout.live.review(rows, &|round| self.lookout.cpus.core(round.cpu));
    }

    fn progress<'r>(&self, row: TableRow<'r>) -> Option<Progress<'r>> {
        Some(Progress { share: self.share(), row, quiet: self.lookout.live.quiet_share() })
    }
}

/// What the vDSO images export, by bitness; and the vsyscall page's mode, into the environment.
pub(crate) fn describe(
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
        vdso.insert(probe.bits().to_string(), Export::all(&records));
    }
    vdso
}

const SIGSEGV: u64 = 11;

/// arch/x86/include/uapi/asm/vsyscall.h
const VSYSCALL_PAGE: u64 = 0xffff_ffff_ff60_0000;

/// The probe calls the page to find out; if the page is absent, the call faults on it.
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

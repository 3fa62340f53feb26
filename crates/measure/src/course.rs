//! A measurement of this Linux on its way, be it of one thing or of several arms: which row is next, on which CPU, what a probe is
//! asked, and when the end has come.

use crate::drive::Progress;
use crate::plan::HostPlan;
use crate::row::{Answer, Row, TableRow};
use crate::schedule::{Schedule, Wanted};
use crate::scout::Lookout;
use places::host::{Executor, Interrupt};
use record::{Footprint, Request};
use std::sync::atomic::Ordering;
use std::time::Duration;
use table::special;

/// Core cycles that a block should take, so that canaries lie close enough together whatever an entry costs.
const CYCLES_OF_A_BLOCK: f64 = 40_000.0;

/// The fewest samples of a block: the median of fewer does not tell which of them an interrupt struck.
const FEWEST_SAMPLES: u64 = 3;

/// So many sweeps take different numbers of samples.
const DIFFERENT: u64 = 4;

/// Core cycles of an imul chain and its stamps.
const CYCLES_OF_A_CHAIN: f64 = 820.0;

/// Core cycles of a sample besides the entry: chain, stamps, bookkeeping.
const CYCLES_OF_A_SAMPLE: f64 = 1_100.0;

/// The most rounds that a run keeps. Each takes some 6 KiB of memory, and some 400 bytes of the document, which stays
/// within what `kentry show` reads. Taking them takes five minutes or more.
pub const MOST_ROUNDS: usize = 1 << 17;

/// Which part of the measurement's time a course has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeSlice {
    pub number: u32,
    pub of: u32,
    /// When the measurement began, by the executor.
    pub begin: Duration,
}

/// The course of a measurement on CPUs of one kind. Times are those of one executor, which it is always given.
pub(crate) struct Course {
    pub lookout: Lookout,
    schedule: Schedule,
    interrupt: Interrupt,
    part: TimeSlice,
    /// When this part began.
    start: Duration,
    longest: Duration,
    /// The CPU of the last round.
    cpu: usize,
}

impl Course {
    /// `surveys`: whether there is a CPU to choose.
    pub fn new(
        plan: &HostPlan,
        mut lookout: Lookout,
        interrupt: Interrupt,
        part: TimeSlice,
        executor: &mut dyn Executor,
        surveys: bool,
    ) -> Course {
        let start = executor.now();
        let used = start.saturating_sub(part.begin);
        // The time before the first round counts as used.
        let share = |time: Duration| {
            if part.number == 0 { (time / part.of).saturating_sub(used) } else { time / part.of }
        };
        let (budget, longest) = (share(plan.budget), share(plan.longest()));
        let seed = plan.seed.wrapping_add(u64::from(part.number));
        if surveys {
            lookout.survey(executor);
        }
        Course {
            cpu: lookout.cpus.now(),
            lookout,
            schedule: Schedule::new(plan.measured(), seed, budget, longest, sentinel(plan)),
            interrupt,
            part,
            start,
            longest,
        }
    }

    pub fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// The time since the measurement began, in seconds.
    pub fn at(&self, executor: &dyn Executor) -> f64 {
        executor.now().saturating_sub(self.part.begin).as_secs_f64()
    }

    fn elapsed(&self, executor: &dyn Executor) -> Duration {
        executor.now().saturating_sub(self.start)
    }

    /// The row that is measured next; `None` when the measurement is over. Now and then it looks at another CPU first.
    pub fn next_row(&mut self, executor: &mut dyn Executor, rows: &[impl Wanted]) -> Option<usize> {
        let elapsed = self.elapsed(executor);
        if let Some(cpu) = self.lookout.cpus.next_to_try(elapsed) {
            self.lookout.look_at(executor, cpu);
        }
        self.schedule.next_row(rows, elapsed)
    }

    /// The samples of a block of this sweep: so many that a block takes about the same time whatever an entry costs. The number
    /// varies, so that an entry whose cost repeats every few calls does not keep step with the blocks.
    pub fn samples(&self, row: &Row) -> u64 {
        let has_loads = row.footprint != Footprint::NONE || row.uses() > 1;
        // By the same block's chain, whose length in cycles is known well enough.
        let cost = row.rounds.last().and_then(|round| round.blocks.first()).and_then(|block| {
            let chain = block.chain / block.sound as f64;
            // A footprint's loads are in either interval, and so are several controls.
            let touched = if has_loads { 2.0 * block.control } else { 0.0 };
            Some((block.cost()? + touched / block.sound as f64) / chain * CYCLES_OF_A_CHAIN)
        });
        let cost = cost.filter(|cost| cost.is_finite()).unwrap_or(0.0).max(0.0);
        let fitting = CYCLES_OF_A_BLOCK / (CYCLES_OF_A_SAMPLE + cost);
        let fewest = (fitting as u64).clamp(FEWEST_SAMPLES, HostPlan::SAMPLES - DIFFERENT + 1);
        fewest + self.schedule.sweep % DIFFERENT
    }

    /// What a probe answers; none when an interrupt ended it.
    pub fn take(
        &mut self,
        executor: &mut dyn Executor,
        (entry, _): TableRow,
        cpu: usize,
        request: &Request,
    ) -> Option<Answer> {
        self.cpu = cpu;
        match executor.measure(entry.probe, cpu, request) {
            Ok(records) => Some(Answer::Records(records)),
            // The interrupt ended the probe, too; its failure says nothing about the entry.
            Err(_) if self.is_interrupted() => None,
            Err(failure) => Some(Answer::Failed(failure)),
        }
    }

    /// Updates what is known of the noise by a row's latest round. Answers the CPU that it was asked for and the one that it ran on;
    /// none where there was no round.
    pub fn look(&mut self, row: &mut Row) -> Option<[usize; 2]> {
        let bits = row.row.0.bits();
        let round = row.newest()?;
        let found = round.cpu;
        let look = self.lookout.live.take(bits, self.lookout.cpus.core(found), round);
        row.good += usize::from(look.is_good());
        self.lookout.cpus.take(self.cpu, look.quiet);
        self.lookout.cpus.take_kept(self.cpu, look.kept);
        Some([self.cpu, found])
    }

    /// Judges all rounds anew, where there are so many more that it is worth it.
    pub fn review(&mut self, rows: &mut [Row]) {
        self.lookout.live.review(rows, &|round| self.lookout.cpus.core(round.cpu));
    }

    /// How far the whole measurement is.
    pub fn progress<'r>(&self, executor: &dyn Executor, row: TableRow<'r>) -> Progress<'r> {
        let of_part = self.elapsed(executor).as_secs_f64() / self.longest.as_secs_f64().max(1e-9);
        let share = (f64::from(self.part.number) + of_part.min(1.0)) / f64::from(self.part.of);
        Progress { share, row, quiet: self.lookout.live.quiet_share() }
    }
}

/// The row that is measured from beginning to end, if it is measured; of several footprints, the first.
fn sentinel(plan: &HostPlan) -> Option<usize> {
    let is_sentinel = |(entry, operation): &TableRow| special::BARE_SYSCALL.is(&entry.name, &operation.name);
    plan.rows.iter().position(is_sentinel).map(|place| place * plan.footprints.len().max(1))
}

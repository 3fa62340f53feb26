//! A line for each round: all that a row's figures are computed from.

use crate::Distribution;
use crate::interrupts::Interrupts;
use crate::primitives::{median, quantile, sorted};
use crate::quiet::{Excluded, Reference};
use crate::round::{Block, Round};
use serde::{Deserialize, Serialize};

/// The share of a row's blocks whose control is faster than the one that the others are compared with.
const FAST_CONTROLS: f64 = 0.05;

/// A block whose control takes longer than that by this factor had company.
const SLOW_CONTROL: f64 = 1.04;

/// Where even the fast controls lie farther apart than this, from the 5th to the 20th percentile, a slow one says nothing: it scatters, as
/// the loads of a footprint do.
const SCATTER: f64 = 0.008;

/// The rounds of one row, in the order of time: a list for each column, with a value for each round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lines {
    /// When it was begun, in milliseconds of the measurement.
    pub at_ms: Vec<f64>,
    /// The CPU.
    pub cpu: Vec<usize>,
    /// Entry less control, mean over the kept blocks, in ticks; of an excluded round, over all its blocks.
    pub cost: Vec<f64>,
    /// The control's mean, in ticks.
    pub control: Vec<f64>,
    /// Core cycles in a tick, by the imul chains of the same samples.
    pub cycles_per_tick: Vec<f64>,
    /// Independent nots in a core cycle, median of the round's canaries.
    pub canary: Vec<f64>,
    /// The least sample less the least control, in ticks.
    pub least: Vec<f64>,
    /// The greatest sample less the mean control, in ticks.
    pub greatest: Vec<f64>,
    /// A call among calls back to back, in ticks; null where the core was not alone while they were made.
    pub throughput: Vec<Option<f64>>,
    /// Blocks that were kept.
    pub kept: Vec<u32>,
    /// Blocks that were not.
    pub lost: Vec<u32>,
    /// Why the round is excluded from the estimate; null if it is not.
    pub excluded: Vec<Option<Excluded>>,
}

/// How much of a row was measured, and how much of that was kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Probe runs.
    pub rounds: u64,
    /// Of these, not excluded.
    pub kept_rounds: u64,
    /// Blocks of samples.
    pub blocks: u64,
    /// Of these, in quiet stretches.
    pub kept_blocks: u64,
    /// Samples taken.
    pub samples: u64,
    /// Of these, not excluded.
    pub kept_samples: u64,
    /// Samples of kept blocks that were left out because an interrupt struck them.
    pub interrupted: u64,
}

impl std::ops::Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            rounds: self.rounds + other.rounds,
            kept_rounds: self.kept_rounds + other.kept_rounds,
            blocks: self.blocks + other.blocks,
            kept_blocks: self.kept_blocks + other.kept_blocks,
            samples: self.samples + other.samples,
            kept_samples: self.kept_samples + other.kept_samples,
            interrupted: self.interrupted + other.interrupted,
        }
    }
}

/// One row's rounds, judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tabulated {
    /// A line for each round.
    pub lines: Lines,
    /// Single samples, entry less their round's mean control, in core cycles.
    pub cycles: Distribution,
    /// The same in ticks.
    pub ticks: Distribution,
    /// How much there is.
    pub counts: Counts,
}

/// Judges the rounds of a row. `reference` returns what a round is judged by; each probe and each kind of core has its own.
pub fn tabulate<'a>(
    rounds: &[Round],
    reference: impl Fn(&Round) -> Option<&'a Reference>,
    interrupts: Option<&Interrupts>,
) -> Tabulated {
    let mut judged: Vec<_> = rounds
        .iter()
        .filter_map(|round| reference(round).map(|reference| (round, reference, reference.judge(round))))
        .collect();
    leave_out_slow_controls(&mut judged);
    let kept = || {
        let rounds = judged.iter().filter_map(|(round, _, kept)| Some((round, kept.as_ref().ok()?)));
        rounds.flat_map(|(round, kept)| kept.iter().filter_map(|block| round.blocks.get(*block)))
    };
    let mut entries: Vec<u32> = kept().flat_map(|block| &block.entries).copied().collect();
    entries.sort_unstable();
    let limit =
        interrupts.and_then(|interrupts| interrupts.among(kept()).limit(&entries)).unwrap_or(f64::INFINITY);
    let mut out = Tabulated::default();
    for (round, reference, kept) in &judged {
        out.add(round, reference, kept.as_deref(), limit);
    }
    out
}

/// A round, what it is judged by, and the judgement.
type JudgedRound<'a, 'b> = (&'b Round, &'a Reference, Result<Vec<usize>, Excluded>);

/// Leaves out blocks whose control took longer than the row's fast ones. A control is a few loads between stamps, and has no
/// part in the entry; company that canaries of a moment do not see makes it 6 % longer and more, in every sample. Where controls scatter by
/// themselves nothing is left out: the control is taken off the entry, so that choosing fast ones would choose dear entries.
fn leave_out_slow_controls(judged: &mut [JudgedRound]) {
    let controls = |(round, reference, kept): &JudgedRound| -> Vec<f64> {
        let kept = kept.iter().flatten().filter_map(|block| round.blocks.get(*block));
        kept.filter_map(|block| control(block, reference)).collect()
    };
    let all = sorted(judged.iter().flat_map(controls).collect());
    let Some(fast) = quantile(&all, FAST_CONTROLS) else { return };
    if quantile(&all, 0.2).is_none_or(|usual| usual > fast * (1.0 + SCATTER)) {
        return;
    }
    for (round, reference, kept) in judged {
        let Ok(blocks) = kept else { continue };
        let is_fast = |block: &Block| {
            // A coarse counter's steps make a block's mean scatter: by 0.41 of a step over the root of the samples.
            let steps = 3.0 * 0.41 * round.step / (block.sound as f64).sqrt();
            let slack = steps * block.sound as f64 / block.control.max(1.0);
            // Where they do, choosing fast controls would choose dear entries, since one is taken off the other.
            let is_clear = slack < (SLOW_CONTROL - 1.0) / 2.0;
            let limit = fast * (SLOW_CONTROL + slack);
            !is_clear || control(block, reference).is_none_or(|control| control <= limit)
        };
        blocks.retain(|block| round.blocks.get(*block).is_some_and(is_fast));
        if blocks.is_empty() {
            *kept = Err(Excluded::Shared);
        }
    }
}

/// Mean of a block's controls in core cycles, by its own chains.
fn control(block: &Block, reference: &Reference) -> Option<f64> {
    let sound = block.sound as f64;
    let cycles = block.control / sound * reference.cycles_per_tick(block.chain / sound);
    (block.sound > 0 && cycles.is_finite()).then_some(cycles)
}

impl Tabulated {
    fn add(&mut self, round: &Round, reference: &Reference, kept: Result<&[usize], &Excluded>, limit: f64) {
        let all: Vec<usize> = (0..round.blocks.len()).collect();
        let chosen = kept.unwrap_or(&all);
        let blocks = || chosen.iter().filter_map(|block| round.blocks.get(*block));
        let uses = round.uses as f64;
        let Some(line) = Line::of(blocks(), reference, limit, uses) else { return };
        self.count(round, kept.ok(), &line);
        self.lines.push(round, reference, &line, kept.err().copied(), chosen.len());
        if kept.is_ok() {
            let samples = blocks().flat_map(|block| &block.entries).map(|ticks| f64::from(*ticks));
            for ticks in samples.filter(|ticks| *ticks < limit).map(|ticks| ticks / uses) {
                self.ticks.record(ticks - line.control);
                self.cycles.record((ticks - line.control) * line.cycles_per_tick);
            }
        }
    }

    fn count(&mut self, round: &Round, kept: Option<&[usize]>, line: &Line) {
        let counts = &mut self.counts;
        let taken = |block: &usize| round.blocks.get(*block).map_or(0, |block| block.taken);
        counts.rounds += 1;
        counts.blocks += round.blocks.len() as u64;
        counts.samples += round.taken() as u64;
        if let Some(kept) = kept {
            counts.kept_rounds += 1;
            counts.kept_blocks += kept.len() as u64;
            counts.kept_samples += line.samples as u64;
            counts.interrupted += (kept.iter().map(taken).sum::<usize>() - line.samples) as u64;
        }
    }
}

/// One round's sums, divided: by samples, and by the uses that these hold.
struct Line {
    cost: f64,
    control: f64,
    cycles_per_tick: f64,
    least: f64,
    greatest: f64,
    samples: usize,
}

impl Line {
    /// Chains, controls and entries are each summed up before anything is divided, so that the steps of a coarse counter and
    /// a wandering clock average out. `None` without a sample.
    fn of<'a>(
        blocks: impl Iterator<Item = &'a Block> + Clone,
        reference: &Reference,
        limit: f64,
        uses: f64,
    ) -> Option<Line> {
        let sum = |of: fn(&Block) -> f64| blocks.clone().map(of).sum::<f64>();
        let sound = sum(|block| block.sound as f64);
        let is_kept = |ticks: &f64| *ticks < limit;
        let entries = || blocks.clone().flat_map(|block| &block.entries).map(|ticks| f64::from(*ticks));
        // The single samples of a block that nobody keeps may be forgotten; its sums are not.
        let forgotten = || blocks.clone().filter(|block| block.entries.is_empty());
        let samples = entries().filter(is_kept).count() + forgotten().map(|block| block.sound).sum::<usize>();
        let entry =
            entries().filter(is_kept).sum::<f64>() + forgotten().map(|block| block.entry).sum::<f64>();
        let control = sum(|block| block.control) / sound;
        let chain = sum(|block| block.chain) / sound;
        let least_control = blocks.clone().map(|block| block.least_control).fold(f64::INFINITY, f64::min);
        let mean = entry / samples as f64;
        (samples > 0 && chain > 0.0).then(|| Line {
            cost: (mean - control) / uses,
            control: control / uses,
            cycles_per_tick: reference.cycles_per_tick(chain),
            // A coarse counter may have rounded the least control down farther than the least sample.
            least: (entries().filter(is_kept).fold(mean, f64::min) - least_control).min(mean - control)
                / uses,
            greatest: (entries().filter(is_kept).fold(mean, f64::max) - control) / uses,
            samples,
        })
    }
}

impl Lines {
    /// How many rounds there are.
    pub fn len(&self) -> usize {
        self.at_ms.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.at_ms.is_empty()
    }

    /// Adds the rounds of another measurement behind these, which began so many milliseconds after this one.
    pub fn append(&mut self, other: &Lines, later_ms: f64) {
        self.at_ms.extend(other.at_ms.iter().map(|at| at + later_ms));
        self.cpu.extend(&other.cpu);
        self.cost.extend(&other.cost);
        self.control.extend(&other.control);
        self.cycles_per_tick.extend(&other.cycles_per_tick);
        self.canary.extend(&other.canary);
        self.least.extend(&other.least);
        self.greatest.extend(&other.greatest);
        self.throughput.extend(&other.throughput);
        self.kept.extend(&other.kept);
        self.lost.extend(&other.lost);
        self.excluded.extend(&other.excluded);
    }

    /// What a round cost in core cycles, by its own clock; `None` where a column ends before that round.
    pub fn core_cycles(&self, index: usize) -> Option<f64> {
        Some(self.cost.get(index)? * self.cycles_per_tick.get(index)?)
    }

    /// Whether every column has a value for every round. In a document from outside, that need not be so.
    pub fn is_whole(&self) -> bool {
        let lengths = [
            self.cpu.len(),
            self.cost.len(),
            self.control.len(),
            self.cycles_per_tick.len(),
            self.canary.len(),
            self.least.len(),
            self.greatest.len(),
            self.throughput.len(),
            self.kept.len(),
            self.lost.len(),
            self.excluded.len(),
        ];
        lengths.iter().all(|length| *length == self.len())
    }

    fn push(
        &mut self,
        round: &Round,
        reference: &Reference,
        line: &Line,
        excluded: Option<Excluded>,
        kept: usize,
    ) {
        let kept = if excluded.is_some() { 0 } else { kept };
        let rates = sorted(reference.rates(round).into_iter().filter(|rate| rate.is_finite()).collect());
        self.at_ms.push(round.at * 1e3);
        self.cpu.push(round.cpu);
        self.cost.push(line.cost);
        self.control.push(line.control);
        self.cycles_per_tick.push(line.cycles_per_tick);
        self.canary.push(median(&rates).unwrap_or(0.0));
        self.least.push(line.least);
        self.greatest.push(line.greatest);
        self.throughput.push(throughput(round, reference));
        self.kept.push(kept as u32);
        self.lost.push((round.blocks.len() - kept) as u32);
        self.excluded.push(excluded);
    }
}

/// Mean over a round's bursts; `None` if the core was not alone before and after them.
fn throughput(round: &Round, reference: &Reference) -> Option<f64> {
    reference.bursts_are_quiet(round).then_some(())?;
    let bursts: Vec<f64> = round.bursts.iter().map(|ticks| f64::from(*ticks)).collect();
    // An interrupt makes a burst many times as long; a coarse counter's steps even out in the mean alone.
    let most = 1.5 * median(&sorted(bursts.clone()))?.abs() + 2.0 * round.step / round.lengths.burst as f64;
    let kept: Vec<f64> = bursts.into_iter().filter(|ticks| *ticks <= most).collect();
    (!kept.is_empty()).then(|| kept.iter().sum::<f64>() / kept.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_has_core_cycles_where_it_has_a_cost_and_a_clock() {
        let rounds =
            Lines { cost: vec![100.0, 7.0, 9.0], cycles_per_tick: vec![1.5, 2.0], ..Lines::default() };
        assert_eq!(
            (0..4).map(|index| rounds.core_cycles(index)).collect::<Vec<_>>(),
            [Some(150.0), Some(14.0), None, None]
        );
    }
}

//! Which blocks ran on a core that nobody else used.
//!
//! A busy hyperthread sibling makes the canary (many independent instructions) 1.5 to 2.6 times slower and an entry 13 to
//! 40 % dearer, while a latency chain does not notice it. Blocks are judged by their canaries, one-sided, against the
//! fastest canaries of the whole run; what is left is what the core does alone, however little that is.

use crate::primitives::{median, quantile, sorted};
use crate::round::{Mark, Order, Round};
use crate::{CHAIN_TOLERANCE, CLOCK_TOLERANCE, IMUL_CYCLES, TWO_SIDED};
use record::Lengths;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A canary is quiet within this factor of the reference.
const QUIET: f64 = 1.07;

/// And within this one where the counter is so coarse that even canaries are averaged: its steps make them scatter.
const QUIET_IF_COARSE: f64 = 1.10;

/// The share of canaries that is faster than the reference.
const FASTEST: f64 = 0.01;

/// With fewer canaries on a CPU, the reference is that of all CPUs together.
const MARKS_OF_A_CPU: usize = 100;

/// A quiet stretch has so many blocks, so that three canaries at least vouch for it; unless a round has no more than one.
const LEAST_BLOCKS: usize = 2;

/// Where a shared stretch ended inside a round, blocks are still dearer for so many core cycles (docs/adr/0008): the
/// neighbour has evicted what the entry uses.
const SETTLING_CYCLES: f64 = 120_000.0;

/// The standard error of a chain by empty intervals, as a part of it. On Sapphire Rapids it is 0.7 % too long where the core
/// was alone, and up to 3 % where it was not quite; on Zen 5 0.5 %.
const NOTHING_ERROR: f64 = 0.015;

/// How far a canary's own chain ratio may be off the usual one, besides the counter's steps.
const CHAIN_SLACK: f64 = 0.05;

/// References that differ by more than this factor differ for another reason than company.
const ALIKE: f64 = 1.15;

/// The clock at a canary is averaged over its neighbours' until a coarse counter's steps make less than this part of it; ...
const CLOCK_NOISE: f64 = 0.008;

/// ... and so are canaries themselves, where a step is so long.
const CANARY_NOISE: f64 = 0.02;

/// Though with no more of them than this.
const WIDEST: usize = 9;

/// What vouches for the fastest canaries of a run being those of a core that was alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Vouch {
    /// The processor's own width is known: how many nots a cycle its core can execute.
    Width(f64),
    /// The core has one hardware thread, and no hypervisor hides another.
    NoSibling,
    /// Nothing does.
    Nothing,
}

/// The least part of a known width that a canary reaches when it is alone: it misses the full width by a tenth at most, and
/// a shared core reaches two thirds.
const PART_OF_WIDTH: f64 = 0.8;

impl Vouch {
    /// Whether so many nots a cycle are those of a core alone.
    fn holds(self, alone: f64) -> bool {
        match self {
            Vouch::Width(width) => alone >= PART_OF_WIDTH * width,
            Vouch::NoSibling => true,
            Vouch::Nothing => false,
        }
    }
}

/// What all rounds of one bitness, on CPUs of one kind, are judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// What an imul chain and the stamps around it take, in core cycles: by chains in a row, whose stamps do not count.
    pub chain: f64,
    /// Standard error of that, as a part of it: every figure in core cycles has it in common.
    pub chain_error: f64,
    /// What two stamps take, in core cycles: over quiet canaries.
    pub nothing: f64,
    /// Nots in a core cycle when the core is alone: the fastest 1 % of the canaries.
    pub alone: f64,
    /// The same as these rounds show it, whatever others do.
    pub seen: f64,
    /// Whether something vouches for that.
    pub vouched: bool,
    /// What was to vouch for it.
    pub vouch: Vouch,
    /// Cycles of an imul if a xor takes one, over quiet canaries.
    pub chain_ratio: Option<f64>,
    /// The samples' clock by the canaries' clock, over quiet blocks.
    pub clock_ratio: Option<f64>,
    /// How much of the due time imul chains in a row took, median over rounds: 1 where lfence orders rdtsc.
    pub order: Option<f64>,
    /// The counter's step, in ticks: the usual one of a CPU's rounds.
    pub step: f64,
    /// Canaries whose clocks are averaged.
    clocks: usize,
    /// Canaries that are averaged.
    window: usize,
    /// Median over all canaries of their own chain ratio: one that is far off had an interrupt in a chain.
    usual_ratio: f64,
}

/// Why a round has no figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Excluded {
    /// The core was shared, or nothing vouches for its having been alone.
    Shared,
    /// It was preempted, or moved to another CPU, too often for a quiet stretch.
    Preempted,
    /// Its samples were all struck by interrupts.
    Struck,
}

impl Reference {
    /// From all rounds of one bitness on CPUs of one kind. None of nothing.
    pub fn of(rounds: &[&Round], vouch: Vouch) -> Option<Reference> {
        let first = rounds.first()?;
        let step = step(rounds);
        let marks = || rounds.iter().flat_map(|round| &round.marks);
        // What was alone is not known yet.
        let nothing = mean_ratio(marks(), step, |mark| mark.nothing)?;
        let (chain, chain_error) = chain(&[], first.lengths, nothing)?;
        let mut reference = Reference {
            chain,
            chain_error,
            nothing: chain * nothing,
            alone: 0.0,
            seen: 0.0,
            vouched: false,
            vouch,
            chain_ratio: None,
            clock_ratio: None,
            order: order(rounds),
            step,
            clocks: window(first, step, CLOCK_NOISE, |mark| mark.imul),
            window: window(first, step, CANARY_NOISE, |mark| mark.nots),
            usual_ratio: IMUL_CYCLES,
        };
        reference.usual_ratio = reference.median_ratio(rounds)?;
        // The second time by what stamps take when the core is alone: in company they take a fifth longer, and both chains in a
        // row, which come before the first canary, and empty intervals make a chain 3 % too long.
        for _ in 0..2 {
            reference.alone = reference.fastest(rounds)?;
            let quiet = rounds.iter().flat_map(|round| reference.quiet_marks(round));
            let nothing = mean_ratio(quiet, step, |mark| mark.nothing).unwrap_or(nothing);
            let begin_alone = rounds.iter().filter(|round| reference.begins_alone(round));
            let orders: Vec<Order> = begin_alone.filter_map(|round| round.order).collect();
            (reference.chain, reference.chain_error) = self::chain(&orders, first.lengths, nothing)?;
            reference.nothing = reference.chain * nothing;
        }
        reference.seen = reference.alone;
        reference.vouched = vouch.holds(reference.alone);
        reference.chain_ratio = reference.measured_chain_ratio(rounds);
        reference.clock_ratio = reference.measured_clock_ratio(rounds);
        Some(reference)
    }

    /// With the fastest canaries of more rounds than it was made of.
    pub fn with_alone(self, alone: f64, vouch: Vouch) -> Reference {
        Reference { alone, vouched: vouch.holds(alone), vouch, ..self }
    }

    /// Judged by what others found, too, where that was faster: other probes of this run, or earlier runs of this machine. These
    /// rounds may have had company all the time. Where the others are much faster, that has another reason.
    pub fn beside(self, others: f64) -> Reference {
        let is_alike = self.alone * ALIKE >= others;
        if others > self.alone && is_alike { self.with_alone(others, self.vouch) } else { self }
    }

    /// Whether the imul chain is as long as it must be for core cycles to mean anything.
    pub fn chain_holds(&self) -> bool {
        self.chain_ratio.is_some_and(|ratio| (ratio / IMUL_CYCLES - 1.0).abs() <= CHAIN_TOLERANCE)
    }

    /// Whether the samples and the canaries tell the same clock.
    pub fn clocks_agree(&self) -> bool {
        self.clock_ratio.is_some_and(|ratio| (ratio - 1.0).abs() <= CLOCK_TOLERANCE)
    }

    /// Which blocks of a round are kept.
    ///
    /// # Errors
    /// Why none is.
    pub fn judge(&self, round: &Round) -> Result<Vec<usize>, Excluded> {
        let quiet: Vec<bool> = self.rates(round).iter().map(|rate| self.is_quiet(*rate)).collect();
        let is_quiet = |block: usize| quiet.get(block..block + 2).is_some_and(|marks| marks == [true, true]);
        let is_left_alone = |block: usize| {
            let here = round.around(block);
            here.is_some_and(|(a, b)| a.cpu == b.cpu && a.preemptions == b.preemptions)
        };
        let is_sound = |block: &usize| round.blocks.get(*block).is_some_and(|block| block.sound > 0);
        let kept = self.long_stretches(round, |block| is_quiet(block) && is_left_alone(block));
        if !self.vouched {
            Err(Excluded::Shared)
        } else if kept.iter().any(is_sound) {
            Ok(kept)
        } else if !kept.is_empty() {
            Err(Excluded::Struck)
        } else if self.long_stretches(round, is_quiet).is_empty() {
            Err(Excluded::Shared)
        } else {
            Err(Excluded::Preempted)
        }
    }

    /// The blocks that lie in long stretches of such blocks.
    fn long_stretches(&self, round: &Round, is_such: impl Fn(usize) -> bool) -> Vec<usize> {
        let blocks: Vec<usize> = (0..round.blocks.len()).filter(|block| is_such(*block)).collect();
        let settled = blocks.chunk_by(|a, b| a + 1 == *b).map(|stretch| self.settled(round, stretch));
        settled.filter(|stretch| is_long_enough(round, stretch)).flatten().copied().collect()
    }

    /// What of a stretch is not shortly after a shared one. What came before a round is not known.
    fn settled<'s>(&self, round: &Round, stretch: &'s [usize]) -> &'s [usize] {
        let Some(begin) = stretch.first().and_then(|first| round.marks.get(*first)) else { return &[] };
        let settles = |block: &usize| {
            let mark = round.marks.get(*block);
            let cycles =
                |mark: &Mark| mark.at.saturating_sub(begin.at) as f64 * self.cycles_per_tick(begin.imul);
            stretch.first() != Some(&0) && mark.is_some_and(|mark| cycles(mark) < SETTLING_CYCLES)
        };
        stretch.get(stretch.iter().take_while(|block| settles(block)).count()..).unwrap_or_default()
    }

    /// Whether the core was alone before and after the bursts, and the process stayed on it.
    pub fn bursts_are_quiet(&self, round: &Round) -> bool {
        let rates = self.rates(round);
        let last = round.marks.last_chunk::<2>().zip(rates.last_chunk::<2>());
        last.is_some_and(|([before, after], rates)| {
            let stayed = before.cpu == after.cpu && before.preemptions == after.preemptions;
            self.vouched && stayed && rates.iter().all(|rate| self.is_quiet(*rate))
        })
    }

    /// Nots in a cycle at every mark; a mark that an interrupt fell into is as its neighbours are.
    pub fn rates(&self, round: &Round) -> Vec<f64> {
        let clocks = self.clocks(round);
        let times: Vec<Option<f64>> =
            round.marks.iter().zip(clocks).map(|(mark, clock)| self.cycles(mark, clock?)).collect();
        let nots = round.lengths.nots as f64;
        let average = |index: usize| {
            let known = around(&times, index, self.window).iter().flatten();
            let (count, cycles) = known.fold((0.0, 0.0), |sum, cycles| (sum.0 + 1.0, sum.1 + cycles));
            if count > 0.0 { count * nots / cycles } else { f64::NAN }
        };
        let mut rates: Vec<f64> = (0..times.len())
            .map(|index| match times.get(index) {
                Some(Some(cycles)) if nots / cycles < self.alone / self.single_slack() => nots / cycles,
                Some(Some(_)) => average(index),
                _ => f64::NAN,
            })
            .collect();
        for index in 0..rates.len() {
            if rates[index].is_nan() {
                let before = rates.get(..index).and_then(<[f64]>::last).copied().unwrap_or(f64::INFINITY);
                let after = rates.get(index + 1..).unwrap_or_default().iter().find(|rate| !rate.is_nan());
                rates[index] = before.min(after.copied().unwrap_or(f64::INFINITY));
            }
        }
        rates
    }

    /// Ticks that an imul chain takes at every mark: those of its neighbours count, too, where the counter is coarse and they
    /// had the same clock. None where an interrupt fell into the mark's own chains.
    fn clocks(&self, round: &Round) -> Vec<Option<f64>> {
        let own = round.marks.iter().map(|mark| {
            let slack = CHAIN_SLACK + self.in_steps(mark.imul);
            let ratio =
                self.ratio(round, mark).filter(|ratio| (ratio / self.usual_ratio - 1.0).abs() <= slack);
            ratio.map(|_| mark.imul)
        });
        let own: Vec<Option<f64>> = own.collect();
        let averaged = |(index, imul): (usize, &Option<f64>)| {
            let imul = (*imul)?;
            let is_same = |other: &&f64| (*other / imul - 1.0).abs() <= CHAIN_SLACK + self.in_steps(imul);
            let same = around(&own, index, self.clocks).iter().flatten().filter(is_same);
            let (count, sum) = same.fold((0.0, 0.0), |all, ticks| (all.0 + 1.0, all.1 + ticks));
            Some(sum / count)
        };
        own.iter().enumerate().map(averaged).collect()
    }

    /// By which part two readings can make such an interval wrong.
    fn in_steps(&self, ticks: f64) -> f64 {
        2.0 * self.step / ticks
    }

    /// Core cycles in a tick, where an imul chain between two stamps took so many ticks.
    pub fn cycles_per_tick(&self, chain: f64) -> f64 {
        self.chain / chain
    }

    /// Core cycles that a mark's nots took, where an imul chain takes so many ticks.
    fn cycles(&self, mark: &Mark, clock: f64) -> Option<f64> {
        Some(mark.nots * self.cycles_per_tick(clock) - self.nothing).filter(|cycles| *cycles > 0.0)
    }

    /// Cycles of an imul if a xor takes one, by one mark.
    fn ratio(&self, round: &Round, mark: &Mark) -> Option<f64> {
        let xor = mark.xor * self.cycles_per_tick(mark.imul) - self.stamps(round.lengths.imuls);
        (xor > 0.0).then_some(IMUL_CYCLES * round.lengths.xors as f64 / xor)
    }

    /// What the stamps around a latency chain add to it: less than what they take alone, since the chain begins under them.
    fn stamps(&self, imuls: u64) -> f64 {
        self.chain - IMUL_CYCLES * imuls as f64
    }

    fn median_ratio(&self, rounds: &[&Round]) -> Option<f64> {
        let of = |round: &&Round| -> Vec<f64> {
            round.marks.iter().filter_map(|mark| self.ratio(round, mark)).collect()
        };
        median(&sorted(rounds.iter().flat_map(of).collect()))
    }

    /// Whether a canary of this rate found the core alone.
    pub fn is_quiet(&self, rate: f64) -> bool {
        rate * self.limit() >= self.alone
    }

    fn limit(&self) -> f64 {
        if self.window == 1 { QUIET } else { QUIET_IF_COARSE }
    }

    /// How far a single canary may be off where the counter is coarse.
    fn single_slack(&self) -> f64 {
        if self.window == 1 { f64::INFINITY } else { QUIET_IF_COARSE * 1.15 }
    }

    /// Whether the core was alone when a round's chains in a row were timed, as far as the first canary after them tells.
    fn begins_alone(&self, round: &Round) -> bool {
        self.rates(round).iter().take(2).all(|rate| self.is_quiet(*rate))
    }

    fn quiet_marks<'a>(&self, round: &'a Round) -> impl Iterator<Item = &'a Mark> + use<'a> {
        let rates = self.rates(round);
        let (alone, quiet) = (self.alone, self.limit());
        round.marks.iter().zip(rates).filter(move |(_, rate)| rate * quiet >= alone).map(|(mark, _)| mark)
    }

    /// The canary that the fastest 1 % reach: of the CPU where that is fastest.
    fn fastest(&self, rounds: &[&Round]) -> Option<f64> {
        let mut by_cpu = std::collections::BTreeMap::<usize, Vec<f64>>::new();
        for round in rounds {
            let rates = self.rates(round).into_iter().filter(|rate| rate.is_finite());
            by_cpu.entry(round.cpu).or_default().extend(rates);
        }
        let all = sorted(by_cpu.values().flatten().copied().collect());
        let of_cpus = by_cpu.into_values().filter(|rates| rates.len() >= MARKS_OF_A_CPU);
        let of_cpus = of_cpus.filter_map(|rates| quantile(&sorted(rates), 1.0 - FASTEST));
        of_cpus.chain(quantile(&all, 1.0 - FASTEST)).max_by(f64::total_cmp)
    }

    fn measured_chain_ratio(&self, rounds: &[&Round]) -> Option<f64> {
        let first = rounds.first()?;
        let quiet = || rounds.iter().flat_map(|round| self.quiet_marks(round));
        let xors_by_imuls = mean_ratio(quiet(), self.step, |mark| mark.xor)?;
        let xor = self.chain * xors_by_imuls - self.stamps(first.lengths.imuls);
        (xor > 0.0).then_some(IMUL_CYCLES * first.lengths.xors as f64 / xor)
    }

    fn measured_clock_ratio(&self, rounds: &[&Round]) -> Option<f64> {
        let ratio = |round: &&Round| {
            let kept = self.stretches(round);
            let blocks = || kept.iter().filter_map(|block| round.blocks.get(*block));
            let chain = blocks().map(|block| block.chain).sum::<f64>()
                / blocks().map(|block| block.sound).sum::<usize>() as f64;
            let marks = sorted(
                kept.iter().filter_map(|block| round.marks.get(*block)).map(|mark| mark.imul).collect(),
            );
            let usual = median(&marks)?;
            let near = marks.iter().filter(|ticks| (*ticks / usual - 1.0).abs() < 0.1);
            let mean = near.clone().sum::<f64>() / near.count() as f64;
            (chain / mean).is_finite().then_some(chain / mean)
        };
        median(&sorted(rounds.iter().filter_map(ratio).collect()))
    }

    /// As [`Reference::judge`], whether or not anything vouches.
    fn stretches(&self, round: &Round) -> Vec<usize> {
        Reference { vouched: true, ..*self }.judge(round).unwrap_or_default()
    }
}

/// What an imul chain and its stamps take, in core cycles, and the standard error of that as a part of it. Two things tell:
/// chains in a row, in rounds that were alone; and `nothing`, which an empty interval takes as a part of a chain, and which is
/// not quite what the stamps add: a chain's first instructions overlap with the stamp before it. Each counts by how sure it is.
fn chain(alone: &[Order], lengths: Lengths, nothing: f64) -> Option<(f64, f64)> {
    let by_nothing = IMUL_CYCLES * lengths.imuls as f64 / (1.0 - nothing);
    let is_sane = |chain: &(f64, f64)| (chain.0 / by_nothing - 1.0).abs() < 0.05;
    let by_slope = slope(alone, lengths).filter(is_sane);
    let sureness = |error: f64| error.max(f64::EPSILON).powi(-2);
    let (slope, of_slope) = by_slope.map_or((0.0, 0.0), |(chain, error)| (chain, sureness(error)));
    let all = of_slope + sureness(NOTHING_ERROR);
    let chain = (slope * of_slope + by_nothing * sureness(NOTHING_ERROR)) / all;
    Some((chain, all.powf(-0.5))).filter(|(cycles, _)| *cycles > 0.0 && cycles.is_finite())
}

/// The same by chains in a row alone: how much longer many of them take than one is theirs, not the stamps'.
fn slope(orders: &[Order], lengths: Lengths) -> Option<(f64, f64)> {
    // By one round after the other, so that it is known how sure it is.
    let parts: Vec<f64> = orders.iter().map(|order| order.one / (order.many - order.one)).collect();
    let count = parts.len() as f64;
    let mean = parts.iter().sum::<f64>() / count;
    let variance = parts.iter().map(|part| (part - mean).powi(2)).sum::<f64>() / (count - 1.0);
    // The spread of a few rounds is itself not sure.
    let few = StudentsT::new(0.0, 1.0, count - 1.0).ok()?.inverse_cdf(0.975) / TWO_SIDED;
    let error = few * (variance / count).sqrt() / mean.abs();
    Some((IMUL_CYCLES * lengths.imuls as f64 * (lengths.chains as f64 - 1.0) * mean, error))
}

/// Over all rounds, how long chains in a row took as a part of what they should have.
fn order(rounds: &[&Round]) -> Option<f64> {
    let parts = rounds.iter().filter_map(|round| Some(round.order?.part(round.lengths.chains)));
    median(&sorted(parts.collect()))
}

/// What a part of the marks takes, as a part of their imul chains: sums, so that a coarse counter's steps even out, and
/// without marks that an interrupt fell into. Whatever the clock is, a mark's chains are as long to one another as those of
/// other marks.
fn mean_ratio<'a>(marks: impl Iterator<Item = &'a Mark>, step: f64, part: fn(&Mark) -> f64) -> Option<f64> {
    let marks: Vec<&Mark> = marks.filter(|mark| mark.imul > 0.0).collect();
    let usual =
        |of: &dyn Fn(&Mark) -> f64| median(&sorted(marks.iter().map(|mark| of(mark) / mark.imul).collect()));
    let (xor, own) = (usual(&|mark| mark.xor)?, usual(&part)?);
    let is_usual = |mark: &&&Mark| {
        let slack = CHAIN_SLACK + 2.0 * step / mark.imul;
        (mark.xor / mark.imul / xor - 1.0).abs() <= slack && part(mark) / mark.imul <= own + slack
    };
    let sum =
        marks.iter().filter(is_usual).fold((0.0, 0.0), |sum, mark| (sum.0 + part(mark), sum.1 + mark.imul));
    (sum.1 > 0.0).then(|| sum.0 / sum.1)
}

/// The usual step of each CPU's rounds, the coarsest of these. A round of few samples may not tell it.
fn step(rounds: &[&Round]) -> f64 {
    let mut by_cpu = std::collections::BTreeMap::<usize, Vec<f64>>::new();
    rounds.iter().for_each(|round| by_cpu.entry(round.cpu).or_default().push(round.step));
    by_cpu.into_values().filter_map(|steps| median(&sorted(steps))).fold(1.0, f64::max)
}

/// A stretch of blocks that enough canaries vouch for: of what has one block in a round, the two around it.
fn is_long_enough(round: &Round, stretch: &[usize]) -> bool {
    stretch.len() >= LEAST_BLOCKS.min(round.blocks.len())
}

/// So many values around this one, fewer at the ends.
fn around<T>(values: &[T], index: usize, count: usize) -> &[T] {
    let low = index.saturating_sub(count / 2);
    let high = (low + count).min(values.len());
    values.get(high.saturating_sub(count)..high).unwrap_or_default()
}

/// So many marks that the counter's steps are this part of what they take together. An interval is off by two readings, each
/// by a step's standard deviation, 0.29 of it.
fn window(round: &Round, step: f64, noise: f64, ticks: fn(&Mark) -> f64) -> usize {
    let usual = median(&sorted(round.marks.iter().map(ticks).collect())).unwrap_or(1.0);
    let off = 0.41 * step / usual.max(1.0);
    ((off / noise).powi(2).ceil() as usize).clamp(1, WIDEST)
}

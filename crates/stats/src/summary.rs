//! From a row's rounds to its costs in every unit.

use crate::estimate::{Estimate, Figure, estimate};
use crate::levels::Levels;
use crate::quiet::Excluded;
use crate::tabulate::Lines;
use crate::{Cost, Cycles, Distribution, LEAST_ROUNDS, Mode, Nanos, TWO_SIDED, Ticks};
use serde::{Deserialize, Serialize};

/// If there are so many rounds that were quiet from their first block to their last, only these count: the others are a
/// little dearer, because the neighbour has evicted data from the caches. ...
const WHOLLY_QUIET: usize = 12;

/// ... But not where they are a smaller part of the rounds than this: what a few seconds of a minute show is not the minute's.
const MOST_OF_THEM: f64 = 0.5;

/// From half a run to the other, a mode's share changes by no more than this part of itself.
const MOST_SHIFT: f64 = 0.5;

/// How ticks become other units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Nanoseconds in a tick, where measured.
    pub nanos_per_tick: Option<f64>,
    /// Whether core cycles mean anything: see [`crate::Reference::chain_holds`].
    pub cycles: bool,
    /// The counter's step, in ticks.
    pub step: f64,
    /// Standard error of core cycles in a tick, as a part of them, that all rounds have in common.
    pub clock_error: f64,
}

/// Why a row that works has no figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseKind {
    /// The core was shared with something else in all but a few rounds.
    Shared,
    /// Other processes took the CPU in all but a few rounds.
    Preempted,
    /// There was no time for more rounds.
    TooFew,
}

impl NoiseKind {
    /// As documents have it.
    pub fn name(self) -> &'static str {
        match self {
            NoiseKind::Shared => "shared",
            NoiseKind::Preempted => "preempted",
            NoiseKind::TooFew => "too-few",
        }
    }
}

/// What is known about a row that works but has no figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Why.
    pub kind: NoiseKind,
    /// The least cost of a whole round while the core was shared, in core cycles (or else in ticks). It estimates nothing. None
    /// where there were too few rounds.
    pub low: Option<f64>,
    /// The most.
    pub high: Option<f64>,
}

/// One row's costs, in all units that are known; or the reason why there are none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// In core cycles, unless these mean nothing.
    pub core_cycles: Option<Cost<Cycles>>,
    /// In ticks.
    pub ticks: Option<Cost<Ticks>>,
    /// In nanoseconds, where ticks can be converted.
    pub ns: Option<Cost<Nanos>>,
    /// Core cycles for a call among calls back to back; least, median and greatest are over rounds.
    pub throughput: Option<Cost<Cycles>>,
    /// The costs around which single samples gather, if there are several; in core cycles, or else in ticks.
    pub modes: Vec<Mode>,
    /// The CPU that the estimate is of; none where no CPU had enough rounds of its own.
    pub cpu: Option<usize>,
    /// Why there are none.
    pub noise: Option<Noise>,
}

/// The costs of one row, from what a document keeps of it.
///
/// `levels` are those of the row's entry: intervals contain how far a run at another time may have been.
pub fn figures(
    lines: &Lines,
    cycles: &Distribution,
    ticks: &Distribution,
    scale: &Scale,
    levels: &Levels,
) -> Figures {
    let kept = kept(lines);
    let of_estimate = rounds_of_estimate(lines);
    let by_unit = |unit: &dyn Fn(usize) -> f64| -> Vec<Figure> {
        let figure = |index: usize| {
            let (at, cpu) = (*lines.at_ms.get(index)?, *lines.cpu.get(index)?);
            Some(Figure { at, cpu, cost: lines.cost.get(index)? * unit(index) })
        };
        of_estimate.iter().filter_map(|index| figure(*index)).collect()
    };
    let clock = |index: usize| lines.cycles_per_tick.get(index).copied().unwrap_or(f64::NAN);
    let nanos = scale.nanos_per_tick;
    let estimated = |unit: &dyn Fn(usize) -> f64| estimate(&by_unit(unit), levels);
    let in_ticks = cost(lines, &kept, estimated(&|_| 1.0), ticks, &|_| 1.0, 1.0);
    let Some((in_ticks, cpu)) = in_ticks else {
        return Figures { noise: Some(noise(lines, scale)), ..Figures::default() };
    };
    let in_cycles =
        cost::<Cycles>(lines, &kept, estimated(&clock), cycles, &clock, 1.0).filter(|_| scale.cycles);
    let in_cycles = in_cycles.map(|(cost, cpu)| (widened(cost, scale.clock_error), cpu));
    let per_tick = nanos.unwrap_or(1.0);
    let in_nanos = cost::<Nanos>(lines, &kept, estimated(&|_| per_tick), ticks, &|_| per_tick, per_tick);
    let (singles, step) = match in_cycles {
        Some(_) => {
            let usual = crate::quantile_of(kept.iter().map(|index| clock(*index)), 0.5);
            (cycles, scale.step * usual.unwrap_or(1.0))
        }
        None => (ticks, scale.step),
    };
    let each = match in_cycles {
        Some(_) => by_unit(&clock),
        None => by_unit(&|_| 1.0),
    };
    Figures {
        core_cycles: in_cycles.map(|(cost, _)| cost),
        ticks: Some(in_ticks),
        ns: in_nanos.filter(|_| nanos.is_some()).map(|(cost, _)| cost),
        throughput: throughput(lines, &of_estimate, levels)
            .map(|cost| widened(cost, scale.clock_error))
            .filter(|_| scale.cycles),
        modes: repeated(singles.modes(step), &each),
        cpu,
        noise: None,
    }
}

/// The rounds that are not excluded.
fn kept(lines: &Lines) -> Vec<usize> {
    (0..lines.len()).filter(|index| lines.excluded.get(*index) == Some(&None)).collect()
}

/// Those of them that the estimate is made of.
pub(crate) fn rounds_of_estimate(lines: &Lines) -> Vec<usize> {
    let kept = kept(lines);
    let whole: Vec<usize> = kept.iter().copied().filter(|index| lines.lost.get(*index) == Some(&0)).collect();
    let are_most = whole.len() as f64 >= MOST_OF_THEM * kept.len() as f64;
    if whole.len() >= WHOLLY_QUIET && are_most { whole } else { kept }
}

/// Modes whose shares repeat: where two costs take turns over seconds, their shares in a run are an accident of when it was made. What
/// share the dearer one has in a round follows from the round's mean; in the first half of the run and in the second it must be about
/// the same. Of more than two modes a mean does not tell, and they stay.
fn repeated(modes: Vec<Mode>, rounds: &[Figure]) -> Vec<Mode> {
    let [low, high] = modes.as_slice() else { return modes };
    let mut in_time: Vec<&Figure> = rounds.iter().collect();
    in_time.sort_by(|a, b| a.at.total_cmp(&b.at));
    let (first, second) = in_time.split_at(in_time.len() / 2);
    let share = |half: &[&Figure]| {
        let mean = crate::quantile_of(half.iter().map(|figure| figure.cost), 0.5)?;
        Some(((mean - low.cost) / (high.cost - low.cost)).clamp(0.0, 1.0))
    };
    let (Some(first), Some(second)) = (share(first), share(second)) else { return Vec::new() };
    let differ = (first - second).abs();
    if differ <= MOST_SHIFT * high.share.min(low.share) { modes } else { Vec::new() }
}

/// `unit` turns a round's ticks into the unit, and `singles` times `factor` are its single samples.
fn cost<U: From<f64>>(
    lines: &Lines,
    kept: &[usize],
    estimate: Option<Estimate>,
    singles: &Distribution,
    unit: &dyn Fn(usize) -> f64,
    factor: f64,
) -> Option<(Cost<U>, Option<usize>)> {
    let estimate = estimate?;
    let of = |column: &[f64], index: &usize| column.get(*index).map(|ticks| ticks * unit(*index));
    let least = kept.iter().filter_map(|index| of(&lines.least, index)).min_by(f64::total_cmp)?;
    let greatest = kept.iter().filter_map(|index| of(&lines.greatest, index)).max_by(f64::total_cmp)?;
    // A percentile is known to a part of itself, and so might lie beyond the least or the greatest sample.
    let single = |value: f64| (value * factor).max(least).min(greatest).into();
    let cost = Cost {
        estimate: estimate.median.into(),
        ci_low: Some(estimate.low.into()),
        ci_high: Some(estimate.high.into()),
        min: least.into(),
        p50: single(singles.quantile(0.5)?),
        p99: singles.p99().map(single),
        p999: singles.p999().map(single),
        max: greatest.into(),
    };
    Some((cost, estimate.cpu))
}

/// With what all rounds' clock may be off by, which their spread does not show.
fn widened(cost: Cost<Cycles>, clock_error: f64) -> Cost<Cycles> {
    let estimate = cost.estimate.0;
    let common = TWO_SIDED * clock_error * estimate.abs();
    let reach = |end: Cycles| (end.0 - estimate).hypot(common);
    let low = cost.ci_low.map(|end| Cycles(estimate - reach(end)));
    let high = cost.ci_high.map(|end| Cycles(estimate + reach(end)));
    Cost { ci_low: low, ci_high: high, ..cost }
}

fn throughput(lines: &Lines, kept: &[usize], levels: &Levels) -> Option<Cost<Cycles>> {
    let figure = |index: &usize| {
        let ticks = (*lines.throughput.get(*index)?)?;
        let cost = ticks * lines.cycles_per_tick.get(*index)?;
        Some(Figure { at: *lines.at_ms.get(*index)?, cpu: *lines.cpu.get(*index)?, cost })
    };
    let figures: Vec<Figure> = kept.iter().filter_map(figure).collect();
    let estimate = estimate(&figures, levels)?;
    let at = |q| crate::quantile_of(figures.iter().map(|figure| figure.cost), q).map(Cycles);
    Some(Cost {
        estimate: Cycles(estimate.median),
        ci_low: Some(Cycles(estimate.low)),
        ci_high: Some(Cycles(estimate.high)),
        min: at(0.0)?,
        p50: at(0.5)?,
        p99: None,
        p999: None,
        max: at(1.0)?,
    })
}

fn noise(lines: &Lines, scale: &Scale) -> Noise {
    let count = |why: Option<Excluded>| lines.excluded.iter().filter(|found| **found == why).count();
    let (kept, shared) = (count(None), count(Some(Excluded::Shared)));
    let preempted = count(Some(Excluded::Preempted));
    let kind = if shared + preempted <= kept || lines.len() < LEAST_ROUNDS {
        NoiseKind::TooFew
    } else if shared >= preempted {
        NoiseKind::Shared
    } else {
        NoiseKind::Preempted
    };
    if kind == NoiseKind::TooFew {
        // A range of a few quiet rounds would be tight, and look like a figure.
        return Noise { kind, low: None, high: None };
    }
    let is_told = |index: &usize| lines.excluded.get(*index) != Some(&None);
    let cost = |index: usize| {
        let clock = lines.cycles_per_tick.get(index).filter(|_| scale.cycles).copied().unwrap_or(1.0);
        lines.cost.get(index).map(|cost| cost * clock)
    };
    let costs = || (0..lines.len()).filter(is_told).filter_map(cost);
    Noise { kind, low: costs().min_by(f64::total_cmp), high: costs().max_by(f64::total_cmp) }
}

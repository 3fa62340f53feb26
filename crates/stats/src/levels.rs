//! What a kernel entry costs changes with a state of its core that nothing else shows: for tenths of a second to many seconds all
//! processes pay a percent or two more, or less, while canaries, chains and controls stay as they were (bench/OUTLIERS.md).
//!
//! Rounds of one such stretch say the same thing over and over. So the scatter of a row's rounds does not tell how far its estimate is
//! from what a run at another time would say: what does is how long the run was beside how long a level lasts. Neither can be seen in
//! the few rounds of one row, but all rows of an entry share their levels, and all their rounds together show them.

use crate::primitives::{median, sorted};
use crate::tabulate::Lines;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::f64::consts::{E, FRAC_PI_2};

/// Rounds are looked at in stretches of so many seconds.
const BIN: f64 = 0.05;

/// A round counts no farther from its row's median than so many times the usual distance.
const CLIP: f64 = 4.0;

/// What is assumed counts as much as so many levels that were seen.
const WEIGHT: f64 = 3.0;

/// How often a run's levels are corrected by how long they last, and the other way round.
const ROUNDS_OF_CORRECTION: usize = 4;

/// A run that has more than this part of the levels in common tells nothing of them.
const MOST_IN_COMMON: f64 = 0.8;

/// How the costs of an entry's rows differ from time to time, beyond the scatter of their rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Levels {
    /// The standard deviation of the levels, as a part of the cost.
    pub part: f64,
    /// How long a level lasts, seconds: the correlation of two moments falls off to 1/e in this time.
    pub seconds: f64,
    /// How many levels this is known by. What is assumed, where there is nothing else, counts as a few.
    pub seen: f64,
}

impl Levels {
    /// None: of what is not timed, or known to be the same always.
    pub const NONE: Levels = Levels { part: 0.0, seconds: 1.0, seen: f64::INFINITY };

    /// Of entries into a kernel, before anything is known: as measured on Zen 5, where the parts of four entries were 0.6 to 1.7 %, and
    /// half of that was left after 1 to 5 s (bench/OUTLIERS.md).
    pub const OF_A_KERNEL: Levels = Levels { part: 0.015, seconds: 3.0, seen: WEIGHT };

    /// Of what stays in user space: there, no more than 0.15 %.
    pub const OF_USER_SPACE: Levels = Levels { part: 0.0015, seconds: 1.0, seen: WEIGHT };

    /// By all rounds of the rows of one entry, and by what is known before.
    pub fn of<'a>(rows: impl Iterator<Item = &'a Lines>, known: Levels) -> Levels {
        let mut by_cpu = BTreeMap::<usize, Vec<(f64, f64)>>::new();
        rows.for_each(|lines| {
            deviations(lines).into_iter().for_each(|(cpu, at)| by_cpu.entry(cpu).or_default().push(at))
        });
        by_cpu
            .into_values()
            .filter_map(|deviations| seen(&deviations, known.seconds))
            .fold(known, Levels::and)
    }

    /// The levels of one row, by its own rounds and by those of its entry: operations differ in how much they feel them.
    pub fn of_row(lines: &Lines, of_entry: Levels) -> Levels {
        Levels::of(std::iter::once(lines), Levels { seen: of_entry.seen.max(WEIGHT), ..of_entry })
    }

    /// Both together, each by how much it has seen.
    fn and(self, other: Levels) -> Levels {
        let seen = self.seen + other.seen;
        let weighed = |of: fn(&Levels) -> f64| (of(&self) * self.seen + of(&other) * other.seen) / seen;
        let variance = weighed(|levels| levels.part.powi(2));
        Levels { part: variance.max(0.0).sqrt(), seconds: weighed(|levels| levels.seconds), seen }
    }

    /// How far the median over these moments, in milliseconds, is from that over all time, as a part of the cost: half a 95 %
    /// interval.
    pub fn reach(&self, at_ms: &[f64]) -> f64 {
        if self.part == 0.0 || at_ms.is_empty() {
            return 0.0;
        }
        // With few levels the median of the rounds is that of the longest one.
        let of_median = (FRAC_PI_2 * correlation_of_all(at_ms, self.seconds)).min(1.0);
        crate::TWO_SIDED * self.part * of_median.sqrt()
    }
}

/// The mean correlation of any two of these moments: 1 over the number of independent ones that they are worth.
fn correlation_of_all(at_ms: &[f64], seconds: f64) -> f64 {
    // By sorted moments, the sum over all earlier ones follows from the sum of the moment before.
    let moments = sorted(at_ms.to_vec());
    let (mut sum, mut of_earlier, mut before) = (0.0, 0.0, None::<f64>);
    for at in &moments {
        if let Some(before) = before {
            of_earlier = (of_earlier + 1.0) * (-(at - before) / 1e3 / seconds).exp();
        }
        sum += 1.0 + 2.0 * of_earlier;
        before = Some(*at);
    }
    sum / (moments.len() as f64).powi(2)
}

/// Of each kept round its CPU, when it was taken in seconds, and how far it is from the median of its row there, as a part of it.
fn deviations(lines: &Lines) -> Vec<(usize, (f64, f64))> {
    let kept = (0..lines.len()).filter(|index| lines.excluded.get(*index) == Some(&None));
    let mut by_cpu = BTreeMap::<usize, Vec<(f64, f64)>>::new();
    for index in kept {
        if let (Some(cpu), Some(at), Some(cost)) =
            (lines.cpu.get(index), lines.at_ms.get(index), lines.core_cycles(index))
        {
            by_cpu.entry(*cpu).or_default().push((at / 1e3, cost));
        }
    }
    let of_cpu = |(cpu, rounds): (usize, Vec<(f64, f64)>)| {
        let middle =
            median(&sorted(rounds.iter().map(|(_, cost)| *cost).collect())).filter(|cost| *cost > 0.0)?;
        let parts: Vec<(f64, f64)> = rounds.iter().map(|(at, cost)| (*at, cost / middle - 1.0)).collect();
        let most = CLIP * median(&sorted(parts.iter().map(|(_, part)| part.abs()).collect()))?;
        let clipped = parts.into_iter().map(move |(at, part)| (cpu, (at, part.clamp(-most, most))));
        // Fewer rounds than these differ from their own median by less than from the true one.
        (rounds.len() >= crate::LEAST_ROUNDS).then(|| clipped.collect::<Vec<_>>())
    };
    by_cpu.into_iter().filter_map(of_cpu).flatten().collect()
}

/// The levels in the deviations (seconds, part) of one CPU; none where the run was too short to show any.
fn seen(deviations: &[(f64, f64)], usual: f64) -> Option<Levels> {
    let covariances = covariances(deviations);
    let length = covariances.len() as f64 * BIN;
    // A single round scatters on its own; two of neighbouring stretches have in common what lasts.
    let nearest = covariances.get(1).copied().flatten()?;
    let next = covariances.get(2).copied().flatten().unwrap_or(nearest);
    let found = ((nearest + next) / 2.0).max(0.0);
    let moments: Vec<f64> = (0..covariances.len()).map(|bin| bin as f64 * BIN * 1e3).collect();
    let (mut variance, mut seconds) = (found, usual);
    // Deviations from a run's own middle lack what the whole run had in common, which depends on how long a level lasts.
    for _ in 0..ROUNDS_OF_CORRECTION {
        let common = correlation_of_all(&moments, seconds).min(MOST_IN_COMMON);
        variance = found / (1.0 - common);
        let is_gone = |covariance: &Option<f64>| {
            covariance.is_some_and(|found| found + variance * common < variance / E)
        };
        let lasts = covariances.iter().skip(1).position(is_gone).unwrap_or(covariances.len()) as f64;
        seconds = if found > 0.0 { ((lasts + 1.0) * BIN).min(length) } else { usual };
    }
    // A run that is shorter than a usual level takes the little that it sees for short ones.
    let seen = length / (2.0 * seconds.max(usual / 2.0));
    Some(Levels { part: variance.sqrt(), seconds, seen })
}

/// The mean product of two deviations that are so many stretches apart; none where no two are.
fn covariances(deviations: &[(f64, f64)]) -> Vec<Option<f64>> {
    let begin = deviations.iter().map(|(at, _)| *at).fold(f64::INFINITY, f64::min);
    let bin = |at: f64| ((at - begin) / BIN) as usize;
    let count = deviations.iter().map(|(at, _)| bin(*at) + 1).max().unwrap_or(0);
    let mut bins = vec![(0.0, 0.0); count];
    for (at, part) in deviations {
        if let Some((rounds, sum)) = bins.get_mut(bin(*at)) {
            *rounds += 1.0;
            *sum += part;
        }
    }
    let product = |apart: usize| {
        let pairs = bins.iter().zip(bins.iter().skip(apart));
        let sums = pairs.fold((0.0, 0.0), |all, (a, b)| (all.0 + a.0 * b.0, all.1 + a.1 * b.1));
        (sums.0 > 0.0).then(|| sums.1 / sums.0)
    };
    (0..count.min(MOST_APART)).map(product).collect()
}

/// Stretches that are looked at for what they have in common are at most so many apart: a minute.
const MOST_APART: usize = 1200;

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
const WEIGHT: f64 = 5.0;

/// How often a run's levels are corrected by how long they last, and the other way round.
const CORRECTIONS: usize = 4;

/// A run that has more than this part of the levels in common tells nothing of them.
const MOST_IN_COMMON: f64 = 0.8;

/// What is assumed of levels before any was seen: the standard deviation of a row's levels has a part that is the same for all operations
/// of an entry, since it is the entry's own, and one that grows with the cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assumed {
    /// The first, in core cycles.
    pub cycles: f64,
    /// The second, as a part of the cost.
    pub part: f64,
    /// How long a level lasts, seconds.
    pub seconds: f64,
    /// The standard deviation of what changes over minutes, as a part of the cost. A run sees nothing of it.
    pub slow: f64,
}

impl Assumed {
    /// Of entries into a kernel. As measured on Zen 5, where `none` has 4.5 cycles of 260, getppid 6 to 8 of 440, clock_gettime 4 of 600,
    /// a page fault 0.8 %, `int $0x80` through a hypervisor 1.1 % (bench/OUTLIERS.md).
    pub const OF_A_KERNEL: Assumed = Assumed { cycles: 4.5, part: 0.01, seconds: 3.0, slow: 0.008 };

    /// Of what stays in user space: there, no more than 0.15 %.
    pub const OF_USER_SPACE: Assumed = Assumed { cycles: 0.0, part: 0.0015, seconds: 1.0, slow: 0.0005 };

    /// The standard deviation for what costs so many core cycles, as a part of them.
    fn at(&self, cycles: f64) -> f64 {
        (self.cycles / cycles).hypot(self.part)
    }

    /// Those of what costs so many core cycles.
    pub(crate) fn of_cost(&self, cycles: f64) -> Levels {
        Levels { part: self.at(cycles), seconds: self.seconds, slow: self.slow }
    }
}

/// How a row's cost differs from time to time, beyond the scatter of its rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// The standard deviation of the levels, as a part of the cost.
    pub part: f64,
    /// How long a level lasts, seconds: the correlation of two moments falls off to 1/e in this time.
    pub seconds: f64,
    /// The standard deviation of what changes over minutes, as a part of the cost.
    pub slow: f64,
}

impl Levels {
    /// None: of what is not timed, or known to be the same always.
    pub const NONE: Levels = Levels { part: 0.0, seconds: 1.0, slow: 0.0 };

    /// How far the median over these moments, in milliseconds, is from that over all time, as a part of the cost: half a 95 %
    /// interval.
    pub fn reach(&self, at_ms: &[f64]) -> f64 {
        if at_ms.is_empty() {
            return 0.0;
        }
        // With few levels the median of the rounds is that of the longest one.
        let of_median = (FRAC_PI_2 * correlation_of_all(at_ms, self.seconds)).min(1.0);
        crate::TWO_SIDED * (self.part * of_median.sqrt()).hypot(self.slow)
    }
}

/// Levels, as earlier runs show them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SeenLevels {
    /// How many runs.
    pub runs: u64,
    /// The variance of the levels, as a multiple of what is assumed.
    pub variance: f64,
}

impl SeenLevels {
    /// The degrees of freedom that so many runs have around their middle.
    pub(crate) fn freedom(&self) -> f64 {
        self.runs.saturating_sub(1) as f64
    }
}

/// The levels of an entry, beside what is assumed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OfEntry {
    assumed: Assumed,
    /// The variance of its levels, as a multiple of what is assumed.
    variance: f64,
    /// How long one lasts, seconds.
    seconds: f64,
    /// How many levels this is known by. What is assumed counts as a few.
    seen: f64,
}

impl OfEntry {
    /// By all rounds of the entry's rows, and what is assumed.
    pub fn of<'a>(rows: impl Iterator<Item = &'a Lines>, assumed: Assumed) -> OfEntry {
        let mut by_cpu = BTreeMap::<usize, Vec<(f64, f64)>>::new();
        for (cpu, at) in rows.flat_map(|lines| deviations(lines, &assumed)) {
            by_cpu.entry(cpu).or_default().push(at);
        }
        let known = OfEntry { assumed, variance: 1.0, seconds: assumed.seconds, seen: WEIGHT };
        by_cpu.into_values().filter_map(|deviations| known.seen_in(&deviations)).fold(known, OfEntry::and)
    }

    /// Those of one of its rows, of which earlier runs may have shown more.
    pub fn of_row(&self, lines: &Lines, earlier: Option<&SeenLevels>) -> Levels {
        let known = OfEntry { variance: 1.0, seconds: self.assumed.seconds, seen: WEIGHT, ..*self };
        // A run is too short to have more than one level or two.
        let shown = earlier.map(|shown| OfEntry {
            variance: shown.variance.max(0.0),
            seen: shown.freedom(),
            ..known
        });
        let (of_run, of_minutes) = shown.map_or((*self, known), |shown| (self.and(shown), known.and(shown)));
        let costs = (0..lines.len()).filter_map(|index| lines.core_cycles(index)).collect();
        let cost = median(&sorted(costs)).filter(|cost| *cost > 0.0);
        let part = cost.map_or(self.assumed.part, |cost| self.assumed.at(cost));
        Levels {
            part: part * of_run.variance.sqrt(),
            seconds: of_run.seconds,
            slow: self.assumed.slow * of_minutes.variance.sqrt(),
        }
    }

    /// Both together, each by how much it has seen.
    fn and(self, other: OfEntry) -> OfEntry {
        let seen = self.seen + other.seen;
        let weighed = |of: fn(&OfEntry) -> f64| (of(&self) * self.seen + of(&other) * other.seen) / seen;
        let (variance, seconds) = (weighed(|levels| levels.variance), weighed(|levels| levels.seconds));
        OfEntry { variance, seconds, seen, ..self }
    }

    /// The levels in the deviations (seconds, multiples of what is assumed) of one CPU; none where the run was too short to show any.
    fn seen_in(&self, deviations: &[(f64, f64)]) -> Option<OfEntry> {
        let covariances = covariances(deviations);
        let length = covariances.len() as f64 * BIN;
        // A single round scatters on its own; two of neighbouring stretches have in common what lasts.
        let nearest = covariances.get(1).copied().flatten()?;
        let next = covariances.get(2).copied().flatten().unwrap_or(nearest);
        let found = ((nearest + next) / 2.0).max(0.0);
        let moments: Vec<f64> = (0..covariances.len()).map(|bin| bin as f64 * BIN * 1e3).collect();
        let (mut variance, mut seconds) = (found, self.seconds);
        // Deviations from a run's own middle lack what the whole run had in common, which depends on how long a level lasts.
        for _ in 0..CORRECTIONS {
            let common = correlation_of_all(&moments, seconds).min(MOST_IN_COMMON);
            variance = found / (1.0 - common);
            let is_gone = |covariance: &Option<f64>| {
                covariance.is_some_and(|covariance| covariance + variance * common < variance / E)
            };
            let lasts = covariances.iter().skip(1).position(is_gone).unwrap_or(covariances.len()) as f64;
            seconds = if found > 0.0 { ((lasts + 1.0) * BIN).min(length) } else { self.seconds };
        }
        // A run that is shorter than a usual level takes the little that it sees for short ones.
        let seen = length / (2.0 * seconds.max(self.seconds / 2.0));
        Some(OfEntry { variance, seconds, seen, ..*self })
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

/// Of each kept round its CPU, when it was taken in seconds, and how far it is from the median of its row there, as a multiple of the
/// standard deviation that is assumed for what costs as much.
fn deviations(lines: &Lines, assumed: &Assumed) -> Vec<(usize, (f64, f64))> {
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
        let multiples: Vec<(f64, f64)> =
            rounds.iter().map(|(at, cost)| (*at, (cost / middle - 1.0) / assumed.at(middle))).collect();
        let most = CLIP * median(&sorted(multiples.iter().map(|(_, multiple)| multiple.abs()).collect()))?;
        let clipped =
            multiples.into_iter().map(move |(at, multiple)| (cpu, (at, multiple.clamp(-most, most))));
        // Fewer rounds than these differ from their own median by less than from the true one.
        (rounds.len() >= crate::LEAST_ROUNDS).then(|| clipped.collect::<Vec<_>>())
    };
    by_cpu.into_iter().filter_map(of_cpu).flatten().collect()
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

//! The counter's step: readings of a counter that counts in steps all lie whole steps apart.
//!
//! A step need not be a whole number of ticks: a counter that is derived from a slower clock, say by 76.8, is rounded to whole ticks.
//! And not every interval is a whole number of steps: a hypervisor that sets the counter anew makes one in some thousands odd.

use std::collections::BTreeMap;

/// The part of the intervals that may be off the grid.
const ODD: f64 = 0.02;

/// Intervals whose pairs are looked at for what they have in common: the most frequent ones.
const CANDIDATES: usize = 12;

/// A step that is not a whole number of ticks is looked for if it has at least so many: with fewer, rounding hides it.
const LEAST_BROKEN: f64 = 8.0;

/// Both readings of an interval are rounded to a tick, so it is off by less than this.
const ROUNDING: f64 = 1.0;

/// The shortest frequent interval has at most so many steps that are not whole ticks.
const MOST_STEPS: u64 = 16;

/// Intervals of so many ticks and more tell nothing that shorter ones do not.
const LONGEST: u64 = 1 << 24;

/// The greatest step of which nearly all these intervals are multiples, in ticks; 1 where there is none.
pub fn step(intervals: impl Iterator<Item = u64>) -> f64 {
    let mut counts = BTreeMap::<u64, usize>::new();
    for ticks in intervals.filter(|ticks| (1..LONGEST).contains(ticks)) {
        *counts.entry(ticks).or_default() += 1;
    }
    let whole = whole_divisor(&counts);
    if whole as f64 >= LEAST_BROKEN { whole as f64 } else { broken(&counts).unwrap_or(whole as f64) }
}

/// The greatest whole number that divides nearly all.
fn whole_divisor(counts: &BTreeMap<u64, usize>) -> u64 {
    let mut frequent: Vec<(u64, usize)> = counts.iter().map(|(ticks, count)| (*ticks, *count)).collect();
    frequent.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    frequent.truncate(CANDIDATES);
    let pairs = frequent.iter().enumerate().flat_map(|(place, (a, _))| {
        frequent.iter().skip(place).map(move |(b, _)| greatest_common_divisor(*a, *b))
    });
    let candidates: std::collections::BTreeSet<u64> = pairs.collect();
    let divides = |step: &u64| is_nearly_all(counts, |ticks| ticks.is_multiple_of(*step));
    candidates.into_iter().rev().find(divides).unwrap_or(1)
}

/// The greatest step that is not a whole number of ticks and explains nearly all.
fn broken(counts: &BTreeMap<u64, usize>) -> Option<f64> {
    let total: usize = counts.values().sum();
    let (shortest, _) = counts.iter().find(|(_, count)| **count as f64 >= ODD * total as f64)?;
    let guesses = (1..=MOST_STEPS).map(|steps| *shortest as f64 / steps as f64);
    let mut steps = guesses.take_while(|guess| *guess >= LEAST_BROKEN).map(|guess| refined(counts, guess));
    steps.find(|step| {
        let is_near = |ticks: u64| (ticks as f64 - (ticks as f64 / step).round() * step).abs() <= ROUNDING;
        *step >= LEAST_BROKEN && is_nearly_all(counts, is_near)
    })
}

/// A guess made better by one interval after the other, the shortest first: each is nearer to a whole number of steps than to the
/// next, and the longer it is, the better it tells how long these are.
fn refined(counts: &BTreeMap<u64, usize>, guess: f64) -> f64 {
    let (mut step, mut by_steps, mut of_squares) = (guess, 0.0, 0.0);
    for (ticks, count) in counts {
        let (ticks, count) = (*ticks as f64, *count as f64);
        let steps = (ticks / step).round();
        // One that is off the grid would pull it along.
        if (ticks - steps * step).abs() <= 2.0 * ROUNDING {
            by_steps += count * ticks * steps;
            of_squares += count * steps * steps;
            step = by_steps / of_squares;
        }
    }
    step
}

fn is_nearly_all(counts: &BTreeMap<u64, usize>, holds: impl Fn(u64) -> bool) -> bool {
    let (mut total, mut held) = (0, 0);
    for (ticks, count) in counts {
        total += count;
        held += if holds(*ticks) { *count } else { 0 };
    }
    held as f64 >= (1.0 - ODD) * total as f64
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    /// Intervals of a probe's lengths on a counter with such a step: so many in all, of which one in `odd` is off the grid.
    fn intervals(step: f64, count: usize, odd: usize, seed: u64) -> Vec<u64> {
        let mut random = StdRng::seed_from_u64(seed);
        let reading = |at: f64| ((at / step).floor() * step) as u64;
        let lengths = [70.0, 520.0, 90.0, 1060.0, 5300.0];
        (0..count)
            .map(|number| {
                let length = lengths[number % lengths.len()] * random.random_range(0.97..1.03);
                let begin = 1e6 * random.random::<f64>();
                let off = if number % odd == odd - 1 { random.random_range(1..20) } else { 0 };
                reading(begin + length) - reading(begin) + off
            })
            .collect()
    }

    #[test]
    fn one_odd_interval_made_the_step_1() {
        for whole in [2.0, 10.0, 20.0, 26.0, 38.0, 100.0] {
            for seed in 0..50 {
                let found = step(intervals(whole, 400, 150, seed).into_iter());
                assert_eq!(found, whole, "seed {seed}");
            }
        }
    }

    #[test]
    fn a_counter_that_counts_by_one_has_no_step() {
        for seed in 0..50 {
            assert_eq!(step(intervals(1.0, 400, 150, seed).into_iter()), 1.0, "seed {seed}");
        }
    }

    #[test]
    fn a_step_need_not_be_whole() {
        for real in [10.4, 25.96, 76.8, 153.6] {
            for seed in 0..50 {
                let found = step(intervals(real, 400, 150, seed).into_iter());
                assert!((found / real - 1.0).abs() < 0.002, "{real}: {found}, seed {seed}");
            }
        }
    }

    #[test]
    fn slow_entries_whose_intervals_all_differ_have_a_step_too() {
        let mut random = StdRng::seed_from_u64(1);
        let mut ticks = || 26 * random.random_range(400..90_000);
        let slow: Vec<u64> = (0..200).map(|_| ticks()).chain([777]).collect();
        assert_eq!(step(slow.into_iter()), 26.0);
    }

    #[test]
    fn nothing_has_no_step() {
        assert_eq!(step([].into_iter()), 1.0);
        assert_eq!(step([0, u64::MAX].into_iter()), 1.0);
    }
}

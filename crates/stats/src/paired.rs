//! How much two arms differ that were measured in turns: each pair is two rounds, one of each arm, back to back and in random
//! order. Whatever lasts longer than a pair (a drifting clock, a placement in memory, a neighbour) is in both of its rounds, and not
//! in their difference.
//!
//! The difference is the median of all means of two differences (Hodges and Lehmann 1963), with the interval that goes with the
//! signed-rank test of Wilcoxon. If both arms are the same, differences are symmetric about 0 by the random order, whatever the
//! rounds are distributed like; so the rate of false verdicts is the one that is asked for.

use crate::LEAST_ROUNDS;
use crate::estimate::rank_correlation;
use crate::primitives::{median, sorted};
use statrs::distribution::{ContinuousCDF, Normal};

/// Of more pairs, neighbours are taken together by their median: so many have 80,000 means of two.
const MOST: usize = 400;

/// The greatest correlation of neighbouring differences that is reckoned with.
const STRONGEST: f64 = 0.9;

/// Below so many standard errors, a correlation is taken for chance.
const BY_CHANCE: f64 = 1.0;

/// With fewer pairs, correlation does not show, and [`ASSUMED`] is reckoned with.
const FEW: usize = 20;

/// The correlation that neighbouring differences of a few pairs are taken to have. What rounds that follow each other have in common, two
/// rounds of a pair have in common, too; but rounds of one arm may be alike beyond that.
const ASSUMED: f64 = 0.3;

/// What a round of each arm costs, taken back to back; in one unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Of the arm that is compared with.
    pub base: f64,
    /// Of the other.
    pub new: f64,
}

/// How much more the new arm costs than the base, in the unit of the pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// The difference, new less base.
    pub difference: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// How likely a difference that is at least so clear is where there is none, two-sided, 0 to 1: 0 is at an end of the interval with a
    /// confidence of 1 - p. It is no less than the chance that all pairs differ in one direction: 0.008 of 8 pairs, 0.0001 of 14.
    pub p: f64,
    /// How many pairs there are.
    pub pairs: usize,
    /// The correlation of neighbouring differences that the interval reckons with; 0 where none shows.
    pub correlation: f64,
}

/// What pairs say of the difference: its estimate, its interval at any confidence, and how likely it is by chance.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedRank {
    /// The means of each two differences, sorted; at least one.
    means: Vec<f64>,
    /// The differences that these are of.
    count: usize,
    /// The standard deviation of the signed rank, in ranks.
    spread: f64,
    /// How many pairs there are.
    pub pairs: usize,
    /// The correlation of neighbouring differences that is reckoned with; 0 where none shows.
    pub correlation: f64,
}

impl SignedRank {
    /// Of pairs in order of time. `None` with fewer than [`LEAST_ROUNDS`]; those with a value that is not finite do not count.
    pub fn of(pairs: &[Pair]) -> Option<SignedRank> {
        let differences = pairs.iter().map(|pair| pair.new - pair.base);
        let in_time: Vec<f64> = differences.filter(|difference| difference.is_finite()).collect();
        if in_time.len() < LEAST_ROUNDS {
            return None;
        }
        let batches = batches(&in_time);
        Some(SignedRank::correlated(&batches, in_time.len(), likely_correlation(&batches)))
    }

    /// Of so many pairs whose neighbours are known to be correlated by this much, 0 to 1; in any order. `None` as for
    /// [`SignedRank::of`].
    pub fn with_correlation(pairs: &[Pair], correlation: f64) -> Option<SignedRank> {
        let differences = pairs.iter().map(|pair| pair.new - pair.base);
        let finite: Vec<f64> = differences.filter(|difference| difference.is_finite()).collect();
        let correlation = correlation.clamp(0.0, STRONGEST);
        (finite.len() >= LEAST_ROUNDS)
            .then(|| SignedRank::correlated(&batches(&finite), finite.len(), correlation))
    }

    fn correlated(batches: &[f64], pairs: usize, correlation: f64) -> SignedRank {
        let inflation = (1.0 + correlation) / (1.0 - correlation);
        SignedRank {
            means: means_of_two(batches),
            count: batches.len(),
            spread: deviation(batches.len() as f64) * inflation.sqrt(),
            pairs,
            correlation,
        }
    }

    /// The difference, new less base.
    pub fn difference(&self) -> f64 {
        median(&self.means).unwrap_or(f64::NAN)
    }

    /// The values with a [`p`](SignedRank::p) above `error`, which is one less the interval's confidence. Below the least p of so many
    /// pairs there is no such interval; then it is drawn as if there were.
    pub fn interval(&self, error: f64) -> (f64, f64) {
        let normal = Normal::standard();
        let reach = -normal.inverse_cdf(error.clamp(f64::MIN_POSITIVE, 1.0) / 2.0) * self.spread;
        interval(&self.means, reach)
    }

    /// How likely a difference that is at least so far from `value` is where `value` is the truth, two-sided, 0 to 1. It is no less than
    /// the chance that all pairs differ in one direction: 0.008 of 8 pairs, 0.0001 of 14.
    pub fn p(&self, value: f64) -> f64 {
        let by_chance = 2.0 * Normal::standard().sf(distance(&self.means, value) / self.spread);
        by_chance.clamp(least_p(self.count), 1.0)
    }
}

/// The difference of pairs in order of time, with an interval that covers it with this confidence (0.95); `None` as for
/// [`SignedRank::of`].
pub fn paired(pairs: &[Pair], confidence: f64) -> Option<Paired> {
    let rank = SignedRank::of(pairs)?;
    let (low, high) = rank.interval(1.0 - confidence);
    Some(Paired {
        difference: rank.difference(),
        low,
        high,
        p: rank.p(0.0),
        pairs: rank.pairs,
        correlation: rank.correlation,
    })
}

/// Neighbours together, so that there are at most [`MOST`].
fn batches(in_time: &[f64]) -> Vec<f64> {
    let each = in_time.len().div_ceil(MOST).max(1);
    in_time.chunks(each).filter_map(|batch| median(&sorted(batch.to_vec()))).collect()
}

/// The means of each two differences, and of each with itself, sorted: `n (n + 1) / 2`.
fn means_of_two(differences: &[f64]) -> Vec<f64> {
    let with_later = |(place, first): (usize, &f64)| {
        let first = *first;
        differences.iter().skip(place).map(move |second| (first + second) / 2.0)
    };
    let mut means: Vec<f64> = differences.iter().enumerate().flat_map(with_later).collect();
    means.sort_unstable_by(f64::total_cmp);
    means
}

/// The standard deviation of the signed rank of so many differences that are symmetric about 0.
fn deviation(count: f64) -> f64 {
    (count * (count + 1.0) * (2.0 * count + 1.0) / 24.0).sqrt()
}

/// The means of two that lie this far, in ranks, from the middle one; beyond the extreme ones in proportion to their distance.
fn interval(means: &[f64], reach: f64) -> (f64, f64) {
    let (Some(least), Some(most), Some(middle)) = (means.first(), means.last(), median(means)) else {
        return (f64::NAN, f64::NAN);
    };
    let farthest = farthest(means);
    if reach > farthest {
        let beyond = reach / farthest;
        return (middle - (middle - least) * beyond, middle + (most - middle) * beyond);
    }
    // Outwards to a whole place.
    let place = (farthest - reach).floor() as usize;
    let at = |place: usize| means.get(place).copied().unwrap_or(f64::NAN);
    (at(place), at(means.len() - 1 - place))
}

/// How far a value is from the middle one, in ranks: the reach of the narrowest interval that has it in it.
fn distance(means: &[f64], value: f64) -> f64 {
    let (Some(least), Some(most), Some(middle)) = (means.first(), means.last(), median(means)) else {
        return f64::NAN;
    };
    let extreme = if value < *least { least } else { most };
    if value < *least || value > *most {
        return farthest(means) * (value - middle) / (extreme - middle);
    }
    let below = means.partition_point(|mean| *mean < value);
    let above = means.len() - means.partition_point(|mean| *mean <= value);
    // Those that are as great as the value count for it, and half of a step does: ranks are whole numbers.
    (below.max(above) as f64 - means.len() as f64 / 2.0 - 0.5).max(0.0)
}

/// How far the extreme ones are from the middle, in ranks.
fn farthest(means: &[f64]) -> f64 {
    (means.len() as f64 - 1.0) / 2.0
}

/// The part of random orders in which all of so many differences are on one side of 0.
fn least_p(count: usize) -> f64 {
    0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX) - 1)
}

/// The correlation of neighbouring differences that the interval reckons with: what was found and a standard error more, unless
/// chance explains it.
fn likely_correlation(in_time: &[f64]) -> f64 {
    if in_time.len() < FEW {
        return ASSUMED;
    }
    let error = (in_time.len() as f64).sqrt().recip();
    let found = rank_correlation(in_time);
    if found > BY_CHANCE * error { (found + error).min(STRONGEST) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(differences: &[f64]) -> Vec<Pair> {
        differences.iter().map(|difference| Pair { base: 300.0, new: 300.0 + difference }).collect()
    }

    #[test]
    fn six_pairs_tell_a_difference_and_five_do_not() {
        assert_eq!(paired(&pairs(&[1.0; 5]), 0.95), None);
        let six = paired(&pairs(&[3.0, 1.0, 6.0, 4.0, 2.0, 5.0]), 0.95).unwrap();
        assert_eq!((six.difference, six.pairs), (3.5, 6));
        assert!(six.low <= 1.5 && six.high >= 5.5 && six.p < 0.06, "{six:?}");
        let alike = paired(&pairs(&[0.0; 8]), 0.95).unwrap();
        assert_eq!((alike.difference, alike.low, alike.high, alike.p), (0.0, 0.0, 0.0, 1.0));
    }

    #[test]
    fn a_difference_that_every_pair_had_was_no_sign_of_one() {
        // As system calls under strace: neighbours were alike by chance, and the interval was far from 0, but p was 0.57.
        let far = [21_800.0, 21_900.0, 22_000.0, 22_100.0, 22_200.0, 22_300.0, 22_400.0, 22_500.0];
        let found = paired(&pairs(&far), 0.95).unwrap();
        assert!(found.low > 21_000.0 && found.p < 0.01, "{found:?}");
    }

    #[test]
    fn the_interval_holds_exactly_the_values_that_p_does_not_refuse() {
        let some = [1.0, -2.5, 3.0, 0.5, -1.0, 2.0, 4.5, -0.25, 1.5, 0.0, 0.0, 2.25, -1.75, 0.75];
        let rank = SignedRank::of(&pairs(&some)).unwrap();
        for error in [0.5, 0.1, 0.05, 0.01, 0.001, 0.0003] {
            let (low, high) = rank.interval(error);
            for value in (-200..=200).map(|step| f64::from(step) / 16.0) {
                let is_outside = value < low || value > high;
                assert_eq!(is_outside, rank.p(value) <= error, "{value} of {low} to {high} at {error}");
            }
        }
    }

    #[test]
    fn no_difference_is_outside_of_the_interval_where_p_says_so() {
        for shift in -30..=30 {
            let some =
                [1.0, -2.5, 3.0, 0.5, -1.0, 2.0, 4.5, -0.25, 1.5].map(|value| value + f64::from(shift) / 5.0);
            let found = paired(&pairs(&some), 0.95).unwrap();
            let is_outside = found.low > 0.0 || found.high < 0.0;
            assert!(!is_outside || found.p < 0.05, "{found:?}");
            assert!(is_outside || found.p > 0.03, "{found:?}");
        }
    }

    /// Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, example 3.1 (depression): in hundredths, an estimate of
    /// -46, and an interval of 96 % from -78.6 to -1.0.
    #[test]
    fn the_textbooks_example() {
        let before = [183.0, 50.0, 162.0, 248.0, 168.0, 188.0, 155.0, 306.0, 130.0];
        let after = [87.8, 64.7, 59.8, 205.0, 106.0, 129.0, 106.0, 314.0, 129.0];
        let both = before.iter().zip(after).map(|(base, new)| Pair { base: *base, new });
        let found = paired(&both.collect::<Vec<_>>(), 0.95).unwrap();
        assert!((found.difference + 46.0).abs() < 1e-9, "{found:?}");
        // Wider, because so few pairs do not show whether they are correlated; exactly 0.039 if they are not.
        assert!((-125.0..=-78.6).contains(&found.low) && (-1.0..=30.0).contains(&found.high), "{found:?}");
        assert!((0.039..0.25).contains(&found.p), "{found:?}");
    }

    #[test]
    fn values_that_are_none_do_not_count() {
        let mut some = pairs(&[1.0; 6]);
        some.push(Pair { base: f64::NAN, new: 1.0 });
        assert_eq!(paired(&some, 0.95).unwrap().pairs, 6);
        some.pop();
        some[0].new = f64::INFINITY;
        assert_eq!(paired(&some, 0.95), None);
    }

    #[test]
    fn very_many_pairs_are_taken_together() {
        let many: Vec<f64> = (0..100_000).map(|number| f64::from(number * 7919 % 1009) - 504.0).collect();
        let found = paired(&pairs(&many), 0.95).unwrap();
        assert_eq!(found.pairs, 100_000);
        assert!(found.low <= 0.0 && found.high >= 0.0 && found.high - found.low < 20.0, "{found:?}");
    }
}

//! The estimate of one row from its rounds, and its confidence interval.

use crate::LEAST_ROUNDS;
use crate::levels::Levels;
use crate::primitives::{median, sorted};
use statrs::distribution::{Binomial, DiscreteCDF};
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// The confidence of the interval.
const CONFIDENCE: f64 = 0.95;

/// With fewer rounds, their correlation does not show, and [`ASSUMED`] is reckoned with. The interval is then rather too wide:
/// it covers 97 to 99 of 100 where the rounds are independent (tests/truth.rs).
const FEW_ROUNDS: usize = 12;

/// The correlation of neighbouring rounds that a few of them are taken to have.
const ASSUMED: f64 = 0.5;

/// The greatest correlation that is reckoned with.
const STRONGEST: f64 = 0.9;

/// Below so many standard errors, a correlation is taken for chance. By simulation, with [`ASSUMED`]: intervals cover 93 of 100
/// at a correlation of 0.5 and no more than 97 where there is none.
const BY_CHANCE: f64 = 0.45;

/// What one round says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// When it was taken, in milliseconds.
    pub at: f64,
    /// The CPU.
    pub cpu: usize,
    /// What it costs.
    pub cost: f64,
}

/// The median of the rounds, and the interval that covers it in 95 of 100 runs like this one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The median over rounds of the CPU with the most rounds, or of all CPUs where none has enough of its own.
    pub median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// The CPU that the estimate is of; none where it is of several.
    pub cpu: Option<usize>,
}

/// The estimate; none with fewer than [`LEAST_ROUNDS`] rounds.
///
/// CPUs are not mixed, because an entry may cost another constant on another CPU. The estimate is that of the CPU with the
/// most rounds; if another CPU's rounds contradict it, the interval is widened to include them. Only where no CPU has enough
/// rounds of its own is it of all, and the interval has every round in it.
///
/// `levels` are those of what the row is of. Without them, the rounds' own correlation widens the interval. With them, the interval contains
/// how far a run at another time may have been, and is never narrower than by that correlation.
pub fn estimate(figures: &[Figure], levels: &Levels) -> Option<Estimate> {
    let mut by_cpu = BTreeMap::<usize, Vec<Figure>>::new();
    figures.iter().for_each(|figure| by_cpu.entry(figure.cpu).or_default().push(*figure));
    let most = by_cpu.iter().max_by_key(|(cpu, figures)| (figures.len(), usize::MAX - **cpu));
    let cpu = *most?.0;
    let mut estimate = match by_cpu.remove(&cpu).and_then(|figures| of_one(figures, levels)) {
        Some((median, low, high)) => Estimate { median, low, high, cpu: Some(cpu) },
        None => return of_several(figures, levels),
    };
    for (other, low, high) in by_cpu.into_values().filter_map(|figures| of_one(figures, levels)) {
        if low > estimate.high || high < estimate.low {
            estimate.low = estimate.low.min(other);
            estimate.high = estimate.high.max(other);
        }
    }
    Some(estimate)
}

/// Of rounds of which no CPU has enough.
fn of_several(figures: &[Figure], levels: &Levels) -> Option<Estimate> {
    let (median, low, high) = of_one(figures.to_vec(), levels)?;
    let costs = || figures.iter().map(|figure| figure.cost);
    Some(Estimate { median, low: costs().fold(low, f64::min), high: costs().fold(high, f64::max), cpu: None })
}

/// Median and interval of rounds of one CPU.
fn of_one(mut figures: Vec<Figure>, levels: &Levels) -> Option<(f64, f64, f64)> {
    if figures.len() < LEAST_ROUNDS {
        return None;
    }
    figures.sort_by(|a, b| a.at.total_cmp(&b.at));
    let in_time: Vec<f64> = figures.iter().map(|figure| figure.cost).collect();
    let costs = sorted(in_time.clone());
    let middle = median(&costs)?;
    if levels.part == 0.0 {
        let (low, high) = interval(&costs, inflation(&in_time));
        return Some((middle, low, high));
    }
    // The levels account for what rounds have in common, so rounds count as independent beside them. A row that alternates between two
    // costs by itself has no levels to show for it; its rounds' correlation sets the least width.
    let (low, high) = interval(&costs, 1.0);
    let (lower, higher) = within_rounds(&costs, inflation(&in_time));
    let moments: Vec<f64> = figures.iter().map(|figure| figure.at).collect();
    let reach = levels.reach(&moments) * middle.abs();
    let below = (middle - low).hypot(reach).max(middle - lower);
    let above = (high - middle).hypot(reach).max(higher - middle);
    Some((middle, middle - below, middle + above))
}

/// The interval of correlated rounds, no farther than the second least and the second greatest of them: what is between two costs is known, and
/// beyond them there is nothing.
fn within_rounds(costs: &[f64], inflation: f64) -> (f64, f64) {
    let (low, high) = interval(costs, inflation);
    let (least, most) = (costs.get(1), costs.len().checked_sub(2).and_then(|index| costs.get(index)));
    (least.map_or(low, |least| low.max(*least)), most.map_or(high, |most| high.min(*most)))
}

/// How much the variance of the median grows because the rounds are correlated: 1 for independent rounds.
///
/// The correlation of a round with the next one is taken from their ranks, and falls off geometrically with the distance.
/// The side of the median on which a round lies is correlated by `asin` of that (for normal costs).
fn inflation(in_time: &[f64]) -> f64 {
    let correlation = likely_correlation(in_time);
    let powers = std::iter::successors(Some(correlation), |power| Some(power * correlation));
    let sum: f64 = powers.take_while(|power| *power > 0.01).map(f64::asin).sum();
    1.0 + 4.0 / PI * sum
}

/// The correlation of neighbouring rounds that the interval reckons with: what was found and a standard error more, unless
/// chance explains it. With few rounds even a strong correlation may not show, so a usual one is assumed.
fn likely_correlation(in_time: &[f64]) -> f64 {
    let count = in_time.len() as f64;
    let error = count.sqrt().recip();
    let found = rank_correlation(in_time);
    let likely = if found > BY_CHANCE * error { (found + error).min(STRONGEST) } else { 0.0 };
    if in_time.len() < FEW_ROUNDS { likely.max(ASSUMED) } else { likely }
}

/// The correlation of the ranks of neighbouring rounds, corrected for the bias of short series.
pub(crate) fn rank_correlation(in_time: &[f64]) -> f64 {
    let count = in_time.len() as f64;
    let all = sorted(in_time.to_vec());
    let rank = |cost: &f64| {
        let below = all.partition_point(|other| other < cost);
        let equal = all.partition_point(|other| other <= cost) - below;
        below as f64 + (equal as f64 - count) / 2.0
    };
    let ranks: Vec<f64> = in_time.iter().map(rank).collect();
    let variance: f64 = ranks.iter().map(|rank| rank * rank).sum();
    if variance == 0.0 {
        return 0.0;
    }
    let pairs = ranks.iter().zip(ranks.iter().skip(1));
    let found = pairs.map(|(a, b)| a * b).sum::<f64>() / variance;
    found + (1.0 + 3.0 * found.max(0.0)) / count
}

/// Interval of the median from order statistics, without an assumption about the distribution. It is interpolated between
/// two of them, so that it is not too wide (Hettmansperger and Sheather 1986). With correlated rounds, the number of rounds
/// below the true median varies more, by the root of `inflation`; the ends are moved outwards by that factor, beyond the
/// extreme rounds where it must be.
fn interval(costs: &[f64], inflation: f64) -> (f64, f64) {
    let (Some(least), Some(most), Some(median)) = (costs.first(), costs.last(), median(costs)) else {
        return (f64::NAN, f64::NAN);
    };
    let middle = (costs.len() as f64 + 1.0) / 2.0;
    let reach = (middle - depth(costs.len() as u64)) * inflation.sqrt();
    if reach > middle - 1.0 {
        let beyond = reach / (middle - 1.0);
        return (median - (median - least) * beyond, median + (most - median) * beyond);
    }
    let at = |place: f64| {
        let below = costs.get(place as usize - 1).copied();
        let above = costs.get(place as usize).or(costs.last()).copied();
        below.zip(above).map(|(below, above)| below + (above - below) * place.fract())
    };
    (at(middle - reach).unwrap_or(f64::NAN), at(middle + reach).unwrap_or(f64::NAN))
}

/// Half the interval of sorted rounds that do not depend on each other.
pub(crate) fn scatter(costs: &[f64]) -> f64 {
    let (low, high) = interval(costs, 1.0);
    (high - low) / 2.0
}

/// The position of the lower end among so many independent sorted values, counted from 1, with a fraction.
fn depth(count: u64) -> f64 {
    let Ok(binomial) = Binomial::new(0.5, count) else { return 1.0 };
    // The probability that the median lies between the value at this position and its mirror.
    let confidence = |place: u64| 1.0 - 2.0 * binomial.cdf(place - 1);
    let place = (1..=count / 2).take_while(|place| confidence(*place) >= CONFIDENCE).last().unwrap_or(1);
    let (outer, inner) = (confidence(place), confidence(place + 1));
    let part = ((outer - CONFIDENCE) / (outer - inner)).clamp(0.0, 1.0);
    let (n, d) = (count as f64, place as f64);
    d + (n - d) * part / (d + (n - 2.0 * d) * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(costs: &[f64], cpu: usize) -> Vec<Figure> {
        costs.iter().enumerate().map(|(index, cost)| Figure { at: index as f64, cpu, cost: *cost }).collect()
    }

    fn at_once(figures: &[Figure]) -> Option<Estimate> {
        estimate(figures, &Levels::NONE)
    }

    #[test]
    fn six_rounds_make_an_estimate_and_five_do_not() {
        assert_eq!(at_once(&figures(&[1.0, 2.0, 3.0, 4.0, 5.0], 0)), None);
        let six = at_once(&figures(&[3.0, 1.0, 6.0, 4.0, 2.0, 5.0], 0)).unwrap();
        assert_eq!((six.median, six.cpu), (3.5, Some(0)));
        // A range of six covers in 96.9 of 100 cases if they are independent; a correlation is assumed, so it is not enough.
        assert!((-1.0..1.0).contains(&six.low) && (6.0..8.0).contains(&six.high), "{six:?}");
    }

    /// Hettmansperger and Sheather's example: ten values; the ends lie between the second and the third.
    #[test]
    fn the_ends_lie_between_order_statistics() {
        assert!((depth(10) - 2.66).abs() < 0.01, "{}", depth(10));
        assert!((depth(20) - 6.1).abs() < 0.3, "{}", depth(20));
    }

    #[test]
    fn another_cpus_constant_widens_and_does_not_mix() {
        let here = figures(&[1285.0, 1286.0, 1285.5, 1284.0, 1285.0, 1286.0, 1285.0], 0);
        let there = figures(&[1330.0, 1331.0, 1330.5, 1329.0, 1330.0, 1331.0], 1);
        let both = at_once(&[here.clone(), there].concat()).unwrap();
        assert_eq!((both.median, both.cpu, both.high), (1285.0, Some(0), 1330.25));
        let alike = at_once(&[here.clone(), figures(&[1285.0; 6], 1)].concat()).unwrap();
        assert_eq!(alike, at_once(&here).unwrap());
    }

    #[test]
    fn an_estimate_of_several_cpus_names_none_of_them() {
        let (here, there) = (figures(&[300.0, 303.0, 301.0, 302.0], 0), figures(&[330.0, 331.0, 332.0], 1));
        let mixed = at_once(&[here, there].concat()).unwrap();
        assert_eq!((mixed.median, mixed.cpu), (303.0, None));
        assert!(mixed.low <= 300.0 && mixed.high >= 332.0, "{mixed:?}");
        // Of so few rounds the range covers too seldom: they may be correlated, as those of one CPU.
        let alone = at_once(&figures(&[5.0, 1.0, 3.0, 2.0, 6.0, 4.0], 0)).unwrap();
        let spread = [figures(&[5.0, 1.0, 3.0], 0), figures(&[2.0, 6.0, 4.0], 1)].concat();
        let spread = at_once(&spread).unwrap();
        assert!(
            spread.low <= alone.low && spread.high >= alone.high && alone.high > 6.0,
            "{spread:?}, {alone:?}"
        );
    }

    #[test]
    fn rounds_that_follow_each_other_are_worth_fewer() {
        let shuffled = [5.0, 1.0, 9.0, 3.0, 8.0, 2.0, 7.0, 4.0, 6.0, 10.0, 12.0, 0.0, 11.0, 13.0];
        let width = |costs: &[f64]| at_once(&figures(costs, 0)).map(|e| e.high - e.low).unwrap();
        let drifting = sorted(shuffled.to_vec());
        assert!(width(&drifting) > width(&shuffled));
    }
}

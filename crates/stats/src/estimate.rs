//! The estimate of one row from its rounds, and its confidence interval.

use crate::primitives::{median, sorted};
use statrs::distribution::{Binomial, DiscreteCDF};
use std::collections::BTreeMap;

/// The confidence of the interval.
const CONFIDENCE: f64 = 0.95;

/// With fewer rounds there is no estimate: the range of five covers the median in 94 of 100 cases at best.
pub const LEAST_ROUNDS: usize = 6;

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
    /// The median over rounds of the CPU with the most rounds.
    pub median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// The CPU that the estimate is of.
    pub cpu: usize,
}

/// The estimate; none with fewer than [`LEAST_ROUNDS`] rounds.
///
/// CPUs are not mixed, because an entry may cost another constant on another CPU. The estimate is that of the CPU with the
/// most rounds; if another CPU's rounds contradict it, the interval is widened to include them.
pub fn estimate(figures: &[Figure]) -> Option<Estimate> {
    let mut by_cpu = BTreeMap::<usize, Vec<Figure>>::new();
    figures.iter().for_each(|figure| by_cpu.entry(figure.cpu).or_default().push(*figure));
    let most = by_cpu.iter().max_by_key(|(cpu, figures)| (figures.len(), usize::MAX - **cpu));
    let cpu = *most?.0;
    let whole = of_one(figures.to_vec());
    let mut estimate = match by_cpu.remove(&cpu).and_then(of_one) {
        Some((median, low, high)) => Estimate { median, low, high, cpu },
        // No CPU has enough rounds of its own.
        None => {
            let costs = || figures.iter().map(|figure| figure.cost);
            let (median, ..) = whole?;
            let low = costs().fold(f64::INFINITY, f64::min);
            let high = costs().fold(f64::NEG_INFINITY, f64::max);
            return Some(Estimate { median, low, high, cpu });
        }
    };
    for (other, low, high) in by_cpu.into_values().filter_map(of_one) {
        if low > estimate.high || high < estimate.low {
            estimate.low = estimate.low.min(other);
            estimate.high = estimate.high.max(other);
        }
    }
    Some(estimate)
}

/// Median and interval of rounds of one CPU.
fn of_one(mut figures: Vec<Figure>) -> Option<(f64, f64, f64)> {
    if figures.len() < LEAST_ROUNDS {
        return None;
    }
    figures.sort_by(|a, b| a.at.total_cmp(&b.at));
    let in_time: Vec<f64> = figures.iter().map(|figure| figure.cost).collect();
    let costs = sorted(in_time.clone());
    let middle = median(&costs)?;
    let (low, high) = interval(&costs, inflation(&in_time, middle));
    Some((middle, low, high))
}

/// How much the variance of the median grows because the rounds are correlated: 1 for independent rounds. For each round
/// it looks at the side of the median on which it lies, and adds up the correlations with earlier rounds, as long as they
/// exceed chance.
fn inflation(in_time: &[f64], middle: f64) -> f64 {
    let sides: Vec<f64> = in_time.iter().map(|cost| (cost - middle).total_cmp(&0.0) as i8 as f64).collect();
    let variance: f64 = sides.iter().map(|side| side * side).sum();
    if variance == 0.0 {
        return 1.0;
    }
    let count = sides.len() as f64;
    let chance = 0.6 / count.sqrt();
    let correlation = |lag: usize| {
        let pairs = sides.iter().zip(sides.iter().skip(lag));
        // For independent values it is a little below 0, because the values' own median was subtracted.
        pairs.map(|(a, b)| a * b).sum::<f64>() / variance + 1.0 / count
    };
    let lags = (1..=sides.len() / 4).map(correlation);
    let sum: f64 = lags.take_while(|correlation| *correlation > chance).sum();
    1.0 + 2.0 * sum
}

/// Interval of the median from order statistics, without an assumption about the distribution. It is interpolated between
/// two of them, so that it is not too wide (Hettmansperger and Sheather 1986). With correlated rounds, the number of rounds
/// below the true median varies more, by the root of `inflation`; the ends are moved outwards by that factor.
fn interval(costs: &[f64], inflation: f64) -> (f64, f64) {
    let middle = (costs.len() as f64 + 1.0) / 2.0;
    let reach = (middle - depth(costs.len() as u64)) * inflation.sqrt();
    let place = (middle - reach).max(1.0);
    let at = |place: f64| {
        let below = costs.get(place as usize - 1).copied();
        let above = costs.get(place as usize).or(costs.last()).copied();
        below.zip(above).map(|(below, above)| below + (above - below) * place.fract())
    };
    (at(place).unwrap_or(f64::NAN), at(2.0 * middle - place).unwrap_or(f64::NAN))
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

    #[test]
    fn six_rounds_make_an_estimate_and_five_do_not() {
        assert_eq!(estimate(&figures(&[1.0, 2.0, 3.0, 4.0, 5.0], 0)), None);
        let six = estimate(&figures(&[3.0, 1.0, 6.0, 4.0, 2.0, 5.0], 0)).unwrap();
        assert_eq!((six.median, six.cpu), (3.5, 0));
        // A range of six covers in 96.9 of 100 cases.
        assert!((1.0..1.4).contains(&six.low) && (5.6..=6.0).contains(&six.high), "{six:?}");
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
        let both = estimate(&[here.clone(), there].concat()).unwrap();
        assert_eq!((both.median, both.cpu, both.high), (1285.0, 0, 1330.25));
        let alike = estimate(&[here.clone(), figures(&[1285.0; 6], 1)].concat()).unwrap();
        assert_eq!(alike, estimate(&here).unwrap());
    }

    #[test]
    fn rounds_that_follow_each_other_are_worth_fewer() {
        let shuffled = [5.0, 1.0, 9.0, 3.0, 8.0, 2.0, 7.0, 4.0, 6.0, 10.0, 12.0, 0.0, 11.0, 13.0];
        let width = |costs: &[f64]| estimate(&figures(costs, 0)).map(|e| e.high - e.low).unwrap();
        let drifting = sorted(shuffled.to_vec());
        assert!(width(&drifting) > width(&shuffled));
    }
}

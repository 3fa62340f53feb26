//! How much of the spread between rounds is layout: where code and data happen to lie.
//!
//! Rounds are in groups, one for each layout. A one-way random-effects model splits their variance into that between layouts
//! and that within one (Searle, Casella and McCulloch, Variance Components, 1992, chapter 3). The share between layouts is the
//! correlation of two rounds of one layout.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// With fewer layouts the share is anybody's guess.
pub const LEAST_LAYOUTS: usize = 4;

/// The part of the distribution that lies outside of the interval, on either side.
const TAIL: f64 = 0.025;

/// What the spread between rounds comes from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The share of the variance between rounds that lies between layouts, 0 to 1.
    pub layout: f64,
    /// Lower end of its 95 % confidence interval.
    pub layout_low: f64,
    /// Upper end of it.
    pub layout_high: f64,
    /// How many layouts there were.
    pub layouts: usize,
}

/// Splits the spread of the rounds of each layout. `None` with fewer than [`LEAST_LAYOUTS`], where no layout has two rounds, or
/// where all rounds are alike.
pub fn spread(layouts: &[Vec<f64>]) -> Option<Spread> {
    let groups: Vec<Vec<f64>> =
        layouts.iter().map(|rounds| finite(rounds)).filter(|group| !group.is_empty()).collect();
    let (number, all) = (groups.len(), groups.iter().map(Vec::len).sum::<usize>());
    if number < LEAST_LAYOUTS || all <= number {
        return None;
    }
    let grand = groups.iter().flatten().sum::<f64>() / all as f64;
    let between: f64 = groups.iter().map(|group| group.len() as f64 * (mean(group) - grand).powi(2)).sum();
    let within: f64 = groups.iter().map(|group| sum_of_squares(group, mean(group))).sum();
    let (free_between, free_within) = ((number - 1) as f64, (all - number) as f64);
    let (between, within) = (between / free_between, within / free_within);
    // Rounds in a layout, where they differ a little less than their mean.
    let squares: f64 = groups.iter().map(|group| (group.len() as f64).powi(2)).sum();
    let each = (all as f64 - squares / all as f64) / free_between;
    let share = |ratio: f64| {
        if ratio.is_finite() { ((ratio - 1.0) / (ratio - 1.0 + each)).clamp(0.0, 1.0) } else { 1.0 }
    };
    let ratio = between / within;
    let distribution = FisherSnedecor::new(free_between, free_within).ok()?;
    (between + within > 0.0 && !ratio.is_nan()).then(|| Spread {
        layout: share(ratio),
        layout_low: share(ratio / distribution.inverse_cdf(1.0 - TAIL)),
        layout_high: share(ratio / distribution.inverse_cdf(TAIL)),
        layouts: number,
    })
}

fn finite(rounds: &[f64]) -> Vec<f64> {
    rounds.iter().copied().filter(|cost| cost.is_finite()).collect()
}

fn mean(group: &[f64]) -> f64 {
    group.iter().sum::<f64>() / group.len() as f64
}

fn sum_of_squares(group: &[f64], middle: f64) -> f64 {
    group.iter().map(|cost| (cost - middle).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};
    use statrs::distribution::Normal;

    /// Layouts and rounds in each, as the lab has them.
    const SHAPE: (usize, usize) = (8, 2);

    /// Rounds whose variance lies between layouts to this share.
    fn simulated(random: &mut StdRng, share: f64, (layouts, rounds): (usize, usize)) -> Vec<Vec<f64>> {
        let normal = Normal::new(0.0, 1.0).unwrap();
        let mut draw = |deviation: f64| deviation * normal.inverse_cdf(random.random_range(1e-12..1.0));
        let layout = |_| {
            let at = 300.0 + draw(share.sqrt());
            (0..rounds).map(|_| at + draw((1.0 - share).sqrt())).collect()
        };
        (0..layouts).map(layout).collect()
    }

    /// Over many measurements: the part whose interval covers the truth, and the mean estimate.
    fn over_many(share: f64, shape: (usize, usize)) -> (f64, f64) {
        const MANY: usize = 2000;
        let mut random = StdRng::seed_from_u64(7);
        let found: Vec<Spread> =
            (0..MANY).map(|_| spread(&simulated(&mut random, share, shape)).unwrap()).collect();
        let covering =
            found.iter().filter(|found| found.layout_low <= share && share <= found.layout_high).count();
        (covering as f64 / MANY as f64, found.iter().map(|found| found.layout).sum::<f64>() / MANY as f64)
    }

    #[test]
    fn the_interval_covers_the_true_share_and_a_large_measurement_finds_it() {
        for share in [0.0, 0.25, 0.5, 0.9] {
            let (covered, _) = over_many(share, SHAPE);
            assert!((0.93..=0.985).contains(&covered), "{share}: the interval covers in {covered}");
            let (covered, mean) = over_many(share, (60, 6));
            assert!((0.93..=0.985).contains(&covered), "{share}: the interval covers in {covered}");
            assert!((mean - share).abs() < 0.02, "{share}: the estimate is {mean} in the mean");
        }
    }

    /// How many boots later a layout has its other round, as the lab has it.
    const STRIDE: usize = 3;

    /// A number of the standard normal distribution.
    fn drawn(random: &mut StdRng) -> f64 {
        Normal::new(0.0, 1.0).unwrap().inverse_cdf(random.random_range(1e-12..1.0))
    }

    /// As the lab has them: a layout's two rounds are of two boots, each of which adds its own to the cost. `layout` and `noise`
    /// are variances.
    fn crossed(random: &mut StdRng, boots: &[f64], layout: f64, noise: f64, stride: usize) -> Vec<Vec<f64>> {
        let mut of_layout = |number: usize| {
            let at = 300.0 + layout.sqrt() * drawn(random);
            let before = (number + boots.len() - stride) % boots.len();
            [number, before].map(|of| at + boots[of] + noise.sqrt() * drawn(random)).to_vec()
        };
        (0..boots.len()).map(&mut of_layout).collect()
    }

    #[test]
    fn what_boots_decide_is_not_taken_for_layout() {
        const MANY: usize = 2000;
        let mut random = StdRng::seed_from_u64(11);
        for (layout, boot) in [(0.0, 0.5), (0.0, 0.9), (0.3, 0.3), (0.5, 0.4), (0.8, 0.1)] {
            let measured = |random: &mut StdRng| {
                let boots: Vec<f64> = (0..SHAPE.0).map(|_| f64::sqrt(boot) * drawn(random)).collect();
                spread(&crossed(random, &boots, layout, 1.0 - layout - boot, STRIDE)).unwrap()
            };
            let found: Vec<Spread> = (0..MANY).map(|_| measured(&mut random)).collect();
            let covering =
                found.iter().filter(|found| found.layout_low <= layout && layout <= found.layout_high);
            let covered = covering.count() as f64 / MANY as f64;
            assert!(covered >= 0.93, "{layout}, {boot}: the interval covers in {covered}");
        }
    }

    /// The mean share over many measurements without any layout, whose boots cost more and more, or walk at random; `step` is
    /// what a boot adds to the one before it, and 1 the deviation within a boot.
    fn drifting(walks: bool, step: f64, stride: usize) -> f64 {
        const MANY: usize = 2000;
        let mut random = StdRng::seed_from_u64(13);
        let measured = |random: &mut StdRng| {
            let mut at = 0.0;
            let mut boot = || {
                at += if walks { step * drawn(random) } else { step };
                at
            };
            let boots: Vec<f64> = (0..SHAPE.0).map(|_| boot()).collect();
            spread(&crossed(random, &boots, 0.0, 1.0, stride)).unwrap().layout
        };
        (0..MANY).map(|_| measured(&mut random)).sum::<f64>() / MANY as f64
    }

    #[test]
    fn drift_is_not_taken_for_layout() {
        // Without drift the mean is not 0 either, because no share is below 0.
        for (walks, step) in [(true, 0.5), (true, 1.0), (true, 3.0), (false, 0.5), (false, 1.0), (false, 3.0)]
        {
            let share = drifting(walks, step, STRIDE);
            assert!(share < 0.12, "walks: {walks}, {step} a boot: {share}");
        }
        // Were a layout's boots neighbours, it would be.
        assert!(drifting(true, 3.0, 1) > 0.25 && drifting(false, 3.0, 1) > 0.25);
    }

    #[test]
    fn only_layout_and_no_layout_at_all() {
        let apart: Vec<Vec<f64>> = (0..8).map(|layout| vec![300.0 + f64::from(layout); 2]).collect();
        let found = spread(&apart).unwrap();
        assert_eq!((found.layout, found.layout_low, found.layout_high, found.layouts), (1.0, 1.0, 1.0, 8));
        // The same two costs in each.
        let alike = spread(&vec![vec![300.0, 310.0]; 8]).unwrap();
        assert_eq!((alike.layout, alike.layout_low), (0.0, 0.0));
        assert!(alike.layout_high < 0.5, "{alike:?}");
    }

    #[test]
    fn layouts_that_lost_rounds_count_with_those_they_have() {
        let mut random = StdRng::seed_from_u64(3);
        let mut rounds = simulated(&mut random, 0.9, (40, 4));
        rounds.iter_mut().step_by(3).for_each(|layout| layout.truncate(1));
        rounds.push(Vec::new());
        rounds.push(vec![f64::NAN, f64::INFINITY]);
        let found = spread(&rounds).unwrap();
        assert!((found.layout - 0.9).abs() < 0.08, "{found:?}");
        assert_eq!(found.layouts, 40);
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&vec![vec![1.0, 2.0]; 3]), None, "three layouts");
        assert_eq!(spread(&vec![vec![1.0]; 12]), None, "one round in each");
        assert_eq!(spread(&vec![vec![300.0; 2]; 12]), None, "all alike");
    }
}

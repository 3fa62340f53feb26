//! The difference of two arms that are measured in turns, where the true difference is known: the interval covers it, arms that are
//! the same are told apart no more often than they should be, and what drifts does not matter.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use statrs::distribution::{ContinuousCDF, Normal};
use stats::{Pair, Paired, paired};

/// So many comparisons tell a share of them to within what is asserted below; with 16 or 32, chance alone exceeds it.
const LEAST: u64 = 1000;

/// Comparisons of each case.
fn comparisons() -> usize {
    simulator::runs(LEAST) as usize
}

/// What moves the cost of a round, in core cycles.
#[derive(Debug, Clone, Copy)]
struct World {
    /// The true difference of the arms.
    difference: f64,
    pairs: usize,
    /// A slow walk, a step of this deviation between two rounds, in both arms.
    drift: f64,
    /// The deviation of a round by itself.
    noise: f64,
    /// A second cost, so much greater, which a third of the rounds have, whichever the arm.
    mode: f64,
    /// How much more the second round of a pair costs.
    second: f64,
    /// How alike the noise of an arm's neighbouring rounds is, beyond the drift that both arms share: 0 to 1.
    own: f64,
}

const QUIET: World =
    World { difference: 0.0, pairs: 24, drift: 0.0, noise: 2.0, mode: 0.0, second: 0.0, own: 0.0 };

struct Random {
    generator: StdRng,
    normal: Normal,
}

impl Random {
    fn normal(&mut self) -> f64 {
        self.normal.inverse_cdf(self.generator.random_range(1e-12..1.0))
    }
}

impl World {
    fn pairs(self, random: &mut Random) -> Vec<Pair> {
        let (mut walk, mut own) = (0.0, [0.0; 2]);
        let pair = |_| {
            let (mut costs, mut order) = ([0.0; 2], [0, 1]);
            order.shuffle(&mut random.generator);
            for (place, arm) in order.into_iter().enumerate() {
                walk += self.drift * random.normal();
                own[arm] = self.own * own[arm] + (1.0 - self.own * self.own).sqrt() * random.normal();
                let mode = if random.generator.random_bool(1.0 / 3.0) { self.mode } else { 0.0 };
                let mine = if arm == 1 { self.difference } else { 0.0 };
                costs[arm] = 300.0 + walk + mine + self.noise * own[arm] + mode + self.second * place as f64;
            }
            Pair { base: costs[0], new: costs[1] }
        };
        (0..self.pairs).map(pair).collect()
    }

    fn many(self) -> Vec<Paired> {
        let mut random = Random { generator: StdRng::seed_from_u64(11), normal: Normal::standard() };
        (0..comparisons()).map(|_| paired(&self.pairs(&mut random), 0.95).unwrap()).collect()
    }

    /// The share of comparisons whose interval covers the truth, and of those with p below 0.05.
    fn shares(self) -> (f64, f64) {
        let found = self.many();
        let part = |is: &dyn Fn(&Paired) -> bool| {
            found.iter().filter(|found| is(found)).count() as f64 / found.len() as f64
        };
        let truth = self.difference;
        (part(&|found| (found.low..=found.high).contains(&truth)), part(&|found| found.p < 0.05))
    }
}

/// Three standard errors of a share of 0.05.
fn by_chance() -> f64 {
    3.0 * (0.05 * 0.95 / comparisons() as f64).sqrt()
}

#[test]
fn arms_that_are_the_same_are_told_apart_no_more_often_than_they_should_be() {
    for pairs in [6, 8, 12, 24, 100] {
        for world in [
            World { pairs, ..QUIET },
            World { pairs, drift: 3.0, ..QUIET },
            World { pairs, mode: 44.0, ..QUIET },
            World { pairs, second: 6.0, ..QUIET },
            World { pairs, drift: 1.0, mode: 44.0, second: 6.0, ..QUIET },
        ] {
            let (covered, told_apart) = world.shares();
            assert!(covered >= 0.95 - by_chance(), "{world:?}: 0 is in {covered} of the intervals");
            assert!(told_apart <= 0.05 + by_chance(), "{world:?}: p < 0.05 in {told_apart}");
            let clearly = world.many().iter().filter(|found| found.p < 0.002).count();
            assert!(clearly <= comparisons() / 100, "{world:?}: p < 0.002 in {clearly}");
        }
    }
}

#[test]
fn the_interval_covers_a_difference_and_is_not_too_wide() {
    for pairs in [8, 24, 100] {
        for world in [
            World { difference: 5.0, pairs, drift: 1.0, ..QUIET },
            World { difference: -2.0, pairs, mode: 44.0, ..QUIET },
            World { difference: 3.0, pairs, second: 6.0, ..QUIET },
        ] {
            let (covered, _) = world.shares();
            assert!(covered >= 0.95 - by_chance(), "{world:?}: {covered}");
            assert!(covered < 0.999, "{world:?}: {covered}");
        }
    }
}

#[test]
fn rounds_of_an_arm_that_are_alike_beyond_the_drift_are_worth_fewer() {
    for pairs in [8, 14, 19, 24, 100] {
        let (covered, _) = World { pairs, own: 0.5, ..QUIET }.shares();
        assert!(covered >= 0.92 - by_chance(), "{pairs} pairs: {covered}");
    }
    let width = |own: f64| {
        let found = World { pairs: 100, own, ..QUIET }.many();
        found.iter().map(|found| found.high - found.low).sum::<f64>() / found.len() as f64
    };
    assert!(width(0.5) > 1.3 * width(0.0), "{} against {}", width(0.5), width(0.0));
}

#[test]
fn drift_that_hides_a_difference_between_two_runs_does_not_hide_it_in_turns() {
    // The walk goes 40 cycles far; the difference is one of 300, and rounds scatter by 1.
    let world = World { difference: 1.5, pairs: 40, drift: 0.5, noise: 1.0, ..QUIET };
    let (covered, told_apart) = world.shares();
    assert!(covered >= 0.95 - by_chance() && told_apart >= 0.95, "{covered}, {told_apart}");
}

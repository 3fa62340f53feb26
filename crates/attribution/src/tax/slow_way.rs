//! Whether calls take the kernel's slow way in without any layer, all of the time or a part of it. Then layers that take it as well cost less
//! on top than they would by themselves, and no repetition shows that: each has the same in its base.

use super::Added;
use stats::Cycles;

/// A figure of so many turns is steady: where that many differences have one sign, chance explains it in 1 of 8,000 cases.
pub const TOLD: usize = 14;

/// Dispatch takes the slow way in and compares two numbers there; a filter that is answered by number takes it, too, and looks at one bit. So
/// dispatch costs most of what the filter does, unless the slow way is in the base: 0.9 of it on a quiet kernel, 0.4 while somebody traces.
const LEAST_PART: f64 = 0.6;

/// What is said where the slow way is in the base.
pub const ALREADY_SLOW: &str = "Something already takes every call off the fast path (a tracepoint, a BPF program, another kentry impact): layers \
                                cost less on top than they would by themselves";

/// What dispatch and a filter of one rule add to one operation: whether they cannot have taken calls off the fast path, because calls were not
/// on it. Said only where the whole intervals say so.
pub fn is_already_slow(dispatch: &Added, filter: &Added) -> bool {
    let are_steady = dispatch.turns >= TOLD && filter.turns >= TOLD;
    are_steady && filter.low.0 > 0.0 && dispatch.high.0 < LEAST_PART * filter.low.0
}

/// Two levels of a cost, the lower first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoLevels {
    /// What it costs on the lower.
    pub low: Cycles,
    /// What it costs on the upper.
    pub high: Cycles,
}

/// So many rounds are on each level at least, and this part of all.
const LEAST_ROUNDS: usize = 3;
const LEAST_SHARE: f64 = 0.1;

/// Levels are apart by this part of the lower one at least. What a core's own state changes is one or two hundredths (bench/OUTLIERS.md).
const LEAST_STEP: f64 = 0.05;

/// And by this part of what a filter adds in the same run. A core that shares its caches or its clock with others has levels of its own, some
/// 6 % apart: on a call of 424 cycles 25, where a filter, which takes the slow way in and does little there, adds 87 to 125.
const PART_OF_FILTER: f64 = 0.5;

/// And by so many standard deviations of the rounds on the wider one.
const CLEAR: f64 = 6.0;

/// From a median absolute deviation to a standard deviation.
const OF_NORMAL: f64 = 1.4826;

/// The levels of the base, if it has two in each operation. An operation that has two costs of its own shows nothing: what is done on the way
/// in is done for all calls. `costs` are those of the base's rounds, of each operation; the levels are those of the first. Operations with
/// fewer than [`TOLD`] rounds do not count. `filter` is what a filter of one rule adds to the first operation: levels that are nearer to each
/// other than the slow way in are the core's.
pub fn two_levels(costs: &[Vec<f64>], filter: &Added) -> Option<TwoLevels> {
    let told = || costs.iter().filter(|of_one| of_one.len() >= TOLD);
    let least = PART_OF_FILTER * filter.cycles.0;
    let two = |of_one| two_of(of_one).filter(|levels| levels.high.0 - levels.low.0 > least);
    let first = two(told().next()?)?;
    told().all(|of_one| two(of_one).is_some()).then_some(first)
}

/// The levels of one operation: parted where the sum of the distances to the medians of both is least.
fn two_of(costs: &[f64]) -> Option<TwoLevels> {
    let mut sorted: Vec<f64> = costs.iter().copied().filter(|cost| cost.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let least = LEAST_ROUNDS.max((LEAST_SHARE * sorted.len() as f64).ceil() as usize);
    let distances = |part: &[f64]| part.iter().map(|cost| (cost - middle(part)).abs()).sum::<f64>();
    let parted = (least..=sorted.len().checked_sub(least)?).map(|at| sorted.split_at(at));
    let (lower, upper) = parted.min_by(|one, other| {
        let of = |(lower, upper): &(&[f64], &[f64])| distances(lower) + distances(upper);
        of(one).total_cmp(&of(other))
    })?;
    let step = middle(upper) - middle(lower);
    let is_clear = step > LEAST_STEP * middle(lower) && step > CLEAR * deviation(lower).max(deviation(upper));
    is_clear.then(|| TwoLevels { low: Cycles(middle(lower)), high: Cycles(middle(upper)) })
}

/// The value in the middle of sorted ones.
fn middle(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn deviation(sorted: &[f64]) -> f64 {
    let mut from: Vec<f64> = sorted.iter().map(|cost| (cost - middle(sorted)).abs()).collect();
    from.sort_by(f64::total_cmp);
    OF_NORMAL * middle(&from)
}

impl std::fmt::Display for TwoLevels {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        let TwoLevels { low: Cycles(low), high: Cycles(high) } = self;
        write!(
            out,
            "the base had two levels ({low:.0} and {high:.0}): something traced calls for a part of the time"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};
    use statrs::distribution::{ContinuousCDF, Normal};

    fn added(low: f64, high: f64, turns: usize) -> Added {
        let verdict = if low > 0.0 { Verdict::Costs } else { Verdict::NoDifferenceSeen };
        let [cycles, low, high] = [f64::midpoint(low, high), low, high].map(Cycles);
        Added { cycles, low, high, turns, verdict }
    }

    #[test]
    fn dispatch_that_costs_far_less_than_a_filter_had_the_slow_way_in_its_base() {
        let is_slow = |dispatch: [f64; 2], filter: [f64; 2], turns| {
            is_already_slow(&added(dispatch[0], dispatch[1], turns), &added(filter[0], filter[1], turns))
        };
        assert!(!is_slow([107.0, 117.0], [119.0, 131.0], 20), "a quiet kernel, as measured");
        assert!(is_slow([36.0, 41.0], [87.0, 91.0], 20), "perf counts sys_enter, as measured");
        assert!(is_slow([-3.0, 4.0], [87.0, 91.0], 20), "it adds nothing");
        assert!(!is_slow([30.0, 119.0], [87.0, 91.0], 20), "an interval that allows both says neither");
        assert!(!is_slow([36.0, 41.0], [87.0, 91.0], 13), "too few turns");
        assert!(!is_slow([-3.0, 4.0], [-3.0, 4.0], 20), "a filter that adds nothing tells nothing");
    }

    /// What a filter adds, as measured while calls were traced: less than on a quiet kernel.
    const FILTER: Added = Added {
        cycles: Cycles(89.0),
        low: Cycles(87.0),
        high: Cycles(91.0),
        turns: 20,
        verdict: Verdict::Costs,
    };

    /// Rounds of one operation on a simulated machine: what they cost, how they scatter, how far each resembles the one before.
    struct Base {
        cycles: f64,
        scatter: f64,
        correlation: f64,
    }

    impl Base {
        /// `step` is what tracing adds, which goes on and off every so many turns on the average; never if that is 0.
        fn rounds(&self, random: &mut StdRng, traced: &[bool], step: f64) -> Vec<f64> {
            let normal = Normal::standard();
            let mut draw = move || normal.inverse_cdf(random.random_range(1e-9..1.0 - 1e-9));
            let mut state = draw();
            let fresh = (1.0 - self.correlation * self.correlation).sqrt();
            traced
                .iter()
                .map(|is_traced| {
                    state = self.correlation * state + fresh * draw();
                    self.cycles * (1.0 + self.scatter * state) + if *is_traced { step } else { 0.0 }
                })
                .collect()
        }
    }

    /// Whether something traces in each turn, for so many turns on the average.
    fn regime(random: &mut StdRng, turns: usize, lasts: f64) -> Vec<bool> {
        let mut is_on = random.random_bool(0.5);
        (0..turns)
            .map(|_| {
                is_on ^= random.random_bool(1.0 / lasts);
                is_on
            })
            .collect()
    }

    /// What `kentry tax` measures, in core cycles.
    const ALL: [f64; 3] = [425.0, 581.0, 567.0];

    /// As docs/tax.md has it.
    const MOST_FALSE: f64 = 0.005;
    const MOST_FALSE_OF_ONE: f64 = 0.025;
    const LEAST_SEEN: f64 = 0.95;

    /// The part of simulated measurements with two levels, and of those that truly have two (three turns on each, and a tenth).
    fn share(operations: &[f64], [scatter, correlation]: [f64; 2], turns: usize, step: f64) -> (f64, usize) {
        let base = |cycles: &f64| Base { cycles: *cycles, scatter, correlation };
        let bases: Vec<Base> = operations.iter().map(base).collect();
        let (mut found, mut all) = (0, 0);
        for seed in 0..simulator::runs(400) {
            let mut random = StdRng::seed_from_u64(seed);
            let traced = regime(&mut random, turns, 8.0);
            let on = traced.iter().filter(|on| **on).count();
            let has_two = on.min(turns - on) >= LEAST_ROUNDS.max(turns.div_ceil(10));
            if step > 0.0 && !has_two {
                continue;
            }
            all += 1;
            let costs: Vec<Vec<f64>> =
                bases.iter().map(|base| base.rounds(&mut random, &traced, step)).collect();
            found += u32::from(two_levels(&costs, &FILTER).is_some());
        }
        (f64::from(found) / all as f64, all)
    }

    #[test]
    fn a_base_without_regimes_has_one_level_however_it_scatters_and_drifts() {
        for turns in [14, 20, 60, 200] {
            for scatter in [0.002, 0.01, 0.03] {
                for correlation in [0.0, 0.5, 0.9, 0.97] {
                    for (operations, most) in [(&ALL[..1], MOST_FALSE_OF_ONE), (&ALL[..], MOST_FALSE)] {
                        let (warned, _) = share(operations, [scatter, correlation], turns, 0.0);
                        assert!(warned <= most, "{operations:?} {turns} {scatter} {correlation}: {warned}");
                    }
                }
            }
        }
    }

    #[test]
    fn tracing_that_goes_on_and_off_every_eight_turns_is_seen() {
        for turns in [14, 20, 60, 200] {
            for noise in [[0.002, 0.0], [0.01, 0.0], [0.01, 0.5], [0.01, 0.9]] {
                let (seen, of) = share(&ALL, noise, turns, 137.0);
                assert!(of > 100 && seen >= LEAST_SEEN, "{turns} {noise:?}: {seen} of {of}");
            }
        }
    }

    #[test]
    fn levels_of_the_core_that_are_nearer_than_the_slow_way_are_no_tracing() {
        // As a busy machine of CI had them: 424 and 449 cycles.
        let of_core = |cycles: f64| (0..20).map(move |turn| cycles * if turn % 3 == 0 { 1.06 } else { 1.0 });
        let costs = ALL.map(|cycles| of_core(cycles).collect());
        assert_eq!(two_levels(&costs, &FILTER), None);
        let dear = Added { cycles: Cycles(40.0), ..FILTER };
        assert!(two_levels(&costs, &dear).is_some(), "levels are told by what the slow way costs here");
    }

    #[test]
    fn an_operation_with_two_costs_of_its_own_is_no_regime() {
        let steady: Vec<f64> = (0..20).map(|turn| 425.0 + f64::from(turn % 5)).collect();
        let two: Vec<f64> = (0..20).map(|turn| if turn % 3 == 0 { 730.0 } else { 580.0 }).collect();
        assert_eq!(two_levels(&[steady.clone(), two.clone()], &FILTER), None);
        assert_eq!(two_levels(&[two.clone(), steady], &FILTER), None);
        let both = two_levels(&[two.clone(), two, vec![1.0; 3]], &FILTER);
        assert_eq!(both, Some(TwoLevels { low: Cycles(580.0), high: Cycles(730.0) }));
        assert!(both.unwrap().to_string().starts_with("the base had two levels (580 and 730)"));
    }

    #[test]
    fn nothing_and_what_is_no_number_have_no_levels() {
        assert_eq!(two_levels(&[], &FILTER), None);
        assert_eq!(two_levels(&[vec![f64::NAN; 20]], &FILTER), None);
        assert_eq!(two_levels(&[vec![0.0; 20]], &FILTER), None);
        assert_eq!(two_levels(&[vec![425.0; 13]], &FILTER), None);
    }
}

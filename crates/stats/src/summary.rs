use crate::primitives::{median, median_interval, quantile, sorted, trimmed_mean};
use crate::{CANARY_TOLERANCE, CHAIN_TOLERANCE, Cost, Cycles, Nanos, Round, Ticks};

/// What all rounds of a run are judged by; one for each probe, since their canaries are different code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// Nots in a core cycle with the core to itself: the 90th percentile of all rounds.
    pub canary: f64,
    /// Median over all rounds of what an imul takes if a xor takes one cycle.
    pub chain_ratio: f64,
}

impl Reference {
    /// From all rounds of one probe that have these figures. None of nothing.
    pub fn of<'a>(rounds: impl Iterator<Item = &'a Round> + Clone) -> Option<Reference> {
        let known = |figure: fn(&Round) -> f64| {
            let figures = rounds.clone().map(figure);
            sorted(figures.filter(|figure| figure.is_finite()).collect())
        };
        Some(Reference {
            canary: quantile(&known(|round| round.canary), 0.9)?,
            chain_ratio: median(&known(|round| round.chain_ratio))?,
        })
    }

    /// Whether the imul chain is as long as it must be for core cycles to mean anything.
    pub fn chain_holds(&self) -> bool {
        (self.chain_ratio / crate::IMUL_CYCLES - 1.0).abs() <= CHAIN_TOLERANCE
    }

    /// Why a round is left out, if it is.
    pub fn disturbance(&self, round: &Round) -> Option<Disturbed> {
        if round.migrated {
            return Some(Disturbed::Migrated);
        }
        // A canary that is no number is within nothing.
        let within = (round.canary / self.canary - 1.0).abs() <= CANARY_TOLERANCE;
        (!within).then_some(Disturbed::Canary)
    }
}

/// Why a round was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disturbed {
    /// It changed the CPU.
    Migrated,
    /// The core was not its own: the canary ran slower than the run's best by more than [`CANARY_TOLERANCE`].
    Canary,
}

/// How ticks become other units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Nanoseconds in a tick, where measured.
    pub nanos_per_tick: Option<f64>,
    /// Whether core cycles mean anything: see [`Reference::chain_holds`].
    pub cycles: bool,
}

/// One row's costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// In core cycles, unless the chain does not hold.
    pub core_cycles: Option<Cost<Cycles>>,
    /// In ticks.
    pub ticks: Option<Cost<Ticks>>,
    /// In nanoseconds, where ticks can be converted.
    pub ns: Option<Cost<Nanos>>,
    /// Core cycles for a call among calls made back to back, without fences; its percentiles are over bursts.
    pub throughput: Option<Cost<Cycles>>,
    /// Samples taken.
    pub samples: usize,
    /// Of these, left out: single ones and those of excluded rounds.
    pub disturbed: usize,
    /// Rounds taken.
    pub rounds: usize,
    /// Of these, excluded.
    pub excluded: usize,
}

/// Summarizes the rounds of one row. Costs are none when every round is excluded.
pub fn summarize(rounds: &[Round], reference: &Reference, scale: &Scale) -> Summary {
    let sound: Vec<&Round> = rounds.iter().filter(|round| reference.disturbance(round).is_none()).collect();
    let excluded = rounds.len() - sound.len();
    let lost = |round: &Round| match reference.disturbance(round) {
        Some(_) => round.taken,
        None => round.disturbed,
    };
    let trusted = excluded * 2 <= rounds.len();
    let nanos = scale.nanos_per_tick.unwrap_or(1.0);
    let in_cycles = |round: &Round| round.cycles_per_tick;
    Summary {
        core_cycles: cost(&sound, trusted, in_cycles).filter(|_| scale.cycles),
        ticks: cost(&sound, trusted, |_| 1.0),
        ns: cost(&sound, trusted, |_| nanos).filter(|_| scale.nanos_per_tick.is_some()),
        throughput: throughput(&sound, trusted).filter(|_| scale.cycles),
        samples: rounds.iter().map(|round| round.taken).sum(),
        disturbed: rounds.iter().map(lost).sum(),
        rounds: rounds.len(),
        excluded,
    }
}

fn cost<U: From<f64>>(rounds: &[&Round], trusted: bool, unit: impl Fn(&Round) -> f64) -> Option<Cost<U>> {
    let means = rounds.iter().map(|round| round.cost * unit(round)).collect();
    let single = |round: &&Round| {
        let (control, unit) = (round.control, unit(round));
        round.intervals.iter().map(move |ticks| (f64::from(*ticks) - control) * unit).collect::<Vec<_>>()
    };
    let least = rounds.iter().map(|round| (round.extremes.0 - round.control) * unit(round));
    let greatest = rounds.iter().map(|round| (round.extremes.1 - round.control) * unit(round));
    build(
        means,
        rounds.iter().flat_map(single).collect(),
        (least.min_by(f64::total_cmp)?, greatest.max_by(f64::total_cmp)?),
        trusted,
    )
}

fn throughput(rounds: &[&Round], trusted: bool) -> Option<Cost<Cycles>> {
    let of_round = |round: &&Round| -> Vec<f64> {
        round.bursts.iter().map(|ticks| f64::from(*ticks) * round.cycles_per_tick).collect()
    };
    let means = rounds.iter().filter_map(|round| trimmed_mean(&sorted(of_round(round)), 0.1)).collect();
    let single = sorted(rounds.iter().flat_map(of_round).collect());
    let extremes = (*single.first()?, *single.last()?);
    build(means, single, extremes, trusted)
}

fn build<U: From<f64>>(
    means: Vec<f64>,
    single: Vec<f64>,
    extremes: (f64, f64),
    trusted: bool,
) -> Option<Cost<U>> {
    let (means, single) = (sorted(means), sorted(single));
    let interval = median_interval(&means).filter(|_| trusted);
    let at = |q| quantile(&single, q).map(U::from);
    Some(Cost {
        estimate: median(&means)?.into(),
        ci_low: interval.map(|(low, _)| low.into()),
        ci_high: interval.map(|(_, high)| high.into()),
        min: extremes.0.into(),
        p50: at(0.5)?,
        p99: at(0.99)?,
        p999: at(0.999)?,
        max: extremes.1.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::tests::{records, with_canaries};

    const SCALE: Scale = Scale { nanos_per_tick: Some(0.5), cycles: true };

    fn rounds(costs: &[u64]) -> Vec<Round> {
        costs.iter().map(|cost| Round::reduce(&records(*cost, 64)).unwrap()).collect()
    }

    fn summary(rounds: &[Round]) -> Summary {
        summarize(rounds, &Reference::of(rounds.iter()).unwrap(), &SCALE)
    }

    #[test]
    fn every_unit_is_the_median_of_the_rounds() {
        let summary = summary(&rounds(&[100, 101, 102, 103, 104, 105, 500]));
        let (ticks, cycles, ns) = (summary.ticks.unwrap(), summary.core_cycles.unwrap(), summary.ns.unwrap());
        assert_eq!(
            (ticks.estimate, cycles.estimate, ns.estimate),
            (Ticks(103.0), Cycles(206.0), Nanos(51.5))
        );
        assert_eq!((ticks.ci_low, ticks.ci_high), (Some(Ticks(100.0)), Some(Ticks(500.0))));
        assert_eq!((ticks.min, ticks.max, ticks.p50), (Ticks(100.0), Ticks(500.0), Ticks(103.0)));
        assert_eq!(summary.throughput.unwrap().estimate, Cycles(222.0));
    }

    #[test]
    fn a_busy_sibling_excludes_the_round() {
        let mut all = rounds(&[100; 9]);
        all[3].canary *= 0.6;
        all[3].cost = 140.0;
        let summary = summary(&all);
        assert_eq!((summary.rounds, summary.excluded, summary.samples, summary.disturbed), (9, 1, 576, 64));
        assert_eq!(summary.ticks.unwrap().max, Ticks(100.0));
    }

    #[test]
    fn with_most_rounds_disturbed_there_is_no_interval() {
        let mut all = rounds(&[100; 20]);
        let reference = Reference::of(all.iter()).unwrap();
        all.iter_mut().take(11).for_each(|round| round.migrated = true);
        let ticks = summarize(&all, &reference, &SCALE).ticks.unwrap();
        assert_eq!((ticks.estimate, ticks.ci_low, ticks.ci_high), (Ticks(100.0), None, None));
        all.iter_mut().for_each(|round| round.migrated = true);
        assert_eq!(summarize(&all, &reference, &SCALE).ticks, None);
    }

    #[test]
    fn a_chain_that_is_not_three_cycles_takes_the_cycles_away() {
        let mut all = rounds(&[100; 6]);
        all.iter_mut().for_each(|round| round.chain_ratio = 4.0);
        let reference = Reference::of(all.iter()).unwrap();
        assert!(!reference.chain_holds());
        let scale = Scale { cycles: reference.chain_holds(), nanos_per_tick: None };
        let summary = summarize(&all, &reference, &scale);
        assert_eq!((summary.core_cycles, summary.throughput, summary.ns), (None, None, None));
        assert!(summary.ticks.is_some());
    }
    #[test]
    fn a_round_without_a_canary_made_the_reference_no_number() {
        let still = Round::reduce(&with_canaries([7; 5])).unwrap();
        assert_eq!(Reference::of([still.clone()].iter()), None);
        let mut all = rounds(&[100; 6]);
        let whole = Reference::of(all.iter());
        all.extend(vec![still; 4]);
        assert_eq!(Reference::of(all.iter()), whole);
        let summary = summary(&all);
        assert_eq!((summary.rounds, summary.excluded), (10, 4));
        assert_eq!(summary.core_cycles.unwrap().max, Cycles(200.0));
    }
}

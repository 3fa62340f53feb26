//! What was measured of each configuration, and what sums and differences of these are.
//!
//! Time is measured in sweeps: in each, every configuration has a round, in one boot and one layout of the kernel's code. The difference
//! of two configurations is made in each sweep by itself, and estimated by the signed rank: what a boot, a layout or a wandering clock
//! adds to both is not in it; what it adds to one alone makes the differences of sweeps vary, and the interval with them. Each layout is
//! in two boots and each boot has two layouts: two sweeps have up to half of that in common, and the signed rank reckons with it.
//!
//! A total is the sum of its parts' estimates, so that a bill adds up. Its interval is that of the same total, made in each sweep by
//! itself, moved to this estimate.

use crate::bill::plan::{Combination, Configuration, simplified};
use crate::bill::{Figure, Unit};
use document::{Counter, Document, Outcome, Row};
use environment::LabLayout;
use stats::{LEAST_ROUNDS, Pair, SignedRank, quantile_of};
use std::collections::BTreeMap;

/// One less the confidence of intervals.
const ERROR: f64 = 0.05;

/// The correlation ρ of a sweep's difference with that of the sweep before, which the signed rank reckons with. If all deviation is the
/// boots' and layouts', each sweep has half of it in common with each of two others, and the variance of a mean is 1 + 2 · ½ = 2 times that
/// of independent sweeps. A ρ from each sweep to the next makes it (1 + ρ) / (1 − ρ) times that, which is 2 where ρ is 1/3.
const IN_COMMON: f64 = 1.0 / 3.0;

/// How often the sweeps' and the configurations' medians are taken out in turns. They hardly change after the second time.
const TURNS: usize = 4;

/// Where a configuration has rounds in fewer of the sweeps, as a part of them, sums with it have no figure.
const LEAST_SWEEPS: f64 = 0.5;

/// Where all configurations of a sum have rounds in so many sweeps, as a part of all, the others are left out; with fewer, what is
/// missing is filled in.
const ENOUGH_SWEEPS: f64 = 0.75;

/// What was measured of a configuration.
#[derive(Debug, Clone, PartialEq)]
enum Cell {
    /// Instructions.
    Count(f64),
    /// Time, by sweep; none where it was disturbed.
    Times(Vec<Option<f64>>),
    /// Neither, and why.
    Missing(String),
}

/// The configurations of a sum.
enum Parts<'a> {
    /// Counted, and summed.
    Count(f64),
    /// The rounds of each by sweep, and its factor.
    Times(Vec<(&'a [Option<f64>], f64)>),
}

/// An interval of this estimate, as wide as that of the ranks.
fn of_rank(rank: &SignedRank, estimate: f64) -> Figure {
    let (low, high) = rank.interval(ERROR);
    let moved = estimate - rank.difference();
    Figure { estimate, low: Some(low + moved), high: Some(high + moved), p: None, rounds: rank.pairs }
}

/// What was measured of all configurations of a plan.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// None where nothing was measured.
    pub unit: Option<Unit>,
    cells: Vec<Cell>,
    /// What a sweep adds to all configurations alike; empty where instructions are counted.
    of_sweeps: Vec<f64>,
    /// The correlation of sweeps that follow each other; none where it is to be estimated.
    in_common: Option<f64>,
}

impl Measured {
    pub fn new(document: &Document, entry: &str, configurations: &[Configuration]) -> Measured {
        let of_entry = document.results.iter().filter(|row| row.entry == entry);
        let by_name: BTreeMap<_, &Row> =
            of_entry.map(|row| ((row.operation.as_str(), &row.configuration), row)).collect();
        let row = |asked: &Configuration| by_name.get(&(asked.operation.as_str(), &asked.values)).copied();
        let rows: Vec<Option<&Row>> = configurations.iter().map(row).collect();
        let worked = || rows.iter().flatten().filter(|row| row.outcome == Outcome::Ok);
        let unit = match document.counter() {
            _ if worked().next().is_none() => None,
            Counter::Instructions => Some(Unit::Instructions),
            Counter::Time if worked().any(|row| row.core_cycles.is_some()) => Some(Unit::Cycles),
            Counter::Time => Some(Unit::Ticks),
        };
        let sweeps = sweeps(document);
        let cells: Vec<Cell> = rows.into_iter().map(|row| cell(row, unit, sweeps)).collect();
        let of_sweeps = of_sweeps(&cells, sweeps.len());
        Measured { unit, cells, of_sweeps, in_common: Some(IN_COMMON) }
    }

    /// What was measured of arms in turns, in core cycles. Each turn is a sweep, in order of time, with a layout of its own: what two that
    /// follow each other have in common beyond that is seen in them.
    pub fn of_turns(costs: Vec<Result<Vec<Option<f64>>, String>>, turns: usize) -> Measured {
        let of_arm = |costs: Result<Vec<Option<f64>>, String>| match costs {
            Ok(costs) => of_sweeps_kept(costs, turns),
            Err(why) => Cell::Missing(why),
        };
        let cells: Vec<Cell> = costs.into_iter().map(of_arm).collect();
        let of_sweeps = of_sweeps(&cells, turns);
        Measured { unit: Some(Unit::Cycles), cells, of_sweeps, in_common: None }
    }

    /// Why a configuration was not measured, in words; `None` if it was.
    pub fn why(&self, configuration: usize) -> Option<&str> {
        match self.cells.get(configuration)? {
            Cell::Missing(why) => Some(why),
            Cell::Count(_) | Cell::Times(_) => None,
        }
    }

    /// A configuration, or the difference of two; `None` where one was not measured, or not often enough. Nothing is 0.
    pub fn figure(&self, combination: &[(usize, f64)]) -> Option<Figure> {
        match self.parts(combination)? {
            Parts::Count(count) => Some(Figure::count(count)),
            Parts::Times(times) => {
                let rank = self.rank(&times)?;
                Some(Figure { p: Some(rank.p(0.0)), ..of_rank(&rank, rank.difference()) })
            }
        }
    }

    /// The 10th and the 90th percentile of the sweeps; `None` of a count, and of fewer than ten sweeps.
    pub fn range(&self, combination: &[(usize, f64)]) -> Option<[f64; 2]> {
        let Parts::Times(times) = self.parts(combination)? else { return None };
        let mut sums = self.sums(&times)?;
        sums.sort_by(f64::total_cmp);
        let last = sums.len().checked_sub(1).filter(|last| *last >= 9)?;
        let at = |share: f64| sums.get((last as f64 * share).round() as usize).copied();
        Some([at(0.1)?, at(0.9)?])
    }

    /// A total of such figures, each with a factor.
    pub fn total(&self, parts: &[(&Combination, f64)]) -> Option<Figure> {
        let mut estimate = 0.0;
        for (part, factor) in parts {
            estimate += self.figure(part)?.estimate * factor;
        }
        let of_part = |(part, factor): &(&Combination, f64)| {
            part.iter().map(|(place, of_one)| (*place, of_one * factor)).collect::<Vec<_>>()
        };
        let all = simplified(parts.iter().flat_map(of_part).collect());
        match self.parts(&all)? {
            Parts::Count(_) => Some(Figure::count(estimate)),
            Parts::Times(times) => {
                let rank = self.rank(&times)?;
                let p = Some(rank.p(rank.difference() - estimate));
                Some(Figure { p, ..of_rank(&rank, estimate) })
            }
        }
    }

    fn parts(&self, combination: &[(usize, f64)]) -> Option<Parts<'_>> {
        let (mut count, mut times) = (0.0, Vec::new());
        for (place, factor) in combination {
            match self.cells.get(*place)? {
                Cell::Count(instructions) => count += instructions * factor,
                Cell::Times(sweeps) => times.push((sweeps.as_slice(), *factor)),
                Cell::Missing(_) => return None,
            }
        }
        Some(if times.is_empty() { Parts::Count(count) } else { Parts::Times(times) })
    }

    fn rank(&self, times: &[(&[Option<f64>], f64)]) -> Option<SignedRank> {
        let pairs: Vec<Pair> =
            self.sums(times)?.into_iter().map(|sum| Pair { base: 0.0, new: sum }).collect();
        match self.in_common {
            Some(correlation) => SignedRank::with_correlation(&pairs, correlation),
            None => SignedRank::of(&pairs),
        }
    }

    fn sums(&self, times: &[(&[Option<f64>], f64)]) -> Option<Vec<f64>> {
        let all = self.of_sweeps.len();
        let sum = |sweep: usize| {
            times
                .iter()
                .map(|(rounds, factor)| Some(rounds.get(sweep).copied()?? * factor))
                .sum::<Option<f64>>()
        };
        let complete: Vec<f64> = (0..all).filter_map(sum).collect();
        let enough = (all as f64 * ENOUGH_SWEEPS).max(LEAST_ROUNDS as f64);
        if times.len() <= 2 || complete.len() as f64 >= enough {
            return Some(complete);
        }
        let filled: Vec<Vec<f64>> =
            times.iter().map(|(rounds, _)| self.filled(rounds)).collect::<Option<_>>()?;
        let sum = |sweep: usize| -> Option<f64> {
            filled.iter().zip(times).map(|(rounds, (_, factor))| Some(rounds.get(sweep)? * factor)).sum()
        };
        Some((0..all).filter_map(sum).collect())
    }

    /// A configuration's rounds in all sweeps. One that is missing is what the others and the sweep let expect; the others deviate from
    /// that by so much more as there are fewer of them, so that the mean varies as it does.
    fn filled(&self, rounds: &[Option<f64>]) -> Option<Vec<f64>> {
        let count = rounds.iter().flatten().count() as f64;
        let all = self.of_sweeps.len() as f64;
        if count < (all * LEAST_SWEEPS).max(LEAST_ROUNDS as f64) {
            return None;
        }
        let rest = rounds.iter().zip(&self.of_sweeps).filter_map(|(round, sweep)| Some((*round)? - sweep));
        let middle = rest.sum::<f64>() / count;
        let fill = |(round, sweep): (&Option<f64>, &f64)| {
            let expected = middle + sweep;
            round.map_or(expected, |round| expected + (round - expected) * all / count)
        };
        Some(rounds.iter().zip(&self.of_sweeps).map(fill).collect())
    }
}

/// The stretches of the measurement in which every configuration has a round.
fn sweeps(document: &Document) -> &[LabLayout] {
    document.environment.lab.as_ref().map(|lab| lab.layouts.as_slice()).unwrap_or_default()
}

fn cell(row: Option<&Row>, unit: Option<Unit>, sweeps: &[LabLayout]) -> Cell {
    let Some(row) = row else { return Cell::Missing("it was not measured".into()) };
    if row.outcome != Outcome::Ok {
        let reason = row.reason.as_deref().unwrap_or("without a reason");
        return Cell::Missing(format!("{}: {reason}", row.outcome.name()));
    }
    match unit {
        Some(Unit::Instructions) => match row.instructions {
            Some(cost) => Cell::Count(cost.estimate.0),
            None => Cell::Missing("its instructions were not counted".into()),
        },
        Some(unit @ (Unit::Cycles | Unit::Ticks)) => times(row, unit, sweeps),
        None => Cell::Missing("it was not measured".into()),
    }
}

fn times(row: &Row, unit: Unit, sweeps: &[LabLayout]) -> Cell {
    let mut of_sweeps = vec![Vec::new(); sweeps.len()];
    let rounds = &row.rounds;
    for (index, at) in rounds.at_ms.iter().enumerate() {
        let sweep =
            sweeps.iter().rposition(|sweep| sweep.at_ms <= *at).and_then(|sweep| of_sweeps.get_mut(sweep));
        let is_kept = rounds.excluded.get(index) == Some(&None);
        let cost =
            if unit == Unit::Cycles { rounds.core_cycles(index) } else { rounds.cost.get(index).copied() };
        if let (true, Some(sweep), Some(cost)) = (is_kept, sweep, cost.filter(|cost| cost.is_finite())) {
            sweep.push(cost);
        }
    }
    of_sweeps_kept(of_sweeps.into_iter().map(|costs| mean(&costs)).collect(), rounds.at_ms.len())
}

/// Of what was kept in each sweep, of so many rounds.
fn of_sweeps_kept(means: Vec<Option<f64>>, asked: usize) -> Cell {
    let kept = means.iter().flatten().count();
    if kept >= LEAST_ROUNDS {
        return Cell::Times(means);
    }
    Cell::Missing(format!("{kept} of its {asked} rounds were undisturbed, and {LEAST_ROUNDS} are needed"))
}

fn mean(costs: &[f64]) -> Option<f64> {
    (!costs.is_empty()).then(|| costs.iter().sum::<f64>() / costs.len() as f64)
}

/// What each sweep adds to all configurations, in the median over them; in the median over sweeps, nothing (Tukey's median polish).
fn of_sweeps(cells: &[Cell], sweeps: usize) -> Vec<f64> {
    let timed =
        || cells.iter().filter_map(|cell| if let Cell::Times(rounds) = cell { Some(rounds) } else { None });
    let mut of_sweeps = vec![0.0; sweeps];
    for _ in 0..TURNS {
        let mut rest = vec![Vec::new(); sweeps];
        for rounds in timed() {
            let own = rounds.iter().zip(&of_sweeps).filter_map(|(round, sweep)| Some((*round)? - sweep));
            let Some(middle) = quantile_of(own, 0.5) else { continue };
            for (sweep, round) in rest.iter_mut().zip(rounds) {
                sweep.extend(round.map(|round| round - middle));
            }
        }
        of_sweeps =
            rest.into_iter().map(|sweep| quantile_of(sweep.into_iter(), 0.5).unwrap_or(0.0)).collect();
        let middle = quantile_of(of_sweeps.iter().copied(), 0.5).unwrap_or(0.0);
        of_sweeps.iter_mut().for_each(|sweep| *sweep -= middle);
    }
    of_sweeps
}

//! What earlier runs of a machine show of levels: how far their estimates lie apart, against what is assumed. A run of some seconds
//! cannot see levels as long as itself, nor what minutes change; several runs can.

use crate::estimate::scatter;
use crate::levels::{Assumed, SeenLevels};
use crate::primitives::{median, sorted};
use crate::summary::rounds_of_estimate;
use crate::tabulate::Lines;
use std::collections::BTreeMap;

/// Fewer runs show nothing: the middle one of two is neither.
const FEWEST: usize = 3;

/// A run counts no farther from the middle than so many times the distance that is assumed: one in twenty has all rows of an entry 5 to
/// 20 % higher, and would speak for all of them.
const FARTHEST: f64 = 4.0;

/// What all rows of an entry show counts for one of them as much as so many runs of its own.
const LIKE_OTHERS: f64 = 8.0;

/// What one run says of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunEstimate {
    /// Its estimate, core cycles.
    cost: f64,
    /// Standard error by the scatter of its rounds, as a part of that.
    scatter: f64,
    /// Standard error by the levels that are assumed, as a part of it.
    levels: f64,
}

impl RunEstimate {
    /// By the run's rounds; none where there are too few for an estimate.
    pub fn of(lines: &Lines, assumed: &Assumed) -> Option<RunEstimate> {
        let rounds = on_one_cpu(lines, rounds_of_estimate(lines));
        let costs = sorted(rounds.iter().filter_map(|index| lines.core_cycles(*index)).collect());
        let at_ms: Vec<f64> = rounds.iter().filter_map(|index| lines.at_ms.get(*index).copied()).collect();
        let cost = median(&costs).filter(|cost| *cost > 0.0 && rounds.len() >= crate::LEAST_ROUNDS)?;
        let levels = assumed.of_cost(cost).reach(&at_ms) / crate::TWO_SIDED;
        Some(RunEstimate { cost, scatter: scatter(&costs) / crate::TWO_SIDED / cost, levels })
    }
}

/// What runs show of the levels of an entry: of each of its rows, by what each run says of it. All rows of an entry share their levels, and
/// each may have more of its own.
pub fn seen_levels(rows: &[&[RunEstimate]]) -> Vec<Option<SeenLevels>> {
    let each: Vec<Option<SeenLevels>> = rows.iter().map(|said| of_row(said)).collect();
    let weight: f64 = each.iter().flatten().map(SeenLevels::freedom).sum();
    let all = each.iter().flatten().map(|shown| shown.variance * shown.freedom()).sum::<f64>() / weight;
    let beside_others = |shown: SeenLevels| {
        let own = shown.freedom();
        SeenLevels { variance: (all * LIKE_OTHERS + shown.variance * own) / (LIKE_OTHERS + own), ..shown }
    };
    each.into_iter().map(|shown| shown.map(beside_others)).collect()
}

/// By one row alone.
fn of_row(said: &[RunEstimate]) -> Option<SeenLevels> {
    let count = said.len() as f64;
    let middle = median(&sorted(said.iter().map(|said| said.cost).collect()))?;
    let multiple = |said: &RunEstimate| {
        let apart = (said.cost / middle - 1.0).abs().min(FARTHEST * said.levels.hypot(said.scatter));
        // Around their own middle, runs lie closer together than around the true one.
        (apart.powi(2) * count / (count - 1.0) - said.scatter.powi(2)) / said.levels.powi(2)
    };
    let variance = said.iter().map(multiple).sum::<f64>() / count;
    (said.len() >= FEWEST && variance.is_finite())
        .then_some(SeenLevels { runs: said.len() as u64, variance: variance.max(0.0) })
}

/// The rounds of the CPU that has most of them, as in an estimate.
fn on_one_cpu(lines: &Lines, mut rounds: Vec<usize>) -> Vec<usize> {
    let mut counts = BTreeMap::<usize, usize>::new();
    let cpu = |index: &usize| lines.cpu.get(*index).copied().unwrap_or_default();
    rounds.iter().for_each(|index| *counts.entry(cpu(index)).or_default() += 1);
    let most = counts.into_iter().max_by_key(|(cpu, count)| (*count, usize::MAX - cpu));
    rounds.retain(|index| most.is_some_and(|(most, _)| cpu(index) == most));
    rounds
}

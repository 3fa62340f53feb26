//! Whether figures of noisy seconds are dearer than those of quiet ones.

use crate::numbers::{mean, median, show, sorted};
use crate::runs::{Group, Name, Run, groups, has_figure};
use document::Row;
use std::collections::BTreeMap;

/// So many rounds of either kind must a row have in a run.
const FEWEST: usize = 6;

/// By how much the median of a run's rounds of which a part was noisy, and left out, differs from that of its rounds that were quiet throughout,
/// as a part of that. Both come from the same seconds. None where the run has too few rounds of either kind.
fn of_row(row: &Row) -> Option<f64> {
    let cpu = row.cpu?;
    let lines = &row.rounds;
    let kept =
        |index: &usize| lines.excluded.get(*index) == Some(&None) && lines.cpu.get(*index) == Some(&cpu);
    let rounds: Vec<usize> = (0..lines.len()).filter(kept).collect();
    let (whole, partly): (Vec<usize>, Vec<usize>) =
        rounds.into_iter().partition(|index| lines.lost.get(*index) == Some(&0));
    let middle =
        |rounds: &[usize]| median(&sorted(rounds.iter().filter_map(|index| lines.core_cycles(*index))));
    let enough = whole.len() >= FEWEST && partly.len() >= FEWEST;
    let (whole, partly) = (middle(&whole)?, middle(&partly)?);
    (enough && whole > 0.0).then_some(partly / whole - 1.0)
}

pub fn bias(runs: &[Run]) {
    println!("## Are figures of noisy seconds dearer?\n");
    println!(
        "Of rows that have, in one run and on one CPU, at least {FEWEST} rounds that were quiet throughout and {FEWEST} of which a part was noisy and left out: the median of the latter against the median of the former. The figures of a run rest on the former where these are at least 12, and half of all. The median over a row's runs, over rows.\n"
    );
    println!("| rows | compared | mean % | median % | the farthest row % |\n|---|---:|---:|---:|---|");
    let all: Vec<&Run> = runs.iter().collect();
    let groups = groups(&all);
    let mut off = BTreeMap::<Name, Vec<f64>>::new();
    for row in runs.iter().flat_map(Run::open).filter(|row| has_figure(row)) {
        let of = off.entry((row.entry.clone(), row.operation.clone())).or_default();
        of.extend(of_row(row).map(|part| 100.0 * part));
    }
    for group in Group::ALL {
        let of_group =
            off.iter().filter(|(name, all)| groups.get(*name) == Some(&group) && all.len() >= FEWEST);
        let rows: Vec<(&Name, f64)> =
            of_group.filter_map(|(name, all)| Some((name, median(&sorted(all.iter().copied()))?))).collect();
        let values = sorted(rows.iter().map(|(_, off)| *off));
        let farthest = rows.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let farthest = farthest
            .map_or("-".into(), |((entry, operation), off)| format!("{off:+.2}, `{entry} {operation}`"));
        println!(
            "| {} | {} | {} | {} | {farthest} |",
            group.words(),
            rows.len(),
            show(mean(&values), 2),
            show(median(&values), 2)
        );
    }
    println!();
}

//! How far runs are apart, and how often an interval holds the median of all runs.

use crate::numbers::{deviation, median, show, sorted, spread};
use crate::runs::{Group, Name, Run, after_others, by_budget, groups, has_figure};
use std::collections::BTreeMap;

/// Of fewer figures nothing is said.
const FEWEST: usize = 8;

/// Rows whose spread is shown one by one.
const SHOWN: [(&str, &str); 8] = [
    ("syscall-x86_64", "none"),
    ("syscall-x86_64", "getppid"),
    ("int80-i386", "getppid"),
    ("page-fault", "minor-fault"),
    ("vdso-x86_64", "clock_gettime-monotonic"),
    ("vdso-i386", "clock_gettime-monotonic"),
    ("rdtsc", "none"),
    ("call", "none"),
];

/// A figure of one run, core cycles: the estimate and its interval.
struct Figure {
    estimate: f64,
    low: f64,
    high: f64,
}

/// Of every row all its figures.
fn collected(runs: &[&Run]) -> BTreeMap<Name, Vec<Figure>> {
    let mut figures = BTreeMap::<Name, Vec<Figure>>::new();
    for row in runs.iter().flat_map(|run| run.open()).filter(|row| has_figure(row)) {
        let figure = row.core_cycles.and_then(|cost| {
            Some(Figure { estimate: cost.estimate.0, low: cost.ci_low?.0, high: cost.ci_high?.0 })
        });
        figures.entry((row.entry.clone(), row.operation.clone())).or_default().extend(figure);
    }
    figures
}

/// What a row's figures say together.
struct Together {
    held: usize,
    all: usize,
    /// Half an interval's width, as a part of the middle.
    half: f64,
    /// The figures' standard deviation, likewise.
    deviation: f64,
}

impl Together {
    fn of(figures: &[Figure]) -> Option<Together> {
        let estimates = sorted(figures.iter().map(|figure| figure.estimate));
        let middle = median(&estimates)?;
        let holds = |figure: &&Figure| (figure.low..=figure.high).contains(&middle);
        let half = median(&sorted(figures.iter().map(|figure| (figure.high - figure.low) / 2.0)))?;
        Some(Together {
            held: figures.iter().filter(holds).count(),
            all: figures.len(),
            half: half / middle.abs(),
            deviation: deviation(&estimates)? / middle.abs(),
        })
    }

    fn percent(&self) -> f64 {
        100.0 * self.held as f64 / self.all as f64
    }
}

pub fn intervals(runs: &[Run]) {
    println!("## Do intervals hold?\n");
    println!(
        "How many of the intervals hold the median of all runs of that budget, over all rows of a kind; half an interval's width, and the standard deviation of the runs' figures, as a part of the median, the median over rows. First of runs that know of no other, then of the same runs, each of which knows those before it (of these, one in five minutes counts).\n"
    );
    for (words, runs) in [("alone", runs), ("behind others", &after_others(runs))] {
        println!("Runs {words}:\n");
        table(runs);
    }
}

fn table(runs: &[Run]) {
    println!(
        "| budget, s | rows | figures | hold % | the worst row % | ± % | standard deviation % |\n|---:|---|---:|---:|---|---:|---:|"
    );
    for (budget, runs) in by_budget(runs) {
        let (figures, groups) = (collected(&runs), groups(&runs));
        for group in Group::ALL {
            let of_group =
                figures.iter().filter(|(name, all)| groups.get(*name) == Some(&group) && all.len() >= FEWEST);
            let rows: Vec<(&Name, Together)> =
                of_group.filter_map(|(name, all)| Some((name, Together::of(all)?))).collect();
            let held: usize = rows.iter().map(|(_, row)| row.held).sum();
            let all: usize = rows.iter().map(|(_, row)| row.all).sum();
            let worst = rows.iter().min_by(|a, b| a.1.percent().total_cmp(&b.1.percent()));
            let worst = worst.map_or("-".into(), |((entry, operation), row)| {
                format!("{:.0}, `{entry} {operation}`", row.percent())
            });
            let middle =
                |of: fn(&Together) -> f64| median(&sorted(rows.iter().map(|(_, row)| 100.0 * of(row))));
            println!(
                "| {budget} | {} | {all} | {} | {worst} | {} | {} |",
                group.words(),
                show((all > 0).then(|| 100.0 * held as f64 / all as f64), 1),
                show(middle(|row| row.half), 2),
                show(middle(|row| row.deviation), 2),
            );
        }
    }
    println!();
}

pub fn spreads(runs: &[Run]) {
    println!("## How far runs are apart\n");
    println!("Core cycles. `spread`: (max − min) / median of all figures.\n");
    println!(
        "| row | budget, s | figures | median | ± % | standard deviation % | spread % |\n|---|---:|---:|---:|---:|---:|---:|"
    );
    for (entry, operation) in SHOWN {
        for (budget, runs) in by_budget(runs) {
            let figures =
                collected(&runs).remove(&(entry.to_string(), operation.to_string())).unwrap_or_default();
            let estimates = sorted(figures.iter().map(|figure| figure.estimate));
            let Some(together) = Together::of(&figures) else { continue };
            println!(
                "| `{entry} {operation}` | {budget} | {} | {} | {:.2} | {:.2} | {} |",
                together.all,
                show(median(&estimates), 2),
                100.0 * together.half,
                100.0 * together.deviation,
                show(spread(&estimates), 2)
            );
        }
    }
    println!();
}

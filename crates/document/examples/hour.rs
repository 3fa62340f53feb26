//! Computes from whole runs of a long while how many rows lacked a figure, how far runs were apart, and how often an interval held
//! the median of all runs; prints tables in Markdown.
//!
//!     hour FOLDER
//!
//! The folder holds `hour-NUMBER-BUDGET-LOADED.json`: whole runs whose budget was 2, 5 or 12 s in turns, LOADED 1 where one CPU was loaded.
#![allow(clippy::unwrap_used)] // a developer's tool: what fails, fails loudly

use document::{Document, Outcome, Path as Way, Row};
use std::collections::BTreeMap;
use std::path::Path;

/// Rows dearer than this, in core cycles, are told apart from cheaper ones.
const DEAR: f64 = 50.0;

/// A run is of a quiet time when so many of its canaries found the core alone, and of a noisy one when fewer than so many did.
const QUIET: f64 = 0.9;
const NOISY: f64 = 0.7;

/// Of fewer figures nothing is said.
const FEWEST: usize = 8;

struct Run {
    budget: u64,
    loaded: bool,
    document: Document,
}

impl Run {
    fn quiet(&self) -> f64 {
        self.document.measurement.quiet_share.unwrap_or(0.0)
    }

    fn open(&self) -> impl Iterator<Item = &Row> {
        self.document.results.iter().filter(|row| row.outcome == Outcome::Ok)
    }

    fn missing(&self) -> f64 {
        let without = self.open().filter(|row| row.core_cycles.is_none()).count();
        100.0 * without as f64 / self.open().count().max(1) as f64
    }
}

/// What a row is, for the tables: whether it enters the kernel, and whether it is dear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    UserCheap,
    UserDear,
    Kernel,
}

impl Group {
    fn of(row: &Row, cost: f64) -> Group {
        let stays = row.path == Some(Way::User) || row.uses > 1;
        match (stays, cost > DEAR) {
            (true, false) => Group::UserCheap,
            (true, true) => Group::UserDear,
            (false, _) => Group::Kernel,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Group::UserCheap => "user space, up to 50 cycles",
            Group::UserDear => "user space, dearer",
            Group::Kernel => "the kernel",
        }
    }
}

fn main() {
    let folder = std::env::args().nth(1).expect("usage: hour FOLDER");
    let runs = runs(Path::new(&folder));
    if runs.is_empty() {
        return;
    }
    figures(&runs);
    intervals(&runs);
    bias(&runs);
}

fn runs(folder: &Path) -> Vec<Run> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.sort();
    let of = |name: &String| {
        let parts: Vec<&str> = name.strip_prefix("hour-")?.strip_suffix(".json")?.split('-').collect();
        let [_, budget, loaded] = parts.as_slice() else { return None };
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let document = document::load(&text).inspect_err(|error| eprintln!("{name}: {error}")).ok()?;
        // By the statistics as they are now.
        let document = document::recompute(&document).unwrap();
        Some(Run { budget: budget.parse().ok()?, loaded: *loaded == "1", document })
    };
    names.iter().filter_map(of).collect()
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    stats::quantile_of(values, 0.5)
}

fn by_budget(runs: &[Run]) -> BTreeMap<u64, Vec<&Run>> {
    let mut budgets = BTreeMap::<u64, Vec<&Run>>::new();
    runs.iter().for_each(|run| budgets.entry(run.budget).or_default().push(run));
    budgets
}

fn figures(runs: &[Run]) {
    println!("## Rows without a figure, and time\n");
    println!(
        "| budget, s | CPU loaded | runs | rows without core cycles, mean % | worst % | seconds, median | longest | quiet, median % | least % |"
    );
    println!("|---:|---|---:|---:|---:|---:|---:|---:|---:|");
    for (budget, runs) in by_budget(runs) {
        for loaded in [false, true] {
            let of: Vec<&&Run> = runs.iter().filter(|run| run.loaded == loaded).collect();
            if of.is_empty() {
                continue;
            }
            let missing = || of.iter().map(|run| run.missing());
            let seconds = || of.iter().map(|run| run.document.measurement.seconds);
            let quiet = || of.iter().map(|run| 100.0 * run.quiet());
            println!(
                "| {budget} | {} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.0} | {:.0} |",
                if loaded { "one" } else { "none" },
                of.len(),
                missing().sum::<f64>() / of.len() as f64,
                missing().fold(0.0, f64::max),
                median(seconds()).unwrap_or(f64::NAN),
                seconds().fold(0.0, f64::max),
                median(quiet()).unwrap_or(f64::NAN),
                quiet().fold(100.0, f64::min),
            );
        }
    }
}

/// Of every row all its figures, with the quiet share of their runs.
type Figures = BTreeMap<(String, String), Vec<(f64, f64, f64, f64)>>;

fn collected(runs: &[&Run]) -> (Figures, BTreeMap<(String, String), Group>) {
    let (mut figures, mut groups) = (Figures::new(), BTreeMap::new());
    for run in runs {
        for row in run.open() {
            let Some(cost) = row.core_cycles else { continue };
            let name = (row.entry.clone(), row.operation.clone());
            groups.insert(name.clone(), Group::of(row, cost.estimate.0));
            let (Some(low), Some(high)) = (cost.ci_low, cost.ci_high) else { continue };
            figures.entry(name).or_default().push((cost.estimate.0, low.0, high.0, run.quiet()));
        }
    }
    (figures, groups)
}

fn intervals(runs: &[Run]) {
    println!(
        "\n## Intervals\n\nHow many of the intervals hold the median of all runs of that budget, over all rows of a kind; half an interval's width, and the standard deviation of the runs' figures, as a part of the median, the median over rows.\n"
    );
    println!(
        "| budget, s | rows | figures | hold % | the worst row % | ± % | standard deviation % |\n|---:|---|---:|---:|---|---:|---:|"
    );
    for (budget, runs) in by_budget(runs) {
        let (figures, groups) = collected(&runs);
        for group in [Group::UserCheap, Group::UserDear, Group::Kernel] {
            let rows = figures.iter().filter(|(name, all)| groups[*name] == group && all.len() >= FEWEST);
            let (mut held, mut all, mut widths, mut spreads) = (0, 0, Vec::new(), Vec::new());
            let mut worst = (101.0, String::new());
            for ((entry, operation), of) in rows {
                let middle = median(of.iter().map(|figure| figure.0)).unwrap();
                let holds = of.iter().filter(|(_, low, high, _)| (*low..=*high).contains(&middle)).count();
                let part = 100.0 * holds as f64 / of.len() as f64;
                if part < worst.0 {
                    worst = (part, format!("{part:.0}, `{entry} {operation}`"));
                }
                (held, all) = (held + holds, all + of.len());
                widths.push(
                    median(of.iter().map(|(_, low, high, _)| (high - low) / 2.0)).unwrap() / middle.abs(),
                );
                let mean = of.iter().map(|figure| figure.0).sum::<f64>() / of.len() as f64;
                let variance =
                    of.iter().map(|figure| (figure.0 - mean).powi(2)).sum::<f64>() / (of.len() - 1) as f64;
                spreads.push(variance.sqrt() / middle.abs());
            }
            let percent = |values: &[f64]| 100.0 * median(values.iter().copied()).unwrap_or(f64::NAN);
            println!(
                "| {budget} | {} | {all} | {:.1} | {} | {:.2} | {:.2} |",
                group.words(),
                100.0 * f64::from(held as u32) / all.max(1) as f64,
                worst.1,
                percent(&widths),
                percent(&spreads)
            );
        }
    }
}

fn bias(runs: &[Run]) {
    println!(
        "\n## Bias\n\nMedian figure of the runs in which less than {:.0} % of the canaries found the core alone, against that of runs with more than {:.0} %; the median over rows, and the worst.\n",
        100.0 * NOISY,
        100.0 * QUIET
    );
    println!("| rows | compared | median % | the farthest % |\n|---|---:|---:|---|");
    let all: Vec<&Run> = runs.iter().collect();
    let (figures, groups) = collected(&all);
    for group in [Group::UserCheap, Group::UserDear, Group::Kernel] {
        let mut off = Vec::new();
        for ((entry, operation), of) in figures.iter().filter(|(name, _)| groups[*name] == group) {
            let of_kind = |keep: &dyn Fn(f64) -> bool| -> Vec<f64> {
                of.iter().filter(|figure| keep(figure.3)).map(|figure| figure.0).collect()
            };
            let (quiet, noisy) = (of_kind(&|share| share >= QUIET), of_kind(&|share| share < NOISY));
            if quiet.len() < FEWEST || noisy.len() < FEWEST {
                continue;
            }
            let (quiet, noisy) = (median(quiet.into_iter()).unwrap(), median(noisy.into_iter()).unwrap());
            off.push((100.0 * (noisy / quiet - 1.0), format!("`{entry} {operation}`")));
        }
        let farthest = off.iter().max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
        let farthest = farthest.map_or("-".into(), |(off, name)| format!("{off:+.2}, {name}"));
        let middle = median(off.iter().map(|(off, _)| *off)).map_or("-".into(), |off| format!("{off:+.2}"));
        println!("| {} | {} | {middle} | {farthest} |", group.words(), off.len());
    }
}

//! The whole runs of a benchmark, and their rows in groups.

use crate::read;
use document::{Document, EarlierRuns, Outcome, Row};
use std::collections::BTreeMap;
use std::path::Path;

/// Rows dearer than this, in core cycles, are told apart from cheaper ones.
const DEAR: f64 = 50.0;

/// An entry and an operation.
pub type Name = (String, String);

/// One whole run.
pub struct Run {
    /// Its budget, seconds.
    pub budget: u64,
    /// Whether one CPU was loaded.
    pub loaded: bool,
    /// Recomputed by the statistics as they are now.
    pub document: Document,
}

impl Run {
    /// The share of checks that found the core alone.
    pub fn quiet(&self) -> f64 {
        self.document.measurement.quiet_share.unwrap_or(0.0)
    }

    /// Rows that work.
    pub fn open(&self) -> impl Iterator<Item = &Row> {
        self.document.results.iter().filter(|row| row.outcome == Outcome::Ok)
    }

    pub fn row(&self, (entry, operation): (&str, &str)) -> Option<&Row> {
        self.open().find(|row| row.entry == entry && row.operation == operation)
    }

    /// Percent of the rows that work and have no figure in core cycles.
    pub fn missing(&self) -> f64 {
        let without = self.open().filter(|row| !has_figure(row)).count();
        100.0 * without as f64 / self.open().count().max(1) as f64
    }
}

/// Whether a row's core cycles are printed.
pub fn has_figure(row: &Row) -> bool {
    row.core_cycles.is_some() && row.figure().is_some()
}

/// What a row is, for the tables: whether it enters the kernel, and whether it is dear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    UserCheap,
    UserDear,
    Kernel,
}

impl Group {
    pub const ALL: [Group; 3] = [Group::UserCheap, Group::UserDear, Group::Kernel];

    fn of(row: &Row, cost: f64) -> Group {
        match (!row.leaves_user_space(), cost > DEAR) {
            (true, false) => Group::UserCheap,
            (true, true) => Group::UserDear,
            (false, _) => Group::Kernel,
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Group::UserCheap => "user space, up to 50 cycles",
            Group::UserDear => "user space, dearer",
            Group::Kernel => "the kernel",
        }
    }
}

/// The rows of these runs that have figures, each with its group: what most of its figures say.
pub fn groups(runs: &[&Run]) -> BTreeMap<Name, Group> {
    let mut costs = BTreeMap::<Name, Vec<(f64, Group)>>::new();
    for row in runs.iter().flat_map(|run| run.open()).filter(|row| has_figure(row)) {
        let Some(cost) = row.core_cycles else { continue };
        let of = costs.entry((row.entry.clone(), row.operation.clone())).or_default();
        of.push((cost.estimate.0, Group::of(row, cost.estimate.0)));
    }
    let middle = |mut all: Vec<(f64, Group)>| {
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all[all.len() / 2].1
    };
    costs.into_iter().map(|(name, all)| (name, middle(all))).collect()
}

pub fn by_budget(runs: &[Run]) -> BTreeMap<u64, Vec<&Run>> {
    let mut budgets = BTreeMap::<u64, Vec<&Run>>::new();
    runs.iter().for_each(|run| budgets.entry(run.budget).or_default().push(run));
    budgets
}

/// The documents `run-NUMBER-BUDGET-LOADED.json` of a folder, in the order of their numbers.
pub fn runs(folder: &Path) -> Vec<Run> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.sort();
    let of = |name: &String| {
        let parts: Vec<&str> = name.strip_prefix("run-")?.strip_suffix(".json")?.split('-').collect();
        let [_, budget, loaded] = parts.as_slice() else { return None };
        let document = document::recompute(&load(&folder.join(name))?).unwrap();
        Some(Run { budget: budget.parse().ok()?, loaded: *loaded == "1", document })
    };
    names.iter().filter_map(of).collect()
}

/// The same runs, each as if all those before it had been kept: those that lie far enough apart tell it how costs change.
pub fn after_others(runs: &[Run]) -> Vec<Run> {
    let of = |index: usize| {
        let (before, run) = (&runs[..index], &runs[index]);
        let mut earlier = EarlierRuns::default();
        before.iter().rev().for_each(|run| _ = earlier.add(&run.document));
        let mut document = run.document.clone();
        document.know(&earlier);
        let document = document::recompute(&document).unwrap();
        Run { budget: run.budget, loaded: run.loaded, document }
    };
    (0..runs.len()).map(of).collect()
}

pub fn load(path: &Path) -> Option<Document> {
    document::load(&read(path)).inspect_err(|error| eprintln!("{}: {error}", path.display())).ok()
}

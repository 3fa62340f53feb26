//! The runs of a fleet, with what a judgement needs of each: some kilobytes a run.

use crate::judgement::{RowName, Unit};
use crate::words::{Word, Words};
use document::{Level, Outcome};
use std::collections::{BTreeSet, HashMap, HashSet};
use summary::{FACTS, Summary};

/// Standard errors within which 95 of 100 lie: intervals of summaries are of 95 %.
pub(crate) const TWO_SIDED: f64 = 1.96;

/// What is greater is no figure: so many cycles take days.
const GREATEST: f64 = 1e15;

/// The runs of a fleet, of which it keeps what a judgement needs.
#[derive(Debug, Clone, Default)]
pub struct Fleet {
    pub(crate) words: Words,
    pub(crate) rows: Vec<RowName>,
    row_places: HashMap<RowName, u32>,
    pub(crate) runs: Vec<Run>,
    ids: HashSet<Word>,
    /// Labels of runs that were given a second time.
    pub(crate) again: Vec<Word>,
}

/// A run.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub id: Word,
    pub label: Word,
    pub machine_id: Option<Word>,
    pub boot: Option<Word>,
    /// When it began and ended, seconds since 1970; none where that is no time.
    pub time: Option<(f64, f64)>,
    /// Values of [`FACTS`], then what [`PLACE`] names.
    pub facts: Box<[Option<Word>]>,
    pub mitigations: Box<[(Word, Word)]>,
    pub findings: Box<[(Word, Level)]>,
    pub rows: Box<[Row]>,
}

/// Facts of where a run was measured, behind [`FACTS`].
pub(crate) const PLACE: [(&str, &str); 2] =
    [("machine", "what executed it"), ("kernel-kind", "kind of kernel")];

/// A row of a run.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// Its place in [`Fleet::rows`].
    pub name: u32,
    pub outcome: Outcome,
    pub reason: Option<Word>,
    cycles: Option<Figure>,
    nanoseconds: Option<Figure>,
}

/// An estimate with its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figure {
    pub estimate: f64,
    /// Its variance by its own interval; none where that has no ends.
    pub variance: Option<f64>,
}

impl Figure {
    fn of(estimate: Option<f64>, low: Option<f64>, high: Option<f64>) -> Option<Figure> {
        let estimate = estimate.filter(|estimate| estimate.abs() <= GREATEST)?;
        let error = low.zip(high).map(|(low, high)| (high - low) / 2.0 / TWO_SIDED);
        let variance = error.filter(|error| (0.0..=GREATEST).contains(error)).map(|error| error * error);
        Some(Figure { estimate, variance })
    }
}

impl Row {
    pub fn has_figure(&self) -> bool {
        self.cycles.is_some() || self.nanoseconds.is_some()
    }

    pub fn figure(&self, unit: Unit) -> Option<Figure> {
        match unit {
            Unit::CoreCycles => self.cycles,
            Unit::Nanoseconds => self.nanoseconds,
        }
    }
}

impl Fleet {
    /// Without a run.
    pub fn new() -> Fleet {
        Fleet::default()
    }

    /// Adds a run; one that was added before counts once. A host is known by its machine's id, or by this label where there is none; its
    /// name is the label of the first of its runs in either case.
    pub fn add(&mut self, label: &str, summary: &Summary) {
        let label = self.words.of(label);
        let id = self.words.of(&summary.run.run_id);
        if !self.ids.insert(id) {
            self.again.push(label);
            return;
        }
        let run = self.kept(id, label, summary);
        self.runs.push(run);
    }

    fn kept(&mut self, id: Word, label: Word, summary: &Summary) -> Run {
        let run = &summary.run;
        let rows = summary.rows.iter().map(|row| self.row(row)).collect();
        let words = &mut self.words;
        let mut facts: Vec<Option<Word>> =
            FACTS.iter().map(|fact| (fact.value)(run).map(|value| words.of(&value))).collect();
        facts.extend([&run.machine, &run.kernel].map(|name| Some(words.of(name))));
        let began = humantime::parse_rfc3339(&run.started).ok();
        let began = began.and_then(|began| began.duration_since(std::time::UNIX_EPOCH).ok());
        Run {
            id,
            label,
            machine_id: run.cohort.machine_id.as_deref().map(|id| words.of(id)),
            boot: run.boot_id.as_deref().map(|id| words.of(id)),
            time: began
                .map(|began| (began.as_secs_f64(), began.as_secs_f64() + run.duration_seconds.max(0.0))),
            facts: facts.into(),
            mitigations: run
                .mitigations
                .iter()
                .map(|(name, value)| (words.of(name), words.of(value)))
                .collect(),
            findings: run.findings.iter().map(|(id, level)| (words.of(id), *level)).collect(),
            rows,
        }
    }

    /// The place of a row in [`Fleet::rows`].
    pub(crate) fn place_of_row(&self, name: &RowName) -> Option<u32> {
        self.row_places.get(name).copied()
    }

    pub(crate) fn run_ids(&self) -> BTreeSet<&str> {
        self.runs.iter().map(|run| self.words.text(run.id)).collect()
    }

    /// Labels of these runs.
    pub(crate) fn labels_of(&self, ids: &BTreeSet<&str>) -> Vec<String> {
        let runs = self.runs.iter().filter(|run| ids.contains(self.words.text(run.id)));
        runs.map(|run| self.words.text(run.label).to_owned()).collect()
    }

    /// The same without these runs.
    pub(crate) fn without(&self, ids: &BTreeSet<&str>) -> Fleet {
        let mut rest = self.clone();
        rest.runs.retain(|run| !ids.contains(self.words.text(run.id)));
        rest
    }

    fn row(&mut self, row: &summary::Row) -> Row {
        let name = RowName {
            entry: row.entry.clone(),
            operation: row.operation.clone(),
            bits: row.bits,
            configuration: row.configuration.clone(),
        };
        let place = self.row_places.get(&name).copied().unwrap_or_else(|| {
            let place = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
            self.rows.push(name.clone());
            self.row_places.insert(name, place);
            place
        });
        Row {
            name: place,
            outcome: row.outcome,
            reason: row.reason.as_deref().map(|reason| self.words.of(reason)),
            cycles: Figure::of(row.core_cycles, row.core_cycles_ci_low, row.core_cycles_ci_high),
            nanoseconds: Figure::of(row.nanoseconds, row.nanoseconds_ci_low, row.nanoseconds_ci_high),
        }
    }
}

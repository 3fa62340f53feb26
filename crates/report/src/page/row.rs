//! A row of the table of costs: what stands in its cells, and its marks.

use super::PageRun;
use super::axis::{Logarithmic, Relative};
use super::comparison::{Verdicts, WrittenChange};
use super::detail::histogram;
use super::histogram::Spark;
use super::lines::Line;
use super::marks::{Difference, Forest, Mark, extremes};
use crate::Selection;
use crate::cells::{Figures, RunColumn, error, has_figures};
use crate::configuration::Compared;
use crate::figure::{ABSENT, Unit, shown};
use crate::first_screen;
use crate::plain::plain;
use document::{Outcome, Row, Timing};
use std::collections::BTreeSet;
use table::Table;

/// A row of the page.
pub(super) struct Listed {
    pub number: usize,
    pub entry: String,
    pub operation: String,
    pub configuration: String,
    /// What the entry is.
    pub title: String,
    /// `user`, `kernel`, or nothing.
    pub place: &'static str,
    /// By which rows are chosen.
    pub tags: String,
    /// By which rows are ordered: the first estimate, or nothing.
    pub key: String,
    /// The greatest difference from the first run, or nothing.
    pub difference: String,
    /// The place of the verdict that matters most, or nothing.
    pub verdict: String,
    /// A cell for each run.
    pub cells: Vec<Cell>,
    /// Of each run but the first.
    pub differences: Vec<WrittenChange>,
    pub mark: Option<Mark>,
    pub forest: Option<Forest>,
    pub spark: Option<Spark>,
    /// How many modes there are, if several.
    pub modes: Option<usize>,
    /// Whether it has a figure: of one run its cost, of several a difference, or a cost where none is known of any row.
    pub has_figure: bool,
}

impl Listed {
    /// Which it is: `syscall-x86_64 getppid pti=on`.
    pub fn name(&self) -> String {
        let words = [&self.entry, &self.operation, &self.configuration];
        words.map(String::as_str).into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Whether only the range is known in which it was seen while the core was shared.
    pub fn is_noisy(&self) -> bool {
        self.mark.as_ref().is_some_and(|mark| mark.shared.is_some())
    }

    /// Whether a difference or its interval lies beyond the axis.
    pub fn is_beyond(&self) -> bool {
        self.forest.as_ref().is_some_and(|forest| forest.marks.iter().any(|mark| !mark.off.is_empty()))
    }

    /// The cell of a page with one run.
    pub fn first(&self) -> &Cell {
        &self.cells[0]
    }
}

/// A row's figures in one run.
#[derive(Default)]
pub(super) struct Cell {
    /// What stands where there are no figures.
    pub instead: Option<Instead>,
    pub estimate: String,
    /// Where it is not that of the table.
    pub unit: Option<&'static str>,
    /// `±0.2`; empty where nothing is uncertain.
    pub error: String,
    /// In the order of the table's headings.
    pub more: Vec<String>,
}

/// Why there are no figures: in a word, and in words.
pub(super) struct Instead {
    pub word: &'static str,
    pub words: String,
}

/// The columns behind the estimate.
const TIMED: [RunColumn; 3] = [RunColumn::Ns, RunColumn::ToSyscall, RunColumn::P99];
const COUNTS: [RunColumn; 2] = [RunColumn::Min, RunColumn::Max];

/// What all rows of the table share.
pub(super) struct Shared<'a> {
    runs: &'a [PageRun],
    figures: Vec<Figures<'a>>,
    pub columns: Vec<RunColumn>,
    pub unit: Unit,
    /// Of each run.
    pub units: Vec<Unit>,
    pub costs: Logarithmic,
    pub differences: Relative,
    /// Whether a difference of some row is known.
    has_differences: bool,
    common: BTreeSet<(&'a str, &'a str)>,
    verdicts: &'a Verdicts<'a>,
}

impl<'a> Shared<'a> {
    pub fn of(
        runs: &'a [PageRun],
        table: &'a Table,
        compared: &'a Compared,
        open: &[&Line<'a>],
        verdicts: &'a Verdicts<'a>,
    ) -> Self {
        let figures: Vec<Figures> =
            runs.iter().map(|run| Figures::of(&run.document, table, compared)).collect();
        let rows = || open.iter().flat_map(|line| line.rows.iter().flatten().copied());
        let of_run = |run: usize| open.iter().filter_map(move |line| *line.rows.get(run)?);
        let unit = unit_of(rows());
        let columns: &[RunColumn] = if unit == Unit::Instructions { &COUNTS } else { &TIMED };
        let has = |column: &RunColumn| figures.iter().any(|figures| figures.has(*column));
        let known = open.iter().flat_map(|line| differences(line, verdicts)).flatten();
        let reaches: Vec<f64> = known.map(|known| known.reach()).collect();
        Self {
            runs,
            columns: columns.iter().copied().filter(has).collect(),
            unit,
            units: (0..runs.len()).map(|run| unit_of(of_run(run))).collect(),
            costs: Logarithmic::of(rows().flat_map(extremes)),
            has_differences: !reaches.is_empty(),
            differences: Relative::of(reaches.into_iter()),
            common: runs.iter().flat_map(|run| common(&run.document)).collect(),
            figures,
            verdicts,
        }
    }

    pub fn is_counted(&self) -> bool {
        self.unit == Unit::Instructions
    }

    pub fn row(&self, line: &Line) -> Listed {
        let present =
            || line.rows.iter().zip(&self.figures).filter_map(|(row, figures)| Some(((*row)?, figures)));
        let place = present().map(|(row, figures)| figures.place(row)).find(|place| !place.is_empty());
        let place = place.unwrap_or_default();
        let estimate = present().find_map(|(row, _)| Some(shown(row)?.cost.estimate));
        let differences = differences(line, self.verdicts);
        let greatest =
            differences.iter().flatten().map(|difference| difference.estimate.abs()).reduce(f64::max);
        let only = line.rows[0].filter(|_| self.runs.len() == 1);
        let written = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
        Listed {
            number: line.number,
            entry: plain(line.entry),
            operation: plain(line.operation),
            configuration: line.configuration.clone(),
            title: line.title.map(plain).unwrap_or_default(),
            place,
            tags: self.tags(line, place),
            key: written(estimate),
            difference: written(greatest),
            verdict: self.verdicts.place(line).map(|place| place.to_string()).unwrap_or_default(),
            cells: line.rows.iter().enumerate().map(|(run, row)| self.cell(*row, run)).collect(),
            differences: (1..self.runs.len()).map(|run| self.verdicts.told(line, run)).collect(),
            mark: only.and_then(|row| Mark::of(row, &self.costs)),
            forest: Forest::of(line.rows[0], &differences, &self.differences),
            spark: only.and_then(|row| histogram(row, &self.runs[0].document, &shown(row)?)?.spark()),
            modes: only.map(|row| row.modes.len()).filter(|modes| *modes > 1),
            has_figure: self.has_figure(line, &differences),
        }
    }

    fn has_figure(&self, line: &Line, differences: &[Option<Difference>]) -> bool {
        if self.has_differences {
            return differences.iter().any(Option::is_some) || self.verdicts.differs(line);
        }
        line.rows.iter().flatten().any(|row| has_figures(row))
    }

    fn tags(&self, line: &Line, place: &str) -> String {
        let rows = || line.rows.iter().flatten();
        let is_elsewhere = line.rows.iter().any(|row| row.is_none_or(|row| row.outcome != Outcome::Ok));
        let tags = [
            ("common", self.common.contains(&(line.entry, line.operation))),
            ("figure", rows().any(|row| has_figures(row))),
            ("noisy", rows().any(|row| row.noise.is_some())),
            ("modes", rows().any(|row| row.modes.len() > 1)),
            ("user", place == "user"),
            ("kernel", place == "kernel"),
            ("elsewhere", is_elsewhere),
        ];
        let own = tags.into_iter().filter(|(_, is_own)| *is_own).map(|(tag, _)| tag);
        let own = own.chain(self.verdicts.tags(line));
        own.collect::<Vec<_>>().join(" ")
    }

    fn cell(&self, row: Option<&Row>, run: usize) -> Cell {
        let figures = &self.figures[run];
        let Some(row) = row else { return Cell { estimate: ABSENT.to_owned(), ..Cell::default() } };
        let Some(shown) = shown(row).filter(|_| has_figures(row)) else {
            let (word, words) = figures.instead(row);
            return Cell { instead: Some(Instead { word, words: plain(&words) }), ..Cell::default() };
        };
        let is_emulated = row.timing == Timing::Emulated;
        Cell {
            instead: None,
            estimate: shown.estimate(),
            unit: (shown.unit != self.units[run]).then(|| in_words(shown.unit)),
            // A count has no interval.
            error: if is_emulated { String::new() } else { error(row) },
            more: self.columns.iter().map(|column| plain(&figures.cell(*column, row))).collect(),
        }
    }
}

/// The unit of figures that do not say otherwise: cycles where there are any, else ticks, else instructions.
fn unit_of<'a>(rows: impl Iterator<Item = &'a Row> + Clone) -> Unit {
    let has = |unit: &Unit| rows.clone().filter_map(shown).any(|shown| shown.unit == *unit);
    let are_counted =
        || rows.clone().next().is_some() && rows.clone().all(|row| row.timing == Timing::Emulated);
    let otherwise = || if are_counted() { Unit::Instructions } else { Unit::Cycles };
    Unit::ALL.into_iter().find(has).unwrap_or_else(otherwise)
}

pub(super) fn in_words(unit: Unit) -> &'static str {
    if unit == Unit::Instructions { EMULATED } else { unit.name() }
}

/// The unit of rows that were not timed.
const EMULATED: &str = "instructions, emulated";

/// Of each run but the first.
fn differences(line: &Line, verdicts: &Verdicts) -> Vec<Option<Difference>> {
    (1..line.rows.len()).map(|run| verdicts.difference(line, run)).collect()
}

/// The rows of the first screen.
fn common(document: &document::Document) -> Vec<(&str, &str)> {
    let screen = first_screen::of(document, Selection::FirstScreen);
    let rows = screen.map(|screen| screen.rows).unwrap_or_default();
    rows.into_iter().map(|row| (row.entry.as_str(), row.operation.as_str())).collect()
}

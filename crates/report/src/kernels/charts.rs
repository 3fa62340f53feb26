//! What is drawn: a chart for each row, with a bar for each kernel that has it.

use crate::cells::{Figures, has_figures};
use crate::configuration::Compared;
use crate::figure::{ABSENT, Shown, Unit, shown};
use crate::history::{self, Change, Key};
use crate::{Selection, first_screen};
use document::{Document, KERNEL, Row};
use std::collections::{BTreeMap, BTreeSet};
use table::Table;

/// A row, in each kernel.
pub(super) struct Chart<'a> {
    /// `syscall-x86_64 getppid pti=on`
    pub title: String,
    /// Of its axis: that of the first figure; none where no kernel has one.
    pub unit: Option<Unit>,
    pub bars: Vec<Bar<'a>>,
}

/// A row in one kernel.
pub(super) struct Bar<'a> {
    pub kernel: &'a str,
    /// None where there is no figure.
    pub figure: Option<Shown>,
    /// The instructions that the kernel executed, where the rings were told apart.
    pub ring0: Option<f64>,
    /// Why there is no figure: `error: the guest panicked`; empty where there is one.
    pub instead: String,
    /// What became of it since the kernel above; none of the first, and where one of both has no figure.
    pub since: Option<Since<'a>>,
}

/// A figure beside that of the kernel above.
pub(super) struct Since<'a> {
    pub before: &'a str,
    pub change: Change,
    /// More, or less, than there; none where that is not known.
    pub difference: Option<f64>,
    /// The same of what the kernel executed.
    pub ring0: Option<f64>,
}

impl Bar<'_> {
    /// The figure as it is written in a chart of this unit: another unit has its letter behind it.
    pub fn text(&self, unit: Option<Unit>) -> String {
        let text = |shown: Shown| match Some(shown.unit) == unit {
            true => shown.estimate(),
            false => shown.estimate() + shown.unit.letter(),
        };
        self.figure.map_or_else(|| ABSENT.to_owned(), text)
    }

    /// The figure, if an axis of this unit can have it.
    pub fn on_axis(&self, unit: Option<Unit>) -> Option<Shown> {
        self.figure.filter(|shown| Some(shown.unit) == unit)
    }

    /// All samples of a count, where they differ, or the interval of a time: from where to where.
    pub fn range(&self) -> Option<(f64, f64)> {
        self.figure.as_ref().and_then(history::range).filter(|(low, high)| low < high)
    }

    /// `+8`, `-2`, `0`; `-` where it is not known.
    pub fn change(&self) -> String {
        let difference = self.since.as_ref().and_then(|since| since.difference);
        self.figure.zip(difference).map_or_else(|| ABSENT.to_owned(), |(shown, more)| signed(&shown, more))
    }

    /// The instructions that the kernel executed; `-` where the rings were not told apart.
    pub fn ring0(&self) -> String {
        let count = self.figure.zip(self.ring0).map(|(shown, count)| shown.number(count));
        count.unwrap_or_else(|| ABSENT.to_owned())
    }

    /// All that is known of it: `341 instructions, 340 in ring 0; +8 against 6.1 (333 → 341), in ring 0 +8`.
    pub fn in_words(&self) -> String {
        let Some(shown) = self.figure else { return format!("{ABSENT} ({})", self.instead) };
        let range = self.range().map(|(low, high)| {
            format!(" ({} {} to {})", of_what(&shown), shown.number(low), shown.number(high))
        });
        let figure = format!("{} {}{}", shown.estimate(), shown.unit.name(), range.unwrap_or_default());
        let ring0 = self.ring0.map(|count| format!(", {} in ring 0", shown.number(count)));
        let since = self.since.as_ref().map(|since| format!("; {}", since.in_words(&shown)));
        figure + &ring0.unwrap_or_default() + &since.unwrap_or_default()
    }
}

impl Since<'_> {
    fn of<'a>(before: &Bar<'a>, old: &Row, new: &Row) -> Option<Since<'a>> {
        let change = Change::of(old, new)?;
        let is_known = matches!(change, Change::None | Change::Clear(_));
        let more = shown(new)?.cost.estimate - before.figure?.cost.estimate;
        let ring0 = ring0(new).zip(before.ring0).map(|(new, old)| new - old);
        Some(Since { before: before.kernel, change, difference: is_known.then_some(more), ring0 })
    }

    fn in_words(&self, shown: &Shown) -> String {
        let before = self.before;
        let more = self.difference.map(|more| signed(shown, more)).unwrap_or_default();
        let ring0 = self.ring0.map(|more| format!(", in ring 0 {}", signed(shown, more))).unwrap_or_default();
        match &self.change {
            Change::None if self.ring0 == Some(0.0) => format!("the same as in {before}"),
            Change::None => format!("the same as in {before}{ring0}"),
            Change::Clear(figures) => format!("{more} against {before} ({figures}){ring0}"),
            Change::Unclear(ranges) => {
                format!("no verdict against {before}, because {} overlap: {ranges}", overlapping(shown))
            }
            Change::Unknown => format!("not compared with {before}: another unit, or no interval"),
        }
    }
}

/// What a range is.
fn of_what(shown: &Shown) -> &'static str {
    if shown.unit == Unit::Instructions { "samples" } else { "95 % interval" }
}

/// What of two figures may overlap.
fn overlapping(shown: &Shown) -> &'static str {
    if shown.unit == Unit::Instructions { history::SAMPLES } else { history::INTERVALS }
}

/// `+8`, `-2`, `0`
fn signed(shown: &Shown, more: f64) -> String {
    format!("{}{}", if more > 0.0 { "+" } else { "" }, shown.number(more))
}

/// Of a count alone: rings are told apart in instructions.
fn ring0(row: &Row) -> Option<f64> {
    let is_counted = shown(row).is_some_and(|shown| shown.unit == Unit::Instructions);
    row.rings.map(|rings| rings.ring0.0).filter(|_| is_counted)
}

/// The charts that are shown, and of how many.
pub(super) struct Charts<'a> {
    pub shown: Vec<Chart<'a>>,
    pub all: usize,
}

/// A chart for each row that is selected, in the order of the document.
pub(super) fn charts<'a>(document: &'a Document, table: &'a Table, selection: Selection) -> Charts<'a> {
    let compared = Compared::of_document(document);
    let figures = Figures::of(document, table, &compared);
    let rows = by_row(document);
    let screen = first_screen::of(document, selection);
    let on_screen = screen.map(|screen| -> BTreeSet<(&str, &str)> {
        screen.rows.iter().map(|row| (row.entry.as_str(), row.operation.as_str())).collect()
    });
    let is_shown = |key: &Key| on_screen.as_ref().is_none_or(|names| names.contains(&(key.0, key.1)));
    let shown = rows.iter().filter(|(key, _)| is_shown(key)).map(|(key, rows)| chart(key, rows, &figures));
    Charts { shown: shown.collect(), all: rows.len() }
}

/// A row of each kernel that has it, in the order of the kernels, with the kernel's place among all.
type InKernels<'a> = Vec<(usize, &'a str, &'a Row)>;

/// Each row of a kernel beside that of the others, in one pass: a document may claim any number of kernels and rows.
fn by_row(document: &Document) -> Vec<(Key<'_>, InKernels<'_>)> {
    let places: BTreeMap<&str, usize> = history::kernels(document).into_iter().zip(0..).collect();
    let (mut found, mut known) = (Vec::<(Key, InKernels)>::new(), BTreeMap::<Key, usize>::new());
    for row in &document.results {
        let Some(kernel) = row.configuration.get(KERNEL) else { continue };
        let Some(of_kernel) = places.get(kernel.as_str()) else { continue };
        let key = history::key(row);
        let place = *known.entry(key.clone()).or_insert_with(|| {
            found.push((key, Vec::new()));
            found.len() - 1
        });
        found[place].1.push((*of_kernel, kernel, row));
    }
    for (_, rows) in &mut found {
        rows.sort_by_key(|(place, ..)| *place);
    }
    found
}

fn chart<'a>(key: &Key, rows: &InKernels<'a>, figures: &Figures) -> Chart<'a> {
    let mut bars: Vec<Bar> = Vec::new();
    let mut above: Option<(usize, &Row)> = None;
    for (place, kernel, row) in rows {
        let figure = Some(*row).filter(|row| has_figures(row)).and_then(shown);
        let (word, words) = figures.instead(row);
        let instead = if figure.is_some() { String::new() } else { format!("{word}: {words}") };
        // A kernel between that has no such row, because the measurement was ended, is not looked past: `changes` of the table does not, either.
        let since =
            bars.last().zip(above).filter(|(_, (before, _))| figure.is_some() && before + 1 == *place);
        let since = since.and_then(|(before, (_, old))| Since::of(before, old, row));
        bars.push(Bar { kernel, figure, ring0: ring0(row), instead, since });
        above = Some((*place, row));
    }
    let unit = bars.iter().find_map(|bar| bar.figure).map(|shown| shown.unit);
    Chart { title: history::in_words(key), unit, bars }
}

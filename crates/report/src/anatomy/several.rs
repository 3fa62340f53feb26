//! A history, and any more than two paths: a line for each, with what it executes more and less than the one that it is compared with, by part.

use super::names::names;
use crate::figure::{beside, number};
use crate::grid::{Cell, Column, GAP, Grid, Weight, Words};
use crate::line::look;
use attribution::anatomy::{BootedConfiguration, Changed, Cycles, Difference, Document, Followed, Part};
use std::collections::BTreeMap;
use table::Table;

/// The columns, in words.
pub(super) fn legend(document: &Document) -> String {
    let (base, more) = match document.is_history {
        true => ("the kernel above", ""),
        false => ("the first path", FEATURES),
    };
    let cycles = if has_cycles(document) { CYCLES } else { "" };
    format!(
        "change: instructions more than {base}. less, more: instructions that {base} alone executes, and this one alone.{cycles} Behind \
         them: the parts that have another number of instructions.{more}"
    )
}

/// What is to be known of features of one kernel.
const FEATURES: &str =
    " Changes do not add up: what several features need, as work on entry and exit, is paid once.";

/// What the columns of times are.
const CYCLES: &str = " cycles: core cycles of one call in such a guest, under KVM and with no step followed; ±: 95 % confidence; change: the \
                      difference of two such estimates.";

/// Whether boots were timed, too.
fn has_cycles(document: &Document) -> bool {
    document.timed.as_ref().is_some_and(|timed| timed.why.is_none())
}

/// What stands behind a line: the parts that changed.
const PARTS: Words =
    Words { heading: "", alone: "parts", look: look::PLAIN, least: 24, below: Some(4), hang: None };

/// Whether each path of a document is a line: a history's always, so that its form does not hang on how many kernels it has.
pub(super) fn are(document: &Document) -> bool {
    document.paths.len() > if document.is_history { 1 } else { 2 }
}

/// A path beside the one that it is compared with.
struct Line {
    name: String,
    all: usize,
    /// None of the path that nothing is compared with.
    changed: Option<Changed>,
    cycles: Option<Cycles>,
    /// Of the path that it is compared with.
    base: Option<Cycles>,
    parts: String,
}

/// How far the interval reaches.
fn error(cycles: &Cycles) -> Option<Cell> {
    Some(Cell::Number(beside(cycles.estimate, [cycles.low?, cycles.high?], number)))
}

/// `+12.5`
fn more_cycles(line: &Line) -> Option<Cell> {
    let change = line.cycles?.estimate - line.base?.estimate;
    let sign = if change > 0.0 { "+" } else { "" };
    Some(Cell::Number(format!("{sign}{}", number(change))))
}

/// A line for each path.
pub(super) fn grid(document: &Document) -> Grid {
    let names = called(document);
    let line = |(place, (path, name)): (usize, (&Followed, String))| {
        let base = document.base_of(place).and_then(|base| document.paths.get(base));
        let changed = |base: &Followed| Difference::between(base, path).total(&base.anatomy, &path.anatomy);
        Line {
            name,
            all: path.anatomy.instructions.len(),
            changed: base.map(changed),
            cycles: path.cycles,
            base: base.and_then(|base| base.cycles),
            parts: base.map(|base| parts(base, path)).unwrap_or_default(),
        }
    };
    let lines: Vec<Line> = document.paths.iter().zip(names).enumerate().map(line).collect();
    let more = |changed: Changed| signed(changed.second as i64 - changed.first as i64);
    let estimate = |line: &Line| line.cycles.map(|cycles| Cell::Number(number(cycles.estimate)));
    let grid = Grid::of(&lines)
        .column(Column::word(if document.is_history { "kernel" } else { "boot" }), |line| &line.name)
        .column(Column::number("instructions"), |line| line.all)
        .column(Column::number("change"), |line| line.changed.map(more))
        .column(Column::number("less"), |line| Cell::unless_0(line.changed.map_or(0, |changed| changed.less)))
        .column(Column::number("more"), |line| {
            Cell::unless_0(line.changed.map_or(0, |changed| changed.more))
        });
    let grid = match (&document.timed, has_cycles(document)) {
        (None, _) => grid,
        (Some(_), false) => grid.column(Column::number("cycles"), estimate),
        (Some(_), true) => grid
            .column(Column::number("cycles"), estimate)
            .column(Column::number("±"), |line| line.cycles.as_ref().and_then(error))
            .column(Column::number("change"), more_cycles),
    };
    grid.words(PARTS, |line| line.parts.clone()).grid()
}

/// `+9`, `-2`, `0`
fn signed(number: i64) -> String {
    if number > 0 { format!("+{number}") } else { number.to_string() }
}

/// The parts that have another number of instructions, the greatest change first: `filter +101, work +32`.
fn parts(base: &Followed, path: &Followed) -> String {
    let mut changes: BTreeMap<Part, i64> = BTreeMap::new();
    for (path, sign) in [(base, -1), (path, 1)] {
        for part in path.anatomy.parts() {
            *changes.entry(part.part).or_default() += sign * part.count as i64;
        }
    }
    let mut changes: Vec<(Part, i64)> = changes.into_iter().filter(|(_, change)| *change != 0).collect();
    changes.sort_by_key(|(part, change)| (std::cmp::Reverse(change.abs()), *part));
    let words = changes.iter().map(|(part, change)| format!("{} {}", part.name(), signed(*change)));
    words.collect::<Vec<_>>().join(", ")
}

/// What each path is called: of one kernel, by the settings that the first does not have.
pub(super) fn called(document: &Document) -> Vec<String> {
    let all = names(document);
    let Some(first) = document.first().map(|path| &path.configuration) else { return all };
    let has_others =
        |path: &Followed| !path.configuration.has_kernel_of(first) || path.configuration.cpu != first.cpu;
    if document.paths.iter().any(has_others) {
        return all;
    }
    let together = together(document).map(|(place, _)| place);
    let own = |(place, path): (usize, &Followed)| {
        if Some(place) == together { TOGETHER.to_owned() } else { own(&path.configuration, first).join(" ") }
    };
    let short: Vec<String> = document.paths.iter().enumerate().map(own).collect();
    if short.iter().skip(1).any(String::is_empty) {
        return all;
    }
    let base = if is_bare(&first.settings) {
        WITHOUT.to_owned()
    } else {
        all.into_iter().next().unwrap_or_default()
    };
    std::iter::once(base).chain(short.into_iter().skip(1)).collect()
}

/// The settings of a boot that the first does not have.
fn own(configuration: &BootedConfiguration, first: &BootedConfiguration) -> Vec<String> {
    let others =
        configuration.settings.iter().filter(|(name, value)| first.settings.get(*name) != Some(value));
    others.map(|(name, value)| format!("{name}={value}")).collect()
}

/// Of boots of which each has one feature more than the first, which has none: the last, if that has several, and its settings.
pub(super) fn together(document: &Document) -> Option<(usize, String)> {
    let [first, .., last] = document.paths.as_slice() else { return None };
    let own = |path: &Followed| own(&path.configuration, &first.configuration);
    let ones = document.paths.get(1..document.paths.len() - 1).unwrap_or_default();
    let is_each = is_bare(&first.configuration.settings) && ones.iter().all(|path| own(path).len() == 1);
    let all = own(last);
    (is_each && all.len() > 1).then(|| (document.paths.len() - 1, all.join(" ")))
}

/// What a boot is called that has all of the features.
pub(super) const TOGETHER: &str = "together";

/// What a boot is called that has none of the features.
pub(super) const WITHOUT: &str = "without";

/// Whether every feature that can be left out is.
fn is_bare(settings: &BTreeMap<String, String>) -> bool {
    let features: Vec<_> = Table::get().features().collect();
    let is_off = |(name, value): (&String, &String)| {
        features
            .iter()
            .find(|(parameter, ..)| parameter.name == *name)
            .is_some_and(|(_, off, _)| off.name == *value)
    };
    !settings.is_empty() && settings.iter().all(is_off)
}

/// Parts by paths, in as many tables as the width asks for.
pub(super) fn by_part(document: &Document, width: usize) -> Vec<Grid> {
    let names = called(document);
    let counts: Vec<BTreeMap<Part, usize>> = document.paths.iter().map(of_path).collect();
    let mut lines: Vec<Option<Part>> = Part::ALL
        .iter()
        .filter(|part| counts.iter().any(|of| of.contains_key(part)))
        .copied()
        .map(Some)
        .collect();
    lines.push(None);
    let first = lines.iter().flatten().map(|part| part.name().len()).max().unwrap_or(0);
    let mut grids = Vec::new();
    let mut from = 0;
    while from < names.len() {
        let until = from + fitting(&names[from..], width.saturating_sub(first));
        let grid = Grid::of(&lines)
            .column(Column::text("part"), |part| part.map_or("all", Part::name))
            .for_each(from..until, |grid, path| {
                let count = |part: &Option<Part>| match part {
                    Some(part) => counts[path].get(part).copied().unwrap_or(0),
                    None => document.paths[path].anatomy.instructions.len(),
                };
                grid.column(Column::number(names[path].clone()), count)
            })
            .weight(|part| if part.is_some() { Weight::Ordinary } else { Weight::Sum })
            .grid();
        grids.push(grid);
        from = until;
    }
    grids
}

fn of_path(path: &Followed) -> BTreeMap<Part, usize> {
    path.anatomy.parts().into_iter().map(|part| (part.part, part.count)).collect()
}

/// How many columns of these names have room; one at least.
fn fitting(names: &[String], width: usize) -> usize {
    let mut used = 0;
    let fit = names.iter().take_while(|name| {
        used += GAP + name.chars().count().max(5);
        used <= width
    });
    fit.count().max(1)
}

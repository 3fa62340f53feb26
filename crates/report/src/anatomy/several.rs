//! More than two paths: a line for each, with what it executes more and less than the one that it is compared with, by part.

use super::names::names;
use crate::grid::{Cell, Column, GAP, Grid, Weight, Words};
use crate::line::look;
use attribution::anatomy::{Changed, Difference, Document, Followed, Part};
use std::collections::BTreeMap;
use table::Table;

/// The columns, in words.
pub(super) fn legend(document: &Document) -> String {
    let (base, more) = match document.is_history {
        true => ("the kernel above", ""),
        false => ("the first path", FEATURES),
    };
    format!(
        "change: instructions more than {base}. less, more: instructions that {base} alone executes, and this one alone. Behind them: the \
         parts that have another number of instructions.{more}"
    )
}

/// What is to be known of features of one kernel.
const FEATURES: &str =
    " Changes do not add up: what several features need, as work on entry and exit, is paid once.";

/// What stands behind a line: the parts that changed.
const PARTS: Words =
    Words { heading: "", alone: "parts", look: look::PLAIN, least: 24, below: Some(4), hang: None };

/// Whether a document has so many paths that each is a line.
pub(super) fn are(document: &Document) -> bool {
    document.paths.len() > 2
}

/// A path beside the one that it is compared with.
struct Line {
    name: String,
    all: usize,
    /// None of the path that nothing is compared with.
    changed: Option<Changed>,
    parts: String,
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
            parts: base.map(|base| parts(base, path)).unwrap_or_default(),
        }
    };
    let lines: Vec<Line> = document.paths.iter().zip(names).enumerate().map(line).collect();
    let more = |changed: Changed| signed(changed.second as i64 - changed.first as i64);
    Grid::of(&lines)
        .column(Column::word(if document.is_history { "kernel" } else { "boot" }), |line| &line.name)
        .column(Column::number("instructions"), |line| line.all)
        .column(Column::number("change"), |line| line.changed.map(more))
        .column(Column::number("less"), |line| Cell::unless_0(line.changed.map_or(0, |changed| changed.less)))
        .column(Column::number("more"), |line| Cell::unless_0(line.changed.map_or(0, |changed| changed.more)))
        .words(PARTS, |line| line.parts.clone())
        .grid()
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
    let own = |path: &Followed| {
        let others = path
            .configuration
            .settings
            .iter()
            .filter(|(name, value)| first.settings.get(*name) != Some(value));
        others.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    let short: Vec<String> = document.paths.iter().map(own).collect();
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

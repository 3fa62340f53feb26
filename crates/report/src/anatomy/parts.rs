//! The table of parts, for text and Markdown alike.

use super::names::names;
use super::words::{known_by, share};
use crate::grid::{Cell, Column, Grid, Weight, Words};
use crate::line::look;
use attribution::anatomy::{Confidence, Document, Part, PartCount};

/// What is left out first where there is no room.
const KNOWN_BY: u8 = 3;
const SHARE: u8 = 2;
const IDLE: u8 = 1;

/// What a row is, in words, which take two lines at most; otherwise they are left out.
const WHAT: Words =
    Words { heading: "", alone: "what", look: look::FAINT, least: 60, below: None, hang: None };

/// A part, or all of them.
struct Line {
    part: Option<Part>,
    /// Of each path: how many instructions, and how many of them are idle.
    counts: Vec<(usize, usize)>,
    known_by: String,
}

/// By part: of each path count, share and idle ones; and how all of them are known.
pub(super) fn grid(document: &Document) -> Grid {
    let all: Vec<usize> = document.paths.iter().map(|path| path.anatomy.instructions.len()).collect();
    let names = names(document);
    let (paths, count) = match names.as_slice() {
        [_] => (vec![""], "instructions"),
        several => (several.iter().map(String::as_str).collect(), "count"),
    };
    Grid::of(&lines(document, &all))
        .column(Column::text("part"), |line| line.part.map_or("all", Part::name))
        .for_each(paths.into_iter().enumerate(), |grid, (path, over)| {
            grid.column(Column::number(count).over(over), move |line| line.counts[path].0)
                .column(Column::number("share").over(over).spare(SHARE), |line| {
                    share(line.counts[path].0, all[path])
                })
                .column(Column::number("idle").over(over).spare(IDLE), move |line| {
                    Cell::unless_0(line.counts[path].1)
                })
        })
        .column(Column::text("known by").spare(KNOWN_BY), |line| &line.known_by)
        .words(WHAT, |line| line.part.map_or("", Part::what).to_owned())
        .weight(|line| if line.part.is_some() { Weight::Ordinary } else { Weight::Sum })
        .grid()
}

/// Each part that a path has, and all.
fn lines(document: &Document, all: &[usize]) -> Vec<Line> {
    let counts: Vec<Vec<PartCount>> = document.paths.iter().map(|path| path.anatomy.parts()).collect();
    // Of a path that was followed, none is 0 and not absent.
    let none = |part| PartCount { part, count: 0, by_confidence: [0; Confidence::ALL.len()], idle: 0 };
    let of_path = |counts: &Vec<PartCount>, part| {
        counts.iter().find(|one| one.part == part).copied().unwrap_or_else(|| none(part))
    };
    let line = |part: &Part| {
        let counts: Vec<PartCount> = counts.iter().map(|counts| of_path(counts, *part)).collect();
        let mut sum = none(*part);
        for count in &counts {
            sum.count += count.count;
            sum.by_confidence.iter_mut().zip(count.by_confidence).for_each(|(sum, one)| *sum += one);
        }
        let counts = counts.iter().map(|count| (count.count, count.idle)).collect();
        (sum.count > 0).then(|| Line { part: Some(*part), counts, known_by: known_by(&sum) })
    };
    let idle = |counts: &Vec<PartCount>| counts.iter().map(|count| count.idle).sum();
    let sums = all.iter().copied().zip(counts.iter().map(idle)).collect();
    let sum = Line { part: None, counts: sums, known_by: String::new() };
    Part::ALL.iter().filter_map(line).chain([sum]).collect()
}

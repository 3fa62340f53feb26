//! The table of parts, for text and Markdown alike.

use super::grid::{Column, Grid, Row};
use super::names::names;
use super::words::{known_by, share};
use attribution::anatomy::{Confidence, Document, Part, PartCount};

/// What is left out first where there is no room.
const KNOWN_BY: u8 = 3;
const SHARE: u8 = 2;
const IDLE: u8 = 1;

/// By part: of each path count, share and idle ones; and how all of them are known.
pub(super) fn grid(document: &Document) -> Grid {
    let counts: Vec<Vec<PartCount>> = document.paths.iter().map(|path| path.anatomy.parts()).collect();
    let of = |part: Part| -> Vec<PartCount> {
        let of_path = |counts: &Vec<PartCount>| counts.iter().find(|one| one.part == part).copied();
        // Of a path that was followed, none is 0 and not absent.
        counts.iter().map(|counts| of_path(counts).unwrap_or_else(|| none(part))).collect()
    };
    let all: Vec<usize> = document.paths.iter().map(|path| path.anatomy.instructions.len()).collect();
    let rows = Part::ALL.iter().map(|part| (*part, of(*part)));
    let rows = rows.filter(|(_, counts)| counts.iter().any(|count| count.count > 0));
    let rows = rows.map(|(part, counts)| row(part, &counts, &all)).chain([sum(&counts, &all)]);
    Grid { columns: columns(document), rows: rows.collect() }
}

fn columns(document: &Document) -> Vec<Column> {
    let mut columns = vec![Column::text("part")];
    let names = names(document);
    let (over, count) = match names.as_slice() {
        [_] => (vec![String::new()], "instructions"),
        several => (several.to_vec(), "count"),
    };
    for over in over {
        columns.push(Column::number(count).over(&over));
        columns.push(Column::number("share").over(&over).spare(SHARE));
        columns.push(Column::number("idle").over(&over).spare(IDLE));
    }
    columns.push(Column::text("known by").spare(KNOWN_BY));
    columns
}

fn none(part: Part) -> PartCount {
    PartCount { part, count: 0, by_confidence: [0; Confidence::ALL.len()], idle: 0 }
}

/// Count, share and idle ones of each path.
fn cells(counts: impl Iterator<Item = (usize, usize)>, all: &[usize]) -> Vec<String> {
    let idle = |count: usize| if count == 0 { String::new() } else { count.to_string() };
    let cells = counts.zip(all);
    cells.flat_map(|((count, idles), all)| [count.to_string(), share(count, *all), idle(idles)]).collect()
}

fn row(part: Part, counts: &[PartCount], all: &[usize]) -> Row {
    let mut of_all = none(part);
    for count in counts {
        of_all.count += count.count;
        of_all.by_confidence.iter_mut().zip(count.by_confidence).for_each(|(sum, one)| *sum += one);
    }
    let cells = cells(counts.iter().map(|count| (count.count, count.idle)), all);
    let cells = [part.name().to_owned()].into_iter().chain(cells).chain([known_by(&of_all)]);
    Row { cells: cells.collect(), is_sum: false, what: part.what().to_owned() }
}

fn sum(counts: &[Vec<PartCount>], all: &[usize]) -> Row {
    let idle = counts.iter().map(|counts| counts.iter().map(|count| count.idle).sum());
    let cells = cells(all.iter().copied().zip(idle), all);
    let cells = ["all".to_owned()].into_iter().chain(cells).chain([String::new()]);
    Row { cells: cells.collect(), is_sum: true, what: String::new() }
}

//! The tables of parts, for text and Markdown alike.

use super::words::{known_by, share};
use anatomy::{Document, Part};
use std::collections::BTreeMap;

/// A table of texts: headings, and rows with the look of a sum or not.
pub(super) struct Grid {
    pub headings: Vec<String>,
    /// The columns that are numbers.
    pub numbers: Vec<bool>,
    pub rows: Vec<Row>,
}

pub(super) struct Row {
    pub cells: Vec<String>,
    pub is_sum: bool,
    /// What the first cell is, in words.
    pub what: String,
}

/// By part: of the first path, count, share, idle ones and how they are known; of each other path its count.
pub(super) fn grid(document: &Document) -> Grid {
    let mut headings = vec!["part".to_owned()];
    let counts: Vec<BTreeMap<Part, usize>> = document
        .paths
        .iter()
        .map(|path| path.anatomy.parts().into_iter().map(|part| (part.part, part.count)).collect())
        .collect();
    let is_one = document.paths.len() < 2;
    for path in &document.paths {
        headings.push(if is_one { "instructions".to_owned() } else { path.configuration.name() });
    }
    headings.extend(["share", "idle", "known by"].map(str::to_owned));
    let mut numbers = vec![false];
    numbers.extend(vec![true; document.paths.len() + 2]);
    numbers.push(false);
    let rows = Part::ALL.iter().filter(|part| counts.iter().any(|count| count.contains_key(part)));
    let rows = rows.map(|part| row(document, *part, &counts)).chain([sum(document)]).collect();
    Grid { headings, numbers, rows }
}

fn row(document: &Document, part: Part, counts: &[BTreeMap<Part, usize>]) -> Row {
    let mut cells = vec![part.name().to_owned()];
    // Of a path that was followed, none is 0 and not absent.
    cells.extend(counts.iter().map(|count| count.get(&part).copied().unwrap_or(0).to_string()));
    let anatomy = document.first().map(|path| &path.anatomy);
    let of_first = anatomy.and_then(|anatomy| anatomy.parts().into_iter().find(|known| known.part == part));
    let all = anatomy.map_or(0, |anatomy| anatomy.instructions.len());
    match of_first {
        Some(found) => {
            let idle = if found.idle == 0 { String::new() } else { found.idle.to_string() };
            cells.extend([share(found.count, all), idle, known_by(&found)]);
        }
        None => cells.extend([share(0, all), String::new(), String::new()]),
    }
    Row { cells, is_sum: false, what: part.what().to_owned() }
}

fn sum(document: &Document) -> Row {
    let mut cells = vec!["all".to_owned()];
    cells.extend(document.paths.iter().map(|path| path.anatomy.instructions.len().to_string()));
    let all = document.first().map_or(0, |path| path.anatomy.instructions.len());
    cells.extend([share(all, all), String::new(), String::new()]);
    Row { cells, is_sum: true, what: String::new() }
}

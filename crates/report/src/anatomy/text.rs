//! Followed paths for a terminal.

use super::parts::{Grid, grid};
use super::{beside, difference, words};
use crate::Style;
use crate::line::{Line, labelled, look, wrapped};
use crate::text::{TEXT_COLUMN, after_blank, units_stay};
use anatomy::Document;

/// Blanks between columns.
const GAP: usize = 2;

/// Words get at least so many columns beside the numbers; otherwise they are left out.
const LEAST_WORDS: usize = 30;

pub(super) fn render(document: &Document, style: &Style) -> Vec<u8> {
    let width = style.columns();
    let mut lines = head(document, width);
    lines.push(Line::default());
    lines.extend(table(&grid(document), width));
    lines.extend(after_blank(wrapped(Line::default(), look::FAINT, words::LEGEND, width, 0)));
    for shown in difference::all(document) {
        lines.push(Line::default());
        lines.extend(fact("difference", &shown.title, width));
        lines.extend(fact("", &difference::parts_in_words(&shown.parts), width));
        lines.push(Line::default());
        lines.extend(differing(&shown.lines, width));
    }
    if let Some(found) = &document.beside {
        lines.push(Line::default());
        lines.extend(fact("lab", &beside::title(found), width));
        lines.push(Line::default());
        lines.extend(table(&beside::grid(found), width));
        lines.extend(after_blank(wrapped(Line::default(), look::FAINT, beside::LEGEND, width, 0)));
        let findings = beside::findings(found);
        lines.extend((!findings.is_empty()).then(Line::default));
        lines.extend(findings.iter().flat_map(|finding| fact("finding", finding, width)));
    }
    written(&lines, style)
}

/// The head and the table of parts alone.
pub fn parts(document: &Document, style: &Style) -> Vec<u8> {
    let width = style.columns();
    let mut lines = head(document, width);
    lines.push(Line::default());
    lines.extend(table(&grid(document), width));
    written(&lines, style)
}

pub(super) fn head(document: &Document, width: usize) -> Vec<Line> {
    words::head(document).into_iter().flat_map(|(label, text)| fact(label, &text, width)).collect()
}

pub(super) fn written(lines: &[Line], style: &Style) -> Vec<u8> {
    let mut out = String::new();
    lines.iter().for_each(|line| line.write(style.color, &mut out));
    out.into_bytes()
}

fn fact(label: &str, text: &str, width: usize) -> Vec<Line> {
    if text.is_empty() {
        return Vec::new();
    }
    labelled(Line::new(look::FAINT, label), look::PLAIN, &units_stay(text), width, TEXT_COLUMN)
}

fn wide(text: &str) -> usize {
    Line::new(look::PLAIN, text).width()
}

/// A table under its headings; a text that is too long for its column is broken, and what a row is stands behind it where there is room.
fn table(grid: &Grid, width: usize) -> Vec<Line> {
    let most = width / 4;
    let column = |place: usize| {
        let cells = grid.rows.iter().filter_map(|row| row.cells.get(place));
        cells.chain(grid.headings.get(place)).map(|cell| wide(cell)).max().unwrap_or(0).min(most)
    };
    let mut columns: Vec<usize> = (0..grid.headings.len()).map(column).collect();
    // The last column that does not fit is left out, and then the one before it.
    while columns.iter().sum::<usize>() + GAP * columns.len().saturating_sub(1) > width && columns.len() > 2 {
        columns.pop();
    }
    let end = columns.iter().sum::<usize>() + GAP * columns.len();
    let mut lines = row(grid, &columns, &grid.headings, look::FAINT);
    for found in &grid.rows {
        let look = if found.is_sum { look::NAME } else { look::PLAIN };
        let mut row = row(grid, &columns, &found.cells, look);
        if end + LEAST_WORDS <= width && !found.what.is_empty() {
            let mut line = row.pop().unwrap_or_default();
            line.blank_to(end);
            row.extend(wrapped(line, look::FAINT, &found.what, width, end));
        }
        lines.extend(row);
    }
    lines
}

/// A row whose texts are broken where they are longer than their column.
fn row(grid: &Grid, columns: &[usize], cells: &[String], look: anstyle::Style) -> Vec<Line> {
    let broken: Vec<Vec<String>> = columns
        .iter()
        .zip(cells)
        .map(|(width, cell)| {
            let cell = crate::plain::plain(cell);
            textwrap::wrap(&cell, (*width).max(1)).into_iter().map(|line| line.into_owned()).collect()
        })
        .collect();
    let height = broken.iter().map(Vec::len).max().unwrap_or(0).max(1);
    (0..height)
        .map(|at| {
            let mut line = Line::default();
            for (place, width) in columns.iter().enumerate() {
                let text = broken.get(place).and_then(|lines| lines.get(at)).map_or("", String::as_str);
                if grid.numbers.get(place) == Some(&true) {
                    line.push_right(look, text, *width);
                } else {
                    let end = line.width() + width;
                    line.push(look, text);
                    line.blank_to(end);
                }
                line.blank(GAP);
            }
            line
        })
        .collect()
}

/// What differs, with signs that need no color.
fn differing(lines: &[difference::Shown1], width: usize) -> Vec<Line> {
    let all: Vec<[String; 4]> = lines.iter().map(difference::cells).collect();
    let column = |place: usize, most: usize| {
        let real = all.iter().filter(|cells| !cells[2].is_empty());
        real.map(|cells| wide(&cells[place])).max().unwrap_or(0).min(most)
    };
    let places = column(1, width * 2 / 5);
    let texts = column(2, width * 2 / 5);
    let line = |cells: &[String; 4]| {
        let look = match cells[0].as_str() {
            "+" => look::GOOD,
            "-" => look::WRONG,
            _ => look::FAINT,
        };
        let mut line = Line::new(look, &cells[0]);
        line.blank(1);
        line.push(look, &cells[1]);
        line.blank_to(GAP + places);
        line.blank(GAP);
        line.push(look, &cells[2]);
        line.blank_to(2 * GAP + places + texts);
        line.blank(GAP);
        if line.has_room(&cells[3], width) {
            line.push(look, &cells[3]);
        }
        line
    };
    all.iter().map(line).collect()
}

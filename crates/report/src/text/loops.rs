//! The rows that UnixBench counts as turns in a second.

use super::Report;
use crate::line::{Line, look};
use crate::loops::{COLUMNS, HEADING, NAMES, Turns};

/// Blanks between columns.
const GAP: usize = 2;

/// The places of the columns, from the richest choice to the poorest: the first that fits is taken.
const CHOICES: [&[usize]; 3] = [&[0, 1, 2, 3, 4, 5], &[0, 1, 2, 4], &[1, 2, 4]];

impl Report<'_> {
    pub(super) fn turns(&self) -> Vec<Line> {
        if self.turns.is_empty() {
            return Vec::new();
        }
        let fits = |choice: &&[usize]| width(&widths(&self.turns, choice)) <= self.width;
        let choice = CHOICES.into_iter().find(fits).unwrap_or(CHOICES[CHOICES.len() - 1]);
        let widths = widths(&self.turns, choice);
        let rows = self.turns.iter().map(|row| line(look::PLAIN, choice, &widths, |place| &row[place]));
        std::iter::once(line(look::FAINT, choice, &widths, heading)).chain(rows).collect()
    }
}

/// The first name says what the table is about.
fn heading(place: usize) -> &'static str {
    match place {
        0 => HEADING,
        _ if place < NAMES => "",
        _ => COLUMNS[place],
    }
}

fn columns_of(text: &str) -> usize {
    Line::new(look::PLAIN, text).width()
}

fn widths(rows: &[Turns], choice: &[usize]) -> Vec<usize> {
    let widest = |place: &usize| {
        let cells = rows.iter().map(|row| columns_of(&row[*place]));
        cells.max().unwrap_or(0).max(columns_of(heading(*place)))
    };
    choice.iter().map(widest).collect()
}

fn width(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// Names stand at the left of their columns, numbers at the right.
fn line<'a>(
    look: anstyle::Style,
    choice: &[usize],
    widths: &[usize],
    cell: impl Fn(usize) -> &'a str,
) -> Line {
    let (mut line, mut at) = (Line::default(), 0);
    for (place, width) in choice.iter().zip(widths) {
        let text = cell(*place);
        if *place < NAMES {
            if !text.is_empty() {
                line.blank_to(at);
                line.push(look, text);
            }
        } else {
            line.blank_to(at);
            line.push_right(look, text, *width);
        }
        at += width + GAP;
    }
    line
}

//! A reproduction as text.

use super::bars::{Chart, Row, Scale, Whose, legend, scales};
use super::table::{change_words, changes, elsewhere};
use super::{head, missing, remarks, table};
use crate::Style;
use crate::bar::{FULL, PUBLISHED, part_of, part_of_published};
use crate::grid::Grid;
use crate::line::{Line, labelled, look, wide, wrapped, written};
use crate::text::after_blank;
use compare::published::{Figure, Reproduction};

/// Where the text behind a label begins.
const INDENT: usize = 13;

pub(crate) fn render(reproduction: &Reproduction, style: &Style) -> Vec<u8> {
    let width = style.columns();
    let start = Line::new(look::NAME, &format!("{}: ", reproduction.name));
    let mut lines = wrapped(start, look::PLAIN, &reproduction.title, width, 2);
    lines.push(Line::default());
    lines.extend(wrapped(Line::default(), look::PLAIN, &reproduction.about, width, 0));
    lines.push(Line::default());
    for (label, text) in head(reproduction) {
        lines.extend(fact(label, &text, width));
    }
    lines.extend(figures(reproduction, style.verbose, width));
    for (_, words, found) in elsewhere(reproduction) {
        lines.extend(table(&words, &found, width));
    }
    if !reproduction.ratios.is_empty() {
        lines.extend(table(&change_words(reproduction), &changes(reproduction), width));
    }
    lines.extend(bars(&scales(reproduction), width));
    lines.extend(notes("not measured", &missing(reproduction), width));
    lines.extend(notes("notes", &remarks(reproduction), width));
    written(&lines, style)
}

fn fact(label: &str, text: &str, width: usize) -> Vec<Line> {
    labelled(Line::new(look::FAINT, label), look::PLAIN, text, width, INDENT)
}

fn notes(heading: &str, notes: &[(String, String)], width: usize) -> Vec<Line> {
    if notes.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::default(), Line::new(look::HEADING, heading)];
    for (what, text) in notes {
        let start = Line::new(look::PLAIN, "  ");
        lines.extend(wrapped(start, look::PLAIN, &format!("{what}: {text}"), width, 4));
    }
    lines
}

/// A table for each published column, under the same headings.
fn figures(reproduction: &Reproduction, has_interval: bool, width: usize) -> Vec<Line> {
    let all: Vec<&Figure> = reproduction.figures.iter().collect();
    let titles = reproduction.columns();
    let title = titles.iter().map(|title| wide(title)).max().unwrap_or(0);
    let grid = table::figures(reproduction, &all, title, has_interval);
    let fitted = grid.fitted(width);
    let mut lines = Vec::new();
    for (number, title) in titles.iter().enumerate() {
        lines.push(Line::default());
        // What stands over columns is said once.
        let head = fitted.head(title);
        let said = if number == 0 { 0 } else { head.len().saturating_sub(1) };
        lines.extend(head.into_iter().skip(said));
        let of_column = all.iter().zip(grid.rows()).filter(|(figure, _)| figure.column == *title);
        lines.extend(of_column.flat_map(|(_, row)| fitted.row(row)));
    }
    lines
}

/// A table below what is to be said of it.
fn table(words: &str, table: &Grid, width: usize) -> Vec<Line> {
    let words = wrapped(Line::default(), look::PLAIN, words, width, 0);
    after_blank(words).into_iter().chain(after_blank(table.lines(width))).collect()
}

/// What is published and what came out here, as bars; one scale after the other.
fn bars(scales: &[Scale], width: usize) -> Vec<Line> {
    if scales.is_empty() {
        return Vec::new();
    }
    let is_here = legend(scales).iter().any(|whose| *whose != Whose::Published);
    let here = if is_here { format!("; {FULL} from here") } else { String::new() };
    let mut lines = vec![Line::default()];
    let text = format!("{PUBLISHED} published{here}. Bars begin at 0; each unit has a scale of its own.");
    lines.extend(wrapped(Line::default(), look::FAINT, &text, width, 0));
    for scale in scales {
        let most = scale.bars().filter_map(|bar| bar.length).map(f64::abs).fold(0.0, f64::max);
        for chart in &scale.charts {
            lines.push(Line::default());
            lines.push(Line::new(look::HEADING, &chart.heading(&scale.unit)));
            lines.extend(of_chart(chart, most, width));
        }
    }
    lines
}

/// The widest name and label that bars are moved to the right for.
const NAME: usize = 24;
const LABEL: usize = 6;

fn of_chart(chart: &Chart, most: f64, width: usize) -> Vec<Line> {
    let name = chart.rows.iter().map(|row| wide(&row.name)).max().unwrap_or(0).min(NAME);
    let figures = chart.rows.iter().flat_map(|row| &row.bars).map(|bar| wide(&bar.text));
    let figure = figures.max().unwrap_or(0);
    let before = name + 2 + LABEL + 2 + figure + 1;
    chart
        .rows
        .iter()
        .flat_map(|row| of_row(row, [name, figure], most, width.saturating_sub(before)))
        .collect()
}

fn of_row(row: &Row, [name, figure]: [usize; 2], most: f64, columns: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for (place, bar) in row.bars.iter().enumerate() {
        let mut line = Line::default();
        if place == 0 {
            line.push(look::PLAIN, &row.name);
        }
        if line.width() > name {
            lines.push(std::mem::take(&mut line));
        }
        line.blank_to(name + 2);
        line.push(look::FAINT, bar.label);
        line.blank_to(name + 2 + LABEL + 2);
        line.push_right(look::PLAIN, &bar.text, figure);
        let length = bar.length.map(f64::abs);
        let (look, drawn) = match bar.whose {
            Whose::Published => (look::FAINT, length.map(|length| part_of_published(length, most, columns))),
            _ => (look::BAR, length.map(|length| part_of(length, most, columns))),
        };
        if let Some(drawn) = drawn.filter(|drawn| !drawn.is_empty()) {
            line.blank(1);
            line.push(look, &drawn);
        }
        lines.push(line);
    }
    lines
}

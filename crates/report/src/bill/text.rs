//! A bill for a terminal.

use super::bars::bars;
use super::table::{Row, Table, Weight, configurations, steps, there};
use super::words;
use crate::Style;
use crate::line::{Line, labelled, look, wrapped};
use crate::text::{TEXT_COLUMN, after_blank, units_stay};
use attribution::bill::Bill;

/// Columns for the letter of a step, with a blank behind it.
const KEY: usize = 2;

/// Blanks between columns.
const GAP: usize = 2;

/// Words get at least so many columns beside the numbers; otherwise they stand below.
const LEAST_WORDS: usize = 24;

/// Words below their row are indented by so much.
const BELOW: usize = 6;

pub(super) fn render(bill: &Bill, style: &Style) -> Vec<u8> {
    let width = style.columns();
    let mut lines: Vec<Line> =
        words::head(bill).into_iter().flat_map(|(label, text)| fact(label, &text, width)).collect();
    lines.push(Line::default());
    lines.extend(grid(&steps(bill), width));
    lines.extend(after_blank(bars(bill, width)));
    if let Some(found) = &bill.there {
        lines.push(Line::default());
        lines.extend(fact("Linux", &words::linux(found), width));
        lines.extend(found.remarks.iter().flat_map(|remark| fact("", remark, width)));
        lines.push(Line::default());
        lines.extend(grid(&there(bill, found), width));
        lines.extend(wrapped(Line::default(), look::FAINT, words::THERE, width, 0));
    }
    lines.extend(after_blank(wrapped(Line::default(), look::FAINT, &words::legend(bill), width, 0)));
    if style.verbose {
        lines.push(Line::default());
        lines.extend(grid(&configurations(bill), width));
    }
    let mut out = String::new();
    lines.iter().for_each(|line| line.write(style.color, &mut out));
    out.into_bytes()
}

fn fact(label: &str, text: &str, width: usize) -> Vec<Line> {
    labelled(Line::new(look::FAINT, label), look::PLAIN, &units_stay(text), width, TEXT_COLUMN)
}

/// Where the columns of a table are.
struct Widths {
    /// Of letters and names.
    name: usize,
    numbers: Vec<usize>,
    /// Of features; 0 where there is no such column.
    needs: usize,
}

impl Widths {
    fn of(table: &Table, width: usize) -> Widths {
        let names = table.rows.iter().map(|row| wide(&row.name));
        // A document's name may be of any length.
        let name = KEY + names.max().unwrap_or(0).max(wide(table.first)).min(width * 2 / 5);
        let number = |place: usize| {
            let cells = table.rows.iter().filter_map(|row| row.numbers.get(place)).map(|cell| wide(cell));
            cells.chain([wide(table.headings[place])]).max().unwrap_or(0)
        };
        let needs = table.rows.iter().map(|row| wide(&row.needs)).chain([wide(NEEDS)]).max().unwrap_or(0);
        let numbers = (0..table.headings.len()).map(number).collect();
        Widths { name, numbers, needs: if table.has_needs { needs.min(width / 6) } else { 0 } }
    }

    /// Where the numbers end.
    fn numbers_end(&self) -> usize {
        self.name + self.numbers.iter().map(|number| GAP + number).sum::<usize>()
    }

    /// Where words begin.
    fn words(&self) -> usize {
        let needs = if self.needs > 0 { GAP + self.needs } else { 0 };
        self.numbers_end() + needs + GAP
    }
}

/// The columns of a text, made harmless.
fn wide(text: &str) -> usize {
    Line::new(look::PLAIN, text).width()
}

/// Above the features.
const NEEDS: &str = "needs";

/// The table without what there is no room for: first the errors of all figures but the first, then all figures between the first and
/// the last.
fn fitted(table: &Table, width: usize) -> (Table, Widths) {
    let last = table.headings.len().saturating_sub(1);
    let is_error = |place: usize| table.headings.get(place) == Some(&"±");
    let without_errors: Vec<usize> = (0..=last).filter(|place| *place <= 1 || !is_error(*place)).collect();
    let least: Vec<usize> =
        (0..=last).filter(|place| *place == 0 || *place == last || (*place == 1 && is_error(1))).collect();
    let mut choices = vec![table.with(&(0..=last).collect::<Vec<_>>()), table.with(&without_errors)];
    choices.retain(|choice| Widths::of(choice, width).numbers_end() <= width);
    let fits = choices.into_iter().next().unwrap_or_else(|| table.with(&least));
    let widths = Widths::of(&fits, width);
    (fits, widths)
}

/// A table under its headings. Words that have no room beside the numbers stand below their row.
fn grid(table: &Table, width: usize) -> Vec<Line> {
    let (table, widths) = fitted(table, width);
    let mut heading = Line::default();
    heading.blank(KEY);
    heading.push(look::FAINT, table.first);
    heading.blank_to(widths.name);
    for (name, columns) in table.headings.iter().zip(&widths.numbers) {
        heading.blank(GAP);
        heading.push_right(look::FAINT, name, *columns);
    }
    if table.has_needs && widths.words() <= width {
        heading.blank(GAP);
        heading.push(look::FAINT, NEEDS);
    }
    if widths.words() + LEAST_WORDS <= width {
        heading.blank_to(widths.words());
        heading.push(look::FAINT, table.last);
    }
    let rows = table.rows.iter().flat_map(|row| self::row(row, &widths, width));
    std::iter::once(heading).chain(rows).collect()
}

fn row(row: &Row, widths: &Widths, width: usize) -> Vec<Line> {
    let look = match row.weight {
        Weight::ExplainedPart => look::PLAIN,
        Weight::Without => look::FAINT,
        Weight::Sum => look::NAME,
    };
    let mut line = Line::new(look::NAME, &row.key.map(String::from).unwrap_or_default());
    line.blank_to(KEY);
    let mut lines = wrapped(line, look, &row.name, widths.name, KEY);
    let Some(line) = lines.last_mut() else { return lines };
    line.blank_to(widths.name);
    for (cell, columns) in row.numbers.iter().zip(&widths.numbers) {
        line.blank(GAP);
        line.push_right(look, cell, *columns);
    }
    let fits = wide(&row.needs) <= widths.needs && widths.words() <= width;
    if fits && !row.needs.is_empty() {
        line.blank(GAP);
        line.push(look, &row.needs);
    }
    let needs = (!fits && row.needs != crate::figure::ABSENT && !row.needs.is_empty())
        .then(|| format!("needs {}", row.needs));
    let remark = Some(row.remark.clone()).filter(|remark| !remark.is_empty());
    let words: Vec<String> = needs.into_iter().chain(remark).collect();
    if !words.is_empty() {
        let last = lines.pop();
        lines.extend(said(&words.join("; "), last, widths, width));
    }
    lines
}

/// Words behind a row's last line, or below it.
fn said(text: &str, last: Option<Line>, widths: &Widths, width: usize) -> Vec<Line> {
    let mut last = last.unwrap_or_default();
    if widths.words() + LEAST_WORDS <= width {
        last.blank_to(widths.words());
        return wrapped(last, look::PLAIN, text, width, widths.words());
    }
    let mut below = Line::default();
    below.blank(BELOW);
    std::iter::once(last).chain(wrapped(below, look::PLAIN, text, width, BELOW)).collect()
}

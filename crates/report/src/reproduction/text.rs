//! A reproduction as text.

use super::bars::{Chart, Row, Scale, Whose, legend, scales};
use super::table::{CHANGES, Heading, Part, cells, change_words, changes, elsewhere, headings, parts};
use super::{head, missing, remarks};
use crate::Style;
use crate::bar::{FULL, PUBLISHED, part_of, part_of_published};
use crate::line::{Line, labelled, look, wrapped};
use compare::published::Reproduction;

/// Where the text behind a label begins.
const INDENT: usize = 13;

/// Blanks between two parts of the table, and between two columns of a part.
const BETWEEN_PARTS: usize = 3;
const BETWEEN: usize = 1;

/// What is left out first where the table does not fit.
const LEAST_NEEDED: [Part; 3] = [Part::Entry, Part::ToPublished, Part::ToBase];

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
    for (_, words, rows) in elsewhere(reproduction) {
        lines.extend(of_guests(&words, rows, width));
    }
    lines.extend(concluded(reproduction, width));
    lines.extend(bars(&scales(reproduction), width));
    lines.extend(notes("not measured", &missing(reproduction), width));
    lines.extend(notes("notes", &remarks(reproduction), width));
    let mut out = String::new();
    lines.iter().for_each(|line| line.write(style.color, &mut out));
    out.into_bytes()
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
fn figures(reproduction: &Reproduction, verbose: bool, width: usize) -> Vec<Line> {
    let mut parts = parts(reproduction, verbose);
    let mut grid = grid(reproduction, &parts);
    for part in LEAST_NEEDED {
        if grid.width() <= width {
            break;
        }
        parts.retain(|kept| *kept != part);
        grid = self::grid(reproduction, &parts);
    }
    grid.lines()
}

fn grid(reproduction: &Reproduction, parts: &[Part]) -> Grid {
    let headings = headings(reproduction, parts);
    let columns = reproduction.columns();
    let of_column = |column: &&str| {
        let figures = reproduction.figures.iter().filter(|figure| figure.column == *column);
        (column.to_string(), figures.map(|figure| cells(reproduction, figure, parts)).collect())
    };
    Grid { tables: columns.iter().map(of_column).collect(), headings }
}

/// Tables of the same columns, each with a title.
struct Grid {
    headings: Vec<Heading>,
    tables: Vec<(String, Vec<Vec<String>>)>,
}

impl Grid {
    /// Of each column: whether it begins a part, its heading, and its width.
    fn columns(&self) -> Vec<(bool, &'static str, usize)> {
        let names = self
            .headings
            .iter()
            .flat_map(|heading| heading.names.iter().enumerate().map(|(place, name)| (place == 0, *name)));
        let width = |place: usize| {
            let cells =
                self.tables.iter().flat_map(|(_, rows)| rows.iter().filter_map(move |row| row.get(place)));
            cells.map(|cell| columns_of(cell)).max().unwrap_or(0)
        };
        let title = self.tables.iter().map(|(title, _)| columns_of(title)).max().unwrap_or(0);
        names
            .enumerate()
            .map(|(place, (first, name))| {
                let least = if place == 0 { title } else { columns_of(name) };
                (first, name, width(place).max(least))
            })
            .collect()
    }

    /// Where each column begins, and where the last ends.
    fn starts(&self) -> (Vec<usize>, usize) {
        let mut at = 0;
        let mut starts = Vec::new();
        for (place, (first, _, width)) in self.columns().iter().enumerate() {
            at += match (place, first) {
                (0, _) => 0,
                (_, true) => BETWEEN_PARTS,
                (_, false) => BETWEEN,
            };
            starts.push(at);
            at += width;
        }
        (starts, at)
    }

    /// The width of all, with the headings over parts.
    fn width(&self) -> usize {
        let (starts, end) = self.starts();
        let mut place = 0;
        let over = self.headings.iter().map(|heading| {
            let start = starts.get(place).copied().unwrap_or(0);
            place += heading.names.len();
            start + columns_of(&heading.over)
        });
        over.max().unwrap_or(0).max(end)
    }

    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![Line::default(), self.over()];
        for (number, (title, rows)) in self.tables.iter().enumerate() {
            if number > 0 {
                lines.push(Line::default());
            }
            lines.push(self.line(look::FAINT, &self.titles(title)));
            lines.extend(rows.iter().map(|row| self.line(look::PLAIN, row)));
        }
        lines
    }

    /// The headings over parts.
    fn over(&self) -> Line {
        let (starts, _) = self.starts();
        let (mut line, mut place) = (Line::default(), 0);
        for heading in &self.headings {
            line.blank_to(starts.get(place).copied().unwrap_or(0));
            line.push(look::FAINT, &heading.over);
            place += heading.names.len();
        }
        line
    }

    fn titles(&self, title: &str) -> Vec<String> {
        let mut cells: Vec<String> = self.columns().iter().map(|(_, name, _)| name.to_string()).collect();
        if let Some(first) = cells.first_mut() {
            *first = title.to_owned();
        }
        cells
    }

    /// Names stand at the left of their columns, numbers at the right.
    fn line(&self, look: anstyle::Style, cells: &[String]) -> Line {
        let (starts, _) = self.starts();
        let is_name: Vec<bool> = self
            .headings
            .iter()
            .flat_map(|heading| {
                let name = matches!(heading.part, Part::Row | Part::Entry);
                heading.names.iter().map(move |_| name)
            })
            .collect();
        let mut line = Line::default();
        for (((cell, start), (_, _, width)), name) in
            cells.iter().zip(&starts).zip(self.columns()).zip(&is_name)
        {
            line.blank_to(*start);
            if *name { line.push(look, cell) } else { line.push_right(look, cell, width) }
        }
        line
    }
}

/// The terminal columns of a text.
fn columns_of(text: &str) -> usize {
    Line::new(look::PLAIN, text).width()
}

fn of_guests(words: &str, mut all: Vec<Vec<String>>, width: usize) -> Vec<Line> {
    let mut lines = vec![Line::default()];
    lines.extend(wrapped(Line::default(), look::PLAIN, words, width, 0));
    lines.push(Line::default());
    let mut names = 2;
    if columns_of_rows(&all).iter().map(|column| column + 2).sum::<usize>() > width + 2 {
        // Where there is no room for it, the entry's name is left out.
        all.iter_mut().for_each(|row| drop(row.remove(1)));
        names = 1;
    }
    lines.extend(table(&all, names));
    lines
}

/// What the author concluded.
fn concluded(reproduction: &Reproduction, width: usize) -> Vec<Line> {
    if reproduction.ratios.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::default()];
    lines.extend(wrapped(Line::default(), look::PLAIN, &change_words(reproduction), width, 0));
    lines.push(Line::default());
    let heading = CHANGES.map(str::to_owned).to_vec();
    let all: Vec<Vec<String>> = std::iter::once(heading).chain(changes(reproduction)).collect();
    lines.extend(table(&all, 1));
    lines
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
    let name = chart.rows.iter().map(|row| columns_of(&row.name)).max().unwrap_or(0).min(NAME);
    let figures = chart.rows.iter().flat_map(|row| &row.bars).map(|bar| columns_of(&bar.text));
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

/// Rows of cells below a heading; the first `names` columns are names, and the others numbers.
fn table(all: &[Vec<String>], names: usize) -> Vec<Line> {
    let widths = columns_of_rows(all);
    let line = |(number, row): (usize, &Vec<String>)| {
        let look = if number == 0 { look::FAINT } else { look::PLAIN };
        let (mut line, mut at) = (Line::default(), 0);
        for (place, (cell, width)) in row.iter().zip(&widths).enumerate() {
            line.blank_to(at);
            if place < names {
                line.push(look, cell)
            } else {
                line.push_right(look, cell, *width)
            }
            at += width + 2;
        }
        line
    };
    all.iter().enumerate().map(line).collect()
}

/// The width of each column.
fn columns_of_rows(rows: &[Vec<String>]) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(row.len().max(widths.len()), 0);
        row.iter().zip(&mut widths).for_each(|(cell, width)| *width = columns_of(cell).max(*width));
    }
    widths
}

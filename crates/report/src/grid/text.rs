//! A grid for a terminal: its columns as far as they fit, and nothing wider than the terminal.

use super::fit::{Fitted, GAP, Group, Shown};
use super::{Cell, Grid, Kind, Row, Words, Writer};
use crate::figure::ABSENT;
use crate::line::{Line, look, wide, wrapped};
use crate::plain::plain;

/// Between words of different columns.
const BETWEEN: &str = "; ";

/// A text in lines of this width.
fn broken(text: &str, width: usize) -> Vec<String> {
    let text = plain(text);
    textwrap::wrap(&text, width.max(1)).into_iter().map(|line| line.into_owned()).collect()
}

/// A line above the columns of a group.
enum Head {
    Over(String),
    /// Of each column.
    Headings(Vec<String>),
}

impl Shown<'_> {
    pub fn push(&self, line: &mut Line, look: anstyle::Style, text: &str) {
        match self.column.kind {
            Kind::Number => line.push_right(look, text, self.width),
            Kind::Text | Kind::Word | Kind::Name | Kind::Bar => line.push(look, text),
        }
    }
}

impl Grid {
    /// The table under its headings.
    pub fn lines(&self, width: usize) -> Vec<Line> {
        let fitted = self.fitted(width);
        let rows = self.rows.iter().flat_map(|row| fitted.row(row));
        fitted.head("").into_iter().chain(rows).collect()
    }
}

impl Fitted<'_> {
    /// The words behind the cells, and the column where they begin, where there is room for them.
    fn words(&self) -> Option<(&Words, usize)> {
        let (words, at) = (self.grid.words.as_ref()?, self.end() + GAP);
        (at + words.least <= self.width).then_some((words, at))
    }

    /// The headings, with this one above the first column if it has none, and what stands over them. All end in the last line.
    pub fn head(&self, first: &str) -> Vec<Line> {
        let groups = self.groups();
        let heads: Vec<Vec<Head>> = groups.iter().map(|group| self.heads(group, first)).collect();
        let height = heads.iter().map(Vec::len).max().unwrap_or(0);
        let mut lines: Vec<Line> = Vec::new();
        for at in 0..height {
            let mut line = Line::default();
            for (group, heads) in groups.iter().zip(&heads) {
                if let Some(head) = (at + heads.len()).checked_sub(height).and_then(|at| heads.get(at)) {
                    self.push_head(&mut line, group, head);
                }
            }
            lines.push(line);
        }
        if let Some((line, (words, at))) = lines.last_mut().zip(self.words()) {
            line.blank_to(at);
            line.push(look::FAINT, words.heading);
        }
        lines
    }

    fn push_head(&self, line: &mut Line, group: &Group, head: &Head) {
        line.blank_to(group.from);
        match head {
            Head::Over(text) if group.is_left => line.push(look::FAINT, text),
            Head::Over(text) => line.push_right(look::FAINT, text, group.to - group.from),
            Head::Headings(texts) => {
                let places = self.shown.iter().zip(self.starts()).skip(group.columns.start);
                for (text, (shown, start)) in texts.iter().zip(places) {
                    line.blank_to(start);
                    shown.push(line, look::FAINT, text);
                }
            }
        }
    }

    /// What stands above a group, line by line.
    fn heads(&self, group: &Group, first: &str) -> Vec<Head> {
        let width = if group.is_left { self.width } else { group.to - group.from };
        let over = broken(group.over, width).into_iter().filter(|text| !text.is_empty()).map(Head::Over);
        let heading = |shown: &Shown| match (shown.place, shown.column.heading.as_str()) {
            (0, "") => broken(first, shown.width),
            (_, heading) => broken(heading, shown.width),
        };
        let texts: Vec<Vec<String>> = self.shown[group.columns.clone()].iter().map(heading).collect();
        let height = texts.iter().map(Vec::len).max().unwrap_or(0);
        let is_said = texts.iter().flatten().any(|text| !text.is_empty());
        let line = |at: usize| {
            Head::Headings(texts.iter().map(|lines| lines.get(at).cloned().unwrap_or_default()).collect())
        };
        over.chain((0..height).filter(|_| is_said).map(line)).collect()
    }

    /// A row. A text that is longer than its column is broken; behind the first, the other cells stand beside its last line.
    pub fn row(&self, row: &Row) -> Vec<Line> {
        if self.shown.first().is_some_and(|first| first.column.kind == Kind::Name) {
            return self.row_of_name(row);
        }
        let texts: Vec<Vec<String>> = self.shown.iter().map(|shown| row.broken(shown)).collect();
        let name = self.shown.iter().position(|shown| shown.column.kind == Kind::Text).unwrap_or(0);
        let below = texts.get(name).map_or(0, |lines| lines.len().saturating_sub(1));
        let line_of = |number: usize, at: usize| if number > name { at.checked_sub(below) } else { Some(at) };
        let height =
            (texts.iter().skip(name + 1).map(|lines| below + lines.len()).max().unwrap_or(0)).max(below + 1);
        let starts = self.starts();
        let line = |at: usize| {
            let mut line = Line::default();
            for (number, (shown, texts)) in self.shown.iter().zip(&texts).enumerate() {
                if let Some(text) = line_of(number, at).and_then(|at| texts.get(at)) {
                    line.blank_to(starts[number]);
                    shown.push(&mut line, shown.column.look.unwrap_or(row.weight.look()), text);
                }
            }
            line
        };
        self.with_words((0..height).map(line).collect(), &self.said(row))
    }

    /// A text below a row, where the words behind it begin.
    pub fn below(&self, look: anstyle::Style, text: &str) -> Vec<Line> {
        let mut line = Line::default();
        line.blank_to(self.end() + GAP);
        let indent = line.width();
        wrapped(line, look, text, self.width, indent)
    }

    /// What follows a row in words, with the cells for which there was no room.
    pub(super) fn said(&self, row: &Row) -> String {
        let columns = self.grid.columns_of(Writer::Text).filter(|(_, column)| column.or_said);
        let cells = columns.filter_map(|(place, column)| {
            let text = row.cells[place].words(" ");
            let has_room = self.shown.iter().any(|shown| shown.place == place && wide(&text) <= shown.width);
            let is_said = !has_room && !text.is_empty() && text != ABSENT;
            is_said.then(|| format!("{} {text}", column.heading))
        });
        let words = Some(row.words.clone()).filter(|words| !words.is_empty());
        cells.chain(words).collect::<Vec<_>>().join(BETWEEN)
    }

    /// With words behind a row's last line, or below it.
    pub(super) fn with_words(&self, mut lines: Vec<Line>, text: &str) -> Vec<Line> {
        let Some(words) = self.grid.words.as_ref().filter(|_| !text.is_empty()) else { return lines };
        if let Some((_, at)) = self.words() {
            let mut last = lines.pop().unwrap_or_default();
            last.blank_to(at);
            lines.extend(wrapped(last, words.look, text, self.width, words.hang.unwrap_or(at)));
        } else if let Some(indent) = words.below {
            let mut below = Line::default();
            below.blank(indent);
            lines.extend(wrapped(below, words.look, text, self.width, indent));
        }
        lines
    }
}

impl Row {
    /// A cell in its column. What is too long for a column that could be said in words is said.
    pub(super) fn written(&self, shown: &Shown) -> String {
        match &self.cells[shown.place] {
            Cell::Bar(value, drawn) => drawn(*value, shown.width),
            cell => Some(cell.words(" "))
                .filter(|text| !shown.column.or_said || wide(text) <= shown.width)
                .unwrap_or_default(),
        }
    }

    /// The lines of a cell.
    fn broken(&self, shown: &Shown) -> Vec<String> {
        let text = self.written(shown);
        if shown.column.kind == Kind::Text { broken(&text, shown.width) } else { vec![text] }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Items, Weight};
    use super::*;

    fn text(grid: &Grid, width: usize, color: bool) -> String {
        let mut out = String::new();
        grid.lines(width).iter().for_each(|line| line.write(color, &mut out));
        assert!(color || out.lines().all(|line| wide(line) <= width && line == line.trim_end()), "{out}");
        out
    }

    fn named<'a>(names: &'a [&'a str]) -> Items<'a, &'a str> {
        Grid::of(names)
            .column(Column::text("name"), |name| *name)
            .column(Column::number("cost").over("all of it"), |name| name.len())
            .column(Column::number("±").over("all of it"), |_| "±1")
    }

    #[test]
    fn numbers_end_and_texts_begin_below_their_headings() {
        let grid = named(&["one", "twenty-two"]).weight(|_| Weight::Sum).grid();
        assert_eq!(
            text(&grid, 60, false).lines().collect::<Vec<_>>(),
            [
                "            all of it",
                "name         cost   ±",
                "one             3  ±1",
                "twenty-two     10  ±1"
            ]
        );
        assert!(text(&grid, 60, true).contains("\u{1b}[1mtwenty-two\u{1b}[0m"));
    }

    #[test]
    fn figures_stand_beside_the_last_line_of_a_name() {
        let grid = named(&["a name of several words", "b"]).grid();
        let text = text(&grid, 26, false);
        assert!(text.contains("\na name of\nseveral words"), "{text}");
        assert!(
            text.lines().any(|line| line.starts_with("several words ") && line.ends_with("23  ±1")),
            "{text}"
        );
    }

    #[test]
    fn words_stand_behind_or_below_and_say_what_has_no_column() {
        let words = Words { heading: "words", least: 20, below: Some(6), ..Words::BEHIND };
        let table = |needs: &'static str| {
            let grid = named(&["one", "two"]);
            let grid = grid.column(Column::text("needs").or_said(), move |name| match *name {
                "one" => Cell::from(needs),
                _ => Cell::Absent,
            });
            grid.words(words.clone(), |name| if *name == "one" { "" } else { "said of it" }.to_owned()).grid()
        };
        let wide = text(&table("PCID"), 60, false);
        assert!(
            wide.contains("  needs  words\n")
                && wide.contains("  PCID\n")
                && wide.contains("  -      said of it\n"),
            "{wide}"
        );
        let narrow = text(&table("PCID"), 40, false);
        assert!(narrow.contains("\n      said of it\n") && !narrow.contains("words"), "{narrow}");
        let narrowest = text(&table("PCID"), 20, false);
        assert!(narrowest.contains("\n      needs PCID\n"), "{narrowest}");
        let long = text(&table("a feature with a long name"), 80, false);
        assert!(long.contains("needs a feature with a long name\n"), "{long}");
    }

    /// Where the first column was no name, a bar was an empty column under its heading.
    #[test]
    fn a_bar_is_drawn_whatever_the_first_column_is() {
        let bar = |_: &_| Cell::Bar(1.0, |part, columns| "#".repeat((part * columns as f64) as usize));
        let grid = named(&["one"]).column(Column::bar("log"), bar).grid();
        assert!(text(&grid, 60, false).ends_with(&format!("  ±1  {}\n", "#".repeat(24))));
    }

    #[test]
    fn nothing_steers_a_terminal_and_other_writers_columns_are_not_here() {
        let grid = Grid::of(&["a\u{1b}[2J", "b"])
            .column(Column::word("x"), |item| *item)
            .column(Column::word("not here").only(Writer::Csv), |_| "csv")
            .column(Column::word("y").gap(1).least(4), |item| Cell::Names(vec![(*item).into(), "n".into()]))
            .maybe(None, |_| "nothing")
            .grid();
        assert_eq!(text(&grid, 40, false), "x          y\na\\u{1b}[2J a\\u{1b}[2J n\nb          b n\n");
        assert!(grid.rows.iter().all(|row| row.cells.len() == grid.columns.len()));
    }
}

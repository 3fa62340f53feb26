//! Tables of texts, and how they fit a terminal.

use crate::line::{Line, look};
use crate::plain::plain;

/// Blanks between columns.
pub(super) const GAP: usize = 2;

/// What a row is has at least so many columns beside the numbers, so that it takes two lines at most; otherwise it is left out.
const LEAST_WORDS: usize = 60;

/// What stands over columns may be as wide as the first of these where there is room, otherwise as the next; what is longer is broken.
const OVER: [usize; 3] = [40, 16, 9];

/// A table: columns, and rows with the look of a sum or not.
#[derive(Default)]
pub(super) struct Grid {
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
}

#[derive(Clone)]
pub(super) struct Column {
    /// What stands over its heading, and over that of its neighbours that have the same; empty where nothing does.
    pub over: String,
    pub heading: String,
    pub is_number: bool,
    /// Where there is no room, columns of the greatest number are left out first; those of 0 never.
    pub spare: u8,
}

pub(super) struct Row {
    pub cells: Vec<String>,
    pub is_sum: bool,
    /// What the first cell is, in words.
    pub what: String,
}

impl Column {
    pub fn text(heading: &str) -> Column {
        Column { over: String::new(), heading: heading.into(), is_number: false, spare: 0 }
    }

    pub fn number(heading: &str) -> Column {
        Column { is_number: true, ..Column::text(heading) }
    }

    pub fn over(self, over: &str) -> Column {
        Column { over: over.into(), ..self }
    }

    pub fn spare(self, spare: u8) -> Column {
        Column { spare, ..self }
    }
}

impl Row {
    pub fn new(cells: Vec<String>) -> Row {
        Row { cells, is_sum: false, what: String::new() }
    }
}

/// The terminal columns of a text, made harmless.
pub(super) fn wide(text: &str) -> usize {
    Line::new(look::PLAIN, text).width()
}

/// A table as far as it fits.
struct Fitted<'a> {
    grid: &'a Grid,
    /// The places of the columns that are shown, each with its width.
    shown: Vec<(usize, usize)>,
}

/// Columns under the same words: the words, the first and the end among those that are shown, and their width together.
struct Group<'a> {
    over: &'a str,
    first: usize,
    end: usize,
    width: usize,
}

/// A line above the columns of a group.
enum Head {
    Over(String),
    /// Of each column: text, whether it is a number's, and its width.
    Headings(Vec<(String, bool, usize)>),
}

impl Grid {
    /// The table under its headings. A text that is too long for its column is broken; what a row is stands behind it where there is room.
    pub fn lines(&self, width: usize) -> Vec<Line> {
        let fitted = self.fitted(width);
        let mut lines = fitted.head();
        for row in &self.rows {
            lines.extend(fitted.whole_row(row, width));
        }
        lines
    }

    /// With the columns that there is room for; long texts get less than they need.
    fn fitted(&self, width: usize) -> Fitted<'_> {
        let most = self.columns.iter().map(|column| column.spare).max().unwrap_or(0);
        let choices = (0..=most).rev().flat_map(|least| OVER.map(|over| (least, over)));
        let mut fitted = choices.map(|(least, over)| self.with(least, over, width));
        let fits = fitted.find(|fitted| fitted.width() <= width);
        let mut fitted = fits.unwrap_or_else(|| self.with(0, OVER[2], width));
        fitted.narrow(width);
        fitted.grow(width);
        fitted
    }

    /// Without the columns that are more spare than this.
    fn with(&self, least: u8, over: usize, width: usize) -> Fitted<'_> {
        let places = (0..self.columns.len()).filter(|place| self.columns[*place].spare <= least);
        let shown = places.map(|place| (place, self.needs(place).min(self.most(place, width)))).collect();
        let mut fitted = Fitted { grid: self, shown };
        fitted.widen(over);
        fitted
    }

    fn needs(&self, place: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.cells.get(place));
        cells.chain([&self.columns[place].heading]).map(|cell| wide(cell)).max().unwrap_or(0)
    }

    /// The most that a column gets: a document's texts may be of any length.
    fn most(&self, place: usize, width: usize) -> usize {
        if self.columns[place].is_number { width } else { width * 2 / 5 }
    }
}

impl Fitted<'_> {
    fn width(&self) -> usize {
        self.shown.iter().map(|(_, width)| width + GAP).sum::<usize>().saturating_sub(GAP)
    }

    /// Neighbours under the same words.
    fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group> = Vec::new();
        for (number, (place, width)) in self.shown.iter().enumerate() {
            let over = self.grid.columns[*place].over.as_str();
            match groups.last_mut().filter(|last| !over.is_empty() && last.over == over) {
                Some(last) => (last.end, last.width) = (number + 1, last.width + GAP + width),
                None => groups.push(Group { over, first: number, end: number + 1, width: *width }),
            }
        }
        groups
    }

    /// Gives the first of some columns room for what stands over them, up to so much.
    fn widen(&mut self, most: usize) {
        let needs: Vec<(usize, usize)> = self
            .groups()
            .into_iter()
            .map(|group| (group.first, wide(group.over).min(most).saturating_sub(group.width)))
            .collect();
        for (first, more) in needs {
            self.shown[first].1 += more;
        }
    }

    /// Takes from the widest text what the others need.
    fn narrow(&mut self, width: usize) {
        let excess = self.width().saturating_sub(width);
        let is_text = |place: usize| !self.grid.columns[place].is_number;
        let texts = self.shown.iter_mut().filter(|(place, _)| is_text(*place));
        if let Some((_, widest)) = texts.max_by_key(|(_, width)| *width) {
            *widest = widest.saturating_sub(excess).max(1);
        }
    }

    /// Gives texts what is left, as far as they need it.
    fn grow(&mut self, width: usize) {
        let mut room = width.saturating_sub(self.width());
        for (place, own) in &mut self.shown {
            let more = self.grid.needs(*place).saturating_sub(*own).min(room);
            (*own, room) = (*own + more, room - more);
        }
    }

    /// The headings, and what stands over them. All end in the last line.
    fn head(&self) -> Vec<Line> {
        let groups: Vec<(usize, Vec<Head>)> =
            self.groups().iter().map(|group| (group.width, self.heads(group))).collect();
        let height = groups.iter().map(|(_, heads)| heads.len()).max().unwrap_or(0);
        let line = |at: usize| {
            let mut line = Line::default();
            for (width, heads) in &groups {
                let end = line.width() + width;
                match (at + heads.len()).checked_sub(height).and_then(|at| heads.get(at)) {
                    Some(Head::Over(text)) => line.push_right(look::FAINT, text, *width),
                    Some(Head::Headings(cells)) => {
                        for (text, is_number, width) in cells {
                            let end = line.width() + width;
                            let room = if *is_number { *width } else { 0 };
                            line.push_right(look::FAINT, text, room);
                            line.blank_to(end);
                            line.blank(GAP);
                        }
                    }
                    None => (),
                }
                line.blank_to(end + GAP);
            }
            line
        };
        (0..height).map(line).collect()
    }

    /// What stands above a group, line by line.
    fn heads(&self, group: &Group) -> Vec<Head> {
        let mut heads: Vec<Head> = broken(group.over, group.width).into_iter().map(Head::Over).collect();
        heads.retain(|head| !matches!(head, Head::Over(text) if text.is_empty()));
        let shown = &self.shown[group.first..group.end];
        let column = |place: usize| &self.grid.columns[place];
        let texts: Vec<Vec<String>> =
            shown.iter().map(|(place, width)| broken(&column(*place).heading, *width)).collect();
        let height = texts.iter().map(Vec::len).max().unwrap_or(0);
        let is_said = texts.iter().flatten().any(|text| !text.is_empty());
        let cell = |at: usize| {
            let cells = shown.iter().zip(&texts).map(|((place, width), lines)| {
                (lines.get(at).cloned().unwrap_or_default(), column(*place).is_number, *width)
            });
            Head::Headings(cells.collect())
        };
        heads.extend((0..height).filter(|_| is_said).map(cell));
        heads
    }

    fn whole_row(&self, row: &Row, width: usize) -> Vec<Line> {
        let look = if row.is_sum { look::NAME } else { look::PLAIN };
        let mut lines = self.row(&row.cells, look);
        let end = self.width() + GAP;
        if end + LEAST_WORDS <= width && !row.what.is_empty() {
            let mut line = lines.pop().unwrap_or_default();
            line.blank_to(end);
            lines.extend(crate::line::wrapped(line, look::FAINT, &row.what, width, end));
        }
        lines
    }

    /// A row whose texts are broken where they are longer than their column.
    fn row(&self, cells: &[String], look: anstyle::Style) -> Vec<Line> {
        let texts: Vec<Vec<String>> = self
            .shown
            .iter()
            .map(|(place, width)| broken(cells.get(*place).map_or("", String::as_str), *width))
            .collect();
        let height = texts.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let line = |at: usize| {
            let mut line = Line::default();
            for ((place, width), lines) in self.shown.iter().zip(&texts) {
                let text = lines.get(at).map_or("", String::as_str);
                let end = line.width() + width;
                match self.grid.columns[*place].is_number {
                    true => line.push_right(look, text, *width),
                    false => line.push(look, text),
                }
                line.blank_to(end);
                line.blank(GAP);
            }
            line
        };
        (0..height).map(line).collect()
    }
}

/// A text in lines of this width.
fn broken(text: &str, width: usize) -> Vec<String> {
    let text = plain(text);
    textwrap::wrap(&text, width.max(1)).into_iter().map(|line| line.into_owned()).collect()
}

//! Which columns of a grid a terminal has room for, and how wide they are.

use super::{Column, Grid, Kind, Writer};
use crate::bar;
use crate::line::wide;
use std::ops::Range;

/// Blanks between columns.
pub(crate) const GAP: usize = 2;

/// What stands over columns may be as wide as the first of these where there is room, otherwise as the next; what is longer is broken.
const OVER: [usize; 3] = [40, 16, 9];

/// A text gets at most so many fifths of the width: a document's texts may be of any length.
const FIFTHS: usize = 2;

/// What is said in words where it has no room has a column of at most this part of the width.
const PART_SAID: usize = 6;

/// A name gets at most so many hundredths, or stands on lines of its own.
const HUNDREDTHS: usize = 55;

/// Whether a text of so many columns may stand before a row's figures.
pub(crate) fn fits_a_name(columns: usize, width: usize) -> bool {
    columns <= width * HUNDREDTHS / 100
}

/// A table as far as it fits.
pub(crate) struct Fitted<'a> {
    pub(super) grid: &'a Grid,
    /// The columns of the terminal.
    pub width: usize,
    /// The columns that are shown, from left to right.
    pub(super) shown: Vec<Shown<'a>>,
    /// What is more spare than this is left out.
    spare: u8,
}

#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub place: usize,
    pub column: &'a Column,
    pub width: usize,
}

/// Columns under the same words: the first and the end among those that are shown, and where they begin and end in a line.
pub(super) struct Group<'a> {
    pub over: &'a str,
    pub is_left: bool,
    pub columns: Range<usize>,
    pub from: usize,
    pub to: usize,
}

impl Grid {
    /// With the columns that there is room for; long texts get less than they need.
    pub fn fitted(&self, width: usize) -> Fitted<'_> {
        let needs: Vec<usize> = (0..self.columns.len()).map(|place| self.needs(place, width)).collect();
        let most = self.columns.iter().map(|column| column.spare).max().unwrap_or(0);
        let has_over = self.columns.iter().any(|column| !column.over.is_empty());
        let overs = if has_over { &OVER[..] } else { &OVER[..1] };
        let mut choices = (0..=most).rev().flat_map(|spare| overs.iter().map(move |over| (spare, *over)));
        let fits = choices.find_map(|(spare, over)| {
            Some(self.with(spare, over, width, &needs)).filter(|fitted| fitted.needs() <= width)
        });
        let mut fitted = fits.unwrap_or_else(|| self.with(0, OVER[2], width, &needs));
        fitted.narrow();
        fitted.give_the_last_room(&needs);
        fitted.grow(&needs);
        fitted
    }

    /// Without the columns that are more spare than this.
    fn with(&self, spare: u8, over: usize, width: usize, needs: &[usize]) -> Fitted<'_> {
        let is_shown = |column: &Column| column.spare <= spare && !column.is_last;
        let columns = self.columns_of(Writer::Text).filter(|(_, column)| is_shown(column));
        let shown = columns.map(|(place, column)| {
            let most = if column.kind == Kind::Text { width * FIFTHS / 5 } else { usize::MAX };
            Shown { place, column, width: needs[place].min(most) }
        });
        let mut fitted = Fitted { grid: self, width, shown: shown.collect(), spare };
        fitted.widen(over);
        fitted
    }

    /// The width of what stands in a column.
    fn needs(&self, place: usize, width: usize) -> usize {
        let Column { heading, least, kind, .. } = &self.columns[place];
        let cells = self.rows.iter().map(|row| wide(&row.cells[place].words(" ")));
        let cells = cells.filter(|cell| *kind != Kind::Name || fits_a_name(*cell, width));
        cells.max().unwrap_or(0).max(wide(heading)).max(*least)
    }
}

impl Fitted<'_> {
    /// Where the columns begin.
    pub(super) fn starts(&self) -> Vec<usize> {
        let mut end = 0;
        let start = |(number, shown): (usize, &Shown)| {
            let start = end + shown.column.gap.unwrap_or(if number == 0 { 0 } else { GAP });
            end = start + shown.width;
            start
        };
        self.shown.iter().enumerate().map(start).collect()
    }

    /// Where the last column ends.
    pub(super) fn end(&self) -> usize {
        self.starts().last().zip(self.shown.last()).map_or(0, |(start, last)| start + last.width)
    }

    /// The width of all, with what stands over columns.
    fn needs(&self) -> usize {
        let groups = self.groups();
        let overs = groups.iter().filter(|group| group.is_left).map(|group| group.from + wide(group.over));
        overs.max().unwrap_or(0).max(self.end())
    }

    /// Neighbours under the same words.
    pub(super) fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group> = Vec::new();
        for (number, (shown, from)) in self.shown.iter().zip(self.starts()).enumerate() {
            let (over, to) = (shown.column.over.as_str(), from + shown.width);
            match groups.last_mut().filter(|last| !over.is_empty() && last.over == over) {
                Some(last) => (last.columns.end, last.to) = (number + 1, to),
                None => {
                    let is_left = shown.column.is_over_left;
                    groups.push(Group { over, is_left, columns: number..number + 1, from, to });
                }
            }
        }
        groups
    }

    /// Gives the first of some columns room for what stands over them, up to so much.
    fn widen(&mut self, most: usize) {
        let need = |group: &Group| wide(group.over).min(most).saturating_sub(group.to - group.from);
        let groups = self.groups();
        let groups = groups.iter().filter(|group| !group.is_left);
        let needs: Vec<(usize, usize)> = groups.map(|group| (group.columns.start, need(group))).collect();
        needs.into_iter().for_each(|(first, more)| self.shown[first].width += more);
    }

    /// Takes from the widest text what the others need.
    fn narrow(&mut self) {
        let excess = self.end().saturating_sub(self.width);
        let texts = self.shown.iter_mut().filter(|shown| shown.column.kind == Kind::Text);
        if let Some(widest) = texts.max_by_key(|shown| shown.width).filter(|_| excess > 0) {
            widest.width = widest.width.saturating_sub(excess).max(1);
        }
    }

    /// Shows the columns that come behind all others, as far as there is room for them; for what could be said in words, with the gap
    /// before these.
    fn give_the_last_room(&mut self, needs: &[usize]) {
        let grid = self.grid;
        for (place, column) in grid.columns_of(Writer::Text).filter(|(_, column)| column.is_last) {
            let most = if column.or_said { self.width / PART_SAID } else { usize::MAX };
            let (width, behind) = (needs[place].min(most), if column.or_said { GAP } else { 0 });
            let before = column.gap.unwrap_or(GAP);
            if column.spare <= self.spare && self.end() + before + width + behind <= self.width {
                self.shown.push(Shown { place, column, width });
            }
        }
    }

    /// Gives texts what is left, as far as they need it, and bars; but where words follow, it is theirs.
    fn grow(&mut self, needs: &[usize]) {
        if self.grid.words.as_ref().is_some_and(|words| words.below.is_some()) {
            return;
        }
        let mut room = self.width.saturating_sub(self.end());
        for shown in &mut self.shown {
            let most = match shown.column.kind {
                Kind::Text => needs[shown.place],
                Kind::Bar => *bar::COLUMNS.end(),
                Kind::Word | Kind::Number | Kind::Name => 0,
            };
            let more = most.saturating_sub(shown.width).min(room);
            (shown.width, room) = (shown.width + more, room - more);
        }
    }

    /// Whether a column with this heading is shown.
    pub fn has(&self, heading: &str) -> bool {
        self.shown.iter().any(|shown| shown.column.heading == heading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Cell;

    fn written(grid: &Grid, width: usize) -> String {
        let mut out = String::new();
        grid.lines(width).iter().for_each(|line| line.write(false, &mut out));
        out
    }

    #[test]
    fn a_narrow_terminal_loses_columns_in_their_order_and_no_text() {
        let grid = Grid::of(&["a name of several words", "abcdefghijklmnopqrstuvwxyz"])
            .column(Column::text("name"), |name| *name)
            .column(Column::number("cost"), |_| 22.5)
            .column(Column::number("±").spare(2), |_| "±1")
            .column(Column::number("share").spare(1), |_| Cell::Absent)
            .grid();
        let letters = |text: &str| text.split_whitespace().collect::<String>();
        let mut seen = Vec::new();
        for width in 12..=60 {
            let text = written(&grid, width);
            assert!(text.lines().all(|line| wide(line) <= width), "{width}: {text}");
            seen.push(["cost", "share", "±"].map(|heading| text.contains(heading)));
            let names = text.lines().skip(1).map(|line| line.split("  ").next().unwrap_or_default());
            let names = letters(&names.collect::<String>());
            assert_eq!(names, "anameofseveralwordsabcdefghijklmnopqrstuvwxyz", "{width}: {text}");
        }
        seen.dedup();
        assert_eq!(seen, [[true, false, false], [true, true, false], [true, true, true]]);
    }

    #[test]
    fn what_stands_over_columns_is_broken_or_widens_them() {
        let over = "a configuration of many words";
        let grid = Grid::of(&[1.0])
            .column(Column::text("part"), |_| "all")
            .column(Column::number("count").over(over), |number| *number)
            .column(Column::number("share").over(over).spare(1), |_| "100 %")
            .grid();
        for width in [20, 30, 60] {
            let text = written(&grid, width);
            assert!(text.lines().all(|line| wide(line) <= width), "{width}: {text}");
            let head: Vec<&str> = text.lines().collect();
            let letters = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(letters(&head[..head.len() - 2].concat()), letters(over), "{width}: {text}");
        }
        let left = Grid::of(&[1.0]).column(Column::number("n").over_left("over all of it"), |n| *n).grid();
        assert_eq!(written(&left, 20), "over all of it\nn\n1\n");
    }
}

//! Rows that begin with a marked name, under headings of several such rows.

use super::cell::MARK_GAP;
use super::fit::Fitted;
use super::{Cell, Row};
use crate::line::{Line, look, wide, wrapped};

/// Where the second line of a name begins.
const HANG: usize = 4;

impl Fitted<'_> {
    /// The width of the names.
    fn name(&self) -> usize {
        self.shown.first().map_or(0, |name| name.width)
    }

    /// A heading of several rows, and behind it those of the columns if rows have any, unless it is too long for that.
    pub fn headed(&self, heading: &str, has_columns: bool) -> Line {
        let mut line = Line::new(look::HEADING, heading);
        let has_room = has_columns && line.width() <= self.name();
        for (shown, start) in self.shown.iter().zip(self.starts()).skip(1).filter(|_| has_room) {
            line.blank_to(start);
            shown.push(&mut line, look::FAINT, &shown.column.heading);
        }
        line
    }

    /// The name of a row and the line that goes on behind it. A name that is too long stands on lines of its own.
    pub fn named(&self, row: &Row) -> (Vec<Line>, Line) {
        let Some(cell @ Cell::Marked { mark: (mark, look), names, second }) = row.cells.first() else {
            return (Vec::new(), Line::default());
        };
        let mut line = Line::new(*look, mark);
        line.blank(MARK_GAP);
        let mut lines = Vec::new();
        if wide(&cell.words("")) <= self.name() {
            line.push(look::PLAIN, &names[0]);
            line.blank_to(*second);
            line.push(look::PLAIN, &names[1]);
        } else {
            lines = wrapped(line, look::PLAIN, &names.join(" "), self.width, HANG);
            line = Line::default();
        }
        line.blank_to(self.name());
        (lines, line)
    }

    pub(super) fn row_of_name(&self, row: &Row) -> Vec<Line> {
        let (mut lines, mut line) = self.named(row);
        for (shown, start) in self.shown.iter().zip(self.starts()).skip(1) {
            line.blank_to(start);
            shown.push(&mut line, shown.column.look.unwrap_or(row.weight.look()), &row.written(shown));
        }
        lines.push(line);
        self.with_words(lines, &self.said(row))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Grid, Words};
    use super::*;

    fn text(width: usize, long: &str) -> String {
        let items = [("int80", "none"), ("syscall", long)];
        let marked = |(first, second): &(&str, &str)| Cell::Marked {
            mark: ("=", look::GOOD),
            names: [(*first).into(), (*second).into()],
            second: 11,
        };
        let bar = |_: &_| Cell::Bar(1.0, |part, columns| "#".repeat((part * columns as f64) as usize));
        let grid = Grid::of(&items)
            .column(Column::name(""), marked)
            .column(Column::number("cost").gap(1), |_| 12.5)
            .column(Column::number("±").gap(1).spare(1), |_| "±0.25")
            .column(Column::bar("log").gap(1), bar)
            .grid();
        let fitted = grid.fitted(width);
        let rows = grid.rows().iter().flat_map(|row| fitted.row(row));
        let mut out = String::new();
        [fitted.headed("same: 2", true)].into_iter().chain(rows).for_each(|line| line.write(false, &mut out));
        assert!(out.lines().all(|line| wide(line) <= width), "{width}: {out}");
        out
    }

    #[test]
    fn second_names_are_aligned_and_a_bar_gets_the_room_that_is_left() {
        assert_eq!(
            text(40, "getppid"),
            "same: 2            cost     ± log\n\
             = int80    none    12.5 ±0.25 ##########\n\
             = syscall  getppid 12.5 ±0.25 ##########\n"
        );
        assert!(text(80, "getppid").contains(&format!(" {}\n", "#".repeat(24))));
        assert!(!text(34, "getppid").contains('#') && text(34, "getppid").contains('±'));
    }

    /// They were left out behind such rows.
    #[test]
    fn words_stand_behind_a_named_row_and_say_what_has_no_column() {
        let grid = Grid::of(&[""])
            .column(Column::name(""), |_| Cell::Marked {
                mark: ("=", look::GOOD),
                names: ["int80".into(), "none".into()],
                second: 8,
            })
            .column(Column::text("needs").or_said(), |_| "PCID")
            .words(Words::BEHIND, |_| "said of it".into())
            .grid();
        let written = |width: usize| {
            let mut out = String::new();
            let fitted = grid.fitted(width);
            grid.rows().iter().flat_map(|row| fitted.row(row)).for_each(|line| line.write(false, &mut out));
            out
        };
        assert_eq!(written(60), "= int80 none  PCID   said of it\n");
        assert_eq!(written(16), "= int80 none\n      needs\n      PCID; said\n      of it\n");
    }

    #[test]
    fn a_long_name_stands_on_lines_of_its_own() {
        let text = text(60, "clock_gettime-monotonic with a configuration of many words");
        assert!(
            text.contains("= syscall clock_gettime-monotonic with a configuration of\n    many words\n   "),
            "{text}"
        );
        assert!(text.contains("= int80    none 12.5"), "{text}");
    }
}

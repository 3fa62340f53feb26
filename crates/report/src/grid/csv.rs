//! A grid as RFC 4180 wants it; all CSV is written here. What the cells say may come from outside.

use super::{Cell, Grid, Writer};
use crate::Error;
use crate::figure::ABSENT;
use crate::plain::plain;
use ::csv::{Terminator, WriterBuilder};

/// Between names.
const BETWEEN: &str = ";";

impl Grid {
    /// A line of names, and one for each row.
    pub fn csv(&self) -> Result<Vec<u8>, Error> {
        let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
        let failed = |error: ::csv::Error| Error::Csv(error.to_string());
        let heading = self.columns_of(Writer::Csv);
        let heading = heading.map(|(_, column)| harmless(column.key.unwrap_or(&column.heading)));
        writer.write_record(heading).map_err(failed)?;
        for row in &self.rows {
            let cells = self.columns_of(Writer::Csv).map(|(place, _)| written(&row.cells[place]));
            writer.write_record(cells).map_err(failed)?;
        }
        writer.into_inner().map_err(|error| Error::Csv(error.to_string()))
    }
}

fn written(cell: &Cell) -> String {
    match cell {
        Cell::Absent => String::new(),
        cell => harmless(&cell.words(BETWEEN)),
    }
}

/// A cell in which nothing steers a terminal, and that a spreadsheet does not take for a formula: before one that begins as formulas
/// do, in any of their widths, stands an apostrophe, which spreadsheets read as "this is text". Numbers are no formulas.
fn harmless(text: &str) -> String {
    let text = plain(text);
    let begins = text.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    let is_number = |part: &str| part.parse::<f64>().is_ok();
    match begins && text != ABSENT && !text.split(BETWEEN).all(is_number) {
        true => format!("'{text}"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Column;
    use super::*;

    #[test]
    fn a_cell_steers_no_terminal_and_is_no_formula() {
        for (text, written) in [
            ("\u{1b}]0;title\u{7}", r"\u{1b}]0;title\u{7}"),
            ("two\r\nlines", "two  lines"),
            ("=1+1", "'=1+1"),
            ("+1-1", "'+1-1"),
            ("-1+1", "'-1+1"),
            ("--", "'--"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "' =1"),
            ("\r@x", "' @x"),
            ("＝1", "'＝1"),
            ("-1;=1", "'-1;=1"),
        ] {
            assert_eq!(harmless(text), written);
        }
    }

    #[test]
    fn a_number_stays_a_number() {
        for text in ["-0.17", "+3", "-1e-7", "-1.5;-2", "-", "", "0.25:1296", "linux", "a=b", "1+1"] {
            assert_eq!(harmless(text), text);
        }
    }

    /// A tag of a run passed its escape sequences on to the terminal, and a formula to the spreadsheet.
    #[test]
    fn every_cell_is_written_so_and_what_is_absent_is_empty() {
        let items = ["\u{1b}[2J", "=HYPERLINK(\"http://x\",\"y\")"];
        let grid = Grid::of(&items)
            .column(Column::text("name").key("=key"), |item| *item)
            .column(Column::number("only a terminal's").only(Writer::Text), |_| 1.0)
            .column(Column::number("number"), |_| -2.0)
            .column(Column::number("unknown"), |_| None::<f64>)
            .column(Column::text("names"), |_| Cell::Names(vec!["a".into(), "b".into()]));
        assert_eq!(
            String::from_utf8(grid.grid().csv().unwrap()).unwrap(),
            "'=key,number,unknown,names\r\n\\u{1b}[2J,-2,,a;b\r\n\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\",-2,,a;b\r\n"
        );
    }
}

//! A grid as a table of GitHub's Markdown.

use super::{Cell, Column, Grid, Kind, Row, Weight, Writer};
use crate::escape::{code, escaped};
use crate::figure::ABSENT;

impl Grid {
    pub fn markdown(&self) -> String {
        let columns = || self.columns_of(Writer::Markdown).map(|(_, column)| column);
        let words = self.words.as_ref();
        let headings = columns().map(heading).chain(words.map(|words| words.alone.to_owned()));
        let rule = |column: &Column| if column.kind == Kind::Number { "---:" } else { "---" }.to_owned();
        let rules = columns().map(rule).chain(words.map(|_| "---".to_owned()));
        let rows = self.rows.iter().map(|row| line(self.cells(row)));
        [line(headings), line(rules)].into_iter().chain(rows).collect()
    }

    fn cells(&self, row: &Row) -> impl Iterator<Item = String> {
        let cells = self.columns_of(Writer::Markdown).map(|(place, _)| &row.cells[place]);
        let cells = cells.map(|cell| match (row.weight, written(cell)) {
            (Weight::Sum, text) if !text.is_empty() => format!("**{text}**"),
            (_, text) => text,
        });
        cells.chain(self.words.as_ref().map(|_| escaped(&row.words)))
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// With what stands over it.
fn heading(column: &Column) -> String {
    let Column { alone, over, heading, .. } = column;
    match (alone, over.as_str(), heading.as_str()) {
        (Some(alone), ..) => escaped(alone),
        (None, "", heading) => escaped(heading),
        (None, over, "") => escaped(over),
        (None, over, heading) => escaped(&format!("{over}: {heading}")),
    }
}

fn written(cell: &Cell) -> String {
    match cell {
        Cell::Absent => ABSENT.to_owned(),
        Cell::Text(text) => escaped(text),
        Cell::Number(text) => text.clone(),
        Cell::Names(names) => names.iter().map(|name| code(name)).collect::<Vec<_>>().join(" "),
        Cell::Strong(text) => format!("**{}**", escaped(text)),
        Cell::Marked { names, .. } => escaped(&names.join(" ")),
        Cell::Bar(..) => String::new(),
        Cell::Several(cells) => cells.iter().map(written).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Words;
    use super::*;

    #[test]
    fn every_row_has_a_cell_for_each_heading_whatever_is_in_it() {
        let items = ["a|b", "<x>\n"];
        let grid = Grid::of(&items)
            .column(Column::text("key").only(Writer::Text), |_| "not in Markdown")
            .column(Column::text("a|b"), |item| *item)
            .column(Column::text("name"), |item| Cell::name(*item))
            .column(Column::number("count").over("of|all"), |_| Cell::Number("~1".into()))
            .column(Column::number("ns").over("x").alone("in ns"), |_| None::<f64>)
            .column(Column::text(""), |item| Cell::Several(vec![Cell::Strong((*item).into()), "_".into()]))
            .words(Words { alone: "what", ..Words::BEHIND }, |item| item.to_string())
            .weight(|item| if item.starts_with('<') { Weight::Sum } else { Weight::Ordinary });
        assert_eq!(
            grid.grid().markdown(),
            r"| a\|b | name | of\|all: count | in ns |  | what |
| --- | --- | ---: | ---: | --- | --- |
| a\|b | a\|b | ~1 | - | **a\|b**\_ | a\|b |
| **\<x\> ** | **`<x> `** | **~1** | **-** | ****\<x\> **\_** | \<x\>  |
"
        );
    }
}

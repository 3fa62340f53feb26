//! A table: columns, and rows of typed cells. Who has something to show says which columns there are and what each of its items has in
//! them; `text`, `markdown` and `csv` write it. A new column is one line, and no row is longer than another.
//!
//! All Markdown and CSV are written here. What a terminal shows of a run (`text/columns` and `text/matrix`) and of instructions
//! (`anatomy/executed`), trees, bars and the page have layouts of their own; where such a layout is a table, its module says why it is no grid.

mod cell;
mod csv;
mod fit;
mod markdown;
mod named;
mod text;

pub(crate) use cell::Cell;
pub(crate) use fit::{Fitted, GAP, fits_a_name};

use crate::bar;
use crate::line::look;

/// A format that tables are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writer {
    Text,
    Markdown,
    Csv,
}

/// How the cells of a column stand in a terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    /// At the left; what is too long is broken.
    #[default]
    Text,
    /// At the left, whole.
    Word,
    /// At the right, whole.
    Number,
    /// At the left; what is too long stands on lines of its own.
    Name,
    /// As long as there is room for it.
    Bar,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Column {
    heading: String,
    /// What stands over its heading, and over that of its neighbours that have the same; empty where nothing does.
    over: String,
    /// Whether that begins with the columns, and does not end with them.
    is_over_left: bool,
    /// What it is called in Markdown, where nothing stands over headings.
    alone: Option<String>,
    /// What it is called in CSV.
    key: Option<&'static str>,
    kind: Kind,
    /// The one writer that has it, if not all do.
    only: Option<Writer>,
    /// Where a terminal has no room, columns of the greatest number are left out first; those of 0 never.
    spare: u8,
    /// Whether it gets room behind all others that are as spare.
    is_last: bool,
    /// Whether its cells are said among the words behind the row where there is no room for them.
    or_said: bool,
    /// Blanks before it, if not as usual.
    gap: Option<usize>,
    /// The least width.
    least: usize,
    /// The look of its cells, if not that of the row.
    look: Option<anstyle::Style>,
}

impl Column {
    fn new(heading: impl Into<String>, kind: Kind) -> Column {
        Column { heading: heading.into(), kind, ..Column::default() }
    }

    pub fn text(heading: impl Into<String>) -> Column {
        Column::new(heading, Kind::Text)
    }

    pub fn word(heading: impl Into<String>) -> Column {
        Column::new(heading, Kind::Word)
    }

    pub fn number(heading: impl Into<String>) -> Column {
        Column::new(heading, Kind::Number)
    }

    /// The first column, which is also as wide as its heading.
    pub fn name(heading: impl Into<String>) -> Column {
        Column::new(heading, Kind::Name)
    }

    pub fn bar(heading: impl Into<String>) -> Column {
        Column { is_last: true, least: *bar::COLUMNS.start(), ..Column::new(heading, Kind::Bar) }
    }

    pub fn over(self, over: &str) -> Column {
        Column { over: over.into(), ..self }
    }

    pub fn over_left(self, over: &str) -> Column {
        Column { is_over_left: true, ..self.over(over) }
    }

    pub fn alone(self, name: impl Into<String>) -> Column {
        Column { alone: Some(name.into()), ..self }
    }

    pub fn key(self, key: &'static str) -> Column {
        Column { key: Some(key), ..self }
    }

    pub fn only(self, writer: Writer) -> Column {
        Column { only: Some(writer), ..self }
    }

    pub fn spare(self, spare: u8) -> Column {
        Column { spare, ..self }
    }

    pub fn or_said(self) -> Column {
        Column { or_said: true, is_last: true, ..self }
    }

    pub fn gap(self, gap: usize) -> Column {
        Column { gap: Some(gap), ..self }
    }

    pub fn least(self, least: usize) -> Column {
        Column { least, ..self }
    }

    pub fn look(self, look: anstyle::Style) -> Column {
        Column { look: Some(look), ..self }
    }

    fn is_of(&self, writer: Writer) -> bool {
        self.only.is_none_or(|only| only == writer)
    }
}

/// How much a row says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Ordinary,
    /// It has no figure.
    Without,
    Sum,
}

impl Weight {
    fn look(self) -> anstyle::Style {
        match self {
            Weight::Ordinary => look::PLAIN,
            Weight::Without => look::FAINT,
            Weight::Sum => look::NAME,
        }
    }
}

/// Where the words that follow rows stand. In Markdown they are the last column.
#[derive(Debug, Clone)]
pub(crate) struct Words {
    /// Above them in a terminal, and in Markdown.
    pub heading: &'static str,
    pub alone: &'static str,
    pub look: anstyle::Style,
    /// They get at least so many columns beside the cells.
    pub least: usize,
    /// Where there is no room beside the cells, they stand below, indented by so much; otherwise they are left out.
    pub below: Option<usize>,
    /// Where their second line begins, if not below the first.
    pub hang: Option<usize>,
}

impl Words {
    /// As far as there is any room behind the cells, they stand there.
    pub const BEHIND: Words =
        Words { heading: "", alone: "", look: look::PLAIN, least: 0, below: Some(8), hang: None };
}

pub(crate) struct Row {
    cells: Vec<Cell>,
    weight: Weight,
    words: String,
}

/// A table.
pub(crate) struct Grid {
    columns: Vec<Column>,
    rows: Vec<Row>,
    words: Option<Words>,
}

/// What a column is called, and what of an item stands in it.
pub(crate) type Named<T, V = f64> = (&'static str, fn(&T) -> Option<V>);

/// A table of items, of which each is a row.
pub(crate) struct Items<'a, T> {
    items: &'a [T],
    grid: Grid,
}

impl Grid {
    pub fn of<T>(items: &[T]) -> Items<'_, T> {
        let row = |_| Row { cells: Vec::new(), weight: Weight::Ordinary, words: String::new() };
        let rows = items.iter().map(row).collect();
        Items { items, grid: Grid { columns: Vec::new(), rows, words: None } }
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The columns that a writer has, with their places.
    fn columns_of(&self, writer: Writer) -> impl Iterator<Item = (usize, &Column)> {
        self.columns.iter().enumerate().filter(move |(_, column)| column.is_of(writer))
    }
}

impl<'a, T> Items<'a, T> {
    fn each(mut self, give: impl Fn(&mut Row, &'a T)) -> Self {
        self.grid.rows.iter_mut().zip(self.items).for_each(|(row, item)| give(row, item));
        self
    }

    /// With a column more, and a cell of it for each item.
    pub fn column<C: Into<Cell>>(mut self, column: Column, cell: impl Fn(&'a T) -> C) -> Self {
        self.grid.columns.push(column);
        self.each(|row, item| row.cells.push(cell(item).into()))
    }

    /// With a column more, if it is there.
    pub fn maybe<C: Into<Cell>>(self, column: Option<Column>, cell: impl Fn(&'a T) -> C) -> Self {
        match column {
            Some(column) => self.column(column, cell),
            None => self,
        }
    }

    /// With the columns of each of these.
    pub fn for_each<I>(self, of: impl IntoIterator<Item = I>, with: impl Fn(Self, I) -> Self) -> Self {
        of.into_iter().fold(self, with)
    }

    pub fn weight(self, weight: impl Fn(&'a T) -> Weight) -> Self {
        self.each(|row, item| row.weight = weight(item))
    }

    /// With words behind rows.
    pub fn words(mut self, words: Words, text: impl Fn(&'a T) -> String) -> Self {
        self.grid.words = Some(words);
        self.each(|row, item| row.words = text(item))
    }

    pub fn grid(self) -> Grid {
        self.grid
    }
}

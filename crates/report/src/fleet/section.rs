//! A part of a report: sentences, and a table under them.

use crate::grid::{self, Cell, Grid};

/// A part of a report.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// Names it in addresses.
    pub id: &'static str,
    /// Empty of the part that everything begins with.
    pub heading: String,
    pub sentences: Vec<String>,
    pub table: Table,
}

/// A table of texts from outside, which whoever writes them makes harmless.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub columns: Vec<Heading>,
    pub rows: Vec<Vec<String>>,
}

/// What stands above a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heading {
    pub name: &'static str,
    pub kind: Kind,
}

/// How the cells of a column stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a figure that stays whole.
    Word,
    Number,
    /// What may be broken.
    Text,
    /// What a narrow terminal does without, the ones of greatest number first.
    SpareWord(u8),
    SpareNumber(u8),
    SpareText(u8),
}

/// What a column is called, how its cells stand, and what of an item stands in it.
pub(super) type Column<T> = (&'static str, Kind, fn(&T) -> String);

impl Section {
    /// Nothing where there is no row.
    pub fn of<T>(id: &'static str, heading: &str, items: &[T], columns: &[Column<T>]) -> Option<Section> {
        let cells = |item: &T| columns.iter().map(|(_, _, cell)| cell(item)).collect();
        let table = Table {
            columns: columns.iter().map(|(name, kind, _)| Heading { name, kind: *kind }).collect(),
            rows: items.iter().map(cells).collect(),
        };
        (!items.is_empty()).then(|| Section { id, heading: heading.to_owned(), sentences: Vec::new(), table })
    }

    pub fn with(mut self, sentence: impl Into<String>) -> Section {
        self.sentences.push(sentence.into());
        self
    }
}

impl Table {
    /// For a terminal and for Markdown.
    pub fn grid(&self) -> Grid {
        let columns = self.columns.iter().enumerate();
        Grid::of(&self.rows)
            .for_each(columns, |items, (place, heading)| {
                items.column(heading.column(), move |row| Cell::from(&row[place]))
            })
            .grid()
    }
}

impl Heading {
    fn column(self) -> grid::Column {
        match self.kind {
            Kind::Word => grid::Column::word(self.name),
            Kind::Number => grid::Column::number(self.name),
            Kind::Text => grid::Column::text(self.name),
            Kind::SpareWord(spare) => grid::Column::word(self.name).spare(spare),
            Kind::SpareText(spare) => grid::Column::text(self.name).spare(spare),
            Kind::SpareNumber(spare) => grid::Column::number(self.name).spare(spare),
        }
    }

    pub fn is_number(self) -> bool {
        matches!(self.kind, Kind::Number | Kind::SpareNumber(_))
    }
}

//! What stands in the cells of a grid.

use super::named::MARK_GAP;
use super::text::wide;
use crate::figure::ABSENT;

/// What stands in a cell.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    /// Nothing is known: `-`, and in CSV nothing.
    Absent,
    Text(String),
    /// A number as it is written here, or with every digit for CSV: nothing in it has to be escaped.
    Number(String),
    /// Names that a command line takes: code in Markdown, with `;` between them in CSV.
    Names(Vec<String>),
    /// Words that stand out.
    Strong(String),
    /// A sign with a look of its own, and two names. The second begins where that of other rows does, if there is room.
    Marked {
        mark: (&'static str, anstyle::Style),
        names: [String; 2],
        second: usize,
    },
    /// A bar for a number, drawn as long as there is room for it.
    Bar(f64, fn(f64, usize) -> String),
    /// One behind the other.
    Several(Vec<Cell>),
}

impl Cell {
    pub fn name(name: impl Into<String>) -> Cell {
        Cell::Names(vec![name.into()])
    }

    /// A number that is only said where it is not 0: a few stand out among blanks.
    pub fn unless_0(count: usize) -> Cell {
        if count == 0 { Cell::from("") } else { Cell::from(count) }
    }

    /// For a reader, with so much between names.
    pub(super) fn words(&self, between: &str) -> String {
        match self {
            Cell::Absent => ABSENT.to_owned(),
            Cell::Text(text) | Cell::Number(text) | Cell::Strong(text) => text.clone(),
            Cell::Names(names) => names.join(between),
            Cell::Marked { mark: (mark, _), names: [first, second], second: at } => {
                let blanks = at.saturating_sub(wide(mark) + MARK_GAP + wide(first));
                format!("{mark}{}{first}{}{second}", " ".repeat(MARK_GAP), " ".repeat(blanks))
            }
            Cell::Bar(..) => String::new(),
            Cell::Several(cells) => cells.iter().map(|cell| cell.words(between)).collect(),
        }
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Cell {
        cell.map_or(Cell::Absent, T::into)
    }
}

macro_rules! cells {
    ($cell:ident of $($value:ty)*) => {$(
        impl From<$value> for Cell {
            /// A number with every digit that it has.
            fn from(value: $value) -> Cell {
                Cell::$cell(value.to_string())
            }
        }
    )*};
}

cells!(Text of &str &String String);
cells!(Number of f64 u8 u16 u32 u64 usize);

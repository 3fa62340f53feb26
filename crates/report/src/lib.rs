//! Reports: from a run document (or the table of entries) to bytes. Nothing here prints, reads a clock or computes
//! anything but layout; a ratio and the length of a bar are layout.
//!
//! An absent number is `-` in text, Markdown and HTML, empty in CSV and `null` in JSON, never 0. Text from outside (names,
//! reasons, the environment) goes through the `plain` module, so that it cannot steer a terminal;
//! what becomes HTML is escaped by its template.

#![forbid(unsafe_code)]

mod anatomy;
mod arrange;
mod ascii;
mod assembly;
mod bar;
mod bill;
mod catalogue;
mod cells;
mod compare;
mod configuration;
mod csv;
mod doctor;
mod escape;
mod export;
mod fact;
mod figure;
mod first_screen;
mod fleet;
mod format;
mod frame;
mod grid;
mod guest;
mod head;
mod history;
mod impact;
mod json;
mod kernels;
mod lab;
mod line;
mod list;
mod loops;
mod machine;
mod markdown;
mod metrics;
mod page;
mod picture;
mod plain;
mod prose;
mod reproduction;
mod runs;
mod summary;
mod tax;
mod text;

pub use anatomy::{anatomy, anatomy_parts};
pub use ascii::ascii;
pub use assembly::assembly;
pub use bill::{bill, price};
pub use catalogue::{CATALOGUE_SCHEMA, Files, catalogue};
pub use compare::{answer, comparison, refusal};
pub use doctor::{Described, checks, checkup, unknown_status};
pub use export::exported;
pub use fleet::{fleet, roll_out};
pub use format::{Format, Kind, UnknownFormat};
pub use guest::unverified;
pub use impact::impact;
pub use kernels::names_kernels;
pub use list::list;
pub use page::{MOST_RUNS, PageRun, page};
pub use plain::{plain, plain_os};
pub use prose::prose;
pub use reproduction::{publications, reproduction};
pub use runs::{runs, short};
pub use summary::{origin, summary_of_row};
pub use tax::{layers, tax};

use document::Document;
use table::Table;

/// The least width of a text report, in terminal columns; narrower terminals get this.
pub const MIN_WIDTH: usize = 60;

/// How a report for people looks. JSON is the same in every style, and so is CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether text may contain the escape sequences of colors.
    pub color: bool,
    /// Width of the text in terminal columns, at least [`MIN_WIDTH`].
    pub width: usize,
    /// Whether to show every figure of a row, and everything about the machine.
    pub verbose: bool,
    /// Which rows to show.
    pub selection: Selection,
}

/// Which rows a report for people shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// Those that answer a newcomer's question, in 40 lines of 100 columns; everything where a document has few rows or is
    /// of the lab.
    FirstScreen,
    /// Every row.
    All,
}

/// The lines of a screen, in a terminal of so many columns.
const SCREEN: (usize, usize) = (40, 100);

impl Style {
    fn columns(&self) -> usize {
        self.width.max(MIN_WIDTH)
    }

    /// The lines that a first screen may take. A narrower terminal takes more for the same words.
    fn screen(&self) -> usize {
        let (lines, columns) = SCREEN;
        lines * columns / self.columns().min(columns)
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The document does not become JSON.
    #[error("JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A comparison does not become XML.
    #[error("XML: {0}")]
    Xml(String),
    /// The rows do not become CSV.
    #[error("CSV: {0}")]
    Csv(String),
    /// No such result is written so.
    #[error("{} is written as {}, and not as {format}", kind.name, kind.in_words())]
    Format {
        /// What it is.
        kind: Kind,
        /// What was asked for.
        format: Format,
    },
    /// The page does not become HTML.
    #[error("HTML: {0}")]
    Page(#[from] askama::Error),
}

impl Error {
    fn unfit(kind: Kind, format: Format) -> Error {
        Error::Format { kind, format }
    }
}

/// A run document in `format`. The table gives the groups and titles of the entries.
///
/// # Errors
/// [`Error`] when a serializer refuses; no document that was loaded or measured makes it do so.
pub fn render(document: &Document, table: &Table, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    match format {
        Format::Text => Ok(text::render(document, table, style)),
        Format::Json => json::render(document),
        Format::Csv => csv::render(document),
        Format::Markdown => Ok(markdown::render(document, table, style)),
        Format::Ndjson => Ok(export::lines(document)),
        Format::Svg if names_kernels(document) => kernels::svg(document, table, style),
        _ => Err(Error::unfit(Kind::RUN, format)),
    }
}

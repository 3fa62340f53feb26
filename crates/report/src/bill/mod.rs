//! A bill: what each step of a profile adds to an entry, and a path that adds up.

mod bars;
mod csv;
mod format;
mod markdown;
mod path;
mod svg;
mod table;
mod text;
mod words;

pub use format::BillFormat;

use crate::{Error, Style, json};
use attribution::bill::Bill;

/// A bill, in `format`. A verbose text or Markdown has every configuration that was measured.
///
/// # Errors
/// [`Error`] when a serializer refuses; no bill that was loaded or measured makes it do so.
pub fn bill(bill: &Bill, format: BillFormat, style: &Style) -> Result<Vec<u8>, Error> {
    match format {
        BillFormat::Text => Ok(text::render(bill, style)),
        BillFormat::Json => json::render(bill),
        BillFormat::Csv => csv::render(bill),
        BillFormat::Markdown => Ok(markdown::render(bill, style)),
        BillFormat::Svg => svg::render(bill),
    }
}

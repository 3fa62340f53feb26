//! A bill: what each step of a profile adds to an entry, and a path that adds up.

mod bars;
mod csv;
mod markdown;
mod path;
mod price;
mod ring3;
mod svg;
mod table;
mod text;
mod words;

use crate::{Error, Format, Kind, Style, json};
use attribution::bill::Bill;

pub use price::price;

/// A bill, in `format`. A verbose text or Markdown has every configuration that was measured.
///
/// # Errors
/// [`Error`] when a serializer refuses; no bill that was loaded or measured makes it do so.
pub fn bill(bill: &Bill, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    match format {
        Format::Text => Ok(text::render(bill, style)),
        Format::Json => json::render(bill),
        Format::Csv => csv::render(bill),
        Format::Markdown => Ok(markdown::render(bill, style)),
        Format::Svg => svg::render(bill),
        _ => Err(Error::unfit(Kind::BILL, format)),
    }
}

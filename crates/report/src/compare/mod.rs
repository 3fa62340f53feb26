//! Two sides compared: from a comparison to bytes.
//!
//! Every format says the same, in the same words (`words`), about the same groups of rows (`groups`).

mod again;
mod cases;
mod csv;
mod gate;
pub(crate) mod groups;
pub(crate) mod interval;
mod junit;
mod ktap;
mod markdown;
mod more;
mod table;
mod text;
pub(crate) mod words;

pub use words::{answer, refusal};

use crate::{Error, Format, Kind, Style, json};
use ::compare::Comparison;

/// A comparison in `format`. JSON, CSV, JUnit and KTAP are the same in every style.
///
/// # Errors
/// [`Error`] when a serializer refuses; no comparison makes it do so.
pub fn comparison(compared: &Comparison, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    match format {
        Format::Text => Ok(text::render(compared, style)),
        Format::Markdown => Ok(markdown::render(compared, style)),
        Format::Json => json::render(compared),
        Format::Csv => csv::render(compared),
        Format::Junit => junit::render(compared),
        Format::Ktap => Ok(ktap::render(compared)),
        _ => Err(Error::unfit(Kind::COMPARISON, format)),
    }
}

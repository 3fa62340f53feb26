//! Two sides compared: from a comparison to bytes.
//!
//! Every format says the same, in the same words (`words`), about the same groups of rows (`groups`).

mod again;
mod cases;
mod format;
pub(crate) mod groups;
pub(crate) mod interval;
mod junit;
mod ktap;
mod markdown;
mod more;
mod table;
mod text;
pub(crate) mod words;

pub use format::CompareFormat;
pub use words::{answer, refusal};

use crate::{Error, Style, json};
use ::compare::Comparison;

/// A comparison in `format`. JSON, JUnit and KTAP are the same in every style.
///
/// # Errors
/// [`Error`] when a serializer refuses; no comparison makes it do so.
pub fn comparison(compared: &Comparison, format: CompareFormat, style: &Style) -> Result<Vec<u8>, Error> {
    match format {
        CompareFormat::Text => Ok(text::render(compared, style)),
        CompareFormat::Markdown => Ok(markdown::render(compared, style)),
        CompareFormat::Json => json::render(compared),
        CompareFormat::Junit => junit::render(compared),
        CompareFormat::Ktap => Ok(ktap::render(compared)),
    }
}

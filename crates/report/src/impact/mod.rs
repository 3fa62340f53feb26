//! What share of a workload's CPU time goes into the entries of its system calls.

mod folded;
mod markdown;
mod table;
mod text;
mod words;

use crate::{Error, Format, Kind, Style, json};
use attribution::impact::Impact;

/// An impact, in `format`. A verbose text or Markdown has every call and every process.
///
/// # Errors
/// [`Error`] when a serializer refuses; no impact that was measured makes it do so.
pub fn impact(impact: &Impact, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    match format {
        Format::Text => Ok(text::render(impact, style)),
        Format::Json => json::render(impact),
        Format::Markdown => Ok(markdown::render(impact, style)),
        Format::Folded => Ok(folded::render(impact)),
        _ => Err(Error::unfit(Kind::IMPACT, format)),
    }
}

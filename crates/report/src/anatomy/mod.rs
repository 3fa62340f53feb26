//! Followed paths of a Linux: by part, as a tree of functions, as a listing, as a flame graph; what differs between two, and the lab's
//! profile beside one.

mod beside;
mod csv;
mod difference;
mod executed;
mod flame;
mod listing;
mod markdown;
mod names;
mod parts;
mod several;
mod text;
mod tree;
mod words;

pub use text::parts as anatomy_parts;

use crate::{Error, Format, Kind, Style, json};
use attribution::anatomy::Document;

/// Followed paths, in `format`. A verbose listing has addresses and bytes.
///
/// # Errors
/// [`Error`] when a serializer refuses; no document that was loaded or made makes it do so.
pub fn anatomy(document: &Document, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    match format {
        Format::Text => Ok(text::render(document, style)),
        Format::Parts => Ok(text::parts(document, style)),
        Format::Tree => Ok(tree::render(document, style)),
        Format::Listing => Ok(listing::render(document, style)),
        Format::Folded => Ok(flame::folded(document)),
        Format::Svg => flame::svg(document),
        Format::Json => json::render(document),
        Format::Csv => csv::render(document),
        Format::Markdown => Ok(markdown::render(document)),
        _ => Err(Error::unfit(Kind::ANATOMY, format)),
    }
}

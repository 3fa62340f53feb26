//! Followed paths of a Linux: by part, as a tree of functions, as a listing, as a flame graph; what differs between two, and the lab's
//! profile beside one.

mod beside;
mod csv;
mod difference;
mod executed;
mod flame;
mod format;
mod grid;
mod listing;
mod markdown;
mod names;
mod parts;
mod text;
mod tree;
mod words;

pub use format::AnatomyFormat;
pub use text::parts as anatomy_parts;

use crate::{Error, Style, json};
use attribution::anatomy::Document;

/// Followed paths, in `format`. A verbose listing has addresses and bytes.
///
/// # Errors
/// [`Error`] when a serializer refuses; no document that was loaded or made makes it do so.
pub fn anatomy(document: &Document, format: AnatomyFormat, style: &Style) -> Result<Vec<u8>, Error> {
    match format {
        AnatomyFormat::Text => Ok(text::render(document, style)),
        AnatomyFormat::Parts => Ok(text::parts(document, style)),
        AnatomyFormat::Tree => Ok(tree::render(document, style)),
        AnatomyFormat::Listing => Ok(listing::render(document, style)),
        AnatomyFormat::Folded => Ok(flame::folded(document)),
        AnatomyFormat::Svg => flame::svg(document),
        AnatomyFormat::Json => json::render(document),
        AnatomyFormat::Csv => csv::render(document),
        AnatomyFormat::Markdown => Ok(markdown::render(document)),
    }
}

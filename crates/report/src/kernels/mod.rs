//! Kernels beside each other as a picture: of each row a bar for each kernel, in the order in which they were named, or of a history in that
//! of their versions.

mod charts;
mod svg;

use crate::{Error, Style, history};
use document::Document;
use table::Table;

/// Whether a document is of kernels that the command line named: what there is a picture of.
pub fn names_kernels(document: &Document) -> bool {
    !history::kernels(document).is_empty()
}

/// The picture of a document that names kernels.
///
/// # Errors
/// [`Error`] when the template refuses, which it has no reason to.
pub(crate) fn svg(document: &Document, table: &Table, style: &Style) -> Result<Vec<u8>, Error> {
    svg::render(document, table, style.selection)
}

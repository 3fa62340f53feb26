//! Documents that were saved earlier.

use crate::error::Error;
use document::Document;
use std::io::Read;
use std::path::Path;

/// No document is longer, in bytes.
const LONGEST: u64 = 64 << 20;

/// Reads a run document.
///
/// # Errors
/// [`Error::Input`], saying what is wrong with the file and where.
pub fn document(path: &Path) -> Result<Document, Error> {
    let wrong = |why: String| Error::Input { file: path.to_path_buf(), why };
    let file = std::fs::File::open(path).map_err(|error| wrong(error.to_string()))?;
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).map_err(|error| wrong(error.to_string()))?;
    document::load(&text).map_err(|error| wrong(error.to_string()))
}

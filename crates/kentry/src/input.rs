//! Documents that were saved earlier.

use crate::error::{Error, words};
use document::Document;
use document::LoadError;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// No document is longer, in bytes.
const LONGEST: u64 = 64 << 20;

/// Reads a run document.
///
/// # Errors
/// [`Error::Input`], saying what is wrong with the file and where.
pub fn document(path: &Path) -> Result<Document, Error> {
    let wrong = |why: String| Error::Input { file: path.to_path_buf(), why };
    let file = open(path).map_err(|error| wrong(words(&error)))?;
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text).map_err(|error| wrong(words(&error)))?;
    let text = String::from_utf8(text)
        .map_err(|_| wrong("this is not a document of kentry, but no text at all".into()))?;
    document::load(&text).map_err(|error| wrong(why(&error)))
}

/// A named pipe that nobody writes to is empty, not a wait.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(file)
}

/// In words that do not need the library's.
fn why(error: &LoadError) -> String {
    let LoadError::Shape(shape) = error else {
        return error.to_string();
    };
    let hint = "save one with `kentry --output FILE.json`";
    if shape.is_eof() && shape.line() <= 1 && shape.column() == 0 {
        return format!("the file is empty; {hint}");
    }
    let place = format!("line {}, column {}", shape.line(), shape.column());
    match shape.to_string().strip_prefix("missing field `").and_then(|rest| rest.split_once('`')) {
        _ if shape.is_eof() => format!("the file breaks off at {place}; {hint}"),
        Some((field, _)) => {
            format!("this is not a document of kentry: {field:?} is missing ({place}); {hint}")
        }
        None if shape.is_data() => format!("this is not a document of kentry (see {place}); {hint}"),
        None => format!("this is not JSON (see {place}); {hint}"),
    }
}

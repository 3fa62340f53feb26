//! The parts of a saved anatomy, behind what is explained of its entry.

use crate::error::Error;
use crate::input::{Kept, Saved};
use anatomy::{Document, Followed};
use std::fmt::Write;
use std::path::Path;
use table::{Entry, Table};

/// What a saved anatomy says of the entry that a word means, in Markdown.
///
/// # Errors
/// [`Error::Input`] where the file is none, [`Error::Usage`] where it is of another entry.
pub fn quote(table: &Table, word: &str, file: &Path) -> Result<String, Error> {
    let Saved::Anatomy(document) = Kept::default().saved(file)? else {
        let why = "it is no anatomy; `kentry anatomy ENTRY --output FILE.json` writes one".to_owned();
        return Err(Error::Input { file: file.to_path_buf(), why });
    };
    let followed = document.first().map(|path| path.anatomy.entry.as_str()).unwrap_or_default();
    let is_of_word =
        |entry: &&Entry| entry.name == followed && (entry.name == word || table.family(word).contains(entry));
    if !table.entries.iter().any(|entry| is_of_word(&entry)) {
        let (word, followed) = (report::plain(word), report::plain(followed));
        return Err(Error::Usage(format!("--anatomy: the path is of {followed}, and not of {word}")));
    }
    Ok(document.paths.iter().map(|path| parts(&document, path)).collect())
}

fn parts(document: &Document, path: &Followed) -> String {
    let (anatomy, configuration) = (&path.anatomy, &path.configuration);
    let all = anatomy.instructions.len();
    let mut text = format!(
        "\n## In Linux {}, {}\n\n{all} instructions were executed for {}, of which {} in ring 0 (kentry {}):\n\n",
        report::plain(&configuration.release),
        report::plain(&configuration.name()),
        report::plain(&anatomy.operation),
        anatomy.in_ring(0),
        report::plain(&document.kentry),
    );
    for part in anatomy.parts() {
        let idle = if part.is_off() { "; off here: nothing of it does anything" } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "- `{}`: {}: {}{idle}", part.part.name(), part.count, part.part.what());
    }
    text
}

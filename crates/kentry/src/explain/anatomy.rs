//! The parts of a saved anatomy, behind what is explained of its entry.

use crate::error::Error;
use crate::input::{KeptRuns, Saved};
use attribution::anatomy::{Document, Followed};
use record::trace::Event;
use std::fmt::Write;
use std::path::Path;
use table::{Entry, Table};

/// What a saved anatomy says of the entry that a word means, in Markdown.
///
/// # Errors
/// [`Error::Input`] where the file is none, [`Error::Usage`] where it is of another entry.
pub fn quote(table: &Table, word: &str, file: &Path) -> Result<String, Error> {
    let Saved::Anatomy(document) = KeptRuns::default().saved(file)? else {
        let why = "it is no anatomy; `kentry anatomy ENTRY --output FILE.json` writes one".to_owned();
        return Err(Error::Input { file: file.to_path_buf(), why });
    };
    let followed = document.first().map(|path| path.anatomy.entry.as_str()).unwrap_or_default();
    let is_of_word =
        |entry: &&Entry| entry.name == followed && (entry.name == word || table.family(word).contains(entry));
    let is_event = followed == word && Event::named(word).is_some();
    if !is_event && !table.entries.iter().any(|entry| is_of_word(&entry)) {
        let (word, followed) = (report::plain(word), report::plain(followed));
        return Err(Error::Usage(format!("--anatomy: the path is of {followed}, and not of {word}")));
    }
    Ok(parts(&document))
}

/// The parts of each path.
pub fn parts(document: &Document) -> String {
    document.paths.iter().map(|path| of_path(document, path)).collect()
}

fn of_path(document: &Document, path: &Followed) -> String {
    let (anatomy, configuration) = (&path.anatomy, &path.configuration);
    let all = anatomy.instructions.len();
    let asked = match Event::named(&anatomy.entry) {
        Some(_) => String::new(),
        None => format!(" for {}", report::plain(&anatomy.operation)),
    };
    let mut text = format!(
        "\n## In Linux {}, {}\n\n{all} instructions were executed{}, of which {} in ring 0 (kentry {}):\n\n",
        report::plain(&configuration.release),
        report::plain(&configuration.name()),
        asked,
        anatomy.in_ring(0),
        report::plain(&document.kentry),
    );
    for part in anatomy.parts() {
        let idle = if part.is_off() { ", all idle" } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "- `{}`, {}{idle}: {}", part.part.name(), part.count, part.part.what());
    }
    text
}

//! What `kentry explain` prints.

use document::{Document, Outcome, Row};
use table::{Entry, Kernel};

include!(concat!(env!("OUT_DIR"), "/texts.rs"));

/// The entry's text (`docs/entries/`), and its rows of a run where there is one.
pub fn explain(entry: &Entry, document: Option<&Document>) -> String {
    let mut text = find(entry).map_or(String::new(), |(_, text, _)| text.to_string());
    text.push_str("\n## Measured\n\n");
    let Some(document) = document else {
        text.push_str("No run was given. Save one and name it:\n\n");
        let command = if entry.kernels.contains(&Kernel::Linux) { "kentry" } else { "kentry lab" };
        text.push_str(&format!("    {command} --format json --output run.json\n"));
        text.push_str(&format!("    kentry explain {} --run run.json\n", entry.name));
        return text;
    };
    report::origin(document).iter().for_each(|line| text.push_str(&format!("{line}\n")));
    text.push('\n');
    text.push_str(&rows(entry, document));
    text.push_str(&exports(entry, document));
    text
}

/// A line for each row of the entry; those that are closed for the same reason share one.
fn rows(entry: &Entry, document: &Document) -> String {
    let rows: Vec<&Row> = document.results.iter().filter(|row| row.entry == entry.name).collect();
    let closed = |row: &&&Row| row.outcome != Outcome::Ok && row.reason == rows[0].reason;
    match rows.as_slice() {
        [] => "The run has no row of this entry.\n".into(),
        [first, _, ..] if rows.iter().filter(closed).count() == rows.len() => {
            let why = report::plain(first.reason.as_deref().unwrap_or("-"));
            format!("- all {} operations: {}: {why}\n", rows.len(), first.outcome.name())
        }
        rows => rows.iter().map(|row| format!("- {}\n", report::summary_of_row(row))).collect(),
    }
}

/// Everything that the image exports which the entry's functions are looked up in, timed here or not.
fn exports(entry: &Entry, document: &Document) -> String {
    let is_looked_up = entry.closed.contains_key("no-auxv") && entry.closed.contains_key("no-symbol");
    let image = document.vdso.get(&entry.bits().to_string()).filter(|_| is_looked_up);
    let mut text = image.map_or(String::new(), |_| "\nThe image exports:\n\n".into());
    for export in image.into_iter().flatten() {
        text.push_str(&report::plain(&format!("- {}@{}", export.name, export.version)));
        text.push('\n');
    }
    text
}

/// The complete small program (`docs/examples/`).
pub fn example(entry: &Entry) -> &'static str {
    find(entry).map_or("", |(_, _, example)| example)
}

fn find(entry: &Entry) -> Option<&'static (&'static str, &'static str, &'static str)> {
    TEXTS.iter().find(|(name, _, _)| *name == entry.name)
}

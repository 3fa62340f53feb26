//! A catalogue: a static site of many runs, machines by entries, that anyone can put on any server or open from a disk. Times and counts
//! of instructions never share a table. The same runs make the same bytes, in whatever order they are given.
//!
//! Every text of a run goes through [`plain`] and is escaped by the template; names of files are made of letters that mean nothing to
//! paths, addresses and shells.

mod cell;
mod facts;
mod index;
mod machine;
mod matrix;
mod measure;
mod one;
mod order;
mod path;

use crate::Error;
use crate::plain::plain;
use machine::Machine;
use measure::Measure;
use serde::Serialize;
use summary::{Run, Summary};
use table::Table;

/// The schema of a catalogue's `catalogue.json`.
pub const CATALOGUE_SCHEMA: &str = "kentry.catalogue/1";

/// A catalogue's files: each one's path, relative, with `/`, and its bytes; in the order of their paths.
pub type Files = Vec<(String, Vec<u8>)>;

/// What stands above a catalogue that has no title.
const TITLE: &str = "Ways into the kernel, by machine";

/// A catalogue of runs; one that is given twice stands there once. It is made to be published: nothing in it tells a machine from others that
/// are alike ([`Summary::published`]).
///
/// # Errors
/// [`Error::Page`] or [`Error::Json`] when a template or a serializer refuses, which it has no reason to.
pub fn catalogue(summaries: &[Summary], table: &Table, title: Option<&str>) -> Result<Files, Error> {
    let title = title.map_or_else(|| TITLE.to_owned(), plain);
    let published: Vec<Summary> = summaries.iter().map(Summary::published).collect();
    let machines = machine::all(&published);
    let mut files = vec![
        ("index.html".to_owned(), index::page(&machines, table, &title)?),
        ("catalogue.json".to_owned(), json(&machines, &title)?),
    ];
    for entry in matrix::entries(&machines, table) {
        files.push((path::of_entry(table, entry), index::of_entry(&machines, table, entry, &title)?));
    }
    for machine in &machines {
        files.push((path::of_page(&machine.slug), one::page(machine, &title)?));
        files.push((path::of_data(&machine.slug), summary::write(machine.summary)));
    }
    files.sort();
    Ok(files)
}

/// `catalogue.json`.
#[derive(Serialize)]
struct Listed<'a> {
    schema: &'static str,
    title: &'a str,
    kentry: &'static str,
    runs: Vec<ListedRun<'a>>,
}

#[derive(Serialize)]
struct ListedRun<'a> {
    page: String,
    /// The run's rows, as NDJSON.
    summary: String,
    /// How many rows have a time, and how many a count.
    timed_rows: usize,
    counted_rows: usize,
    #[serde(flatten)]
    run: &'a Run,
}

fn json(machines: &[Machine], title: &str) -> Result<Vec<u8>, Error> {
    let runs = machines.iter().map(|machine| ListedRun {
        page: path::of_page(&machine.slug),
        summary: path::of_data(&machine.slug),
        timed_rows: machine.figures(Measure::Time),
        counted_rows: machine.figures(Measure::Count),
        run: &machine.summary.run,
    });
    let listed =
        Listed { schema: CATALOGUE_SCHEMA, title, kentry: env!("CARGO_PKG_VERSION"), runs: runs.collect() };
    let mut bytes = serde_json::to_vec_pretty(&listed)?;
    bytes.push(b'\n');
    Ok(bytes)
}

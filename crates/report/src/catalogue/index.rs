//! Pages with tables: of all entries, and of one.

use super::machine::Machine;
use super::matrix::{Matrix, of_entries, of_operations};
use super::measure::Measure;
use crate::Error;
use crate::frame::{COMMON, Frame, STYLE};
use crate::plain::plain;
use askama::Template;
use std::collections::BTreeSet;
use table::Table;

/// Styles and scripts of every page of a catalogue.
const OWN_STYLE: &str = include_str!("../../assets/catalogue.css");
const SCRIPT: &str = include_str!("../../assets/catalogue.js");

/// What the template is filled with.
#[derive(Template)]
#[template(path = "catalogue/index.html")]
struct Page {
    frame: Frame,
    /// Where the catalogue's first page is; none on that page.
    home: Option<&'static str>,
    /// What the page is about.
    about: String,
    matrices: Vec<Matrix>,
    /// Makers of processors, where there are several.
    vendors: Vec<String>,
}

/// The first page.
pub(super) fn page(machines: &[Machine], table: &Table, title: &str) -> Result<Vec<u8>, Error> {
    let matrices = Measure::ALL.map(|measure| of_entries(machines, table, measure));
    let runs = machines.len();
    let about = format!(
        "{runs} run{}. Each column is one operation of an entry; its name leads to all of them.",
        if runs == 1 { "" } else { "s" }
    );
    rendered(title.to_owned(), None, about, matrices.into())
}

/// The page of an entry.
pub(super) fn of_entry(
    machines: &[Machine],
    table: &Table,
    entry: &str,
    title: &str,
) -> Result<Vec<u8>, Error> {
    let matrices = Measure::ALL.map(|measure| of_operations(machines, table, entry, measure));
    let about = table.entry(entry).map(|entry| entry.title.clone()).unwrap_or_default();
    rendered(format!("{}: {title}", plain(entry)), Some("../index.html"), about, matrices.into())
}

fn rendered(
    title: String,
    home: Option<&'static str>,
    about: String,
    mut matrices: Vec<Matrix>,
) -> Result<Vec<u8>, Error> {
    matrices.retain(|matrix| !matrix.lines.is_empty());
    let lines = matrices.iter().flat_map(|matrix| &matrix.lines);
    let vendors: BTreeSet<&str> =
        lines.map(|line| line.facts.vendor.as_str()).filter(|vendor| !vendor.is_empty()).collect();
    let vendors = vendors.into_iter().map(str::to_owned).collect();
    let frame = Frame::new(title, &[STYLE, OWN_STYLE], &[COMMON, SCRIPT]);
    let mut text = Page { frame, home, about, matrices, vendors }.render()?;
    text.push('\n');
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::stays;

    #[test]
    fn no_asset_ends_its_own_element() {
        assert!([OWN_STYLE, SCRIPT].into_iter().all(stays));
    }
}

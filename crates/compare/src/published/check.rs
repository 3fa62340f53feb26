//! Whether the publications contradict themselves or the table of entries.

use crate::published::{Column, Publication, Publications, Ratio, Row, Unit};
use std::collections::{BTreeMap, BTreeSet};
use table::{Kernel, Operation, Table};
use toml::Spanned;

/// What is wrong, and the byte where the offending table begins.
pub(crate) struct Wrong {
    pub at: usize,
    pub what: String,
}

/// The most characters of a heading, so that tables fit a terminal.
const LONGEST: usize = 20;

pub(crate) fn check(all: &Publications, table: &Table) -> Result<(), Wrong> {
    let mut names = BTreeSet::new();
    for publication in &all.all {
        let at = publication.span().start;
        let publication = publication.get_ref();
        let wrong = |what: String| Wrong { at, what: format!("publication {}: {what}", publication.name) };
        if !is_plain(&publication.name) || !names.insert(&publication.name) {
            return Err(wrong("the name is taken, empty, or not of a-z 0-9 - .".into()));
        }
        let own = |word: &&String| all.iter().any(|other| other.name == **word) || !is_plain(word);
        if let Some(word) = publication.known_as.iter().find(own) {
            return Err(wrong(format!("known as {word:?}, which is a name, empty, or not of a-z 0-9 - .")));
        }
        of_publication(publication).map_err(wrong)?;
        for column in &publication.columns {
            of_column(column.get_ref(), table)
                .map_err(|what| wrong_in(publication, column, "column", what))?;
        }
        for row in &publication.rows {
            of_row(row.get_ref(), publication, table)
                .map_err(|what| wrong_in(publication, row, "row", what))?;
        }
        of_one_personality(publication, table).map_err(wrong)?;
        for ratio in &publication.ratios {
            of_ratio(ratio.get_ref(), publication)
                .map_err(|what| wrong_in(publication, ratio, "ratio", what))?;
        }
    }
    Ok(())
}

trait Named {
    fn name(&self) -> &str;
}

impl Named for Column {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Named for Row {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Named for Ratio {
    fn name(&self) -> &str {
        &self.name
    }
}

fn wrong_in(publication: &Publication, part: &Spanned<impl Named>, kind: &str, what: String) -> Wrong {
    let name = part.get_ref().name();
    Wrong { at: part.span().start, what: format!("publication {}, {kind} {name}: {what}", publication.name) }
}

fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(plain)
}

fn of_publication(publication: &Publication) -> Result<(), String> {
    twice("column", publication.columns.iter().map(|column| column.get_ref().name.as_str()))?;
    twice("row", publication.rows.iter().map(|row| row.get_ref().name.as_str()))?;
    twice("ratio", publication.ratios.iter().map(|ratio| ratio.get_ref().name.as_str()))?;
    if publication.columns.is_empty() || publication.rows.is_empty() {
        return Err("it has no column or no row".into());
    }
    let named = publication.columns.iter().map(|column| &column.get_ref().name);
    let long = named.chain(publication.rows.iter().map(|row| &row.get_ref().name));
    let long = long.chain(publication.ratios.iter().map(|ratio| &ratio.get_ref().name));
    if let Some(name) = long.into_iter().find(|name| name.is_empty() || name.chars().count() > LONGEST) {
        return Err(format!("a heading has 1 to {LONGEST} characters, and \"{name}\" has not"));
    }
    let is_row = |name: &String| publication.rows.iter().any(|row| row.get_ref().name == *name);
    if let Some(base) = publication.base.as_ref().filter(|base| !is_row(base)) {
        return Err(format!("base: {base} is none of its rows"));
    }
    if publication.way.is_some() != publication.way_here.is_some() {
        return Err("the keys \"way\" and \"loop\" go together".into());
    }
    publication.way_here.map_or(Ok(()), |way| way.check())
}

/// The lab is asked once, for the calls of one personality.
fn of_one_personality(publication: &Publication, table: &Table) -> Result<(), String> {
    let asked = publication.rows.iter().filter_map(|row| row.get_ref().in_lab(publication.lab_kernel, table));
    let whose: Vec<bool> =
        asked.map(|(_, operation)| table.operation(operation).is_some_and(Operation::is_machs)).collect();
    match whose.iter().any(|machs| Some(machs) != whose.first()) {
        true => Err("its rows in the lab are by the calls of two personalities".into()),
        false => Ok(()),
    }
}

fn twice<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut known = BTreeSet::new();
    let mut names = names;
    match names.find(|name| !known.insert(*name)) {
        Some(name) => Err(format!("it has two {what}s {name}")),
        None => Ok(()),
    }
}

fn of_column(column: &Column, table: &Table) -> Result<(), String> {
    of_set(&column.set, table)?;
    of_boot(&column.boot, table)
}

fn of_boot(boot: &BTreeMap<String, String>, table: &Table) -> Result<(), String> {
    let is_known = |name: &str, value: &str| {
        table.parameter(name).is_some_and(|parameter| parameter.value(value).is_some())
    };
    match boot.iter().find(|(name, value)| !is_known(name, value)) {
        Some((name, value)) => {
            Err(format!("boot: {name}={value} is no parameter and value of a Linux guest"))
        }
        None => Ok(()),
    }
}

fn of_set(set: &BTreeMap<String, String>, table: &Table) -> Result<(), String> {
    let is_known =
        |name: &str, value: &str| table.switch(name).is_some_and(|switch| switch.written(value).is_some());
    match set.iter().find(|(name, value)| !is_known(name, value)) {
        Some((name, value)) => Err(format!("set: {name}={value} is no switch and value of the lab")),
        None => Ok(()),
    }
}

fn of_row(row: &Row, publication: &Publication, table: &Table) -> Result<(), String> {
    let (figures, columns) = (row.published.len(), publication.columns.len());
    if figures != columns {
        return Err(format!("{figures} figures for {columns} columns"));
    }
    if row.published.iter().all(|figure| figure.0.is_none()) {
        return Err("no figure was published".into());
    }
    if row.entry.is_some() == row.absent.is_some() {
        return Err(
            "either the key \"entry\" says how it is measured here, or \"absent\" why it is not".into()
        );
    }
    let has_index = row.loops(table).is_some_and(|loops| loops.baseline.is_some());
    if row.entry.is_some() && publication.unit == Unit::Index && !has_index {
        return Err("UnixBench has no index for its operation".into());
    }
    let is_asked = row.entry.is_some() || row.lab.is_some() || row.guest.is_some();
    if is_asked != row.operation.is_some() {
        return Err("an entry and a key \"operation\" go together".into());
    }
    if let Some((entry, operation)) = row.on_linux() {
        serves(table, Kernel::Linux, entry, operation)?;
    }
    if let (Some(entry), Some(operation)) = (&row.lab, &row.operation) {
        serves(table, publication.lab_kernel, entry, operation)?;
    }
    if let Some((entry, operation)) = row.in_guest() {
        serves(table, Kernel::Linux, entry, operation)?;
    }
    of_set(&row.set, table)?;
    of_boot(&row.boot, table)
}

fn of_ratio(ratio: &Ratio, publication: &Publication) -> Result<(), String> {
    let rows = |name: &str| publication.rows.iter().any(|row| row.get_ref().name == name);
    let columns = |name: &str| publication.columns.iter().any(|column| column.get_ref().name == name);
    let sides = ratio.sides(publication);
    if let Some((row, column)) = sides.iter().find(|(row, column)| !rows(row) || !columns(column)) {
        return Err(format!("there is no row {row} or no column {column}"));
    }
    if sides[0] == sides[1] {
        return Err("it compares a figure with itself".into());
    }
    ratio.published(publication).map(drop).ok_or_else(|| "one of its figures was not published".into())
}

fn serves(table: &Table, kernel: Kernel, entry: &str, operation: &str) -> Result<(), String> {
    let known = table.entry(entry).ok_or_else(|| format!("there is no entry {entry}"))?;
    if !known.all_on(kernel).any(|name| name == operation) {
        let place = if kernel.is_lab() { "in the lab" } else { "on Linux" };
        return Err(format!("{entry} does not serve {operation} {place}"));
    }
    Ok(())
}

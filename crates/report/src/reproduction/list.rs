//! The published tables that can be reproduced.

use crate::grid::{Column, Grid, Words};
use crate::line::{look, written};
use crate::{Error, Format, Kind, Style, json};
use compare::published::{Citation, Publication, Publications, Unit};
use serde::Serialize;

/// A published table, for programs.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    title: &'a str,
    about: &'a str,
    source: &'a str,
    #[serde(flatten)]
    citation: Citation,
    cpu: Option<&'a str>,
    kernel: Option<&'a str>,
    unit: Unit,
    way: Option<&'a str>,
    /// Published figures.
    rows: usize,
    /// Rows that Linux can be asked for.
    rows_here: usize,
}

impl<'a> Listed<'a> {
    fn of(publication: &'a Publication) -> Listed<'a> {
        let rows = || publication.rows.iter().map(|row| row.get_ref());
        Listed {
            name: &publication.name,
            title: &publication.title,
            about: &publication.about,
            source: &publication.source,
            citation: publication.citation(),
            cpu: publication.cpu.as_deref(),
            kernel: publication.kernel.as_deref(),
            unit: publication.unit,
            way: publication.way.as_deref(),
            rows: rows().count(),
            rows_here: rows().filter(|row| row.on_linux().is_some()).count(),
        }
    }

    /// On what it was measured, in what, and how much of it Linux can be asked for.
    fn below(&self) -> String {
        let facts = [self.cpu, self.kernel, Some(self.unit.name())].into_iter().flatten();
        let facts = facts.collect::<Vec<_>>().join("; ");
        format!("{facts}; rows that Linux can be asked for: {} of {}", self.rows_here, self.rows)
    }
}

/// All published tables, in `format`.
///
/// # Errors
/// [`Error`] when a serializer refuses; no tables make it do so.
pub fn publications(all: &Publications, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    let listed: Vec<Listed> = all.iter().map(Listed::of).collect();
    match format {
        Format::Text => Ok(text(&listed, style)),
        Format::Json => {
            #[derive(Serialize)]
            struct All<'a> {
                publications: Vec<Listed<'a>>,
            }
            json::render(&All { publications: listed })
        }
        Format::Csv => grid(&listed).csv(),
        Format::Markdown => Ok(grid(&listed).markdown().into_bytes()),
        _ => Err(Error::unfit(Kind::LIST, format)),
    }
}

fn grid(listed: &[Listed]) -> Grid {
    Grid::of(listed)
        .column(Column::text("name"), |one| one.name)
        .column(Column::text("title"), |one| one.title)
        .column(Column::text("cpu"), |one| one.cpu)
        .column(Column::text("kernel"), |one| one.kernel)
        .column(Column::text("unit"), |one| one.unit.name())
        .column(Column::text("rows"), |one| one.rows)
        .column(Column::text("rows_here"), |one| one.rows_here)
        .column(Column::text("source"), |one| one.source)
        .grid()
}

/// A name and a title, and below them more in words.
fn text(listed: &[Listed], style: &Style) -> Vec<u8> {
    let grid = Grid::of(listed)
        .column(Column::word("").look(look::NAME), |one| one.name)
        .words(Words::BEHIND, |one| one.title.to_owned())
        .grid();
    let fitted = grid.fitted(style.columns());
    let lines = listed
        .iter()
        .zip(grid.rows())
        .flat_map(|(one, row)| fitted.row(row).into_iter().chain(fitted.below(look::FAINT, &one.below())));
    written(&lines.collect::<Vec<_>>(), style)
}

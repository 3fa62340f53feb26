//! The published tables that can be reproduced.

use crate::figure::ABSENT;
use crate::line::{Line, look, wrapped};
use crate::markdown::escaped;
use crate::{Error, Format, Kind, Style, csv, json, plain};
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

    fn cells(&self) -> Vec<String> {
        let said = |text: Option<&'a str>| text.unwrap_or(ABSENT);
        let texts = [self.name, self.title, said(self.cpu), said(self.kernel), self.unit.name()];
        let texts = texts.map(plain);
        let counts = [self.rows, self.rows_here].map(|count| count.to_string());
        texts.into_iter().chain(counts).chain([plain(self.source)]).collect()
    }
}

const TITLES: [&str; 8] = ["name", "title", "cpu", "kernel", "unit", "rows", "rows_here", "source"];

/// All published tables, in `format`.
///
/// # Errors
/// [`Error`] when a serializer refuses; no tables make it do so.
pub fn publications(all: &Publications, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    let listed: Vec<Listed> = all.iter().map(Listed::of).collect();
    let titles = || TITLES.map(str::to_owned).to_vec();
    match format {
        Format::Text => Ok(text(&listed, style)),
        Format::Json => {
            #[derive(Serialize)]
            struct All<'a> {
                publications: Vec<Listed<'a>>,
            }
            json::render(&All { publications: listed })
        }
        Format::Csv => csv::records(std::iter::once(titles()).chain(listed.iter().map(Listed::cells))),
        Format::Markdown => {
            let line = |cells: &[String]| {
                let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
                format!("| {} |\n", cells.join(" | "))
            };
            let mut out = line(&titles());
            out.push_str(&format!("|{}\n", "---|".repeat(TITLES.len())));
            listed.iter().for_each(|one| out.push_str(&line(&one.cells())));
            Ok(out.into_bytes())
        }
        _ => Err(Error::unfit(Kind::LIST, format)),
    }
}

fn text(listed: &[Listed], style: &Style) -> Vec<u8> {
    let indent = listed.iter().map(|one| one.name.len()).max().unwrap_or(0) + 2;
    let mut out = String::new();
    for one in listed {
        let mut start = Line::new(look::NAME, one.name);
        start.blank_to(indent);
        let mut second = Line::default();
        second.blank(indent);
        let lines = wrapped(start, look::PLAIN, one.title, style.columns(), indent);
        let more = wrapped(second, look::FAINT, &one.below(), style.columns(), indent);
        lines.iter().chain(&more).for_each(|line| line.write(style.color, &mut out));
    }
    out.into_bytes()
}

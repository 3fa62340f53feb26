//! A reproduction as GitHub's Markdown.

use super::table::{CHANGES, Heading, Part, cells, change_words, changes, elsewhere, headings, parts};
use super::{head, missing, remarks};
use crate::markdown::escaped;
use compare::published::{GuestKind, Reproduction};

pub(crate) fn render(reproduction: &Reproduction) -> Vec<u8> {
    let title = format!("{}: {}", reproduction.name, reproduction.title);
    let mut out = format!("# {}\n\n{}\n\n", escaped(&title), escaped(&reproduction.about));
    for (label, text) in head(reproduction) {
        out.push_str(&format!("- {label}: {}\n", escaped(&text)));
    }
    let parts = parts(reproduction, true);
    let headings = headings(reproduction, &parts);
    for column in reproduction.columns() {
        out.push_str(&format!("\n## {}\n\n", escaped(column)));
        let figures = reproduction.figures.iter().filter(|figure| figure.column == column);
        let rows: Vec<Vec<String>> = figures.map(|figure| cells(reproduction, figure, &parts)).collect();
        table(&mut out, 2, &names(reproduction, &headings), &rows);
    }
    for (place, words, rows) in elsewhere(reproduction) {
        let name = if place == GuestKind::Lab { "lab" } else { "guests" };
        out.push_str(&format!("\n## {name}\n\n{}\n\n", escaped(&words)));
        if let Some((heading, rows)) = rows.split_first() {
            table(&mut out, 2, heading, rows);
        }
    }
    if !reproduction.ratios.is_empty() {
        out.push_str(&format!("\n## changes\n\n{}\n\n", escaped(&change_words(reproduction))));
        table(&mut out, 1, &CHANGES.map(str::to_owned), &changes(reproduction));
    }
    for (heading, notes) in [("not measured", missing(reproduction)), ("notes", remarks(reproduction))] {
        if notes.is_empty() {
            continue;
        }
        out.push_str(&format!("\n## {heading}\n\n"));
        notes.iter().for_each(|(what, text)| {
            out.push_str(&format!("- **{}**: {}\n", escaped(what), escaped(text)));
        });
    }
    out.into_bytes()
}

/// The headings in one line each, with what stands over them; costs with their units.
fn names(reproduction: &Reproduction, headings: &[Heading]) -> Vec<String> {
    let of = |heading: &Heading| -> Vec<String> {
        let name = |name: &&'static str| match heading.part {
            Part::Row | Part::Entry | Part::Interval => name.to_string(),
            Part::Cost => {
                let way = reproduction.ways.iter().find(|way| way.name == *name);
                format!("{name}, {}", way.map_or(reproduction.unit, |way| way.unit).name())
            }
            Part::ToPublished | Part::ToBase => format!("{name}, {}", heading.over),
        };
        heading.names.iter().map(name).collect()
    };
    headings.iter().flat_map(of).collect()
}

/// Rows of cells below a heading; the first `names` columns are names, and the others numbers.
fn table(out: &mut String, names: usize, heading: &[String], rows: &[Vec<String>]) {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    out.push_str(&line(heading));
    let rule = |place: usize| if place < names { "---" } else { "---:" };
    out.push_str(&format!("|{}|\n", (0..heading.len()).map(rule).collect::<Vec<_>>().join("|")));
    rows.iter().for_each(|row| out.push_str(&line(row)));
}

//! Followed paths as GitHub's Markdown.

use super::grid::{Column, Grid};
use super::names::names;
use super::parts::grid;
use super::{beside, difference, words};
use crate::markdown::{escaped, line};
use attribution::anatomy::Document;

pub(super) fn render(document: &Document) -> Vec<u8> {
    let mut out = format!("# kentry anatomy: {}\n\n", escaped(&words::title(document)));
    for (label, text) in words::head(document).into_iter().filter(|(label, _)| *label != "anatomy") {
        out.push_str(&format!("- {label}: {}\n", escaped(&text)));
    }
    out.push_str("\n## parts\n\n");
    table(&mut out, &grid(document), true);
    out.push_str(&format!("\n{}\n", escaped(&words::legend(document))));
    for shown in difference::all(document) {
        out.push_str(&format!("\n## {}\n\n", escaped(&shown.title)));
        if shown.is_across {
            out.push_str(&format!("{}\n\n", escaped(difference::ACROSS)));
        }
        if shown.lines.is_empty() {
            continue;
        }
        for grid in &shown.tables {
            table(&mut out, grid, false);
            out.push('\n');
        }
        out.push_str("```diff\n");
        for cells in shown.lines.iter().map(difference::cells) {
            let [sign, place, text, part] = cells.map(|cell| crate::plain::plain(&cell).replace('`', "'"));
            out.push_str(format!("{sign} {place:50} {text:40} {part}").trim_end());
            out.push('\n');
        }
        out.push_str("```\n");
    }
    if let Some(found) = &document.beside {
        out.push_str(&format!("\n## {}\n\n", escaped(&beside::title(found, &names(document)))));
        table(&mut out, &beside::grid(found), false);
        out.push_str(&format!("\n{}\n\n", escaped(beside::LEGEND)));
        beside::findings(found).iter().for_each(|finding| out.push_str(&format!("- {}\n", escaped(finding))));
    }
    out.into_bytes()
}

/// `has_what`: whether rows say in words what they are.
fn table(out: &mut String, grid: &Grid, has_what: bool) {
    let what = has_what.then_some("what");
    out.push_str(&line(
        grid.columns
            .iter()
            .map(|column| escaped(&heading(column)))
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str)
            .chain(what),
    ));
    let rules = grid.columns.iter().map(|column| if column.is_number { "---:" } else { "---" });
    out.push_str(&line(rules.chain(what.map(|_| "---"))));
    for row in &grid.rows {
        let bold = |cell: &String| {
            if row.is_sum && !cell.is_empty() { format!("**{}**", escaped(cell)) } else { escaped(cell) }
        };
        let mut cells: Vec<String> = row.cells.iter().map(bold).collect();
        cells.extend(has_what.then(|| escaped(&row.what)));
        out.push_str(&line(cells.iter().map(String::as_str)));
    }
}

/// With what stands over it.
fn heading(column: &Column) -> String {
    match (column.over.as_str(), column.heading.as_str()) {
        ("", heading) => heading.to_owned(),
        (over, "") => over.to_owned(),
        (over, heading) => format!("{over}: {heading}"),
    }
}

//! The report for issues, wikis and pull requests: GitHub's Markdown.

use crate::arrange::{Block, Group, groups};
use crate::cells::{Column, DETAILS, Figures, has_figures};
use crate::figure::{ABSENT, Unit, interval, shown};
use crate::plain::plain;
use crate::{Style, head};
use document::{Document, Row};
use table::Table;

/// What the columns mean.
const LEGEND: &str = "Ratio: to a call and return through a pointer (`call`, `none`). p99: 99 of 100 single samples are \
                      at most this.\n\n";

pub(crate) fn render(document: &Document, table: &Table, style: &Style) -> Vec<u8> {
    let figures = Figures::of(document);
    let mut out = String::from("# kentry\n\n");
    let partial = document.measurement.partial.then(|| format!("**{}**\n\n", escaped(head::PARTIAL)));
    let partial = partial.unwrap_or_default();
    out.push_str(&partial);
    for fact in head::facts(document, style.verbose) {
        out.push_str(&format!("- {}: {}\n", fact.label, escaped(&fact.text)));
    }
    for group in groups(document, table) {
        out.push_str(&format!("\n## {}\n\n", escaped(group.name)));
        section(&mut out, &group, &figures, style.verbose);
    }
    out.push_str(&foot(document, &figures));
    out.push_str(&partial);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out.into_bytes()
}

fn foot(document: &Document, figures: &Figures) -> String {
    let mut out = String::from("\n");
    if document.results.iter().any(has_figures) && !figures.are_counted() {
        out.push_str(LEGEND);
    }
    if let Some(disturbance) = head::disturbance(document) {
        out.push_str(&format!("Disturbance: {}\n\n", escaped(&disturbance)));
    }
    if head::lacks_cycles(document) {
        out.push_str("TSC ticks stand where core cycles cannot be told (the imul chain does not hold).\n\n");
    }
    for warning in &document.measurement.warnings {
        out.push_str(&format!("**warning:** {}\n\n", escaped(&warning.to_string())));
    }
    out
}

/// The columns between the estimate and the note: what there is of figures that were counted is in the estimate.
fn columns(figures: &Figures, verbose: bool) -> Vec<Column> {
    let usual = [Column::Ns, Column::Ratio, Column::P99];
    let details: &[Column] = if verbose { &DETAILS } else { &[] };
    let all = usual.iter().chain(details).copied();
    all.filter(|column| !figures.are_counted() || column.is_of_counts()).collect()
}

fn section(out: &mut String, group: &Group, figures: &Figures, verbose: bool) {
    let unit = group.unit();
    let columns = columns(figures, verbose);
    let mut names = vec!["entry", "operation", unit.map_or("cost", Unit::name)];
    names.extend((!figures.are_counted()).then_some("95 % interval"));
    names.extend(columns.iter().map(|column| column.heading()));
    out.push_str(&line(names.iter().copied().chain(["note"])));
    let rules = names.iter().enumerate().map(|(index, _)| if index < 2 { "---" } else { "---:" });
    out.push_str(&line(rules.chain(["---"])));
    for block in &group.blocks {
        for cells in rows(block, unit, figures, &columns, verbose) {
            out.push_str(&line(cells.iter().map(String::as_str)));
        }
    }
}

fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

fn rows(
    block: &Block,
    unit: Option<Unit>,
    figures: &Figures,
    columns: &[Column],
    verbose: bool,
) -> Vec<Vec<String>> {
    let cells = |row: &Row, operation: String| {
        let mut cells = vec![String::new(), operation];
        cells.extend(numbers(row, unit, figures, columns));
        cells.push(note(row));
        cells
    };
    let mut rows: Vec<Vec<String>> = match block.closed().filter(|_| !verbose) {
        Some(row) => vec![cells(row, format!("all {} operations", block.rows.len()))],
        None => block.rows.iter().map(|row| cells(row, code(&row.operation))).collect(),
    };
    if let Some(first) = rows.first_mut() {
        first[0] = format!("{} {}", code(block.entry), escaped(&block.configuration)).trim_end().to_owned();
    }
    rows
}

fn numbers(row: &Row, unit: Option<Unit>, figures: &Figures, columns: &[Column]) -> Vec<String> {
    let with_interval = !figures.are_counted();
    if !has_figures(row) {
        return vec![ABSENT.to_owned(); 1 + usize::from(with_interval) + columns.len()];
    }
    let shown = shown(row);
    let estimate = shown.map(|shown| match unit {
        Some(_) => shown.estimate(),
        None => format!("{} {}", shown.estimate(), shown.unit.name()),
    });
    let interval = with_interval.then(|| shown.and_then(|shown| interval(&shown.cost)));
    let first = std::iter::once(estimate).chain(interval);
    let mut cells: Vec<String> = first.map(|cell| cell.unwrap_or_else(|| ABSENT.to_owned())).collect();
    cells.extend(columns.iter().map(|column| figures.cell(*column, row)));
    cells
}

fn note(row: &Row) -> String {
    let reason = row.reason.as_deref().map(escaped);
    if has_figures(row) {
        return reason.unwrap_or_default();
    }
    format!("**{}**: {}", row.outcome.name(), reason.unwrap_or_else(|| ABSENT.to_owned()))
}

/// A name in code type, unless it could end that.
fn code(name: &str) -> String {
    let name = plain(name);
    if name.is_empty() || name.contains(['`', '|', '\\']) { escaped(&name) } else { format!("`{name}`") }
}

/// Text that Markdown shows as it is. An underscore inside a word means nothing and stays readable.
pub(crate) fn escaped(text: &str) -> String {
    let text = plain(text);
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let in_word = before.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric());
        if "\\`*[]<>|~&#$".contains(c) || (c == '_' && !in_word) {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_text() {
        assert_eq!(
            escaped("a|b <script> **x** CONFIG_X86_X32_ABI _em_ `c` &amp;"),
            r"a\|b \<script\> \*\*x\*\* CONFIG_X86_X32_ABI \_em\_ \`c\` \&amp;"
        );
        assert_eq!(code("clock_gettime-monotonic"), "`clock_gettime-monotonic`");
        assert_eq!(code("a`b|c\n"), r"a\`b\|c ");
    }
}

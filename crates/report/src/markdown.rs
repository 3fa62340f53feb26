//! The report for issues, wikis and pull requests: GitHub's Markdown.

use crate::arrange::{Block, Group, groups};
use crate::cells::{COUNTED, Column, DETAILS, Figures, has_figures, modes};
use crate::configuration::Compared;
use crate::figure::{ABSENT, Unit, interval, shown};
use crate::plain::plain;
use crate::verdicts::level;
use crate::{Style, first_screen, guest, head, loops};
use document::{Document, Row};
use table::Table;

/// What the columns mean.
const LEGEND: &str = "95 % interval: for a typical round of this hour; costs that fewer than about one call in a round's \
                      samples pays (1,000 of a cheap row, 100 of a dear one) hardly enter the estimate. × syscall: as a multiple of a bare system call \
                      (`syscall-x86_64`, `none`). × call: of a call and return through a pointer (`call`, `none`). p99: 99 of \
                      100 single samples are at most this; - where a sample is the mean of several uses.\n\n";

pub(crate) fn render(document: &Document, table: &Table, style: &Style) -> Vec<u8> {
    let compared = Compared::of_document(document);
    let figures = Figures::of(document, table, &compared);
    let mut out = String::from("# kentry\n\n");
    let partial = document.measurement.partial.then(|| format!("**{}**\n\n", escaped(head::PARTIAL)));
    for fact in head::facts(document, style) {
        out.push_str(&format!("- {}: {}\n", fact.label, escaped(&fact.text)));
    }
    out.push_str(&verdicts(document, style));
    for group in groups(document, table, style.selection, &compared) {
        let name = if group.name.is_empty() { "rows" } else { group.name };
        out.push_str(&format!("\n## {}\n\n", escaped(name)));
        section(&mut out, &group, &figures, style.verbose);
    }
    out.push_str(&unixbench(&loops::rows(&groups(document, table, style.selection, &compared), &compared)));
    let history = guest::history(document, style.verbose);
    let history: String = history.iter().map(|line| format!("- {}\n", escaped(line))).collect();
    if !history.is_empty() {
        out.push_str(&format!("\n## changes\n\n{history}"));
    }
    out.push_str(&foot(document, &figures, style));
    out.push_str(&partial.unwrap_or_default());
    out.truncate(out.trim_end().len());
    out.push('\n');
    out.into_bytes()
}

/// A list of findings, without the one that stands in the head.
fn verdicts(document: &Document, style: &Style) -> String {
    let shown = document.findings.iter().filter(|finding| finding.id != head::NOISE);
    let items: String = shown
        .map(|finding| {
            let item = format!("- **{}**: {}", level(finding.level), escaped(&finding.verdict));
            let evidence = finding.evidence.as_ref().filter(|_| style.verbose);
            let whys = [evidence, finding.cause.as_ref(), finding.remedy.as_ref()];
            let whys = whys.into_iter().flatten().map(|why| format!(" {}", escaped(why)));
            let next = finding.next.as_ref().map(|next| format!(" {}", code(next)));
            format!("{item}{}{}\n", whys.collect::<String>(), next.unwrap_or_default())
        })
        .collect();
    if items.is_empty() { items } else { format!("\n## findings\n\n{items}") }
}

/// The rows that UnixBench counts as turns in a second.
fn unixbench(rows: &[loops::Turns]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let rules = (0..loops::COLUMNS.len()).map(|place| if place < loops::NAMES { "---" } else { "---:" });
    let head = [line(loops::COLUMNS.into_iter()), line(rules)].concat();
    let rows: String = rows
        .iter()
        .map(|cells| {
            let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
            line(cells.iter().map(String::as_str))
        })
        .collect();
    format!("\n## {}\n\n{head}{rows}\nloops/s: {}.\n", loops::HEADING, loops::LEGEND)
}

fn foot(document: &Document, figures: &Figures, style: &Style) -> String {
    let mut out = String::from("\n");
    if let Some(screen) = first_screen::of(document, style.selection) {
        if !first_screen::is_all_of(document) {
            out.push_str(&format!("{} of {} rows.\n\n", screen.rows.len(), document.results.len()));
        }
        let closed = first_screen::closed_in_words(&screen.closed);
        if !closed.is_empty() {
            out.push_str(&format!("Closed here: {}.\n\n", escaped(&closed)));
        }
    }
    if figures.are_counted() {
        out.push_str(&format!("{COUNTED}\n\n"));
    } else if document.results.iter().any(has_figures) {
        out.push_str(LEGEND);
    }
    if head::lacks_cycles(document) {
        out.push_str("TSC ticks stand where core cycles cannot be told.\n\n");
    }
    out
}

/// The columns between the estimate and the note: what there is of figures that were counted is in the estimate.
fn columns(figures: &Figures, verbose: bool) -> Vec<Column> {
    let usual = [Column::Ns, Column::ToSyscall, Column::ToCall, Column::P99];
    let details: &[Column] = if verbose { &DETAILS } else { &[] };
    let all = usual.iter().chain(details).copied();
    let told = all.filter(|column| !matches!(column, Column::Ring0 | Column::Ring3) || figures.has(*column));
    told.filter(|column| !figures.are_counted() || column.is_of_counts()).collect()
}

fn section(out: &mut String, group: &Group, figures: &Figures, verbose: bool) {
    let unit = group.unit;
    let columns = columns(figures, verbose);
    let mut names = vec!["entry", "operation", "served by", unit.map_or("cost", Unit::name)];
    names.extend((!figures.are_counted()).then_some("95 % interval"));
    names.extend(columns.iter().map(|column| column.heading()));
    out.push_str(&line(names.iter().copied().chain(["note"])));
    let rules = names.iter().enumerate().map(|(index, _)| if index < 3 { "---" } else { "---:" });
    out.push_str(&line(rules.chain(["---"])));
    for block in &group.blocks {
        for cells in rows(block, unit, figures, &columns, verbose) {
            out.push_str(&line(cells.iter().map(String::as_str)));
        }
    }
}

pub(crate) fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
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
        let place = if has_figures(row) { figures.place(row) } else { "" };
        let mut cells = vec![String::new(), operation, place.to_owned()];
        cells.extend(numbers(row, unit, figures, columns));
        cells.push(note(row, figures));
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

fn note(row: &Row, figures: &Figures) -> String {
    if has_figures(row) {
        let remarks = row.remarks.iter().cloned().chain(modes(row));
        return escaped(&remarks.collect::<Vec<_>>().join("; "));
    }
    let (word, words) = figures.instead(row);
    format!("**{word}**: {}", escaped(&words))
}

/// A name in code type, unless it could end that.
pub(crate) fn code(name: &str) -> String {
    let name = plain(name);
    if name.is_empty() || name.contains(['`', '|', '\\']) { escaped(&name) } else { format!("`{name}`") }
}

/// Nothing, between two characters of which GitHub would otherwise make a link, whatever is escaped.
const NO_LINK: &str = "<!-- -->";

/// Text that Markdown shows as it is, without links, mentions and mail addresses. An underscore inside a word means nothing and stays readable.
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
        if c == '@' && rest.peek().is_some_and(|next| next.is_alphanumeric()) {
            out.push_str(NO_LINK);
        }
    }
    out.replace("://", &format!(":{NO_LINK}//")).replace("www.", &format!("www{NO_LINK}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_mentioned_and_nothing_becomes_a_link() {
        assert_eq!(
            escaped("@who a@b.c CPU @ 2 GHz https://x www.x"),
            "@<!-- -->who a@<!-- -->b.c CPU @ 2 GHz https:<!-- -->//x www<!-- -->.x"
        );
    }

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

//! The report for issues, wikis and pull requests: GitHub's Markdown.

use crate::arrange::{Block, Group, groups};
use crate::cells::{COUNTED, DETAILS, Figures, RunColumn, has_figures, modes};
use crate::configuration::Compared;
use crate::escape::{code, escaped};
use crate::figure::{self, Unit};
use crate::grid::{Cell, Column, Grid};
use crate::{Style, first_screen, head, history, loops};
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
    let groups = groups(document, table, style.selection, &compared);
    for group in &groups {
        let name = if group.name.is_empty() { "rows" } else { group.name };
        out.push_str(&format!("\n## {}\n\n", escaped(name)));
        out.push_str(&figures_of(group, &figures, style.verbose).markdown());
    }
    out.push_str(&unixbench(&loops::grid(&groups, &compared)));
    let history = history::lines(document, style.verbose);
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
            let item = format!("- **{}**: {}", finding.level.name(), escaped(&finding.verdict));
            let evidence = finding.evidence.as_ref().filter(|_| style.verbose);
            let whys = [finding.costs.as_ref(), evidence, finding.cause.as_ref(), finding.remedy.as_ref()];
            let whys = whys.into_iter().flatten().map(|why| format!(" {}", escaped(why)));
            let next = finding.next.as_ref().map(|next| format!(" {}", code(next)));
            format!("{item}{}{}\n", whys.collect::<String>(), next.unwrap_or_default())
        })
        .collect();
    if items.is_empty() { items } else { format!("\n## findings\n\n{items}") }
}

/// The rows that UnixBench counts as turns in a second.
fn unixbench(turns: &Grid) -> String {
    if turns.is_empty() {
        return String::new();
    }
    format!("\n## {}\n\n{}\nloops/s: {}.\n", loops::HEADING, turns.markdown(), loops::LEGEND)
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
fn columns(figures: &Figures, verbose: bool) -> Vec<RunColumn> {
    let usual = [RunColumn::Ns, RunColumn::ToSyscall, RunColumn::ToCall, RunColumn::P99];
    let details: &[RunColumn] = if verbose { &DETAILS } else { &[] };
    let all = usual.iter().chain(details).copied();
    let told =
        all.filter(|column| !matches!(column, RunColumn::Ring0 | RunColumn::Ring3) || figures.has(*column));
    told.filter(|column| !figures.are_counted() || column.is_of_counts()).collect()
}

/// A row of the table, and its block where it is the first of it.
struct Shown<'a> {
    begins: Option<&'a Block<'a>>,
    row: &'a Row,
    /// How many operations it stands for, if all are closed alike.
    all: Option<usize>,
}

impl<'a> Shown<'a> {
    fn with_figures(&self) -> Option<&'a Row> {
        Some(self.row).filter(|row| has_figures(row))
    }
}

fn figures_of(group: &Group, figures: &Figures, verbose: bool) -> Grid {
    let rows: Vec<Shown> = group.blocks.iter().flat_map(|block| rows(block, verbose)).collect();
    let of_cost = |shown: &Shown, cell: fn(figure::Shown) -> Option<String>| {
        shown.with_figures().and_then(figure::shown).and_then(cell).map(Cell::Number)
    };
    let estimate: fn(figure::Shown) -> Option<String> = match group.unit {
        Some(_) => |shown| Some(shown.estimate()),
        None => |shown| Some(format!("{} {}", shown.estimate(), shown.unit.name())),
    };
    let interval = (!figures.are_counted()).then(|| Column::number("95 % interval"));
    Grid::of(&rows)
        .column(Column::text("entry"), |shown| shown.begins.map_or_else(|| "".into(), entry))
        .column(Column::text("operation"), |shown| match shown.all {
            Some(all) => format!("all {all} operations").into(),
            None => Cell::name(&shown.row.operation),
        })
        .column(Column::text("served by"), |shown| shown.with_figures().map_or("", |row| figures.place(row)))
        .column(Column::number(group.unit.map_or("cost", Unit::name)), |shown| of_cost(shown, estimate))
        .maybe(interval, |shown| of_cost(shown, |shown| figure::interval(&shown.cost)))
        .for_each(columns(figures, verbose), |rows, column| {
            rows.column(Column::number(column.heading()), |shown| {
                shown.with_figures().map(|row| Cell::Number(figures.cell(column, row)))
            })
        })
        .column(Column::text("note"), |shown| note(shown.row, figures))
        .grid()
}

fn rows<'a>(block: &'a Block, verbose: bool) -> Vec<Shown<'a>> {
    let closed = block.closed().filter(|_| !verbose);
    let rows = closed.as_ref().map_or(&block.rows[..], std::slice::from_ref).iter().enumerate();
    let begins = |place| (place == 0).then_some(block);
    let all = closed.map(|_| block.rows.len());
    rows.map(|(place, row)| Shown { begins: begins(place), row, all }).collect()
}

/// Its name, with what tells it apart.
fn entry(block: &Block) -> Cell {
    let configuration = Some(&block.configuration).filter(|configuration| !configuration.is_empty());
    let configuration = configuration.map(|configuration| Cell::from(format!(" {configuration}")));
    Cell::Several(std::iter::once(Cell::name(block.entry)).chain(configuration).collect())
}

fn note(row: &Row, figures: &Figures) -> Cell {
    if has_figures(row) {
        let remarks = row.remarks.iter().cloned().chain(modes(row));
        return remarks.collect::<Vec<_>>().join("; ").into();
    }
    let (word, words) = figures.instead(row);
    Cell::Several(vec![Cell::Strong(word.into()), format!(": {words}").into()])
}

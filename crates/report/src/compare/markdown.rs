//! The comparison for a pull request: the answer first, what differs, the rows that changed; the rest is folded.

use super::gate;
use super::groups::{Group, Names, groups};
use super::interval::{WrittenChange, in_unit, of_row};
use super::more::more;
use super::words::{self, in_percent};
use crate::escape::{code, escaped};
use crate::figure::number;
use crate::grid::{Cell, Column, Grid, Items};
use crate::{Selection, Style};
use compare::{Change, Comparison, Row, RowSide, Unit};

pub(super) fn render(compared: &Comparison, style: &Style) -> Vec<u8> {
    let title = words::of(compared).title;
    let mut out = format!("### kentry: {title}\n\n**{}**\n\n", escaped(&words::answer(compared)));
    if let Some(gate) = &compared.gate {
        out.push_str(&format!("Gate: {}\n\n", escaped(&gate::result(compared, gate))));
    }
    if let Some(partial) = words::partial(compared) {
        out.push_str(&format!("**{}**\n\n", escaped(&partial)));
    }
    out.push_str(&format!("- base: {}\n", escaped(&words::side(&compared.base))));
    out.push_str(&format!("- new: {}\n", escaped(&words::side(&compared.new))));
    let history = words::history(compared).map(|history| format!("- history: {}\n", escaped(&history)));
    out.push_str(&history.unwrap_or_default());
    let common = words::common(compared).map(|common| format!("- both: {}\n", escaped(&common)));
    out.push_str(&common.unwrap_or_default());
    if compared.confounders.is_empty() {
        out.push_str(&format!("- differs: {}\n", words::ALIKE));
    }
    for confounder in &compared.confounders {
        let (severity, values) = (words::severity(confounder.severity), words::values(confounder, false));
        let text = format!("{values}. {}", confounder.meaning);
        out.push_str(&format!("- **{severity}**: {}\n", escaped(&text)));
    }
    let names = Names::of(compared);
    for group in groups(compared) {
        section(&mut out, compared, &group, &names, style.selection == Selection::All);
    }
    out.push_str(&foot(compared));
    out.truncate(out.trim_end().len());
    out.push('\n');
    out.into_bytes()
}

/// A group's rows: open where something changed, otherwise folded.
fn section(out: &mut String, compared: &Comparison, group: &Group, names: &Names, is_open: bool) {
    let title = words::kind(group.kind, compared);
    let title = format!("{}: {}", escaped(&title), group.rows.len());
    let is_open = is_open || group.kind.is_difference();
    out.push_str(&match is_open {
        true => format!("\n#### {title}\n\n"),
        false => format!("\n<details><summary>{title}</summary>\n\n"),
    });
    let table = if group.kind.has_change() { changes(group, names) } else { others(group, names) };
    out.push_str(&table.markdown());
    if !is_open {
        out.push_str("\n</details>\n");
    }
}

fn named<'a, 'r>(group: &'a Group<'r>, names: &Names) -> Items<'a, &'r Row> {
    Grid::of(&group.rows)
        .column(Column::text("entry"), |row| Cell::name(&row.entry))
        .column(Column::text("operation"), |row| Cell::name(names.operation(row)))
}

/// Rows that have figures of both sides.
fn changes(group: &Group, names: &Names) -> Grid {
    let estimate = |side: &Option<RowSide>| side.as_ref().and_then(|side| side.estimate).map(number);
    let interval = |change: &Change| {
        let WrittenChange { low, high, .. } = in_unit(change);
        format!("{low} to {high}")
    };
    named(group, names)
        .column(Column::number("base"), |row| estimate(&row.base))
        .column(Column::number("new"), |row| estimate(&row.new))
        .column(Column::text("unit"), |row| row.unit.map(Unit::name))
        .column(Column::number("change"), |row| {
            row.change.as_ref().map(|change| of_row(row, change, in_unit(change)).change)
        })
        .column(Column::text("interval"), |row| row.change.as_ref().map(interval))
        .column(Column::text("%"), |row| row.change.as_ref().and_then(|change| in_percent(row, change)))
        .grid()
}

/// Rows that have not.
fn others(group: &Group, names: &Names) -> Grid {
    named(group, names).column(Column::text("what became of it"), |row| words::outcomes(row)).grid()
}

/// What the intervals say, and how to settle what is inconclusive.
fn foot(compared: &Comparison) -> String {
    let mut out = String::new();
    if compared.rows.iter().any(|row| row.change.is_some()) {
        out.push_str(&format!("\nIntervals: {}.\n", escaped(&words::confidence(compared))));
    }
    if let Some(text) = words::two_costs(compared.rows.iter()) {
        out.push_str(&format!("\n{}\n", escaped(text)));
    }
    if let Some(more) = more(compared) {
        let commands: String = more.commands.iter().map(|command| format!(" {}", code(command))).collect();
        out.push_str(&format!("\n{}{commands}\n", escaped(&more.text)));
    }
    out
}

//! The comparison for a pull request: the answer first, what differs, the rows that changed; the rest is folded.

use super::groups::{Group, Names, groups};
use super::interval::{WrittenChange, in_unit, of_row};
use super::more::more;
use super::words::{self, in_percent};
use crate::figure::{ABSENT, number};
use crate::markdown::{code, escaped, line};
use crate::{Selection, Style};
use compare::{Comparison, Row, RowSide, Unit};

pub(super) fn render(compared: &Comparison, style: &Style) -> Vec<u8> {
    let mut out = format!("### kentry: did it get slower?\n\n**{}**\n\n", escaped(&words::answer(compared)));
    if let Some(gate) = &compared.gate {
        out.push_str(&format!("Gate: {}\n\n", escaped(&words::gate(compared, gate))));
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
    out.push_str(&if group.kind.has_change() { changes(group, names) } else { others(group, names) });
    if !is_open {
        out.push_str("\n</details>\n");
    }
}

/// Rows that have figures of both sides.
fn changes(group: &Group, names: &Names) -> String {
    let mut out = line(["entry", "operation", "base", "new", "unit", "change", "interval", "%"].into_iter());
    out.push_str(&line(["---", "---", "---:", "---:", "---", "---:", "---", "---"].into_iter()));
    for row in &group.rows {
        let cells = [vec![code(&row.entry), code(&names.operation(row))], figures(row)].concat();
        out.push_str(&line(cells.iter().map(String::as_str)));
    }
    out
}

fn figures(row: &Row) -> Vec<String> {
    let estimate = |side: &Option<RowSide>| {
        let estimate = side.as_ref().and_then(|side| side.estimate);
        estimate.map_or_else(|| ABSENT.to_owned(), number)
    };
    let change = row.change.as_ref();
    let or_absent = |text: Option<String>| text.unwrap_or_else(|| ABSENT.to_owned());
    vec![
        estimate(&row.base),
        estimate(&row.new),
        row.unit.map_or(ABSENT, Unit::name).to_owned(),
        or_absent(change.map(|change| of_row(row, change, in_unit(change)).change)),
        or_absent(change.map(in_unit).map(|WrittenChange { low, high, .. }| format!("{low} to {high}"))),
        or_absent(change.and_then(|change| in_percent(row, change))),
    ]
}

/// Rows that have not.
fn others(group: &Group, names: &Names) -> String {
    let mut out = line(["entry", "operation", "what became of it"].into_iter());
    out.push_str(&line(["---", "---", "---"].into_iter()));
    for row in &group.rows {
        let cells = [code(&row.entry), code(&names.operation(row)), escaped(&words::outcomes(row))];
        out.push_str(&line(cells.iter().map(String::as_str)));
    }
    out
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
        let command = more.command.map(|command| format!(" {}", code(&command))).unwrap_or_default();
        out.push_str(&format!("\n{}{command}\n", escaped(&more.text)));
    }
    out
}

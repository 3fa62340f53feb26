//! A tax as text: a table, what it means, and what is missing.

use super::{cells, confidence};
use crate::Style;
use crate::figure::{ABSENT, number};
use crate::grid::{Column, Grid, Weight, Words};
use crate::line::{Line, look, wrapped, written};
use crate::reproduction::grouped;
use attribution::tax::{LayerCost, OperationCost, Tax};
use layers::Group;

pub(super) fn render(tax: &Tax, style: &Style) -> Vec<u8> {
    let width = style.columns();
    let start = Line::new(look::NAME, "tax: ");
    let title = format!("what each layer adds to a call, in core cycles ({})", where_it_was(tax));
    let mut lines = wrapped(start, look::PLAIN, &title, width, 2);
    lines.push(Line::default());
    lines.extend(table(tax, style).lines(width));
    lines.push(Line::default());
    lines.extend(
        remarks(tax).into_iter().flat_map(|text| wrapped(Line::default(), look::FAINT, &text, width, 2)),
    );
    let meanings = meanings(tax).map(|(group, text)| (group.to_owned(), text.to_owned())).collect();
    lines.extend(section("what that means", meanings, width));
    lines.extend(section("not measured", reasons(tax), width));
    lines.extend(section(
        "warnings",
        tax.warnings.iter().map(|text| (String::new(), text.clone())).collect(),
        width,
    ));
    written(&lines, style)
}

/// What a layer is stands behind its figures where there is so much room.
const ROOM: usize = 30;

/// What stands between the table and what it means.
fn remarks(tax: &Tax) -> Vec<String> {
    let first = format!("+ what a call costs more than without the layer; {}", confidence(tax));
    let all = tax.again.iter().chain(tax.layers.iter().flat_map(|layer| &layer.costs));
    let is_unseen = all.filter_map(|cost| cost.added).any(|added| added.seen().is_none());
    let unseen = is_unseen
        .then(|| "≤ no difference was seen: a call costs so much more at most, if anything".to_owned());
    let quiet =
        tax.quiet_share.map(|share| format!("; alone on the core {:.0} % of the time", 100.0 * share));
    let how = format!("{:.1} s on CPU {}{}", tax.seconds, list(&tax.cpus), quiet.unwrap_or_default());
    let partial = tax.partial.then(|| "interrupted: what was measured until then".to_owned());
    [Some(first), unseen, Some(how), partial].into_iter().flatten().collect()
}

fn list(cpus: &[u64]) -> String {
    if cpus.is_empty() {
        ABSENT.to_owned()
    } else {
        cpus.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
    }
}

/// Processor and kernel.
pub(super) fn where_it_was(tax: &Tax) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| ABSENT.to_owned());
    format!("{}, Linux {}, {}", text(&tax.cpu), text(&tax.kernel), tax.entry)
}

/// A row of the table: the base, the base once more, or a layer.
enum Row<'t> {
    Base,
    Again,
    Layer(&'t LayerCost),
}

fn table(tax: &Tax, style: &Style) -> Grid {
    let rows: Vec<Row> =
        [Row::Base, Row::Again].into_iter().chain(tax.layers.iter().map(Row::Layer)).collect();
    let mut grid = Grid::of(&rows).column(Column::word("layer"), |row| match row {
        Row::Base => "no layer",
        Row::Again => "no layer, again",
        Row::Layer(layer) => layer.name,
    });
    for base in &tax.base {
        let operation = base.operation.as_str();
        let of = move |row: &Row| match row {
            Row::Base => cells::base(base),
            Row::Again => {
                let again = tax.again.iter().find(|cost| cost.operation == operation);
                again.and_then(|cost| cost.added.as_ref()).map_or_else(|| ABSENT.to_owned(), cells::added)
            }
            Row::Layer(layer) => cells::of_layer(layer, operation),
        };
        grid = grid.column(Column::number(operation), of);
        if style.verbose {
            let of = move |row: &Row| match row {
                Row::Layer(layer) => {
                    layer.added(operation).map(|added| format!("{}, {}", cells::ends(added), added.turns))
                }
                _ => Some(String::new()),
            };
            grid = grid.column(Column::number("ends, turns"), of);
            let ns = move |row: &Row| {
                let cycles = match row {
                    Row::Base => base.cycles,
                    Row::Again => return String::new(),
                    Row::Layer(layer) => layer.added(operation).and_then(|added| added.seen()),
                };
                cycles.and_then(|cycles| tax.ns(cycles)).map_or_else(|| ABSENT.to_owned(), number)
            };
            if tax.core_hz.is_some() {
                grid = grid.column(Column::number("ns"), ns);
            }
        }
    }
    let weight = |row: &Row| match row {
        Row::Layer(LayerCost { missing: Some(_), .. }) => Weight::Without,
        Row::Base => Weight::Sum,
        _ => Weight::Ordinary,
    };
    let what = |row: &Row| match row {
        Row::Layer(layer) => layer.what.to_owned(),
        Row::Base => "the call by itself".to_owned(),
        Row::Again => "measured as if it were a layer".to_owned(),
    };
    grid.weight(weight).words(Words { least: ROOM, below: None, ..Words::BEHIND }, what).grid()
}

/// What figures of each group mean, in the groups' order.
pub(super) fn meanings(tax: &Tax) -> impl Iterator<Item = (&'static str, &str)> {
    Group::ALL.into_iter().filter_map(|group| Some((group.title(), tax.meaning.get(group.title())?.as_str())))
}

/// Why figures are missing: what of, and why; each reason once.
pub(super) fn reasons(tax: &Tax) -> Vec<(String, String)> {
    let of_base =
        tax.base.iter().filter_map(|base| Some((format!("{} alone", base.operation), base.why.clone()?)));
    grouped(of_base.chain(tax.layers.iter().flat_map(of_layer)).collect())
}

/// Of a layer as a whole, where all of its figures are missing for one reason.
fn of_layer(layer: &LayerCost) -> Vec<(String, String)> {
    let whys: Vec<Option<&String>> = layer.costs.iter().map(|cost| cost.why.as_ref()).collect();
    let whole = match whys.as_slice() {
        [Some(first), rest @ ..] if rest.iter().all(|why| *why == Some(*first)) => Some(*first),
        _ => layer.missing.as_ref(),
    };
    if let Some(why) = whole {
        return vec![(layer.name.to_owned(), why.clone())];
    }
    let each = |cost: &OperationCost| Some((format!("{} {}", layer.name, cost.operation), cost.why.clone()?));
    layer.costs.iter().filter_map(each).collect()
}

fn section(heading: &str, all: Vec<(String, String)>, width: usize) -> Vec<Line> {
    if all.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::default(), Line::new(look::HEADING, heading)];
    for (what, text) in all {
        let mut start = Line::new(look::PLAIN, "  ");
        if !what.is_empty() {
            start.push(look::NAME, &format!("{what}: "));
        }
        lines.extend(wrapped(start, look::PLAIN, &text, width, 4));
    }
    lines
}

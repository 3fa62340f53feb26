//! What layers between a program and the kernel add to its calls.

mod cells;
mod list;
mod text;

pub use list::layers;

use crate::escape::escaped;
use crate::grid::{Cell, Column, Grid};
use crate::{Error, Format, Kind, Style, json};
use attribution::tax::{Added, LayerCost, OperationCost, Tax};

/// A tax, in `format`.
///
/// # Errors
/// [`Error`] when a serializer refuses; no tax makes it do so.
pub fn tax(tax: &Tax, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    match format {
        Format::Text => Ok(text::render(tax, style)),
        Format::Json => json::render(tax),
        Format::Csv => csv(tax),
        Format::Markdown => Ok(markdown(tax)),
        _ => Err(Error::unfit(Kind::TAX, format)),
    }
}

/// What the intervals are, in words.
fn confidence(tax: &Tax) -> String {
    format!(
        "with {:.0} % confidence all intervals together contain their differences",
        100.0 * tax.confidence
    )
}

/// A line for each layer and operation.
fn csv(tax: &Tax) -> Result<Vec<u8>, Error> {
    type Line<'t> = (&'t LayerCost, Option<&'t OperationCost>);
    let of_layer = |layer: &'_ LayerCost| layer.costs.len().max(1);
    let lines: Vec<Line> = tax
        .layers
        .iter()
        .flat_map(|layer| (0..of_layer(layer)).map(move |place| (layer, layer.costs.get(place))))
        .collect();
    let figure = |line: &Line, of: fn(&Added) -> f64| line.1.and_then(|cost| cost.added.as_ref()).map(of);
    Grid::of(&lines)
        .column(Column::text("layer"), |line| line.0.name)
        .column(Column::text("group"), |line| line.0.group.title())
        .column(Column::text("entry"), |_| &tax.entry)
        .column(Column::text("operation"), |line| line.1.map(|cost| &cost.operation))
        .column(Column::number("cycles"), |line| figure(line, |added| added.cycles.0))
        .column(Column::number("cycles_low"), |line| figure(line, |added| added.low.0))
        .column(Column::number("cycles_high"), |line| figure(line, |added| added.high.0))
        .column(Column::number("ns"), |line| tax.ns(line.1?.added?.seen()?))
        .column(Column::number("turns"), |line| line.1.and_then(|cost| Some(cost.added?.turns)))
        .column(Column::text("verdict"), |line| {
            line.1.and_then(|cost| Some(cells::verdict(cost.added.as_ref()?)))
        })
        .column(Column::text("why_none"), |line| {
            line.0.missing.as_ref().or_else(|| line.1.and_then(|cost| cost.why.as_ref()))
        })
        .grid()
        .csv()
}

fn markdown(tax: &Tax) -> Vec<u8> {
    let mut out =
        format!("### kentry: what layers add to a call ({})\n\n", escaped(&text::where_it_was(tax)));
    let mut grid = Grid::of(&tax.layers).column(Column::text("layer"), |layer| Cell::name(layer.name));
    for base in &tax.base {
        let (name, cost) = (base.operation.as_str(), cells::base(base));
        grid =
            grid.column(Column::number(format!("{name} {cost}")), move |layer| cells::of_layer(layer, name));
    }
    let grid = grid
        .column(Column::text("what it is"), |layer| layer.missing.as_deref().unwrap_or(layer.what))
        .grid();
    out.push_str(&grid.markdown());
    out.push_str(&format!(
        "\nCore cycles for a call, beside what the call costs alone; {}.\n",
        escaped(&confidence(tax))
    ));
    for (group, meaning) in text::meanings(tax) {
        out.push_str(&format!("\n- **{}**: {}", escaped(group), escaped(meaning)));
    }
    for (what, why) in text::reasons(tax) {
        out.push_str(&format!("\n- not measured: {}: {}", escaped(&what), escaped(&why)));
    }
    for warning in &tax.warnings {
        out.push_str(&format!("\n- **warning**: {}", escaped(warning)));
    }
    out.push('\n');
    out.into_bytes()
}

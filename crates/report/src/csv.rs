use crate::Error;
use crate::figure::unitless;
use crate::plain::plain;
use ::csv::{Terminator, WriterBuilder};
use document::{Document, Row, Timing};
use stats::Cost;

const UNITS: [&str; 5] = ["core_cycles", "ticks", "ns", "instructions", "throughput"];
const FIGURES: [&str; 8] = ["estimate", "ci_low", "ci_high", "min", "p50", "p99", "p999", "max"];

/// One line for each result, below one line of names.
pub(crate) fn render(document: &Document) -> Result<Vec<u8>, Error> {
    records(std::iter::once(header()).chain(document.results.iter().map(record)))
}

/// Lines as RFC 4180 wants them.
pub(crate) fn records(lines: impl Iterator<Item = Vec<String>>) -> Result<Vec<u8>, Error> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    for line in lines {
        writer.write_record(&line).map_err(|error| Error::Csv(error.to_string()))?;
    }
    writer.into_inner().map_err(|error| Error::Csv(error.to_string()))
}

fn header() -> Vec<String> {
    let row = ["entry", "operation", "bits", "configuration", "timing", "outcome", "reason"];
    let costs = UNITS.iter().flat_map(|unit| FIGURES.iter().map(move |figure| format!("{unit}_{figure}")));
    row.into_iter()
        .map(str::to_owned)
        .chain(costs)
        .chain(["samples".to_owned(), "disturbed".to_owned()])
        .collect()
}

fn record(row: &Row) -> Vec<String> {
    let configuration: Vec<String> = row.configuration.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let mut cells = vec![
        plain(&row.entry),
        plain(&row.operation),
        row.bits.to_string(),
        plain(&configuration.join(";")),
        timing(row.timing).to_owned(),
        row.outcome.name().to_owned(),
        row.reason.as_deref().map(plain).unwrap_or_default(),
    ];
    let costs = [
        row.core_cycles.as_ref().map(unitless),
        row.ticks.as_ref().map(unitless),
        row.ns.as_ref().map(unitless),
        row.instructions.as_ref().map(unitless),
        row.throughput.as_ref().map(unitless),
    ];
    cells.extend(costs.into_iter().flat_map(figures));
    cells.extend([row.samples.to_string(), row.disturbed.to_string()]);
    cells
}

fn timing(timing: Timing) -> &'static str {
    match timing {
        Timing::Hardware => "hardware",
        Timing::Emulated => "emulated",
    }
}

/// In the order of [`FIGURES`], with every digit that a `f64` has; empty where there is none.
fn figures(cost: Option<Cost<f64>>) -> [String; 8] {
    let Some(cost) = cost else {
        return Default::default();
    };
    let figures = [
        Some(cost.estimate),
        cost.ci_low,
        cost.ci_high,
        Some(cost.min),
        Some(cost.p50),
        Some(cost.p99),
        Some(cost.p999),
        Some(cost.max),
    ];
    figures.map(|figure| figure.map(|number| number.to_string()).unwrap_or_default())
}

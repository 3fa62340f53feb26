use crate::Error;
use crate::figure::ABSENT;
use crate::plain::plain;
use ::csv::{Terminator, WriterBuilder};
use document::{Document, Interval, Path, Row, is_figure};
use stats::{Cost, NoiseKind};

const UNITS: [&str; 5] = ["core_cycles", "ticks", "ns", "instructions", "throughput"];
const FIGURES: [&str; 8] = ["estimate", "ci_low", "ci_high", "min", "p50", "p99", "p999", "max"];

/// So many of these are known where a sample is a mean of several uses.
const OF_MEANS: usize = 3;

/// One line for each result, below one line of names.
pub(crate) fn render(document: &Document) -> Result<Vec<u8>, Error> {
    records(std::iter::once(header()).chain(document.results.iter().map(record)))
}

/// Lines as RFC 4180 wants them; all CSV is written here. What the cells say may come from outside.
pub(crate) fn records(lines: impl Iterator<Item = Vec<String>>) -> Result<Vec<u8>, Error> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    for line in lines {
        let cells = line.iter().map(|text| cell(text));
        writer.write_record(cells).map_err(|error| Error::Csv(error.to_string()))?;
    }
    writer.into_inner().map_err(|error| Error::Csv(error.to_string()))
}

/// A cell in which nothing steers a terminal, and that a spreadsheet does not take for a formula: before one that begins as formulas
/// do, in any of their widths, stands an apostrophe, which spreadsheets read as "this is text". Numbers are no formulas.
fn cell(text: &str) -> String {
    let text = plain(text);
    let begins = text.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    let is_number = |part: &str| part.parse::<f64>().is_ok();
    match begins && text != ABSENT && !text.split(';').all(is_number) {
        true => format!("'{text}"),
        false => text,
    }
}

/// What stands before the costs, and behind them.
const BEFORE: [&str; 16] = [
    "entry",
    "entry_id",
    "operation",
    "operation_id",
    "bits",
    "configuration",
    "timing",
    "outcome",
    "reason",
    "path",
    "uses",
    "remarks",
    "noise",
    "noise_low",
    "noise_high",
    "cpu",
];
const BEHIND: [&str; 18] = [
    "throughput_withheld",
    "modes",
    "rounds",
    "kept_rounds",
    "blocks",
    "kept_blocks",
    "samples",
    "kept_samples",
    "interrupted",
    "ring0",
    "ring3",
    "boots",
    "loops_per_second",
    "loops_per_second_ci_low",
    "loops_per_second_ci_high",
    "unixbench_index",
    "unixbench_index_ci_low",
    "unixbench_index_ci_high",
];

fn header() -> Vec<String> {
    let costs = UNITS.iter().flat_map(|unit| FIGURES.iter().map(move |figure| format!("{unit}_{figure}")));
    let before = BEFORE.into_iter().map(str::to_owned);
    before.chain(costs).chain(BEHIND.into_iter().map(str::to_owned)).collect()
}

fn record(row: &Row) -> Vec<String> {
    let figure = |cost: Option<Cost<f64>>| cost.filter(is_figure);
    // Of means of several uses, only the estimate and its interval are those of a use.
    let costs = [
        figure(row.core_cycles.as_ref().map(Cost::unitless)),
        figure(row.ticks.as_ref().map(Cost::unitless)),
        figure(row.ns.as_ref().map(Cost::unitless)),
        figure(row.instructions.as_ref().map(Cost::unitless)),
        figure(row.throughput.as_ref().map(Cost::unitless)),
    ];
    let costs = costs.into_iter().map(figures).enumerate().flat_map(|(unit, figures)| {
        let known = if row.uses > 1 && UNITS[unit] != "throughput" { OF_MEANS } else { FIGURES.len() };
        figures
            .into_iter()
            .enumerate()
            .map(move |(place, figure)| if place < known { figure } else { String::new() })
    });
    before(row).into_iter().chain(costs).chain(behind(row)).collect()
}

fn before(row: &Row) -> [String; BEFORE.len()] {
    let configuration: Vec<String> = row.configuration.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let noise = row.noise.as_ref();
    [
        row.entry.clone(),
        optional(row.entry_id),
        row.operation.clone(),
        optional(row.operation_id),
        row.bits.to_string(),
        configuration.join(";"),
        row.timing.name().to_owned(),
        row.outcome.name().to_owned(),
        row.reason.clone().unwrap_or_default(),
        row.path.map(Path::name).unwrap_or_default().to_owned(),
        row.uses.to_string(),
        row.remarks.join("; "),
        noise.map(|noise| kind(noise.kind)).unwrap_or_default().to_owned(),
        optional(noise.and_then(|noise| noise.low)),
        optional(noise.and_then(|noise| noise.high)),
        optional(row.cpu),
    ]
}

fn behind(row: &Row) -> [String; BEHIND.len()] {
    let modes: Vec<String> = row.modes.iter().map(|mode| format!("{}:{}", mode.share, mode.cost)).collect();
    let counts = &row.counts;
    let interval = |one: Option<Interval>| {
        [one.map(|one| one.estimate), one.and_then(|one| one.ci_low), one.and_then(|one| one.ci_high)]
            .map(optional)
    };
    let [turns, turns_low, turns_high] = interval(row.rate.map(|rate| rate.loops_per_second));
    let [index, index_low, index_high] = interval(row.rate.and_then(|rate| rate.index));
    [
        row.throughput_withheld.clone().unwrap_or_default(),
        modes.join(";"),
        counts.rounds.to_string(),
        counts.kept_rounds.to_string(),
        counts.blocks.to_string(),
        counts.kept_blocks.to_string(),
        counts.samples.to_string(),
        counts.kept_samples.to_string(),
        counts.interrupted.to_string(),
        optional(row.rings.map(|rings| rings.ring0.0)),
        optional(row.rings.map(|rings| rings.ring3.0)),
        row.boots.iter().map(|estimate| estimate.0.to_string()).collect::<Vec<_>>().join(";"),
        turns,
        turns_low,
        turns_high,
        index,
        index_low,
        index_high,
    ]
}

fn optional(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// As in the document.
fn kind(kind: NoiseKind) -> &'static str {
    match kind {
        NoiseKind::Shared => "shared",
        NoiseKind::Preempted => "preempted",
        NoiseKind::TooFew => "too-few",
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
        cost.p99,
        cost.p999,
        Some(cost.max),
    ];
    figures.map(|figure| figure.map(|number| number.to_string()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_steers_no_terminal_and_is_no_formula() {
        for (text, written) in [
            ("\u{1b}]0;title\u{7}", r"\u{1b}]0;title\u{7}"),
            ("two\r\nlines", "two  lines"),
            ("=1+1", "'=1+1"),
            ("+1-1", "'+1-1"),
            ("-1+1", "'-1+1"),
            ("--", "'--"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "' =1"),
            ("\r@x", "' @x"),
            ("＝1", "'＝1"),
            ("-1;=1", "'-1;=1"),
        ] {
            assert_eq!(cell(text), written);
        }
    }

    #[test]
    fn a_number_stays_a_number() {
        for text in ["-0.17", "+3", "-1e-7", "-1.5;-2", "-", "", "0.25:1296", "linux", "a=b", "1+1"] {
            assert_eq!(cell(text), text);
        }
    }

    /// A tag of a run passed its escape sequences on to the terminal, and a formula to the spreadsheet.
    #[test]
    fn every_line_is_written_so() {
        let lines = [vec!["\u{1b}[2J".to_string(), "=HYPERLINK(\"http://x\",\"y\")".into(), "-2".into()]];
        let bytes = records(lines.into_iter()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text, "\\u{1b}[2J,\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\",-2\r\n");
    }
}

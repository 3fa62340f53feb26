//! What the page's script draws and says of a row that a reader opens.

use super::PageRun;
use super::comparison::Verdicts;
use super::histogram::Histogram;
use super::lines::Line;
use super::rounds::{Drawn, MOST, points, unit};
use crate::cells::{Figures, RunColumn, modes};
use crate::configuration::Compared;
use crate::figure::{ABSENT, Shown, Unit, interval, shown};
use crate::plain::plain;
use document::{Document, Outcome, Row, Timing};
use serde::Serialize;
use std::collections::BTreeMap;
use table::Table;

/// The page's data.
#[derive(Serialize)]
pub(super) struct Data<'a> {
    /// How many runs there are.
    runs: usize,
    /// Each row that works, by its place in the page, in each run.
    pub rows: BTreeMap<String, Vec<Option<Detail<'a>>>>,
}

/// A row in one run. Numbers are in its unit.
#[derive(Serialize)]
pub(super) struct Detail<'a> {
    unit: &'a str,
    estimate: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    modes: Vec<f64>,
    /// Labels and texts.
    facts: Vec<(String, String)>,
    remarks: Vec<String>,
    histogram: Option<Histogram>,
    rounds: Drawn,
}

/// The figures that a reader who opens a row sees.
const FACTS: [RunColumn; 13] = [
    RunColumn::Ns,
    RunColumn::ToSyscall,
    RunColumn::ToCall,
    RunColumn::Min,
    RunColumn::P50,
    RunColumn::P99,
    RunColumn::P999,
    RunColumn::Max,
    RunColumn::Ticks,
    RunColumn::Throughput,
    RunColumn::Rounds,
    RunColumn::Samples,
    RunColumn::Cpu,
];

pub(super) fn data<'a>(
    runs: &[PageRun],
    table: &Table,
    compared: &Compared,
    lines: &[Line<'a>],
    verdicts: &Verdicts,
) -> Data<'a> {
    let figures: Vec<Figures> = runs.iter().map(|run| Figures::of(&run.document, table, compared)).collect();
    let taken: usize = lines.iter().flat_map(|line| &line.rows).flatten().map(|row| row.rounds.len()).sum();
    let every = taken.div_ceil(MOST).max(1);
    let of_line = |line: &Line<'a>| {
        let works = |row: &Option<&'a Row>| row.filter(|row| row.outcome == Outcome::Ok);
        let each =
            line.rows.iter().zip(runs).zip(&figures).enumerate().map(|(number, ((row, run), figures))| {
                let mut detail = Detail::of(works(row)?, &run.document, figures, every);
                detail.remarks.extend(verdicts.remarks(line, number));
                Some(detail)
            });
        (format!("row-{}", line.number), each.collect())
    };
    Data { runs: runs.len(), rows: lines.iter().filter(|line| line.is_open()).map(of_line).collect() }
}

impl Detail<'_> {
    fn of<'a>(row: &'a Row, document: &Document, figures: &Figures, every: usize) -> Detail<'a> {
        let measurement = &document.measurement;
        let shown = shown(row);
        let cost = shown.map(|shown| shown.cost);
        let known = |figure: Option<f64>| figure.filter(|figure| figure.is_finite());
        Detail {
            unit: unit(row, measurement).name(),
            estimate: known(cost.map(|cost| cost.estimate)),
            low: known(cost.and_then(|cost| cost.ci_low)),
            high: known(cost.and_then(|cost| cost.ci_high)),
            modes: row.modes.iter().map(|mode| mode.cost).collect(),
            facts: facts(row, shown.as_ref(), figures),
            remarks: remarks(row, figures),
            histogram: shown.and_then(|shown| histogram(row, document, &shown)),
            rounds: Drawn::of(points(row, measurement), every),
        }
    }
}

/// The bins of a row's samples; none where it has none, they cannot be read, or they are means of several uses.
pub(super) fn histogram(row: &Row, document: &Document, shown: &Shown) -> Option<Histogram> {
    if row.uses > 1 {
        return None;
    }
    let step = document.measurement.tsc_step.unwrap_or(1.0);
    let (stored, step) = match shown.unit {
        Unit::Cycles => {
            (&row.distribution_cycles, step * document.measurement.cycles_per_tick.unwrap_or(1.0))
        }
        Unit::Ticks => (&row.distribution_ticks, step),
        Unit::Instructions => return None,
    };
    Histogram::of(&stored.as_ref()?.open().ok()?, step, shown)
}

fn facts(row: &Row, shown: Option<&Shown>, figures: &Figures) -> Vec<(String, String)> {
    let is_counted = row.timing == Timing::Emulated;
    let estimate = shown.map(|shown| {
        let name = if is_counted { "instructions, emulated" } else { shown.unit.name() };
        (name.to_owned(), shown.estimate())
    });
    let interval = shown.filter(|_| !is_counted).map(|shown| {
        let text = interval(&shown.cost).unwrap_or_else(|| ABSENT.to_owned());
        ("95 % interval".to_owned(), text)
    });
    let columns = FACTS.into_iter().filter(|column| !is_counted || column.is_of_counts());
    let cells = columns.map(|column| (column.heading().to_owned(), plain(&figures.cell(column, row))));
    // Of a row without figures, only what is known is worth a place.
    let cells = cells.filter(|(_, text)| shown.is_some() || text != ABSENT);
    let modes = modes(row).map(|text| ("modes".to_owned(), text.trim_start_matches("modes: ").to_owned()));
    let means = (row.uses > 1).then(|| {
        ("uses in a sample".to_owned(), format!("{}; what single ones take is not known", row.uses))
    });
    let spread = row.spread.map(|spread| {
        let text = format!(
            "{:.0} % of the variance between rounds, {} layouts",
            100.0 * spread.layout,
            spread.layouts
        );
        ("layout".to_owned(), text)
    });
    estimate.into_iter().chain(interval).chain(cells).chain(means).chain(modes).chain(spread).collect()
}

/// Sentences about the row.
fn remarks(row: &Row, figures: &Figures) -> Vec<String> {
    let mut all: Vec<String> = row.remarks.iter().map(|remark| plain(remark)).collect();
    all.extend(row.throughput_withheld.as_ref().map(|why| format!("No throughput: {}", plain(why))));
    if !crate::cells::has_figures(row) {
        let (word, words) = figures.instead(row);
        all.push(format!("{word}: {}", plain(&words)));
    }
    all
}

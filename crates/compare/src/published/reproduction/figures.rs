//! The published figures, and beside each what this Linux took.

use super::{Parts, ratio};
use crate::published::{Column, Publication, Row, Take, Timed, Unit};
use document::{Document, Outcome, is_figure};
use serde::Serialize;
use stats::{Cost, NoiseKind};
use table::Table;

/// How kentry measures, in words.
const KENTRY: &str = "single calls between fences, less the same code without the call, while the core was alone; the median \
                      of the rounds, as kentry's runs do";

/// The same of a loop's turns.
const KENTRY_INDEX: &str = "single turns between fences, less the same code without the calls, so without the loop, while the \
                            core was alone; the index of the median of the rounds, as kentry's runs do";

/// The name of that way.
const KENTRY_NAME: &str = "kentry";

/// A way to measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Way {
    /// `loop`, `single`, or `kentry`.
    pub name: &'static str,
    /// What its figures are in.
    pub unit: Unit,
    /// Exactly what is measured.
    pub words: String,
}

/// A published figure, and what came out here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Heading of the column.
    pub column: String,
    /// Heading of the row.
    pub row: String,
    /// The entry that it is measured by here; null where it cannot be.
    pub entry: Option<String>,
    /// The operation.
    pub operation: Option<String>,
    /// The published figure; null where there is none for this column.
    pub published: Option<f64>,
    /// As a multiple of the published figure of the base row.
    pub published_to_base: Option<f64>,
    /// One for each of [`super::Reproduction::ways`], in their order.
    pub measured: Vec<Measured>,
    /// Why something was not measured; null if all was.
    pub reason: Option<String>,
    /// What else there is to know.
    pub remark: Option<String>,
    /// Whether other processes ran on the CPU while a loop was timed, which is in its figure.
    pub disturbed: bool,
}

/// A cost that was measured here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Which way: [`Way::name`].
    pub way: &'static str,
    /// In the way's unit; null where it could not be measured.
    pub value: Option<f64>,
    /// Ends of its 95 % confidence interval; null for loops, which tell none.
    pub ci_low: Option<f64>,
    /// The upper end.
    pub ci_high: Option<f64>,
    /// As a multiple of the published figure; null where the units cannot be compared, and where the figure is coarse or disturbed.
    pub to_published: Option<f64>,
    /// As a multiple of what the base row took here, in the same way; null where one of them is coarse or disturbed.
    pub to_base: Option<f64>,
    /// Whether a step of the counter is more than a small part of it.
    pub coarse: bool,
    /// Whether it is a mean that other processes' time is in.
    pub disturbed: bool,
}

/// How was measured here: loops as the author's, then kentry's own way. Empty where nothing could be.
pub(super) fn ways(publication: &Publication) -> Vec<Way> {
    let unit = publication.unit;
    let loops = publication.loops().into_iter();
    let mut ways: Vec<Way> =
        loops.map(|(name, way)| Way { name, unit: unit.of_loops(), words: way.in_words(unit) }).collect();
    if !ways.is_empty() {
        let words = if unit == Unit::Index { KENTRY_INDEX } else { KENTRY };
        ways.push(Way { name: KENTRY_NAME, unit: unit.of_kentry(), words: words.into() });
    }
    ways
}

/// A column's figures.
pub(super) fn of_column(
    publication: &Publication,
    (place, column): (usize, &Column),
    ways: &[Way],
    parts: &Parts,
    table: &Table,
) -> Vec<Figure> {
    let rows = publication.rows.iter().map(|row| row.get_ref());
    let mut figures: Vec<Figure> = rows
        .map(|row| {
            let published = row.published.get(place).and_then(|figure| figure.0);
            let mut figure = Figure {
                column: column.name.clone(),
                row: row.name.clone(),
                entry: row.entry.clone(),
                operation: row.operation.clone(),
                published,
                published_to_base: None,
                measured: ways.iter().map(|way| Measured::none(way.name)).collect(),
                reason: closed(row, column, parts),
                remark: row.remark.clone(),
                disturbed: false,
            };
            // What nobody published for this column is not measured for it: it has nothing to stand beside.
            if let (Some(published), None) = (published, &figure.reason) {
                figure.measure(row, publication, ways, parts, table);
                figure.compare(publication.unit, published, ways);
            }
            figure
        })
        .collect();
    figures.retain(|figure| figure.published.is_some());
    to_base(publication, &mut figures);
    figures
}

/// Why a row is not measured for a column; none if it is.
fn closed(row: &Row, column: &Column, parts: &Parts) -> Option<String> {
    row.absent.clone().or_else(|| column.needs.missing(parts.here)).or_else(|| row.needs.missing(parts.here))
}

fn to_base(publication: &Publication, figures: &mut [Figure]) {
    let base = figures.iter().find(|figure| Some(&figure.row) == publication.base.as_ref());
    let Some(base) = base.cloned() else { return };
    for figure in figures {
        figure.published_to_base = ratio(figure.published, base.published);
        for (measured, base) in figure.measured.iter_mut().zip(&base.measured) {
            let fine = measured.is_fine() && base.is_fine();
            measured.to_base = ratio(measured.value, base.value).filter(|_| fine);
        }
    }
}

impl Measured {
    fn none(way: &'static str) -> Measured {
        Measured {
            way,
            value: None,
            ci_low: None,
            ci_high: None,
            to_published: None,
            to_base: None,
            coarse: false,
            disturbed: false,
        }
    }

    /// Whether ratios of it mean something.
    fn is_fine(&self) -> bool {
        !self.coarse && !self.disturbed
    }
}

impl Figure {
    /// Fills in what was measured, what is to be known of it, and why something was not.
    fn measure(&mut self, row: &Row, publication: &Publication, ways: &[Way], parts: &Parts, table: &Table) {
        let Some(name) = row.on_linux() else { return };
        let mut reasons = Vec::new();
        let mut remarks: Vec<String> = self.remark.take().into_iter().collect();
        let loops = publication.loops();
        for ((name_of_way, way), measured) in loops.iter().zip(&mut self.measured) {
            let of_row = |timed: &&Timed| {
                (timed.entry.as_str(), timed.operation.as_str()) == name && timed.way == *way
            };
            match parts.timed.iter().find(of_row).map(|timed| &timed.took) {
                Some(Ok(took)) => {
                    measured.value = way.of(&took.loops);
                    self.disturbed |= took.preemptions > 0;
                    // The shortest of many single calls was not interrupted.
                    measured.disturbed = took.preemptions > 0 && way.take == Take::Mean;
                    let step =
                        step(publication.unit.of_clock(), parts.run).map(|step| step / way.calls as f64);
                    let coarse = step.zip(measured.value).filter(|(step, value)| *step > COARSE * value);
                    measured.coarse = coarse.is_some();
                    remarks.extend(coarse.map(|(step, _)| {
                        let unit = publication.unit.of_clock().name();
                        format!("{name_of_way}: the counter advances in steps of {step:.0} {unit}, so that ratios mean little and are left out")
                    }));
                    if publication.unit == Unit::Index {
                        measured.value = measured.value.and_then(|ns| index(row, ns, table));
                    }
                }
                Some(Err(why)) => reasons.push(why.clone()),
                None => reasons.push(UNMEASURED.into()),
            }
        }
        if let (Some(way), Some(measured)) = (ways.last(), self.measured.last_mut()) {
            match of_run(name, way.unit, parts.run) {
                Ok([value, low, high]) => {
                    (measured.value, measured.ci_low, measured.ci_high) = (value, low, high);
                }
                Err(why) => reasons.push(why),
            }
        }
        reasons.dedup();
        self.reason = (!reasons.is_empty()).then(|| reasons.join("; "));
        self.remark = (!remarks.is_empty()).then(|| remarks.join("; "));
    }

    fn compare(&mut self, unit: Unit, published: f64, ways: &[Way]) {
        for (measured, way) in self.measured.iter_mut().zip(ways) {
            let value = measured.value.filter(|_| unit.compares_with(way.unit) && measured.is_fine());
            measured.to_published = ratio(value, Some(published));
        }
    }
}

/// A figure is coarse where a step of the counter is more than this part of it: single calls are read in whole steps, and the shortest of
/// many is a step too short.
const COARSE: f64 = 0.02;

/// UnixBench's index of a row's loop whose turn took so many nanoseconds.
fn index(row: &Row, ns: f64, table: &Table) -> Option<f64> {
    row.loops(table)?.index(if ns > 0.0 { 1e9 / ns } else { return None })
}

/// A step of the counter, in the unit of the loops' clock, as far as the run beside them shows it.
fn step(unit: Unit, run: Option<&Document>) -> Option<f64> {
    let measurement = &run?.measurement;
    let ticks = measurement.tsc_step?;
    match unit {
        Unit::Ns => Some(ticks * 1e9 / measurement.tsc_hz?),
        Unit::Ticks => Some(ticks),
        _ => None,
    }
}

const UNMEASURED: &str = "it was not measured before the run was interrupted";

/// Whether what an index is computed from is a figure.
pub(super) fn is_known(row: &document::Row) -> bool {
    row.ns.is_none_or(|ns| is_figure(&ns.unitless()))
}

/// Estimate and interval of a row of a run; or why there is none.
fn of_run(
    (entry, operation): (&str, &str),
    unit: Unit,
    run: Option<&Document>,
) -> Result<[Option<f64>; 3], String> {
    let of_name = |row: &&document::Row| (row.entry.as_str(), row.operation.as_str()) == (entry, operation);
    let row = run.and_then(|run| run.results.iter().find(of_name)).ok_or(UNMEASURED)?;
    if row.outcome != Outcome::Ok {
        return Err(row.reason.clone().unwrap_or_else(|| row.outcome.name().to_string()));
    }
    let cost = match unit {
        Unit::Ns => row.ns.as_ref().map(Cost::unitless),
        Unit::Ticks => row.ticks.as_ref().map(Cost::unitless),
        Unit::Cycles | Unit::CoreCycles => row.core_cycles.as_ref().map(Cost::unitless),
        Unit::Index => None,
    };
    if cost.is_some_and(|cost| !is_figure(&cost)) {
        return Err("kentry: the interval is wider than the cost (--budget 20)".into());
    }
    let index = row.rate.and_then(|rate| rate.index).filter(|_| unit == Unit::Index && is_known(row));
    let figure = cost
        .map(|cost| [Some(cost.estimate), cost.ci_low, cost.ci_high])
        .or(index.map(|index| [Some(index.estimate), index.ci_low, index.ci_high]));
    match (figure, row.noise) {
        (Some(figure), _) => Ok(figure),
        (None, Some(noise)) => Err(match noise.kind {
            NoiseKind::Shared => "kentry: noisy, the core was shared too often for an estimate (--budget 20)",
            NoiseKind::Preempted => {
                "kentry: noisy, other processes ran too often for an estimate (--budget 20)"
            }
            NoiseKind::TooFew => "kentry: too few rounds for an estimate (--budget 20)",
        }
        .into()),
        (None, None) => Err(format!("kentry: {} cannot be told here", unit.name())),
    }
}

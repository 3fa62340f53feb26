//! A published table beside what was measured here.

use crate::{Column, Publication, Row, Timed, Unit};
use document::{Counter, Document, Outcome};
use environment::Environment;
use serde::Serialize;
use stats::NoiseKind;
use std::collections::{BTreeMap, BTreeSet};
use table::Table;

/// How kentry measures, in words.
const KENTRY: &str = "single calls between fences, less the same code without the call, while the core was alone; the median \
                      of the rounds, as `kentry` does it";

/// The name of that way.
const KENTRY_NAME: &str = "kentry";

/// What a reproduction is made of.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// This machine.
    pub here: &'a Environment,
    /// The run of kentry's own way; none where nothing of the table can be measured on this Linux.
    pub run: Option<&'a Document>,
    /// The loops.
    pub timed: &'a [Timed],
    /// The run in the lab, if there was one.
    pub lab: Option<&'a Document>,
}

/// A published table, and what came out here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reproduction {
    /// [`Reproduction::SCHEMA`].
    pub schema: &'static str,
    /// Of the publication.
    pub name: String,
    /// What was measured, in a few words.
    pub title: String,
    /// What was published, and what it showed, in sentences.
    pub about: String,
    /// Who published it, and where.
    pub source: String,
    /// The processor that it was measured on.
    pub cpu: String,
    /// The kernel.
    pub kernel: String,
    /// What the published figures count.
    pub unit: Unit,
    /// How the author measured, in words; null where that is not known.
    pub way: Option<String>,
    /// Name of the row that others are compared with.
    pub base: Option<String>,
    /// This machine.
    pub here: Here,
    /// How was measured here: loops as the author's, then kentry's own way. Empty where nothing could be.
    pub ways: Vec<Way>,
    /// The figures, column by column.
    pub figures: Vec<Figure>,
    /// The same in the lab; null unless that was asked for.
    pub lab: Option<InLab>,
}

/// What of this machine decides the figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Here {
    /// The processor.
    pub cpu: Option<String>,
    /// The kernel's name and release.
    pub kernel: Option<String>,
    /// Whether page-table isolation is on.
    pub pti: Option<bool>,
    /// How the vsyscall page is served: `none`, `emulate`, `xonly`, `native`.
    pub vsyscall: Option<String>,
    /// Id of the run with kentry's figures.
    pub run: Option<String>,
}

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
    /// One for each of [`Reproduction::ways`], in their order.
    pub measured: Vec<Measured>,
    /// Why something was not measured; null if all was.
    pub reason: Option<String>,
    /// What else there is to know.
    pub remark: Option<String>,
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
    /// As a multiple of the published figure; null where the units cannot be compared.
    pub to_published: Option<f64>,
    /// As a multiple of what the base row took here, in the same way.
    pub to_base: Option<f64>,
}

/// What came out in the lab.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InLab {
    /// `instructions` (counted in an emulator, no times), `core-cycles` or `ticks`.
    pub unit: &'static str,
    /// The figures, configuration by configuration.
    pub figures: Vec<LabFigure>,
}

/// A figure of the lab.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabFigure {
    /// Heading of the row.
    pub row: String,
    /// The entry.
    pub entry: String,
    /// The operation.
    pub operation: String,
    /// The switches that stand for the column, for instance `pti=on`; empty where none does.
    pub column: String,
    /// All switches that stand for row and column.
    pub set: BTreeMap<String, String>,
    /// In [`InLab::unit`]; null where it could not be measured.
    pub value: Option<f64>,
    /// As a multiple of the base row's in the same column.
    pub to_base: Option<f64>,
    /// Why there is none.
    pub reason: Option<String>,
}

impl Reproduction {
    /// The schema of its JSON.
    pub const SCHEMA: &str = "kentry.reproduction/1";

    /// Puts a publication beside what was measured.
    pub fn of(publication: &Publication, parts: &Parts, table: &Table) -> Reproduction {
        let ways = ways(publication);
        let columns = publication.columns.iter().map(|column| column.get_ref()).enumerate();
        let figures = columns.flat_map(|(place, column)| figures(publication, (place, column), &ways, parts));
        Reproduction {
            schema: Reproduction::SCHEMA,
            name: publication.name.clone(),
            title: publication.title.clone(),
            about: publication.about.clone(),
            source: publication.source.clone(),
            cpu: publication.cpu.clone(),
            kernel: publication.kernel.clone(),
            unit: publication.unit,
            way: publication.way.clone(),
            base: publication.base.clone(),
            here: Here::of(parts),
            figures: figures.collect(),
            ways,
            lab: parts.lab.map(|run| in_lab(publication, run, table)),
        }
    }

    /// The headings of the columns, in their order.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns: Vec<&str> = self.figures.iter().map(|figure| figure.column.as_str()).collect();
        columns.dedup();
        columns
    }
}

impl Here {
    fn of(parts: &Parts) -> Here {
        let kernel = &parts.here.kernel;
        let names: Vec<&str> =
            [&kernel.sysname, &kernel.release].into_iter().flatten().map(String::as_str).collect();
        Here {
            cpu: parts.here.cpu.brand.clone(),
            kernel: (!names.is_empty()).then(|| names.join(" ")),
            pti: kernel.pti,
            vsyscall: parts.here.vsyscall.clone(),
            run: parts.run.and_then(|run| run.id.clone()),
        }
    }
}

fn ways(publication: &Publication) -> Vec<Way> {
    let unit = publication.unit;
    let loops = publication.loops().into_iter();
    let mut ways: Vec<Way> =
        loops.map(|(name, way)| Way { name, unit: unit.of_loops(), words: way.in_words(unit) }).collect();
    if !ways.is_empty() {
        ways.push(Way { name: KENTRY_NAME, unit: unit.of_kentry(), words: KENTRY.into() });
    }
    ways
}

/// A column's figures.
fn figures(
    publication: &Publication,
    (place, column): (usize, &Column),
    ways: &[Way],
    parts: &Parts,
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
            };
            // What nobody published for this column is not measured for it: it has nothing to stand beside.
            if let (Some(published), None) = (published, &figure.reason) {
                figure.measure(row, publication, ways, parts);
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
            measured.to_base = ratio(measured.value, base.value);
        }
    }
}

fn ratio(value: Option<f64>, base: Option<f64>) -> Option<f64> {
    base.filter(|base| *base > 0.0).and_then(|base| Some(value? / base))
}

impl Measured {
    fn none(way: &'static str) -> Measured {
        Measured { way, value: None, ci_low: None, ci_high: None, to_published: None, to_base: None }
    }
}

impl Figure {
    /// Fills in what was measured, and why something was not.
    fn measure(&mut self, row: &Row, publication: &Publication, ways: &[Way], parts: &Parts) {
        let Some(name) = row.on_linux() else { return };
        let mut reasons = Vec::new();
        let loops = publication.loops();
        for ((_, way), measured) in loops.iter().zip(&mut self.measured) {
            let of_row = |timed: &&Timed| {
                (timed.entry.as_str(), timed.operation.as_str()) == name && timed.way == *way
            };
            match parts.timed.iter().find(of_row).map(|timed| &timed.took) {
                Some(Ok(took)) => measured.value = way.of(took),
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
    }

    fn compare(&mut self, unit: Unit, published: f64, ways: &[Way]) {
        for (measured, way) in self.measured.iter_mut().zip(ways) {
            let value = measured.value.filter(|_| unit.compares_with(way.unit));
            measured.to_published = ratio(value, Some(published));
        }
    }
}

const UNMEASURED: &str = "it was not measured before the run was interrupted";

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
        Unit::Ns => row.ns.map(|cost| cost.unitless()),
        Unit::Ticks => row.ticks.map(|cost| cost.unitless()),
        _ => row.core_cycles.map(|cost| cost.unitless()),
    };
    match (cost, row.noise) {
        (Some(cost), _) => Ok([Some(cost.estimate), cost.ci_low, cost.ci_high]),
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

fn in_lab(publication: &Publication, run: &Document, table: &Table) -> InLab {
    let unit = match run.counter() {
        Counter::Instructions => "instructions",
        Counter::Time if run.measurement.cycles_per_tick.is_some() => "core-cycles",
        Counter::Time => "ticks",
    };
    let mut figures = Vec::new();
    let mut known = BTreeSet::new();
    for column in publication.columns.iter().map(|column| column.get_ref()) {
        let name = in_words(&column.set);
        if !known.insert(name.clone()) {
            continue;
        }
        let rows = publication.rows.iter().map(|row| row.get_ref());
        let mut of_column: Vec<LabFigure> =
            rows.filter_map(|row| lab_figure(publication, row, column, &name, (unit, run), table)).collect();
        let base = of_column.iter().find(|figure| Some(&figure.row) == publication.base.as_ref());
        let base = base.and_then(|figure| figure.value);
        of_column.iter_mut().for_each(|figure| figure.to_base = ratio(figure.value, base));
        figures.append(&mut of_column);
    }
    InLab { unit, figures }
}

fn lab_figure(
    publication: &Publication,
    row: &Row,
    column: &Column,
    name: &str,
    (unit, run): (&str, &Document),
    table: &Table,
) -> Option<LabFigure> {
    let (entry, operation) = row.in_lab(table)?;
    let set = publication.lab_set(row, column, table);
    let of_set = |row: &&document::Row| {
        (row.entry.as_str(), row.operation.as_str()) == (entry, operation)
            && set.iter().all(|(switch, value)| row.configuration.get(switch) == Some(value))
    };
    let found = run.results.iter().find(of_set);
    let value = found.and_then(|row| match unit {
        "instructions" => row.instructions.map(|cost| cost.estimate.0),
        "core-cycles" => row.core_cycles.map(|cost| cost.estimate.0),
        _ => row.ticks.map(|cost| cost.estimate.0),
    });
    let reason = found.map_or_else(
        || Some("the lab did not measure it".to_string()),
        |row| row.reason.clone().or_else(|| value.is_none().then(|| "the lab has no figure for it".into())),
    );
    Some(LabFigure {
        row: row.name.clone(),
        entry: entry.into(),
        operation: operation.into(),
        column: name.into(),
        set: publication.set(row, column),
        value,
        to_base: None,
        reason,
    })
}

/// `pti=on,vsyscall=native`
fn in_words(set: &BTreeMap<String, String>) -> String {
    set.iter().map(|(switch, value)| format!("{switch}={value}")).collect::<Vec<_>>().join(",")
}

impl Publication {
    /// What of the lab is measured for it: entries, operations, and configurations as `--set` takes them. The lab measures every
    /// operation through every entry in every configuration; not all of that is asked for here, but it takes no time.
    pub fn lab_wants(&self, table: &Table) -> (Vec<String>, Vec<String>, Vec<String>) {
        let (mut entries, mut operations, mut sets) = (Vec::new(), Vec::new(), Vec::new());
        let add = |to: &mut Vec<String>, word: String| {
            if !word.is_empty() && !to.contains(&word) {
                to.push(word);
            }
        };
        for row in self.rows.iter().map(|row| row.get_ref()) {
            let Some((entry, operation)) = row.in_lab(table) else { continue };
            add(&mut entries, entry.into());
            add(&mut operations, operation.into());
            for column in &self.columns {
                add(&mut sets, in_words(&self.lab_set(row, column.get_ref(), table)));
            }
        }
        (entries, operations, sets)
    }

    /// The switches that stand for a row in a column; those that only others of the publication name have their defaults.
    fn lab_set(&self, row: &Row, column: &Column, table: &Table) -> BTreeMap<String, String> {
        let rows = self.rows.iter().flat_map(|row| row.get_ref().set.keys());
        let named = self.columns.iter().flat_map(|column| column.get_ref().set.keys()).chain(rows);
        let default = |name: &String| Some((name.clone(), table.switch(name)?.default.clone()));
        let mut set: BTreeMap<String, String> = named.filter_map(default).collect();
        set.extend(self.set(row, column));
        set
    }
}

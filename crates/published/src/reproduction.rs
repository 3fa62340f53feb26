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
                      of the rounds, as kentry's runs do";

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
    /// The processor that it was measured on; null where the source does not say.
    pub cpu: Option<String>,
    /// The kernel; null where the source does not say.
    pub kernel: Option<String>,
    /// What the published figures count.
    pub unit: Unit,
    /// How the author measured, in words; null where that is not known.
    pub way: Option<String>,
    /// Name of the row that others are compared with.
    pub base: Option<String>,
    /// This machine.
    pub here: Here,
    /// What differs here, besides the figures, in words.
    pub differs: Vec<String>,
    /// How was measured here: loops as the author's, then kentry's own way. Empty where nothing could be.
    pub ways: Vec<Way>,
    /// The figures, column by column.
    pub figures: Vec<Figure>,
    /// The same in the lab; null unless that was asked for.
    pub lab: Option<InLab>,
}

/// What of this machine decides the figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Here {
    /// The processor.
    pub cpu: Option<String>,
    /// The kernel's name and release.
    pub kernel: Option<String>,
    /// Whether page-table isolation is on.
    pub pti: Option<bool>,
    /// How the vsyscall page is served: `none`, `emulate`, `xonly`, `native`.
    pub vsyscall: Option<String>,
    /// Frequency of the time stamp counter, hertz.
    pub tsc_hz: Option<f64>,
    /// Frequency that the core ran at, hertz: the median over the rounds.
    pub core_hz: Option<f64>,
    /// Share of the run's checks that found the core alone, 0 to 1.
    pub quiet_share: Option<f64>,
    /// Id of the kept run with kentry's figures.
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
    /// Id of the kept run with these figures.
    pub run: Option<String>,
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
            differs: partial(parts).into_iter().chain(differs(publication, parts.here)).collect(),
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
        let measurement = parts.run.map(|run| &run.measurement);
        let tsc_hz = measurement.and_then(|run| run.tsc_hz);
        let names: Vec<&str> =
            [&kernel.sysname, &kernel.release].into_iter().flatten().map(String::as_str).collect();
        Here {
            cpu: parts.here.cpu.brand.clone(),
            kernel: (!names.is_empty()).then(|| names.join(" ")),
            pti: kernel.pti,
            vsyscall: parts.here.vsyscall.clone(),
            tsc_hz,
            core_hz: measurement.and_then(|run| Some(run.tsc_hz? * run.cycles_per_tick?)),
            quiet_share: measurement.and_then(|run| run.quiet_share),
            run: parts.run.and_then(|run| run.id.clone()),
        }
    }
}

/// What is said of a measurement that was cut short.
fn partial(parts: &Parts) -> Option<String> {
    let is_partial = parts.run.into_iter().chain(parts.lab).any(|run| run.measurement.partial);
    is_partial.then(|| "PARTIAL: the measurement was cut short, and rows may lack a figure".to_owned())
}

/// What is not as it was there: the processor and the kernel, unless their names say otherwise, and what is around them.
fn differs(publication: &Publication, here: &Environment) -> Vec<String> {
    let mut all = Vec::new();
    let brand = here.cpu.brand.as_deref().unwrap_or_default();
    let is_processor = |name: &str| brand.split(' ').any(|word| word == name);
    let release = here.kernel.release.as_deref().unwrap_or_default();
    let is_kernel = |version: &str| {
        release.strip_prefix(version).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let last_word = |text: &Option<String>| text.as_ref()?.split(' ').next_back().map(str::to_string);
    if !last_word(&publication.cpu).is_some_and(|name| is_processor(&name)) {
        all.push("the processor".to_string());
    }
    if !last_word(&publication.kernel).is_some_and(|version| is_kernel(&version)) {
        all.push("the kernel".to_string());
    }
    if here.hypervisor.present {
        all.push("a hypervisor is below this kernel".into());
    }
    let says_pti = publication.columns.iter().any(|column| column.get_ref().needs.pti.is_some());
    all.extend(match (says_pti, here.kernel.pti) {
        (_, None) => None,
        (true, Some(on)) => Some(format!("page-table isolation (PTI) is {} here", on_off(on))),
        (false, Some(on)) => {
            Some(format!("page-table isolation (PTI) is {} here; the source does not say of it", on_off(on)))
        }
    });
    all
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
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
                disturbed: false,
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
                Some(Ok(took)) => {
                    measured.value = way.of(&took.loops);
                    self.disturbed |= took.preemptions > 0;
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
    InLab { unit, run: run.id.clone(), figures }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Loop, Publications, Took};
    use stats::{Cost, Cycles, Nanos, Noise};

    const TABLE: &str = r#"
        [[publication]]
        name = "little"
        title = "a table"
        source = "a test"
        cpu = "Example 9000"
        unit = "ns"
        about = "A table."
        base = "syscall"
        [[publication.column]]
        name = "PTI on"
        needs = { pti = "on" }
        set = { pti = "on" }
        [[publication.column]]
        name = "PTI off"
        needs = { pti = "off" }
        [[publication.row]]
        name = "syscall"
        published = [200, 100]
        entry = "syscall-x86_64"
        operation = "getppid"
        [[publication.row]]
        name = "int 80h"
        published = [400, 300]
        entry = "int80-i386"
        operation = "getppid"
        [[publication.row]]
        name = "call gate"
        published = ["-", 500]
        lab = "call-gate-i386"
        operation = "getppid"
        absent = "Linux has none"
    "#;

    fn parsed(text: &str) -> Publication {
        Publications::parse(text, Table::get()).unwrap().iter().next().unwrap().clone()
    }

    fn cost<U: From<f64> + Copy>(estimate: f64) -> Option<Cost<U>> {
        let (low, high) = (U::from(estimate - 1.0), U::from(estimate + 1.0));
        let (ci_low, ci_high, p99, p999) = (Some(low), Some(high), None, None);
        let estimate = U::from(estimate);
        Some(Cost { estimate, ci_low, ci_high, min: low, p50: estimate, p99, p999, max: high })
    }

    fn row(entry: &str, ns: f64) -> document::Row {
        let mut row = document::Row::unmeasured(entry, "getppid", 64);
        (row.ns, row.core_cycles) = (cost::<Nanos>(ns), cost::<Cycles>(ns * 3.0));
        row
    }

    fn here(pti: bool) -> Environment {
        let mut here = Environment::default();
        here.cpu.brand = Some("Example(R) 9000 CPU @ 2 GHz".into());
        here.kernel.pti = Some(pti);
        here
    }

    fn document(results: Vec<document::Row>) -> Document {
        Document {
            schema: document::SCHEMA.into(),
            id: Some("0123456789".into()),
            measurement: document::Measurement::default(),
            environment: here(false),
            vdso: BTreeMap::new(),
            results,
            findings: Vec::new(),
        }
    }

    fn timed(entry: &str, way: Loop, loops: Vec<u64>) -> Timed {
        let took = Ok(Took { loops, preemptions: 0 });
        Timed { entry: entry.into(), operation: "getppid".into(), way, took }
    }

    fn loops() -> Vec<Timed> {
        vec![
            timed("syscall-x86_64", Loop::PLAIN, vec![50_000, 70_000]),
            timed("syscall-x86_64", Loop::SINGLE, vec![95, 90, 400]),
            timed("int80-i386", Loop::PLAIN, vec![180_000]),
            timed("int80-i386", Loop::SINGLE, vec![220]),
        ]
    }

    fn reproduced(text: &str, pti: bool, run: Option<&Document>, timed: &[Timed]) -> Reproduction {
        let parts = Parts { here: &here(pti), run, timed, lab: None };
        Reproduction::of(&parsed(text), &parts, Table::get())
    }

    fn figure<'a>(reproduction: &'a Reproduction, column: &str, row: &str) -> &'a Figure {
        let mut all = reproduction.figures.iter();
        all.find(|figure| figure.column == column && figure.row == row).unwrap()
    }

    fn values(figure: &Figure) -> Vec<Option<f64>> {
        figure.measured.iter().map(|measured| measured.value).collect()
    }

    #[test]
    fn each_way_stands_beside_the_published_figure_and_the_base() {
        let run = document(vec![row("syscall-x86_64", 50.0), row("int80-i386", 175.0)]);
        let found = reproduced(TABLE, false, Some(&run), &loops());
        assert_eq!(found.ways.iter().map(|way| way.name).collect::<Vec<_>>(), ["loop", "single", "kentry"]);
        let int80 = figure(&found, "PTI off", "int 80h");
        assert_eq!(values(int80), [Some(180.0), Some(220.0), Some(175.0)]);
        assert_eq!((int80.published, int80.published_to_base), (Some(300.0), Some(3.0)));
        let ratios: Vec<_> = int80.measured.iter().map(|one| (one.to_published, one.to_base)).collect();
        assert_eq!(ratios[0], (Some(0.6), Some(3.0)), "the mean of the base's loops is 60");
        assert_eq!(ratios[1], (Some(220.0 / 300.0), Some(220.0 / 90.0)));
        assert_eq!(ratios[2], (Some(175.0 / 300.0), Some(3.5)));
        assert_eq!((int80.measured[2].ci_low, int80.measured[2].ci_high), (Some(174.0), Some(176.0)));
        assert_eq!((int80.measured[0].ci_low, int80.reason.as_deref()), (None, None));
        assert_eq!(found.here.run.as_deref(), Some("0123456789"));
    }

    #[test]
    fn what_this_kernel_cannot_tell_has_a_reason_and_no_figure() {
        let run = document(vec![row("syscall-x86_64", 50.0), row("int80-i386", 175.0)]);
        let found = reproduced(TABLE, false, Some(&run), &loops());
        for row in ["syscall", "int 80h"] {
            let closed = figure(&found, "PTI on", row);
            assert_eq!(values(closed), [None; 3]);
            assert_eq!(closed.reason.as_deref(), Some("page-table isolation is off here"));
            assert!(closed.published_to_base.is_some(), "what was published is known all the same");
        }
        let gate = figure(&found, "PTI off", "call gate");
        assert_eq!((values(gate), gate.reason.as_deref()), (vec![None; 3], Some("Linux has none")));
        let none_published = |figure: &&Figure| figure.column == "PTI on" && figure.row == "call gate";
        assert!(!found.figures.iter().any(|figure| none_published(&figure)));
        // With isolation it is the other way round.
        let other = reproduced(TABLE, true, Some(&run), &loops());
        assert!(values(figure(&other, "PTI on", "int 80h"))[0].is_some());
        assert_eq!(values(figure(&other, "PTI off", "int 80h")), [None; 3]);
    }

    #[test]
    fn a_row_that_is_closed_or_noisy_says_so() {
        let mut noisy = row("syscall-x86_64", 50.0);
        (noisy.ns, noisy.core_cycles) = (None, None);
        noisy.noise = Some(Noise { kind: NoiseKind::Shared, low: Some(60.0), high: Some(90.0) });
        let mut closed = document::Row::unmeasured("int80-i386", "getppid", 32);
        (closed.outcome, closed.reason) = (Outcome::Unsupported, Some("it is closed".into()));
        let run = document(vec![noisy, closed]);
        let mut timed = loops();
        timed.retain(|timed| timed.entry != "int80-i386" || timed.way == Loop::SINGLE);
        timed.last_mut().unwrap().took = Err("it is closed".into());
        let found = reproduced(TABLE, false, Some(&run), &timed);
        let syscall = figure(&found, "PTI off", "syscall");
        assert_eq!(values(syscall), [Some(60.0), Some(90.0), None], "loops know of no noise");
        assert!(syscall.reason.as_deref().unwrap().starts_with("kentry: noisy"), "{:?}", syscall.reason);
        let int80 = figure(&found, "PTI off", "int 80h");
        assert_eq!(values(int80), [None; 3]);
        assert_eq!(
            int80.reason.as_deref(),
            Some("it was not measured before the run was interrupted; it is closed")
        );
        assert!(int80.measured.iter().all(|one| one.to_base.is_none() && one.to_published.is_none()));
    }

    #[test]
    fn cycles_of_an_unknown_clock_compare_with_both_and_those_of_the_core_with_the_cores() {
        let run = document(vec![row("syscall-x86_64", 50.0), row("int80-i386", 175.0)]);
        let of_unit = |unit: &str| {
            let text = TABLE.replace("unit = \"ns\"", &format!("unit = \"{unit}\""));
            let found = reproduced(&text, false, Some(&run), &loops());
            let syscall = figure(&found, "PTI off", "syscall").clone();
            let units: Vec<_> = found.ways.iter().map(|way| way.unit).collect();
            let ratios: Vec<_> = syscall.measured.iter().map(|one| one.to_published).collect();
            (units, syscall.measured[2].value, ratios)
        };
        let (units, kentry, ratios) = of_unit("cycles");
        assert_eq!(units, [Unit::Ticks, Unit::Ticks, Unit::CoreCycles]);
        assert_eq!((kentry, ratios), (Some(150.0), vec![Some(0.6), Some(0.9), Some(1.5)]));
        let (_, _, ratios) = of_unit("core-cycles");
        assert_eq!(ratios, [None, None, Some(1.5)]);
        // The rows have no figures in ticks.
        let (_, kentry, ratios) = of_unit("ticks");
        assert_eq!((kentry, ratios), (None, vec![Some(0.6), Some(0.9), None]));
    }

    #[test]
    fn where_nothing_was_measured_the_published_figures_stand_alone() {
        let text = TABLE.replace("entry = ", "absent = ").replace("operation = \"getppid\"\n", "\n");
        let text = text.replace("lab = \"call-gate-i386\"", "");
        let found = reproduced(&text, false, None, &[]);
        assert!(found.ways.is_empty() && found.here.run.is_none());
        assert!(found.figures.iter().all(|figure| figure.measured.is_empty() && figure.reason.is_some()));
        assert_eq!(figure(&found, "PTI on", "int 80h").published_to_base, Some(2.0));
    }

    #[test]
    fn a_disturbed_loop_is_marked() {
        let run = document(vec![row("syscall-x86_64", 50.0), row("int80-i386", 175.0)]);
        let mut timed = loops();
        timed[0].took.as_mut().unwrap().preemptions = 1;
        let found = reproduced(TABLE, false, Some(&run), &timed);
        assert!(figure(&found, "PTI off", "syscall").disturbed);
        assert!(!figure(&found, "PTI off", "int 80h").disturbed);
    }

    #[test]
    fn a_run_that_was_cut_short_is_called_partial() {
        let mut run = document(vec![row("syscall-x86_64", 50.0)]);
        let is_said = |run: &Document| {
            let found = reproduced(TABLE, false, Some(run), &loops());
            found.differs.iter().any(|differs| differs.starts_with("PARTIAL: "))
        };
        assert!(!is_said(&run));
        run.measurement.partial = true;
        assert!(is_said(&run));
    }

    #[test]
    fn what_differs_is_said() {
        let found = reproduced(TABLE, false, None, &[]);
        assert_eq!(found.differs, ["the kernel", "page-table isolation (PTI) is off here"]);
        let differs = |version: &str, release: &str| {
            let named =
                TABLE.replace("unit = \"ns\"", &format!("unit = \"ns\"\nkernel = \"Linux {version}\""));
            let mut here = here(false);
            here.kernel.release = Some(release.into());
            let parts = Parts { here: &here, run: None, timed: &[], lab: None };
            Reproduction::of(&parsed(&named), &parts, Table::get())
                .differs
                .contains(&"the kernel".to_string())
        };
        assert!(!differs("4.14", "4.14.0-5-amd64") && !differs("4.14", "4.14"));
        assert!(differs("4.1", "4.14.0") && differs("1.0", "6.1.0") && differs("4.14", "6.18.44"));
        let text =
            TABLE.replace("Example 9000", "Example 8000").replace("needs = { pti = ", "set = { smap = ");
        let text = text.replacen("set = { pti = \"on\" }\n", "\n", 1);
        let other = reproduced(&text, true, None, &[]);
        assert_eq!(
            other.differs,
            [
                "the processor",
                "the kernel",
                "page-table isolation (PTI) is on here; the source does not say of it"
            ]
        );
    }

    #[test]
    fn the_lab_is_asked_for_each_configuration_and_its_rows_are_found_again() {
        let publication = parsed(TABLE);
        let (entries, operations, sets) = publication.lab_wants(Table::get());
        assert_eq!(entries, ["syscall-x86_64", "int80-i386", "call-gate-i386"]);
        assert_eq!(
            (operations, sets),
            (vec!["getppid".to_string()], vec!["pti=on".to_string(), "pti=off".into()])
        );
        let row = |entry: &str, pti: &str, count: f64| {
            let mut row = document::Row::unmeasured(entry, "getppid", 64);
            row.configuration =
                [("pti", pti), ("smap", "on")].map(|(k, v)| (k.to_string(), v.to_string())).into();
            row.timing = document::Timing::Emulated;
            row.instructions = cost(count);
            row
        };
        let mut run = document(vec![
            row("syscall-x86_64", "off", 100.0),
            row("syscall-x86_64", "on", 110.0),
            row("int80-i386", "on", 220.0),
            row("call-gate-i386", "off", 90.0),
        ]);
        let machine = document::Machine::QemuTcg;
        run.measurement.place = document::Place::new(machine, table::Kernel::Lab);
        let parts = Parts { here: &here(false), run: None, timed: &[], lab: Some(&run) };
        let lab = Reproduction::of(&publication, &parts, Table::get()).lab.unwrap();
        assert_eq!(lab.unit, "instructions");
        let found: Vec<_> = lab
            .figures
            .iter()
            .map(|one| (one.column.as_str(), one.row.as_str(), one.value, one.to_base))
            .collect();
        assert_eq!(
            found,
            [
                ("pti=on", "syscall", Some(110.0), Some(1.0)),
                ("pti=on", "int 80h", Some(220.0), Some(2.0)),
                ("pti=on", "call gate", None, None),
                ("", "syscall", Some(100.0), Some(1.0)),
                ("", "int 80h", None, None),
                ("", "call gate", Some(90.0), Some(0.9)),
            ]
        );
        assert_eq!(lab.figures[2].reason.as_deref(), Some("the lab did not measure it"));
    }
}

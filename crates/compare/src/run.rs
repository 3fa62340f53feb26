//! What a comparison needs of a document.

use crate::asked;
use crate::comparison::{RunHead, Unit};
use crate::facts::Facts;
use document::{Counter, Document, Identity, Outcome, Path, Timing, is_figure};
use environment::{Environment, Guest};
use std::collections::{BTreeMap, BTreeSet};
use table::Table;

/// Standard errors from an estimate to either end of its interval of 95 %.
const TO_THE_END: f64 = 1.96;

/// No figure is greater: no counter of 64 bits counts further. What is computed from smaller ones stays finite.
const GREATEST: f64 = u64::MAX as f64;

/// One side of a comparison, as it is given.
#[derive(Debug, Clone, Default)]
pub struct SideRuns {
    /// What its user calls it.
    pub label: String,
    /// Its runs.
    pub runs: Vec<Run>,
}

/// The pairs of rounds of a row: each is a round of either side, one right after the other and in random order, so that whatever
/// moves from run to run moves both.
#[derive(Debug, Clone, PartialEq)]
pub struct Paired {
    /// Which row: its entry and operation, alone.
    pub row: Identity,
    /// What the rounds cost, in core cycles and in order of time. Of a row that has no core cycles on one side, and of fewer pairs than
    /// [`stats::SignedRank::of`] asks for, they do not count.
    pub pairs: Vec<stats::Pair>,
}

/// What a comparison needs of a document: much less than the document.
#[derive(Debug, Clone)]
pub struct Run {
    pub(crate) head: RunHead,
    pub(crate) facts: Facts,
    /// When it began, in seconds since 1970; none where nobody knows.
    pub(crate) at: Option<f64>,
    /// How long it took, in seconds.
    pub(crate) seconds: f64,
    /// Whether its figures are times of one boot of the kernel. A run of the lab that measures time is of several.
    pub(crate) is_of_one_boot: bool,
    pub(crate) rows: BTreeMap<Identity, Measured>,
    /// The rows in the document's order.
    pub(crate) order: Vec<Identity>,
    /// Rows that the document has more than once, in words. Of each, the first counts.
    pub(crate) repeated: BTreeSet<String>,
}

/// A row of a run.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub entry: String,
    pub operation: String,
    pub bits: u8,
    pub configuration: BTreeMap<String, String>,
    pub timing: Timing,
    pub outcome: Outcome,
    pub reason: Option<String>,
    pub path: Option<Path>,
    /// Whether anything was found out about it.
    pub has_outcome: bool,
    pub figures: BTreeMap<Unit, RunEstimate>,
}

/// An estimate of one run, and its standard error within this run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RunEstimate {
    pub estimate: f64,
    pub error: f64,
}

impl Run {
    /// Takes from a document what a comparison needs. `name` is what its user calls it.
    pub fn of(table: &Table, document: &Document, name: Option<&str>) -> Run {
        let rows = document.results.iter().map(|row| (document.identity(table, row), Measured::of(row)));
        Run::of_rows(document, name, rows)
    }

    /// The same of the rows of one configuration: those that have all of these values, or every row where none is given. They
    /// are told apart by entry and operation alone, so that they can be compared with those of another configuration, be it of
    /// the same document, and with the same on another kind of core.
    pub fn of_configuration(
        table: &Table,
        document: &Document,
        name: Option<&str>,
        configuration: &BTreeMap<String, String>,
    ) -> Run {
        let is_asked = |row: &&document::Row| {
            configuration.iter().all(|(key, value)| row.configuration.get(key) == Some(value))
        };
        let alone = |row: &document::Row| {
            let measured = Measured { configuration: BTreeMap::new(), ..Measured::of(row) };
            (document.identity(table, row).alone(), measured)
        };
        Run::of_rows(document, name, document.results.iter().filter(is_asked).map(alone))
    }

    fn of_rows(
        document: &Document,
        name: Option<&str>,
        of_document: impl Iterator<Item = (Identity, Measured)>,
    ) -> Run {
        let (mut rows, mut order, mut repeated) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
        for (identity, row) in of_document {
            // Of two rows that are the same, which no kentry writes, the first counts.
            if rows.contains_key(&identity) {
                repeated.insert(row.in_words());
            } else {
                rows.insert(identity.clone(), row);
                order.push(identity);
            }
        }
        let is_of_one_boot = document.counter() == Counter::Time
            && document.environment.guest.as_ref().is_none_or(|guest| boots_of_a_row(guest) < 2);
        let head = head(document, name);
        let facts = Facts::of(document, head.options.as_deref());
        let (at, seconds) = (seconds_since_1970(&head.started), document.measurement.seconds);
        Run { head, facts, at, seconds, is_of_one_boot, rows, order, repeated }
    }

    /// Without its id, by which nobody can find a run that is not kept.
    pub fn unkept(mut self) -> Run {
        self.head.id = None;
        self
    }
}

fn seconds_since_1970(started: &str) -> Option<f64> {
    let began = humantime::parse_rfc3339_weak(started).ok()?;
    Some(began.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs_f64())
}

fn head(document: &Document, name: Option<&str>) -> RunHead {
    let (measurement, environment) = (&document.measurement, &document.environment);
    RunHead {
        id: document.id.clone(),
        name: name.map(str::to_string),
        started: measurement.started.clone(),
        place: measurement.place.clone(),
        cpu: environment.cpu.brand.clone(),
        machine: environment.machine_id.clone(),
        kernel: releases(environment),
        boot: environment.boot_id.clone(),
        kentry: measurement.kentry.clone(),
        quiet_share: measurement.quiet_share.filter(|share| share.is_finite()),
        partial: measurement.partial,
        budget_seconds: Some(measurement.budget_seconds)
            .filter(|seconds| seconds.is_finite() && *seconds > 0.0),
        options: asked::options(document),
        command: measurement.command.clone(),
        arm: measurement.arm.clone(),
    }
}

/// How many boots the rows are of. Each configuration of Linux has boots of its own, and the fewest of any that has figures count for
/// all; the configurations of the lab are timed in the same boots, and a row of it is counted in one.
fn boots_of_a_row(guest: &Guest) -> usize {
    let with_figures = guest.kernels.iter().filter(|kernel| kernel.outcome == Outcome::Ok.name());
    let of_lab = if guest.icount { guest.boots.len().min(1) } else { guest.boots.len() };
    with_figures.map(|kernel| kernel.boots.len()).min().unwrap_or(of_lab)
}

/// The kernel's release; of guests, those of all kernels.
fn releases(environment: &Environment) -> Option<String> {
    let of_guests =
        environment.guest.iter().flat_map(|guest| guest.releases()).collect::<Vec<_>>().join(", ");
    Some(of_guests).filter(|releases| !releases.is_empty()).or_else(|| environment.kernel.release.clone())
}

impl Measured {
    /// Which it is, for a reader.
    fn in_words(&self) -> String {
        document::row_in_words(&self.entry, &self.operation, &self.configuration)
    }

    fn of(row: &document::Row) -> Measured {
        let cycles = row.core_cycles.and_then(|cost| RunEstimate::of(cost.unitless()));
        let ns = row.ns.and_then(|cost| RunEstimate::of(cost.unitless()));
        let instructions = row.instructions.and_then(|cost| RunEstimate::of(cost.unitless()));
        let figures = [(Unit::Cycles, cycles), (Unit::Ns, ns), (Unit::Instructions, instructions)];
        Measured {
            entry: row.entry.clone(),
            operation: row.operation.clone(),
            bits: row.bits,
            configuration: row.configuration.clone(),
            timing: row.timing,
            outcome: row.outcome,
            reason: row.reason.clone(),
            path: row.path,
            has_outcome: row.has_outcome(),
            figures: figures.into_iter().filter_map(|(unit, figure)| Some((unit, figure?))).collect(),
        }
    }
}

impl RunEstimate {
    /// None of what is not finite, and of an interval that is wider than its estimate.
    fn of(cost: stats::Cost<f64>) -> Option<RunEstimate> {
        if !is_figure(&cost) {
            return None;
        }
        let is_sound = |value: &f64| value.abs() <= GREATEST;
        let estimate = Some(cost.estimate).filter(is_sound)?;
        let ends = cost.ci_low.zip(cost.ci_high);
        let width = ends.map_or(0.0, |(low, high)| (high - low).abs());
        Some(RunEstimate { estimate, error: Some(width).filter(is_sound)? / 2.0 / TO_THE_END })
    }
}

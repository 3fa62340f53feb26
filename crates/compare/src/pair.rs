//! The rows of both sides, each with what its runs found out, and with the figures that can be compared.

use crate::boots::{self, Boots};
use crate::comparison::{Row, RowSide, Unit, Verdict};
use crate::figures::Figures;
use crate::fit::Fit;
use crate::model::Observation;
use crate::prior::{BOOTS, Behaviour, TOLD, of_drift, of_levels};
use crate::run::{Measured, Paired, Run, RunEstimate};
use document::{Identity, Outcome, Path, Timing};
use stats::SignedRank;
use std::collections::BTreeSet;
use table::Table;
use table::special::CALL;

/// A row of the comparison that has no verdict from figures yet, and its figures.
#[derive(Debug, Clone)]
pub(crate) struct RowOfBoth {
    pub row: Row,
    pub figures: Option<Figures>,
    /// What told its change, where runs did.
    pub fit: Option<ToldBy>,
}

/// An estimate, and how improbable a change must be to be told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToldBy {
    pub fit: Fit,
    pub of_change: f64,
}

/// Both sides, and the kept runs that say how much rows vary.
pub(crate) struct Both<'a> {
    pub table: &'a Table,
    pub base: Vec<&'a Run>,
    pub new: Vec<&'a Run>,
    pub history: Vec<Vec<&'a Run>>,
    pub paired: &'a [Paired],
}

/// A row in each run of a side; none where the run does not have it.
type OfSide<'a> = Vec<Option<&'a Measured>>;

fn of_runs<'a>(runs: &[&'a Run], identity: &Identity) -> OfSide<'a> {
    runs.iter().map(|run| run.rows.get(identity)).collect()
}

/// How many rows some runs have.
pub(crate) fn rows_of(runs: &[&Run]) -> usize {
    runs.iter().flat_map(|run| &run.order).collect::<BTreeSet<&Identity>>().len()
}

impl<'a> Both<'a> {
    /// Groups the kept runs by what they are alike in. Those that stand on a side say nothing more, and those that are like no
    /// run of a side nothing at all.
    pub fn new(table: &'a Table, base: Vec<&'a Run>, new: Vec<&'a Run>, kept: &'a [Run]) -> Both<'a> {
        let sides = || base.iter().chain(&new);
        let ids: BTreeSet<&String> = sides().filter_map(|run| run.head.id.as_ref()).collect();
        let mut history: Vec<Vec<&Run>> = Vec::new();
        let mut seen = BTreeSet::new();
        for run in kept {
            let is_new = run.head.id.as_ref().is_some_and(|id| !ids.contains(id) && seen.insert(id));
            if !is_new || !sides().any(|side| side.facts.is_alike(&run.facts)) {
                continue;
            }
            let alike =
                |group: &&mut Vec<&Run>| group.first().is_some_and(|first| first.facts.is_alike(&run.facts));
            match history.iter_mut().find(alike) {
                Some(group) => group.push(run),
                None => history.push(vec![run]),
            }
        }
        Both { table, base, new, history, paired: &[] }
    }

    /// Whether any row is on both sides.
    pub fn have_rows_in_common(&self) -> bool {
        let of_new: BTreeSet<&Identity> = self.new.iter().flat_map(|run| &run.order).collect();
        self.base.iter().flat_map(|run| &run.order).any(|identity| of_new.contains(identity))
    }

    /// Every row of either side, in the order in which documents have them, those of the base first.
    pub fn pairs(&self) -> Vec<RowOfBoth> {
        let mut seen = BTreeSet::new();
        let all = self.base.iter().chain(&self.new).flat_map(|run| &run.order);
        let identities: Vec<&Identity> = all.filter(|identity| seen.insert(*identity)).collect();
        identities.into_iter().filter_map(|identity| self.pair(identity)).collect()
    }

    fn pair(&self, identity: &Identity) -> Option<RowOfBoth> {
        let example = self.base.iter().chain(&self.new).find_map(|run| run.rows.get(identity))?;
        let (base, new) = (of_runs(&self.base, identity), of_runs(&self.new, identity));
        let unit = unit(&base, &new);
        let (of_base, of_new) = (side(&base, unit), side(&new, unit));
        let are_known = is_known(&base) && is_known(&new);
        let verdict = match of_base.as_ref().zip(of_new.as_ref()) {
            None => Verdict::Absent,
            Some(_) if !are_known => Verdict::NoFigure,
            Some((base, new)) => verdict(base, new, self.is_of_one_version()),
        };
        let figures = unit.filter(|_| verdict == Verdict::NoFigure && are_ok(&of_base, &of_new));
        let figures = figures.map(|unit| self.figures(identity, unit, &[&base, &new], example));
        let row = Row {
            entry: example.entry.clone(),
            operation: example.operation.clone(),
            bits: example.bits,
            configuration: example.configuration.clone(),
            unit,
            remarks: remarks(of_base.as_ref(), of_new.as_ref(), &base, &new),
            base: of_base,
            new: of_new,
            verdict,
            within_margin: false,
            margin: None,
            margin_percent: None,
            change: None,
            variation: None,
            more_runs: None,
            gate: None,
        };
        Some(RowOfBoth { row, figures, fit: None })
    }

    /// Whether one version of kentry wrote all of the runs: others may say the same cause in other words.
    fn is_of_one_version(&self) -> bool {
        let versions: BTreeSet<&String> =
            self.base.iter().chain(&self.new).map(|run| &run.head.kentry).collect();
        versions.len() <= 1
    }

    fn figures(&self, identity: &Identity, unit: Unit, sides: &[&OfSide; 2], example: &Measured) -> Figures {
        let behaviour = Behaviour::of(self.table, &example.entry, &example.operation);
        let enters_the_kernel = enters_the_kernel(self.table, example, sides);
        let kind = Kind { unit, behaviour, enters_the_kernel };
        let mut boots = Boots::default();
        let mut observations = Vec::new();
        for (side, (runs, rows)) in [&self.base, &self.new].into_iter().zip(sides).enumerate() {
            let found: Vec<(&Run, RunEstimate)> = figures_of(runs, rows, unit);
            observations.extend(observe(&found, side, kind, &mut boots));
        }
        let of_group = |runs: &Vec<&Run>| {
            let found = figures_of(runs, &of_runs(runs, identity), unit);
            // Kept runs whose boot is unknown are of one: what they differ by is then all between runs.
            observe(&found, 0, kind, &mut Boots::default())
        };
        let are_of_boots = boots::are_apart(&observations);
        let history: Vec<_> = self.history.iter().map(of_group).collect();
        let history: Vec<_> = history.into_iter().filter(|group| boots::tell(group, are_of_boots)).collect();
        let kept_runs = history.iter().map(|group| group.len() as u64).sum();
        let (observations, history) = if are_of_boots {
            let each_as_one = |group: &Vec<Observation>| boots::each_as_one(group);
            (boots::each_as_one(&observations), history.iter().map(each_as_one).collect())
        } else {
            (observations, history)
        };
        let is_of_row = |paired: &&Paired| paired.row == *identity;
        let paired = self.paired.iter().find(is_of_row).filter(|_| unit == Unit::Cycles);
        let turns = paired.and_then(|paired| SignedRank::of(&paired.pairs));
        Figures { unit, behaviour, enters_the_kernel, are_of_boots, observations, history, kept_runs, turns }
    }
}

fn figures_of<'a>(runs: &[&'a Run], rows: &OfSide, unit: Unit) -> Vec<(&'a Run, RunEstimate)> {
    let figure = |row: &&Measured| row.figures.get(&unit).copied().filter(|_| works(row));
    let all = runs.iter().zip(rows);
    all.filter_map(|(run, row)| Some((*run, row.as_ref().and_then(figure)?))).collect()
}

/// What is known of a row's variation before any run.
#[derive(Debug, Clone, Copy)]
struct Kind {
    unit: Unit,
    behaviour: Behaviour,
    enters_the_kernel: bool,
}

/// Whether a row's cost has the state of a CPU's entries into the kernel in it. A function that was seen to stay in user space on both
/// sides, a call and an instruction that is no entry do not.
fn enters_the_kernel(table: &Table, example: &Measured, sides: &[&OfSide; 2]) -> bool {
    let stays = || sides.iter().all(|rows| rows.iter().flatten().all(|row| row.path == Some(Path::User)));
    let is_instruction = |entry: &table::Entry| entry.kind == table::Kind::Instruction && !entry.uses_idt();
    example.entry != CALL.entry && !table.entry(&example.entry).is_some_and(is_instruction) && !stays()
}

fn observe(found: &[(&Run, RunEstimate)], side: usize, kind: Kind, boots: &mut Boots) -> Vec<Observation> {
    let mut estimates: Vec<f64> = found.iter().map(|(_, figure)| figure.estimate.abs()).collect();
    estimates.sort_by(f64::total_cmp);
    let cost = estimates.get(estimates.len() / 2).copied().unwrap_or(0.0);
    let deviation = kind.behaviour.deviation(kind.unit, cost);
    let drift = if kind.enters_the_kernel { of_drift(cost) } else { 0.0 };
    // A run without a time is far from those of the other side: this is the widest.
    let unknown = if side == 0 { f64::NEG_INFINITY } else { f64::INFINITY };
    let greatest = found.iter().map(|(_, figure)| figure.error).fold(0.0, f64::max);
    let observation = |(run, figure): &(&Run, RunEstimate)| {
        let levels =
            if kind.enters_the_kernel { (of_levels(run.seconds) * cost).min(TOLD * greatest) } else { 0.0 };
        // Those that the run's own interval has in it count once.
        let untold = (levels.powi(2) - figure.error.powi(2)).max(0.0).sqrt();
        Observation {
            figure: figure.estimate,
            error: figure.error,
            between_runs: deviation.hypot(untold),
            // A run of the lab is of several boots already.
            between_boots: if run.is_of_one_boot { BOOTS * deviation } else { 0.0 },
            drift,
            at: run.at.unwrap_or(unknown),
            boot: boots.number(run, side),
            side,
        }
    };
    found.iter().map(observation).collect()
}

/// Whether a run found that the entry works.
fn works(row: &Measured) -> bool {
    row.outcome == Outcome::Ok
}

/// Core cycles, or else nanoseconds, where a run of each side has a figure in them; instructions where these are counted.
fn unit(base: &OfSide, new: &OfSide) -> Option<Unit> {
    let has = |side: &OfSide, unit: Unit| {
        side.iter().flatten().any(|row| works(row) && row.figures.contains_key(&unit))
    };
    let all = [Unit::Cycles, Unit::Ns, Unit::Instructions];
    let of_both = all.into_iter().find(|unit| has(base, *unit) && has(new, *unit));
    let of_one = || all.into_iter().find(|unit| has(base, *unit) || has(new, *unit));
    of_both.or_else(of_one)
}

/// What a side found out; none where no run has the row.
fn side(rows: &OfSide, unit: Option<Unit>) -> Option<RowSide> {
    let found: Vec<&Measured> = rows.iter().flatten().copied().collect();
    let row = usual(&found)?;
    let figure = |row: &Option<&Measured>| {
        let row = row.filter(|row| works(row))?;
        row.figures.get(&unit?).map(|figure| figure.estimate)
    };
    let of_runs: Vec<Option<f64>> = rows.iter().map(figure).collect();
    let known: Vec<f64> = of_runs.iter().flatten().copied().collect();
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    Some(RowSide {
        outcome: row.outcome,
        reason: row.reason.clone(),
        path: Some(row.path).filter(|path| found.iter().all(|row| row.path == *path)).flatten(),
        runs: found.len() as u64,
        figures: known.len() as u64,
        estimate: (!known.is_empty()).then_some(mean),
        low: None,
        high: None,
        of_runs,
    })
}

/// The row of a run that ended as most runs did; as the first of several such ends. What says nothing about the entry counts only
/// where nothing else is there.
fn usual<'a>(found: &[&'a Measured]) -> Option<&'a Measured> {
    let facts: Vec<&Measured> = found.iter().filter(|row| is_fact(row)).copied().collect();
    let facts = if facts.is_empty() { found.to_vec() } else { facts };
    let count = |row: &&Measured| facts.iter().filter(|other| other.outcome == row.outcome).count();
    let most = facts.iter().map(count).max()?;
    facts.iter().find(|row| count(row) == most).copied()
}

/// Whether a run says something about the entry: trouble of the measurement itself, or no time for a single sample, does not.
fn is_fact(row: &Measured) -> bool {
    row.outcome != Outcome::Error && row.has_outcome
}

fn is_known(rows: &OfSide) -> bool {
    rows.iter().flatten().any(|row| is_fact(row))
}

fn are_ok(base: &Option<RowSide>, new: &Option<RowSide>) -> bool {
    let has_figure = |side: &Option<RowSide>| side.as_ref().is_some_and(|side| side.figures > 0);
    has_figure(base) && has_figure(new)
}

/// What can be said without figures; [`Verdict::NoFigure`] where figures decide, or are missing.
fn verdict(base: &RowSide, new: &RowSide, is_of_one_version: bool) -> Verdict {
    let is_same = || base.outcome == new.outcome && (!is_of_one_version || is_same_cause(base, new));
    match (base.outcome == Outcome::Ok, new.outcome == Outcome::Ok) {
        (true, true) => Verdict::NoFigure,
        (true, false) => Verdict::Closed,
        (false, true) => Verdict::Opened,
        (false, false) if is_same() => Verdict::StillClosed,
        (false, false) => Verdict::CauseChanged,
    }
}

/// Addresses are drawn anew in every process.
fn is_same_cause(base: &RowSide, new: &RowSide) -> bool {
    let without_addresses = |side: &RowSide| {
        let reason = side.reason.clone().unwrap_or_default();
        let word = |word: &str| if word.contains("0x") { "address".to_string() } else { word.to_string() };
        reason.split_whitespace().map(word).collect::<Vec<String>>().join(" ")
    };
    without_addresses(base) == without_addresses(new)
}

fn remarks(base: Option<&RowSide>, new: Option<&RowSide>, of_base: &OfSide, of_new: &OfSide) -> Vec<String> {
    let mut remarks = Vec::new();
    let path = |side: Option<&RowSide>| side.and_then(|side| side.path);
    if let (Some(base), Some(new)) = (path(base), path(new))
        && base != new
    {
        let words = |path| match path {
            Path::User => "without entering the kernel",
            Path::Kernel => "by the kernel",
        };
        remarks.push(format!("it was served {}, and is now served {}", words(base), words(new)));
    }
    for (rows, name) in [(of_base, "base"), (of_new, "new")] {
        let outcomes: BTreeSet<Outcome> = rows.iter().flatten().map(|row| row.outcome).collect();
        if outcomes.len() > 1 {
            let names: Vec<&str> = outcomes.into_iter().map(Outcome::name).collect();
            remarks.push(format!("the runs of the {name} side ended differently: {}", names.join(", ")));
        }
    }
    let is_emulated = |rows: &OfSide| rows.iter().flatten().any(|row| row.timing == Timing::Emulated);
    if base.is_some() && new.is_some() && is_emulated(of_base) != is_emulated(of_new) {
        remarks.push(
            "one side is emulated, and the other is not: no figure of one means what the other's does".into(),
        );
    }
    remarks
}

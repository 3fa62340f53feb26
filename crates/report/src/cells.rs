//! What stands in the cells of a table for people.

use crate::configuration::Compared;
use crate::figure::{ABSENT, Ratios, Shown, Unit, beside, known, number, shown};
use document::{CpuUse, Document, Outcome, Path, Row, Timing, is_figure};
use stats::{Cost, LEAST_ROUNDS, Mode, NoiseKind};
use table::special::CALL;
use table::{Entry, Kind, Table};

/// A column; the cost is one with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunColumn {
    Where,
    Cost,
    Ring0,
    Ring3,
    Ns,
    ToSyscall,
    ToCall,
    Bar,
    P99,
    Min,
    P50,
    P999,
    Max,
    Ticks,
    Throughput,
    Rounds,
    Samples,
    Cpu,
}

/// What only a verbose report has.
pub(crate) const DETAILS: [RunColumn; 11] = [
    RunColumn::Ring0,
    RunColumn::Ring3,
    RunColumn::Min,
    RunColumn::P50,
    RunColumn::P999,
    RunColumn::Max,
    RunColumn::Ticks,
    RunColumn::Throughput,
    RunColumn::Rounds,
    RunColumn::Samples,
    RunColumn::Cpu,
];

impl RunColumn {
    /// Its name above the cells; some have none, or one that depends on the unit.
    pub fn heading(self) -> &'static str {
        match self {
            RunColumn::Where | RunColumn::Cost | RunColumn::Bar => "",
            RunColumn::Ring0 => "ring 0",
            RunColumn::Ring3 => "ring 3",
            RunColumn::Ns => "ns",
            RunColumn::ToSyscall => "× syscall",
            RunColumn::ToCall => "× call",
            RunColumn::P99 => "p99",
            RunColumn::Min => "min",
            RunColumn::P50 => "p50",
            RunColumn::P999 => "p99.9",
            RunColumn::Max => "max",
            RunColumn::Ticks => "ticks",
            RunColumn::Throughput => "throughput",
            RunColumn::Rounds => "rounds",
            RunColumn::Samples => "samples",
            RunColumn::Cpu => "CPU",
        }
    }

    /// Whether it says something about instructions that were counted.
    pub fn is_of_counts(self) -> bool {
        use RunColumn::*;
        matches!(self, Where | Cost | Ring0 | Ring3 | Min | P50 | P999 | Max | Samples)
    }
}

/// What is said above a table of instructions.
pub(crate) const COUNTED: &str = "A count of instructions ranks no cost: iretq and cpuid count one each, as mov does. Before a count, ~ says that its samples differ.";

/// Whether a row has numbers; the others have words.
pub(crate) fn has_figures(row: &Row) -> bool {
    row.outcome == Outcome::Ok && shown(row).is_some()
}

/// What turns rows into cells.
pub(crate) struct Figures<'a> {
    ratios: Ratios,
    compared: &'a Compared<'a>,
    table: &'a Table,
    counted: bool,
    in_cycles: bool,
    has_rings: bool,
    never_quiet: bool,
}

impl<'a> Figures<'a> {
    pub fn of(document: &Document, table: &'a Table, compared: &'a Compared) -> Self {
        let units: Vec<Unit> = document.results.iter().filter_map(|row| Some(shown(row)?.unit)).collect();
        let cpus = &document.measurement.cpus;
        Self {
            ratios: Ratios::of(document, compared),
            compared,
            table,
            counted: !units.is_empty() && units.iter().all(|unit| *unit == Unit::Instructions),
            in_cycles: document.measurement.cycles_per_tick.is_some(),
            has_rings: document.results.iter().any(|row| row.rings.is_some()),
            never_quiet: !cpus.is_empty() && cpus.iter().all(CpuUse::is_unvouched),
        }
    }

    /// Whether all figures are instructions: then there is nothing to convert, and hardly anything that varies.
    pub fn are_counted(&self) -> bool {
        self.counted
    }

    /// Whether the document has what a column tells: rings that were told apart, or the row that ratios refer to.
    pub fn has(&self, column: RunColumn) -> bool {
        match column {
            RunColumn::Ring0 | RunColumn::Ring3 => self.has_rings,
            RunColumn::ToSyscall => self.ratios.has_syscall(),
            RunColumn::ToCall => self.ratios.has_call(),
            _ => true,
        }
    }

    /// Where a row is served, in a word; what is no entry is served nowhere.
    pub fn place(&self, row: &Row) -> &'static str {
        let is_interrupt = |entry: &Entry| entry.kind == Kind::Instruction && entry.uses_idt();
        let crosses =
            |entry: &Entry| matches!(entry.kind, Kind::Number | Kind::Exception) || is_interrupt(entry);
        match row.path {
            // The floor is a call of the program itself.
            _ if row.entry == CALL.entry => "",
            Some(Path::User) => "user",
            Some(Path::Kernel) => "kernel",
            None if self.table.entry(&row.entry).is_some_and(crosses) => "kernel",
            None => "",
        }
    }

    /// The width of the widest such word.
    pub fn widest_place(&self, rows: &[&Row]) -> usize {
        rows.iter().map(|row| self.place(row).len()).max().unwrap_or(0)
    }

    /// Why a row has no figures: in a word, and in words.
    pub fn instead(&self, row: &Row) -> (&'static str, String) {
        if row.outcome != Outcome::Ok {
            return (row.outcome.name(), row.reason.clone().unwrap_or_else(|| ABSENT.to_owned()));
        }
        // An interval that is wider than the cost is all that is known of it.
        if let Some(Shown { unit, cost }) = known(row).filter(|_| shown(row).is_none()) {
            let unit = if unit == Unit::Cycles { "" } else { " TSC ticks" };
            let ends = cost.ci_low.zip(cost.ci_high).unwrap_or((cost.min, cost.max));
            return ("uncertain", format!("between {} and {}{unit}", number(ends.0), number(ends.1)));
        }
        let Some(noise) = row.noise else {
            let place = match self.place(row) {
                "user" => "served in user space, ",
                "kernel" => "served by the kernel, ",
                _ => "",
            };
            return ("works", format!("{place}not timed"));
        };
        // Where core cycles can be told they go without saying: the column's name says so.
        let unit = if self.in_cycles { "" } else { " TSC ticks" };
        let range = noise.low.zip(noise.high);
        let seen = range.map(|(low, high)| format!("{low:.0} to {high:.0}{unit} seen"));
        let seen = seen.unwrap_or_else(|| "no round seen".to_owned());
        match noise.kind {
            NoiseKind::Shared if self.never_quiet => {
                ("never quiet", format!("{seen} on a core that was never seen alone"))
            }
            NoiseKind::Shared => ("noisy", format!("{seen} while the core was shared")),
            NoiseKind::Preempted => ("noisy", format!("{seen} between other processes")),
            NoiseKind::TooFew if range.is_some() => {
                ("few rounds", format!("{seen}; an estimate needs {LEAST_ROUNDS}"))
            }
            NoiseKind::TooFew => ("few rounds", format!("an estimate needs {LEAST_ROUNDS}")),
        }
    }

    /// A cell; empty for those that need more than the row ([`RunColumn::Cost`], [`RunColumn::Bar`]).
    pub fn cell(&self, column: RunColumn, row: &Row) -> String {
        let sample = |figure: fn(&Cost<f64>) -> Option<f64>| {
            let figure = shown(row).and_then(|shown| Some(shown.number(figure(&shown.cost)?)));
            figure.unwrap_or_else(|| ABSENT.to_owned())
        };
        // Of single uses; where a sample is a mean of several, nothing is known of these.
        let single = |figure: fn(&Cost<f64>) -> f64| match row.uses {
            1 => shown(row).map_or_else(|| ABSENT.to_owned(), |shown| shown.number(figure(&shown.cost))),
            _ => ABSENT.to_owned(),
        };
        match column {
            RunColumn::Cost | RunColumn::Bar => String::new(),
            RunColumn::Where => self.place(row).to_owned(),
            RunColumn::Ring0 => whole(row.rings.map(|rings| rings.ring0.0)),
            RunColumn::Ring3 => whole(row.rings.map(|rings| rings.ring3.0)),
            RunColumn::Ns if row.timing == Timing::Emulated => "emulated".to_owned(),
            RunColumn::Ns => {
                let cost = row.ns.as_ref().map(Cost::unitless).filter(is_figure);
                optional(cost.map(|cost| cost.estimate))
            }
            RunColumn::ToSyscall => self.ratios.to_syscall(row, self.compared),
            RunColumn::ToCall => self.ratios.to_call(row, self.compared),
            RunColumn::P99 => sample(|cost| cost.p99),
            RunColumn::Min => single(|cost| cost.min),
            RunColumn::P50 => single(|cost| cost.p50),
            RunColumn::P999 => sample(|cost| cost.p999),
            RunColumn::Max => single(|cost| cost.max),
            RunColumn::Ticks => {
                optional(row.ticks.as_ref().map(Cost::unitless).filter(is_figure).map(|cost| cost.estimate))
            }
            RunColumn::Throughput => optional(row.throughput.as_ref().map(|cost| cost.unitless().estimate)),
            RunColumn::Rounds => format!("{}/{}", row.counts.kept_rounds, row.counts.rounds),
            RunColumn::Samples => format!("{}/{}", row.counts.kept_samples, row.counts.samples),
            RunColumn::Cpu => row.cpu.map_or_else(|| ABSENT.to_owned(), |cpu| cpu.to_string()),
        }
    }
}

/// `two costs: 675 core cycles in 80 % of the samples, 902 in 20 %`: the figure, a median of rounds, may lie at one or between both.
pub(crate) fn two_costs(row: &Row) -> Option<String> {
    let [often, seldom] = row.modes.as_slice() else { return None };
    let unit = if row.core_cycles.is_some() { "core cycles" } else { "TSC ticks" };
    let percent = |mode: &Mode| format!("{:.0} %", mode.share * 100.0);
    Some(format!(
        "two costs: {:.0} {unit} in {} of the samples, {:.0} in {}",
        often.cost,
        percent(often),
        seldom.cost,
        percent(seldom)
    ))
}

/// A count, without a sign that says nothing.
fn whole(value: Option<f64>) -> String {
    value.map_or(ABSENT.to_owned(), |value| format!("{:.0}", value + 0.0))
}

fn optional(value: Option<f64>) -> String {
    value.map_or(ABSENT.to_owned(), number)
}

/// The estimate, with the letter of its unit or without.
pub(crate) fn estimate(row: &Row, suffix: &str) -> String {
    match shown(row) {
        Some(shown) => format!("{}{suffix}", shown.estimate()),
        None => ABSENT.to_owned(),
    }
}

/// How far the interval reaches, `±0.2`, or its ends.
pub(crate) fn error(row: &Row) -> String {
    let ends = |cost: &Cost<f64>| Some([cost.ci_low?, cost.ci_high?]);
    let interval =
        shown(row).and_then(|Shown { cost, .. }| Some(beside(cost.estimate, ends(&cost)?, number)));
    interval.unwrap_or(ABSENT.to_owned())
}

/// `modes: 83 % at 125, 17 % at 600`, where there are several.
pub(crate) fn modes(row: &Row) -> Option<String> {
    let each = row.modes.iter().map(|Mode { share, cost }| format!("{:.0} % at {cost:.0}", share * 100.0));
    let each: Vec<String> = each.collect();
    (each.len() > 1).then(|| format!("modes: {}", each.join(", ")))
}

//! What the marks and columns of this report mean; only those that it has.

use super::Report;
use super::curve::TOUCHED;
use crate::bar::SCALE;
use crate::cells::{RunColumn, has_figures};
use crate::figure::{Unit, shown};
use crate::head;
use crate::line::{Line, look, wrapped};
use crate::loops::LEGEND;
use document::Row;
use table::special::{BARE_SYSCALL, CALL};

/// What the interval speaks of: a round has 1,000 samples, of a dear row 100, and the estimate is the median of the rounds. What
/// hardly any round has is not in it, nor in the greatest sample where it is as rare as interrupts.
pub(crate) const POPULATION: &str = "95 % confidence, for a typical round of this hour; costs that come less than once in a round hardly enter the estimate";

/// From so many core cycles on, a counter's step shows in single samples.
const COARSE: f64 = 5.0;

/// What the columns of curves mean.
fn curve() -> Vec<(String, String)> {
    let items = [
        ("±", POPULATION),
        ("pages", TOUCHED),
        ("bars", "linear, from 0; the greatest cost of a curve has the longest"),
    ];
    items.map(|(label, text)| (label.to_owned(), text.to_owned())).into()
}

impl Report<'_> {
    pub(super) fn legend(&self) -> Vec<Line> {
        let has_columns = self.any_figures() && self.matrix.is_none();
        let items: Vec<(String, String)> = match has_columns {
            _ if !self.curves.is_empty() => curve(),
            true => self.columns(),
            false => Vec::new(),
        };
        let turns = (!self.turns.is_empty()).then(|| ("loops/s".to_owned(), LEGEND.to_owned()));
        let items: Vec<_> = items.into_iter().chain(turns).chain(self.units()).collect();
        if self.screen.is_some() && !items.is_empty() {
            let text: Vec<String> = items.iter().map(|(label, text)| format!("{label}: {text}.")).collect();
            return wrapped(Line::default(), look::FAINT, &text.join(" "), self.width, 0);
        }
        items.iter().flat_map(|(label, text)| self.labelled(label, text)).collect()
    }

    fn any_figures(&self) -> bool {
        self.groups
            .iter()
            .flat_map(|group| &group.blocks)
            .flat_map(|block| &block.rows)
            .any(|row| has_figures(row))
    }

    fn columns(&self) -> Vec<(String, String)> {
        let mut items = Vec::new();
        let mut say = |label: &str, text: &str| items.push((label.to_owned(), text.to_owned()));
        if self.layout.has_error() {
            say("±", POPULATION);
        }
        if self.layout.has(RunColumn::Ns) && self.document.measurement.cycles_per_tick.is_some() {
            say("ns", "at the clock that the core ran at; core cycles do not depend on it");
        }
        if self.layout.has(RunColumn::ToSyscall) {
            say("× syscall", &format!("as a multiple of a bare system call ({BARE_SYSCALL})"));
        }
        if self.layout.has(RunColumn::ToCall) {
            say("× call", &format!("of a call and return ({CALL})"));
        }
        if self.layout.has(RunColumn::Bar) {
            say("bars", SCALE);
        }
        if self.layout.has(RunColumn::P99) {
            say("p99", &format!("99 of 100 single samples are at most this{}", self.of_means()));
        }
        if self.layout.has(RunColumn::Ring0) {
            say(
                "ring 0, 3",
                "instructions that the kernel and the program executed, where one use was followed",
            );
        }
        if self.verbose {
            say("min to max", &format!("single samples, in the unit of the figure{}", self.of_means()));
            say("samples", "with a part in the estimate, of those taken");
            if !self.figures.are_counted() {
                say("rounds", "with a part in the estimate, of those taken");
                say("throughput", "core cycles for a call among calls made back to back");
                say("modes", &format!("shares of the samples, and the mean cost of each{}", self.of_steps()));
            }
        }
        items
    }

    /// Why some rows have no figures of single samples.
    fn of_means(&self) -> &'static str {
        let has_means = self.document.results.iter().any(|row| row.uses > 1);
        if has_means { "; - where a sample is the mean of several uses" } else { "" }
    }

    /// How single samples differ from means where the counter's steps are coarse.
    fn of_steps(&self) -> String {
        let measurement = &self.document.measurement;
        let cycles =
            measurement.tsc_step.zip(measurement.cycles_per_tick).map(|(step, cycles)| step * cycles);
        let coarse = cycles.filter(|cycles| *cycles >= COARSE);
        coarse.map_or_else(String::new, |cycles| {
            format!("; single samples are read in steps of {cycles:.0} core cycles, so a mean may be below the least of them")
        })
    }

    fn units(&self) -> Vec<(String, String)> {
        let mut items = Vec::new();
        if self.curves.is_empty() && self.document.results.iter().any(Row::has_footprint) {
            let text = "pages, and behind a comma lines, touched behind control and entry alike: the cost is with what the entry has evicted of them";
            items.push(("footprint".to_owned(), text.to_owned()));
        }
        let mixed = self.groups.iter().any(|group| group.unit.is_none());
        if mixed {
            let letters = Unit::ALL.into_iter().filter(|unit| self.shows(*unit));
            let letters = letters.map(|unit| format!("{} {}", unit.letter(), unit.name()));
            items.push(("units".to_owned(), letters.collect::<Vec<_>>().join(", ")));
        }
        if head::lacks_cycles(self.document) {
            let text = "stand where core cycles cannot be told";
            items.push(("TSC ticks".to_owned(), text.to_owned()));
        }
        items
    }

    fn shows(&self, unit: Unit) -> bool {
        let units = self.document.results.iter().filter_map(|row| Some(shown(row)?.unit));
        units.into_iter().any(|other| other == unit)
    }
}

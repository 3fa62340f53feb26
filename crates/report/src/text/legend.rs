//! What the marks and columns of this report mean; only those that it has.

use super::Report;
use crate::cells::Column;
use crate::figure::{Unit, shown};
use crate::head;
use crate::line::Line;
use document::Outcome;

impl Report<'_> {
    pub(super) fn legend(&self) -> Vec<Line> {
        let mut items = Vec::new();
        if self.any_figures() {
            items.extend(self.columns());
        }
        items.extend(self.units());
        items.extend(self.notes.all().map(|(mark, reason)| (mark, reason.to_owned())));
        items.iter().flat_map(|(label, text)| self.labelled(label, text)).collect()
    }

    fn any_figures(&self) -> bool {
        self.document.results.iter().any(|row| row.outcome == Outcome::Ok)
    }

    fn columns(&self) -> Vec<(String, String)> {
        let mut items = Vec::new();
        let mut say = |label: &str, text: String| items.push((label.to_owned(), text));
        if self.layout.has_error() {
            say(
                "±",
                "to the farther end of the 95 % confidence interval; - where there are too few rounds"
                    .to_owned(),
            );
        }
        if self.layout.has(Column::Ratio) {
            say("ratio", "to a call and return through a pointer (call none)".to_owned());
        }
        if self.layout.has(Column::Bar) {
            say("logarithmic", format!("the figure as a bar, 1 to {}", self.figures.scale.full()));
        }
        if self.layout.has(Column::Ns) && self.document.measurement.cycles_per_tick.is_some() {
            say(
                "ns",
                "at the clock that the core ran at in that moment; core cycles do not depend on it"
                    .to_owned(),
            );
        }
        if self.layout.has(Column::P99) {
            say("p99", "99 of 100 single samples are at most this, in the unit of the figure".to_owned());
        }
        if self.verbose {
            say("min to max", "single samples, in the unit of the figure".to_owned());
            if !self.figures.are_counted() {
                say("throughput", "core cycles for a call among calls made back to back".to_owned());
            }
        }
        items
    }

    fn units(&self) -> Vec<(String, String)> {
        let mut items = Vec::new();
        let mixed = self.groups.iter().any(|group| group.unit().is_none());
        if mixed {
            let letters = Unit::ALL.into_iter().filter(|unit| self.shows(*unit));
            let letters = letters.map(|unit| format!("{} {}", unit.letter(), unit.name()));
            items.push(("units".to_owned(), letters.collect::<Vec<_>>().join(", ")));
        }
        if head::lacks_cycles(self.document) {
            let text = "stand where core cycles cannot be told (the imul chain does not hold)";
            items.push(("TSC ticks".to_owned(), text.to_owned()));
        }
        items
    }

    fn shows(&self, unit: Unit) -> bool {
        let units = self.document.results.iter().filter_map(|row| Some(shown(row)?.unit));
        units.into_iter().any(|other| other == unit)
    }
}

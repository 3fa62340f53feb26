//! What the subjects ask of a document.

use document::{Document, Outcome, Row, Timing};
use stats::Cost;
use table::Table;

/// A document and the table that its rows are from.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub document: &'a Document,
    pub table: &'a Table,
}

impl<'a> Facts<'a> {
    /// The rows that work, measured or not.
    pub fn working(&self) -> impl Iterator<Item = &'a Row> {
        self.document.results.iter().filter(|row| row.outcome == Outcome::Ok)
    }

    /// Whether all rows are of one Linux that was booted in one way: then what it says of itself explains each of them.
    pub fn are_of_one_linux(&self) -> bool {
        let guest = self.document.environment.guest.as_ref();
        self.document.is_of_linux() && guest.is_none_or(|guest| guest.kernels.len() <= 1)
    }

    /// Whether figures are times: neither an emulator's instructions nor absent because the machine is emulated.
    pub fn are_times(&self) -> bool {
        self.working().any(|row| row.timing == Timing::Hardware)
    }

    /// The row of an entry and operation, whatever became of it. Where several configurations were measured, it is a row of
    /// the first, which on a host is the fastest kind of core: rows that are compared must be of one configuration. With a
    /// footprint, a row does not tell what the entry costs.
    pub fn row(&self, entry: &str, operation: &str) -> Option<&'a Row> {
        let mut rows = self.document.results.iter().filter(|row| !row.has_footprint());
        let is_asked = |row: &&Row| row.entry == entry && row.operation == operation;
        let configuration = &rows.clone().next()?.configuration;
        rows.find(|row| row.configuration == *configuration && is_asked(row))
    }

    /// The same, if it answered rightly.
    pub fn works(&self, entry: &str, operation: &str) -> Option<&'a Row> {
        self.row(entry, operation).filter(|row| row.outcome == Outcome::Ok)
    }

    /// The same, if it was measured on a processor.
    pub fn timed(&self, entry: &str, operation: &str) -> Option<&'a Row> {
        self.works(entry, operation).filter(|row| row.timing == Timing::Hardware)
    }
}

/// A row's cost in core cycles, or else in ticks; none of what is no figure.
pub(crate) fn cost(row: &Row) -> Option<(Cost<f64>, &'static str)> {
    row.figure()?;
    let cycles = row.core_cycles.map(|cost| (cost.unitless(), "cycles"));
    cycles.or_else(|| row.ticks.map(|cost| (cost.unitless(), "ticks")))
}

/// From here on an estimate does not stand without its interval: an end that is so far away, as a part of the estimate.
const FAR: f64 = 0.1;

/// `288 cycles (74.9 ns)`, or `623 to 856 cycles (169 to 232 ns)` where one number would say more than is known; none where a row has no figure.
pub(crate) fn price(row: &Row) -> Option<String> {
    let (cost, unit) = cost(row)?;
    let nanos = row.ns.map(|ns| ns.unitless());
    if let Some((low, high)) = cost.ci_low.zip(cost.ci_high).filter(|ends| is_far(cost.estimate, *ends)) {
        let nanos = nanos.and_then(|ns| Some(format!(" ({:.0} to {:.0} ns)", ns.ci_low?, ns.ci_high?)));
        return Some(format!("{low:.0} to {high:.0} {unit}{}", nanos.unwrap_or_default()));
    }
    let nanos = nanos.map(|ns| format!(" ({:.1} ns)", ns.estimate));
    Some(format!("{:.0} {unit}{}", cost.estimate, nanos.unwrap_or_default()))
}

/// Ends that round to the estimate are not far from it, however little it is.
fn is_far(estimate: f64, (low, high): (f64, f64)) -> bool {
    let farthest = (estimate - low).max(high - estimate);
    farthest > FAR * estimate.abs() && farthest > 1.0
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `1 row has`, `3 rows have`.
pub(crate) fn count(number: usize, one: &str, more: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {more}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Maker;

    #[test]
    fn rows_of_two_kinds_of_core_are_not_set_side_by_side() {
        let mut maker = Maker::host().cost("call", "none", 2.0).cost("libc", "time", 9.0);
        let core = |row: &mut Row, core: &str| _ = row.configuration.insert("core".into(), core.into());
        core(&mut maker.document.results[0], "performance");
        core(&mut maker.document.results[1], "efficient");
        let facts = Facts { document: &maker.document, table: Table::get() };
        assert!(facts.timed("call", "none").is_some() && facts.timed("libc", "time").is_none());
        core(&mut maker.document.results[1], "performance");
        let facts = Facts { document: &maker.document, table: Table::get() };
        assert!(facts.timed("libc", "time").is_some());
    }

    #[test]
    fn a_price_that_is_hardly_known_is_a_range() {
        let mut maker = Maker::host().cost("syscall-x86_64", "getppid", 620.0);
        let row = maker.row("syscall-x86_64", "getppid");
        let mut of = |low, high| {
            let cost = row.core_cycles.as_mut().unwrap();
            (cost.ci_low, cost.ci_high) = (Some(stats::Cycles(low)), Some(stats::Cycles(high)));
            price(row).unwrap()
        };
        assert!(of(610.0, 640.0).starts_with("620 cycles"));
        assert!(of(610.0, 856.0).starts_with("610 to 856 cycles"));
    }

    #[test]
    fn lists_read_like_sentences() {
        let words = ["a", "b", "c"].map(str::to_owned);
        let lists = [0, 1, 2, 3].map(|length| list(&words[..length]));
        assert_eq!(lists, ["", "a", "a and b", "a, b and c"]);
        assert_eq!((count(1, "row", "rows"), count(0, "row", "rows")), ("1 row".into(), "0 rows".into()));
    }
}

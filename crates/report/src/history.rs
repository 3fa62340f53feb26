//! What kernel after kernel changed of a Linux that was booted in guests.

use crate::configuration::written;
use crate::figure::{Shown, Unit, shown};
use crate::guest;
use document::{Document, KERNEL, Row};
use std::collections::{BTreeMap, BTreeSet};

/// So many changes of a kernel are named in a short report.
const NAMED: usize = 3;

/// What each kernel changed, against the one before it on the command line: of several kernels a line each but for the first. A row is
/// compared with itself, in the same configuration otherwise.
pub(crate) fn lines(document: &Document, verbose: bool) -> Vec<String> {
    let kernels = kernels(document);
    let pairs = kernels.windows(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?)));
    pairs.map(|(before, now)| changes(document, before, now, verbose)).collect()
}

/// The kernels that the command line named, each once, in its order; of a history in that of their versions.
pub(crate) fn kernels(document: &Document) -> Vec<&str> {
    let booted = guest::of(document).into_iter().flat_map(|guest| &guest.kernels);
    let mut seen = BTreeSet::new();
    booted
        .filter_map(|kernel| kernel.settings.get(KERNEL))
        .map(String::as_str)
        .filter(|name| seen.insert(*name))
        .collect()
}

fn changes(document: &Document, before: &str, now: &str, verbose: bool) -> String {
    let old = rows_of(document, before);
    let (mut compared, mut left_out, mut changed, mut unclear) = (0, 0, Vec::new(), Vec::new());
    for (key, row) in in_order(document, now) {
        let Some(change) = old.get(&key).and_then(|old| Change::of(old, row)) else { continue };
        compared += usize::from(change != Change::Unknown);
        let row = in_words(&key);
        match change {
            Change::None => {}
            Change::Unknown => left_out += 1,
            Change::Unclear(ranges) => unclear.push(format!("{row} {ranges}")),
            Change::Clear(figures) => changed.push(format!("{row} {figures}")),
        }
    }
    let differ = match (compared, changed.len()) {
        (0, _) if left_out > 0 => "no row can be compared".to_owned(),
        (0, _) => "no row has a figure for both".to_owned(),
        (1, 0) if unclear.is_empty() => "the same".to_owned(),
        (all, 0) if unclear.is_empty() => format!("the same in all {all} rows"),
        (all, 0) => format!("none of {all} rows certainly differs"),
        (all, 1) => format!("1 of {all} rows differs: {}", listed(&changed, verbose)),
        (all, some) => format!("{some} of {all} rows differ: {}", listed(&changed, verbose)),
    };
    let overlaps = match unclear.as_slice() {
        [] => String::new(),
        some => format!("; no verdict where {} overlap: {}", what_overlaps(document), listed(some, verbose)),
    };
    let unknown = match left_out {
        0 => String::new(),
        some => format!("; {some} left out, in other units or without an interval"),
    };
    format!("{now} against {before}: {differ}{overlaps}{unknown}")
}

/// What became of a row from one kernel to the next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Its figure is the same.
    None,
    /// Its figures are in different units, or nothing says how sure they are.
    Unknown,
    /// Its figures differ, but both kernels may have either: `1506 to 1513 and 1513`.
    Unclear(String),
    /// `333 → 341`
    Clear(String),
}

impl Change {
    /// Nothing where one of the rows has no figure.
    pub fn of(old: &Row, new: &Row) -> Option<Change> {
        let (old, new) = (shown(old)?, shown(new)?);
        let ranges = range(&old).zip(range(&new)).filter(|_| old.unit == new.unit);
        let Some((was, is)) = ranges else { return Some(Change::Unknown) };
        if old.cost.estimate == new.cost.estimate {
            return Some(Change::None);
        }
        let overlap = was.0 <= is.1 && is.0 <= was.1;
        let words = |shown: &Shown, (low, high): (f64, f64)| match low == high {
            true => shown.number(low),
            false => format!("{} to {}", shown.number(low), shown.number(high)),
        };
        Some(match overlap {
            true => Change::Unclear(format!("{} and {}", words(&old, was), words(&new, is))),
            false => Change::Clear(format!("{} → {}", old.estimate(), new.estimate())),
        })
    }
}

/// All samples of a count; of a time, whose samples have outliers, the interval of the estimate.
pub(crate) fn range(shown: &Shown) -> Option<(f64, f64)> {
    let cost = &shown.cost;
    match shown.unit {
        Unit::Instructions => Some((cost.min, cost.max)),
        Unit::Cycles | Unit::Ticks => cost.ci_low.zip(cost.ci_high),
    }
}

fn what_overlaps(document: &Document) -> &'static str {
    if document.results.iter().any(Row::is_timed) { INTERVALS } else { SAMPLES }
}

/// What overlaps of times, and of counts.
pub(crate) const INTERVALS: &str = "intervals";
pub(crate) const SAMPLES: &str = "samples";

/// These, or the first of them and how many more there are.
fn listed(all: &[String], verbose: bool) -> String {
    let named = if verbose { all.len() } else { NAMED };
    let first: Vec<&str> = all.iter().take(named).map(String::as_str).collect();
    let rest = all.len().saturating_sub(named);
    let rest = if rest > 0 { format!(", and {rest} more (--verbose)") } else { String::new() };
    first.join(", ") + &rest
}

/// What tells a row of one kernel: entry, operation, and what else was set.
pub(crate) type Key<'a> = (&'a str, &'a str, BTreeMap<&'a String, &'a String>);

pub(crate) fn key(row: &Row) -> Key<'_> {
    let others = row.configuration.iter().filter(|(name, _)| *name != KERNEL).collect();
    (&row.entry, &row.operation, others)
}

/// `syscall-x86_64 getppid pti=on`
pub(crate) fn in_words((entry, operation, others): &Key) -> String {
    let others = written(others.iter().map(|(name, value)| (*name, *value)));
    let others = if others.is_empty() { others } else { format!(" {others}") };
    format!("{entry} {operation}{others}")
}

fn in_order<'a>(document: &'a Document, kernel: &str) -> Vec<(Key<'a>, &'a Row)> {
    let is_of = |row: &&Row| row.configuration.get(KERNEL).is_some_and(|name| name == kernel);
    document.results.iter().filter(is_of).map(|row| (key(row), row)).collect()
}

fn rows_of<'a>(document: &'a Document, kernel: &str) -> BTreeMap<Key<'a>, &'a Row> {
    in_order(document, kernel).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::Timing;
    use stats::Cost;

    fn cost<U>(
        unit: fn(f64) -> U,
        estimate: f64,
        interval: Option<(f64, f64)>,
        samples: (f64, f64),
    ) -> Cost<U> {
        Cost {
            estimate: unit(estimate),
            ci_low: interval.map(|interval| unit(interval.0)),
            ci_high: interval.map(|interval| unit(interval.1)),
            min: unit(samples.0),
            p50: unit(estimate),
            p99: None,
            p999: None,
            max: unit(samples.1),
        }
    }

    fn counted(min: f64, estimate: f64, max: f64) -> Row {
        let instructions = Some(cost(stats::Instructions, estimate, None, (min, max)));
        let row = Row::unmeasured("syscall-x86_64", "getppid", 64);
        Row { timing: Timing::Emulated, instructions, ..row }
    }

    /// Its samples have an outlier.
    fn timed(estimate: f64, interval: Option<(f64, f64)>) -> Row {
        let ticks = Some(cost(stats::Ticks, estimate, interval, (1.0, 9000.0)));
        Row { timing: Timing::Hardware, ticks, ..Row::unmeasured("syscall-x86_64", "getppid", 64) }
    }

    #[test]
    fn counts_that_samples_share_are_not_told_apart() {
        let change = |old: Row, new: Row| Change::of(&old, &new).unwrap();
        let clear = change(counted(216.0, 216.0, 216.0), counted(215.0, 215.0, 215.0));
        assert_eq!(clear, Change::Clear("216 → 215".into()));
        let unclear = change(counted(1506.0, 1506.0, 1513.0), counted(1513.0, 1513.0, 1513.0));
        assert_eq!(unclear, Change::Unclear("1506 to 1513 and 1513".into()));
        let unclear = change(counted(2045.0, 2048.0, 2049.0), counted(2044.0, 2045.0, 2048.0));
        assert_eq!(unclear, Change::Unclear("2045 to 2049 and 2044 to 2048".into()));
        let clear = change(counted(10.0, 12.0, 14.0), counted(15.0, 15.0, 20.0));
        assert_eq!(clear, Change::Clear("~12 → ~15".into()));
        assert_eq!(change(counted(5.0, 5.0, 9.0), counted(5.0, 5.0, 5.0)), Change::None);
    }

    #[test]
    fn an_outlier_does_not_hide_what_became_of_a_time() {
        let near = |estimate: f64| timed(estimate, Some((estimate - 1.26, estimate + 1.26)));
        let clear = Change::Clear("100.0 → 110.0".into());
        assert_eq!(Change::of(&near(100.0), &near(110.0)), Some(clear));
        let unclear = Change::Unclear("98.7 to 101.3 and 100.7 to 103.3".into());
        assert_eq!(Change::of(&near(100.0), &near(102.0)), Some(unclear));
        let unknown = Some(Change::Unknown);
        assert_eq!(Change::of(&near(100.0), &timed(110.0, None)), unknown, "nothing says how sure it is");
        assert_eq!(Change::of(&near(100.0), &counted(110.0, 110.0, 110.0)), unknown, "another unit");
    }
}

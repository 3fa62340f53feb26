//! What stands above the rows of a Linux that was booted in guests: which kernels, on which machine, and what the figures are; and below
//! them, what kernel after kernel changed.

use crate::configuration::{common, written};
use crate::fact::{Fact, fact, figures};
use crate::figure::{ABSENT, Shown, Unit, shown};
use crate::machine;
use document::{Document, KERNEL, Row};
use environment::{Guest, GuestKernel};
use std::collections::BTreeMap;

/// So many changes of a kernel are named in a short report.
const NAMED: usize = 3;

/// The guest of a document, if that booted Linux.
pub(crate) fn of(document: &Document) -> Option<&Guest> {
    document.environment.guest.as_ref().filter(|guest| !guest.kernels.is_empty())
}

/// Whether what the environment says holds for all rows: one configuration was booted, and told of itself.
pub(crate) fn is_one(guest: &Guest) -> bool {
    matches!(&guest.kernels[..], [only] if only.outcome == "ok")
}

/// What the figures are from.
pub(crate) fn facts(document: &Document, guest: &Guest) -> Vec<Fact> {
    let mut facts = vec![
        fact("kernel", kernels(document, guest)),
        fact("guest", machine_of(guest)),
        fact("figures", figures(document).to_owned()),
    ];
    let parameters = common(document, |name| name != KERNEL);
    facts.extend((!parameters.is_empty()).then(|| fact("parameters", parameters)));
    let unverified = unverified(guest);
    facts.extend((!unverified.is_empty()).then(|| fact("unverified", unverified)));
    facts
}

/// Each kernel once: `Linux 6.1.0-56-cloud-amd64, Linux 6.12.100`.
fn kernels(document: &Document, guest: &Guest) -> String {
    if is_one(guest) {
        return machine::kernel(&document.environment.kernel);
    }
    let mut names: Vec<String> = Vec::new();
    for kernel in &guest.kernels {
        let name =
            if kernel.release.is_empty() { kernel.file.clone() } else { format!("Linux {}", kernel.release) };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// What the guests were given and nothing in them confirms: `l1tf=off: nothing in the guest confirms it`. Empty where there is nothing.
pub fn unverified(guest: &Guest) -> String {
    let mut all: Vec<&str> = Vec::new();
    for setting in guest.kernels.iter().flat_map(|kernel| &kernel.unverified) {
        if !all.contains(&setting.as_str()) {
            all.push(setting);
        }
    }
    match all.as_slice() {
        [] => String::new(),
        [one] => format!("{one}: nothing in the guest confirms it"),
        several => format!("{}: nothing in the guests confirms them", several.join(", ")),
    }
}

fn machine_of(guest: &Guest) -> String {
    let mut models: Vec<&str> = Vec::new();
    for model in guest.kernels.iter().map(|kernel| kernel.cpu_model.as_str()) {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    let boots = guest.kernels.iter().map(|kernel| kernel.boots.len()).max().unwrap_or(0);
    let boots = if boots > 1 { format!("; {boots} boots of each configuration") } else { String::new() };
    let (models, plural) = (models.join(" or "), if models.len() > 1 { "s" } else { "" });
    format!("{} with {}, CPU model{plural} {models}{boots}", guest.emulator, guest.accelerator.to_uppercase())
}

/// Only in verbose heads: how each was booted.
pub(crate) fn more(guest: &Guest) -> Vec<Fact> {
    let of_kernel = |kernel: &GuestKernel| {
        let settings = written(kernel.settings.iter());
        let settings = if settings.is_empty() { String::new() } else { format!("{settings}: ") };
        let reason = kernel.reason.as_ref().map(|reason| format!("; {}: {reason}", kernel.outcome));
        let seeds: Vec<String> = kernel.boots.iter().map(|boot| boot.seed.to_string()).collect();
        let seeds = match seeds.as_slice() {
            [] => format!("seed {ABSENT}"),
            [one] => format!("seed {one}"),
            several => format!("seeds {}", several.join(", ")),
        };
        let text = format!(
            "{settings}{} with \"{}\" on {}, {seeds}{}",
            kernel.file,
            kernel.command_line,
            kernel.cpu_model,
            reason.unwrap_or_default()
        );
        let console = kernel.console.iter().map(|line| fact("console", line.clone()));
        std::iter::once(fact("boot", text)).chain(console).collect::<Vec<_>>()
    };
    let came_up = format!("{:.0} ms to the first record", guest.boot_to_first_record_ms);
    std::iter::once(fact("first boot", came_up)).chain(guest.kernels.iter().flat_map(of_kernel)).collect()
}

/// What each kernel changed, against the one before it on the command line: of several kernels a line each but for the first. A row is
/// compared with itself, in the same configuration otherwise.
pub(crate) fn history(document: &Document, verbose: bool) -> Vec<String> {
    let Some(guest) = of(document) else { return Vec::new() };
    let mut kernels: Vec<&str> = Vec::new();
    for name in guest.kernels.iter().filter_map(|kernel| kernel.settings.get(KERNEL)) {
        if !kernels.contains(&name.as_str()) {
            kernels.push(name);
        }
    }
    let pairs = kernels.windows(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?)));
    pairs.map(|(before, now)| changes(document, before, now, verbose)).collect()
}

fn changes(document: &Document, before: &str, now: &str, verbose: bool) -> String {
    let old = rows_of(document, before);
    let (mut compared, mut left_out, mut changed, mut unclear) = (0, 0, Vec::new(), Vec::new());
    for (key, row) in in_order(document, now) {
        let Some(change) = old.get(&key).and_then(|old| Change::of(old, row)) else { continue };
        compared += usize::from(change != Change::Unknown);
        let others = written(key.2.iter().map(|(name, value)| (*name, *value)));
        let others = if others.is_empty() { others } else { format!(" {others}") };
        let row = format!("{} {}{others}", key.0, key.1);
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
enum Change {
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
    fn of(old: &Row, new: &Row) -> Option<Change> {
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
fn range(shown: &Shown) -> Option<(f64, f64)> {
    let cost = &shown.cost;
    match shown.unit {
        Unit::Instructions => Some((cost.min, cost.max)),
        Unit::Cycles | Unit::Ticks => cost.ci_low.zip(cost.ci_high),
    }
}

fn what_overlaps(document: &Document) -> &'static str {
    if document.results.iter().any(Row::is_timed) { "intervals" } else { "samples" }
}

/// These, or the first of them and how many more there are.
fn listed(all: &[String], verbose: bool) -> String {
    let named = if verbose { all.len() } else { NAMED };
    let first: Vec<&str> = all.iter().take(named).map(String::as_str).collect();
    let rest = all.len().saturating_sub(named);
    let rest = if rest > 0 { format!(", and {rest} more (--verbose)") } else { String::new() };
    first.join(", ") + &rest
}

/// What tells a row of one kernel: entry, operation, and what else was set.
type Key<'a> = (&'a str, &'a str, BTreeMap<&'a String, &'a String>);

fn in_order<'a>(document: &'a Document, kernel: &str) -> Vec<(Key<'a>, &'a Row)> {
    let is_of = |row: &&Row| row.configuration.get(KERNEL).is_some_and(|name| name == kernel);
    let key = |row: &'a Row| {
        let others = row.configuration.iter().filter(|(name, _)| *name != KERNEL).collect();
        ((row.entry.as_str(), row.operation.as_str(), others), row)
    };
    document.results.iter().filter(is_of).map(key).collect()
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
    fn what_nothing_confirms_is_told_once() {
        let kernel = |unverified: &[&str]| GuestKernel {
            unverified: unverified.iter().map(|setting| setting.to_string()).collect(),
            ..GuestKernel::default()
        };
        let told = |kernels: Vec<GuestKernel>| unverified(&Guest { kernels, ..Guest::default() });
        assert_eq!(told(vec![kernel(&[])]), "");
        let one = "l1tf=off: nothing in the guest confirms it";
        assert_eq!(told(vec![kernel(&["l1tf=off"]), kernel(&["l1tf=off"])]), one);
        let two = "l1tf=off, audit=on: nothing in the guests confirms them";
        assert_eq!(told(vec![kernel(&["l1tf=off", "audit=on"])]), two);
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

//! How many more runs would settle what is inconclusive, and what to type for them.

use super::again;
use super::words::count;
use compare::{Comparison, Row, Source, Verdict};
use document::Machine;
use std::collections::BTreeSet;
use table::Kernel;

/// A command line names so many entries, and so many operations, at most.
const NAMED: usize = 3;

/// What would settle rows that are inconclusive.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct More {
    /// In a sentence.
    pub text: String,
    /// To be typed on the base's side; none where nobody knows how its runs were made.
    pub command: Option<String>,
}

/// None where nothing is inconclusive.
pub(super) fn more(compared: &Comparison) -> Option<More> {
    let rows: Vec<&Row> = compared.rows.iter().filter(|row| row.verdict == Verdict::Inconclusive).collect();
    if rows.is_empty() {
        return None;
    }
    let is_live = |row: &&Row| row.variation.as_ref().is_some_and(|known| known.source == Source::Pairs);
    let inconclusive = count(rows.len(), "inconclusive row");
    if rows.iter().any(is_live) {
        let text = format!("{inconclusive}. More turns would tell: a longer --budget.");
        return Some(More { text, command: None });
    }
    let mut needed: Vec<u64> = rows.iter().filter_map(|row| row.more_runs).collect();
    needed.sort_unstable();
    // What settles half of them; the rest may need many times as much.
    let Some(runs) = needed.get(rows.len().div_ceil(2) - 1).or(needed.last()).copied() else {
        let text = format!(
            "{inconclusive}: more than {} more runs a side would be needed. Measure where it is quieter, or longer \
             (--budget), or ask for a wider margin (--margin).",
            Row::MANY
        );
        return Some(More { text, command: None });
    };
    let settled = needed.iter().filter(|needed| **needed <= runs).count();
    let of = if settled == rows.len() { inconclusive } else { format!("{settled} of {inconclusive}") };
    let sides = [&compared.base, &compared.new];
    let text = format!(
        "About {} on each side would settle {of}{}",
        count(runs as usize, "more run"),
        again::then(sides)
    );
    Some(More { text, command: command(compared, runs) })
}

/// As the runs were made, as far as a document tells.
fn command(compared: &Comparison, runs: u64) -> Option<String> {
    let sides = [&compared.base, &compared.new];
    let is_here = |place: &document::Place| {
        place.machine.known() == Some(Machine::Host) && place.kernel.known() == Some(Kernel::Linux)
    };
    let all = sides.iter().flat_map(|side| &side.runs).all(|run| is_here(&run.place));
    all.then(|| {
        format!("for i in $(seq {runs}); do kentry{}{}; done", selection(compared), again::tag(sides))
    })
}

/// The options that choose the rows of the comparison, where they are few.
fn selection(compared: &Comparison) -> String {
    let names = |name: fn(&Row) -> &str| {
        let names: BTreeSet<&str> = compared.rows.iter().map(name).collect();
        let few = (1..=NAMED).contains(&names.len()) && names.iter().all(|name| is_plain(name));
        few.then_some(names)
    };
    let options = |option: &str, names: Option<BTreeSet<&str>>| {
        names.into_iter().flatten().map(|name| format!(" {option} {name}")).collect::<String>()
    };
    let entries = options("--entry", names(|row| &row.entry));
    format!("{entries}{}", options("--operation", names(|row| &row.operation)))
}

/// Whether a shell takes the name of a document's row as it is.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_a_shell_would_not_take_as_it_is_is_not_typed() {
        assert!(is_plain("clock_gettime-monotonic"));
        for name in ["", "a b", "$(rm)", "a;b", "-e", "ä", "a'b"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}

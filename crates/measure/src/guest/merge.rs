//! The rows of one configuration, from what its boots wrote.

use super::turn::Turn;
use crate::TableRow;
use document::{Counter, Document, Outcome, Rings, Row, Samples, Timing};
use places::guest::{Booted, Trouble};
use stats::{Cost, Counts, Distribution, Instructions};
use std::collections::BTreeMap;

/// A boot that has measured.
pub struct Answered<'b> {
    /// What it wrote.
    pub document: Document,
    /// The settings that nothing in it confirms, in words.
    pub unverified: Vec<String>,
    /// What else there is of it: the paths that were followed.
    pub turn: &'b Turn,
}

/// A row of one boot.
#[derive(Clone, Copy)]
struct Found<'d> {
    row: &'d Row,
    /// The boot's number.
    boot: u64,
    /// What its times count from, in milliseconds of the measurement.
    at_ms: f64,
}

impl<'d> Found<'d> {
    /// None if the guest says nothing of this row.
    fn of(answered: &'d Answered, (entry, operation): &TableRow) -> Option<Found<'d>> {
        let Answered { document, turn, .. } = answered;
        let is_it = |row: &&Row| row.entry == entry.name && row.operation == operation.name;
        let row = document.results.iter().find(is_it)?;
        Some(Found { row, boot: turn.number, at_ms: turn.at_ms() })
    }
}

/// Each row of the table from what all boots answered. What their documents say of anything else is left out.
pub fn rows(
    wanted: &[TableRow],
    counter: Counter,
    boots: &[Answered],
    configuration: &BTreeMap<String, String>,
) -> Vec<Row> {
    let of_row = |wanted: &TableRow| {
        let found: Vec<Found> = boots.iter().filter_map(|one| Found::of(one, wanted)).collect();
        let mut row = match counter {
            Counter::Instructions => counted(wanted, &found),
            Counter::Time => timed(wanted, &found),
        };
        row.configuration = configuration.clone();
        if counter == Counter::Instructions {
            tell_rings(&mut row, boots.iter().map(|one| &one.turn.booted), wanted);
        }
        row
    };
    wanted.iter().map(of_row).collect()
}

/// Rows without figures, all for the same reason.
pub fn without_figures(
    wanted: &[TableRow],
    counter: Counter,
    configuration: &BTreeMap<String, String>,
    (outcome, reason): (Outcome, &str),
) -> Vec<Row> {
    let of_row = |wanted: &TableRow| Row {
        configuration: configuration.clone(),
        ..ended(empty(wanted, counter), outcome, reason)
    };
    wanted.iter().map(of_row).collect()
}

/// The row as the table has it, of which nothing is known yet.
fn empty((entry, operation): &TableRow, counter: Counter) -> Row {
    let timing = match counter {
        Counter::Instructions => Timing::Emulated,
        Counter::Time => Timing::Hardware,
    };
    Row {
        entry_id: Some(entry.id),
        operation_id: Some(operation.id),
        timing,
        ..Row::unmeasured(&entry.name, &operation.name, entry.bits())
    }
}

fn ended(row: Row, outcome: Outcome, reason: &str) -> Row {
    Row { outcome, reason: Some(reason.to_string()), ..row }
}

/// What most boots found; remarks tell what the others did.
fn in_common(wanted: &TableRow, counter: Counter, found: &[Found]) -> (Row, Outcome) {
    let outcomes = found.iter().map(|one| one.row.outcome);
    let Some(outcome) = most_frequent(outcomes) else {
        let row = ended(empty(wanted, counter), Outcome::Error, "the guest said nothing of this row");
        return (row, Outcome::Error);
    };
    let mut row = empty(wanted, counter);
    row.outcome = outcome;
    let of_outcome = || found.iter().map(|one| one.row).filter(|row| row.outcome == outcome);
    if outcome != Outcome::Ok {
        let reason = of_outcome().find_map(|row| row.reason.clone());
        row.reason = Some(reason.unwrap_or_else(|| outcome.name().to_string()));
    }
    row.path = of_outcome().find_map(|row| row.path);
    for remark in of_outcome().flat_map(|row| &row.remarks) {
        if !row.remarks.contains(remark) {
            row.remarks.push(remark.clone());
        }
    }
    for Found { row: other, boot, .. } in found.iter().filter(|one| one.row.outcome != outcome) {
        let reason = other.reason.as_deref().unwrap_or("it worked");
        row.remarks.push(format!("boot {boot} ended otherwise, {}: {reason}", other.outcome.name()));
    }
    row.counts = found.iter().fold(Counts::default(), |sum, one| sum + one.row.counts);
    (row, outcome)
}

/// Instructions: the estimate that most boots have, and the least and the greatest of all samples.
fn counted(wanted: &TableRow, found: &[Found]) -> Row {
    let (mut row, outcome) = in_common(wanted, Counter::Instructions, found);
    if outcome != Outcome::Ok {
        return row;
    }
    let worked = found.iter().map(|one| one.row).filter(|row| row.outcome == Outcome::Ok);
    let costs: Vec<Cost<Instructions>> = worked.filter_map(|row| row.instructions).collect();
    let Some(first) = costs.first() else {
        return ended(row, Outcome::Error, "the guest said that it works, and counted nothing");
    };
    row.boots = costs.iter().map(|cost| cost.estimate).collect();
    row.remarks.extend(differing(&row.boots));
    let all = |of: fn(&Cost<Instructions>) -> Instructions| costs.iter().map(move |cost| of(cost).0);
    let least = all(|cost| cost.min).fold(first.min.0, f64::min);
    let greatest = all(|cost| cost.max).fold(first.max.0, f64::max);
    let middle = stats::quantile_of(all(|cost| cost.p50), 0.5).unwrap_or(first.p50.0);
    row.instructions = Some(Cost {
        estimate: Instructions(mode(&row.boots)),
        ci_low: None,
        ci_high: None,
        min: Instructions(least),
        p50: Instructions(middle),
        p99: None,
        p999: None,
        max: Instructions(greatest),
    });
    row
}

/// Each of these once, with how often it is there: the most frequent first, of equally frequent ones the smallest.
fn frequencies(estimates: &[Instructions]) -> Vec<(f64, usize)> {
    let mut all: Vec<(f64, usize)> = Vec::new();
    for estimate in estimates {
        match all.iter_mut().find(|(known, _)| *known == estimate.0) {
            Some((_, times)) => *times += 1,
            None => all.push((estimate.0, 1)),
        }
    }
    all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.total_cmp(&b.0)));
    all
}

/// `boots differ: 341 in 3, 352 in 1`, where they do.
fn differing(boots: &[Instructions]) -> Option<String> {
    let each = frequencies(boots).into_iter().map(|(count, times)| format!("{count} in {times}"));
    let each: Vec<String> = each.collect();
    (each.len() > 1).then(|| format!("boots differ: {}", each.join(", ")))
}

/// Times: the rounds of all boots, whose figures [`Document::compute`] makes.
fn timed(wanted: &TableRow, found: &[Found]) -> Row {
    let (mut row, outcome) = in_common(wanted, Counter::Time, found);
    let is_timed = |row: &Row| row.outcome == Outcome::Ok && row.timing == Timing::Hardware;
    let timed = || found.iter().filter(|one| is_timed(one.row));
    if outcome != Outcome::Ok || timed().next().is_none() {
        row.timing = found.first().map_or(Timing::Hardware, |one| one.row.timing);
        return row;
    }
    let mut samples = Samples::default();
    for Found { row: one, at_ms, .. } in timed().filter(|one| one.row.rounds.is_whole()) {
        row.rounds.append(&one.rounds, *at_ms);
        add(&mut samples.cycles, one.distribution_cycles.as_ref());
        add(&mut samples.ticks, one.distribution_ticks.as_ref());
    }
    row.distribution_cycles = (!samples.cycles.is_empty()).then(|| samples.cycles.store());
    row.distribution_ticks = (!samples.ticks.is_empty()).then(|| samples.ticks.store());
    row
}

/// Adds the samples that a guest stored; what cannot be read has none.
fn add(to: &mut Distribution, stored: Option<&stats::StoredDistribution>) {
    if let Some(Ok(read)) = stored.map(stats::StoredDistribution::open) {
        to.add(&read);
    }
}

/// The most frequent of some; of equally frequent ones the first.
fn most_frequent(all: impl Iterator<Item = Outcome> + Clone) -> Option<Outcome> {
    let times = |wanted: Outcome| all.clone().filter(|outcome| *outcome == wanted).count();
    let most = all.clone().map(times).max()?;
    all.clone().find(|outcome| times(*outcome) == most)
}

/// The most frequent of these; of equally frequent ones the smallest. Where no two are the same there is nothing that most boots have,
/// and it is the median.
fn mode(estimates: &[Instructions]) -> f64 {
    match frequencies(estimates).first() {
        Some((estimate, 2..)) => *estimate,
        _ => stats::quantile_of(estimates.iter().map(|estimate| estimate.0), 0.5).unwrap_or(f64::NAN),
    }
}

/// Tells the rings apart by the path that was followed, if that has as many instructions as were counted.
fn tell_rings<'b>(
    row: &mut Row,
    boots: impl Iterator<Item = &'b Booted> + Clone,
    (entry, operation): &TableRow,
) {
    let Some(cost) = row.instructions else { return };
    let id = (entry.id, operation.id);
    let mut traces = boots.clone().flat_map(|boot| &boot.traces);
    let Some(trace) = traces.find(|trace| (trace.entry, trace.operation) == id) else {
        let unfollowed = boots.clone().flat_map(|boot| &boot.unfollowed).find(|(of, _)| *of == id);
        // What went wrong after the rows were counted kept them from being followed.
        let trouble = || boots.clone().find_map(|boot| boot.trouble.as_ref()).map(Trouble::to_string);
        let why = unfollowed.map(|(_, why)| why.clone()).or_else(trouble);
        row.remarks.extend(why.map(|why| format!("its rings are not told apart: {why}")));
        return;
    };
    let in_kernel = trace.steps.iter().filter(|step| step.ring == 0).count() as f64;
    let outside = trace.steps.len() as f64 - in_kernel - trace.control as f64;
    if in_kernel + outside == cost.estimate.0 {
        row.rings = Some(Rings { ring0: Instructions(in_kernel), ring3: Instructions(outside) });
    } else {
        row.remarks.push(format!(
            "its rings are not told apart: the use that was followed had {} instructions",
            in_kernel + outside
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::trace::{Executed, Trace};
    use table::Table;

    fn wanted() -> TableRow<'static> {
        let table = Table::get();
        (table.entry("syscall-x86_64").unwrap(), table.operation("none").unwrap())
    }

    /// What the boots with these rows amount to.
    fn of(rows: &[&Row]) -> Row {
        let found = (1..).zip(rows).map(|(boot, row)| Found { row, boot, at_ms: 0.0 });
        counted(&wanted(), &found.collect::<Vec<_>>())
    }

    fn found(estimate: f64, max: f64) -> Row {
        let cost = Cost { max: Instructions(max), ..Cost::single(Instructions(estimate)) };
        Row { instructions: Some(cost), ..Row::unmeasured("syscall-x86_64", "none", 64) }
    }

    #[test]
    fn the_estimate_is_what_most_boots_have_and_the_rest_is_there_too() {
        let rows = [found(411.0, 900.0), found(400.0, 411.0), found(400.0, 400.0)];
        let row = of(&rows.iter().collect::<Vec<_>>());
        let cost = row.instructions.unwrap();
        assert_eq!((cost.estimate.0, cost.min.0, cost.p50.0, cost.max.0), (400.0, 400.0, 400.0, 900.0));
        assert_eq!(row.boots, [411.0, 400.0, 400.0].map(Instructions));
        assert_eq!((row.timing, row.core_cycles), (Timing::Emulated, None));
        assert_eq!(row.remarks, ["boots differ: 400 in 2, 411 in 1"]);
        let even = [found(9.0, 9.0), found(7.0, 7.0)];
        assert_eq!(of(&even.iter().collect::<Vec<_>>()).instructions.unwrap().estimate.0, 7.0);
    }

    #[test]
    fn a_row_of_which_nothing_was_said_has_no_figure() {
        let none = of(&[]);
        assert_eq!((none.outcome, none.instructions), (Outcome::Error, None));
        let silent = Row::unmeasured("syscall-x86_64", "none", 64);
        let silent = of(&[&silent]);
        assert_eq!((silent.outcome, silent.instructions), (Outcome::Error, None));
        assert!(silent.reason.unwrap().contains("counted nothing"));
    }

    #[test]
    fn boots_that_end_otherwise_are_told() {
        let closed = ended(found(1.0, 1.0), Outcome::Fault, "SIGSEGV");
        let row = of(&[&found(5.0, 5.0), &closed, &found(5.0, 5.0)]);
        assert_eq!((row.outcome, row.boots.len()), (Outcome::Ok, 2));
        assert_eq!(row.remarks, ["boot 2 ended otherwise, fault: SIGSEGV"]);
        let row = of(&[&closed, &closed, &found(5.0, 5.0)]);
        assert_eq!(
            (row.outcome, row.instructions, row.reason.as_deref()),
            (Outcome::Fault, None, Some("SIGSEGV"))
        );
        assert_eq!(row.remarks, ["boot 3 ended otherwise, ok: it worked"]);
    }

    fn trace(kernel: usize, program: usize, control: usize) -> Trace {
        let steps = |ring, count| std::iter::repeat_n(Executed { ring, ..Executed::default() }, count);
        let (entry, operation) = wanted();
        let steps = steps(3, program).chain(steps(0, kernel)).collect();
        Trace { entry: entry.id, operation: operation.id, steps, control }
    }

    #[test]
    fn rings_are_told_apart_only_where_the_path_is_as_long_as_the_count() {
        let with = |trace: Trace| {
            let mut row = found(398.0, 398.0);
            let boot = Booted { traces: vec![trace], ..Booted::default() };
            tell_rings(&mut row, [&boot].into_iter(), &wanted());
            row
        };
        let row = with(trace(396, 3, 1));
        assert_eq!(row.rings, Some(Rings { ring0: Instructions(396.0), ring3: Instructions(2.0) }));
        let other = with(trace(400, 3, 1));
        assert_eq!(other.rings, None);
        assert!(other.remarks[0].contains("had 402 instructions"), "{:?}", other.remarks);
        assert_eq!(with(Trace::default()).rings, None, "another row's");
        let id = (wanted().0.id, wanted().1.id);
        let without = |booted: Booted| {
            let mut row = found(398.0, 398.0);
            tell_rings(&mut row, [&booted].into_iter(), &wanted());
            assert_eq!(row.rings, None);
            row.remarks
        };
        let unfollowed = vec![(id, "it never came".into())];
        let ended = Trouble::Followed("it closed the connection".into());
        let both = Booted { unfollowed, trouble: Some(ended.clone()), ..Booted::default() };
        assert_eq!(without(both), ["its rings are not told apart: it never came"]);
        let told = without(Booted { trouble: Some(ended.clone()), ..Booted::default() });
        assert_eq!(told, [format!("its rings are not told apart: {ended}")]);
        assert!(without(Booted::default()).is_empty(), "nobody asked for it");
    }
}

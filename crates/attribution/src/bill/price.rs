//! What a setting adds in a run of the lab, whatever the run was made for: the difference of two configurations that differ in the
//! setting's switch alone. In the run that a bill was made of, that is what the bill says of the step.

use crate::bill::measured::Measured;
use crate::bill::{Configuration, Figure, Unit};
use document::{Document, Outcome, Row};
use std::collections::BTreeSet;
use table::special::GETPPID;
use table::{Setting, Switch, Table};

/// What a setting adds to an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// Name of the entry.
    pub entry: String,
    /// Name of the operation.
    pub operation: String,
    /// The value that its switch had before, where that is not the first; as of `pti=on`, which adds to `pti=trampoline`.
    pub base: Option<String>,
    /// What it adds beside nothing but what it requires.
    pub alone: Option<Figure>,
    /// What it adds beside as many other settings as there are in the run; and how many these are.
    pub in_company: Option<(Figure, usize)>,
    /// The unit of both.
    pub unit: Unit,
}

/// Two rows that differ in one switch, and how many others are not as in the bare configuration.
struct Pair<'a> {
    with: &'a Row,
    base: &'a Row,
    others: usize,
    /// How far these are raised together: of two with as many, `pti=on` is more than `pti=trampoline`.
    raised: u64,
    is_alone: bool,
}

impl Price {
    /// Of a setting in a document; of `getppid` through `syscall` if it has that, else of its first row that will do. None where no two
    /// rows tell it.
    pub fn of(table: &Table, document: &Document, setting: &Setting) -> Option<Price> {
        let switch = table.switch(&setting.name)?;
        let is_known = |row: &&Row| row.configuration.keys().all(|name| table.switch(name).is_some());
        let worked = |row: &&Row| row.outcome == Outcome::Ok && row.figure().is_some();
        let rows: Vec<&Row> = document.results.iter().filter(worked).filter(is_known).collect();
        let pairs: Vec<Pair> = rows
            .iter()
            .filter(|row| value(row, switch) == Some(&setting.value))
            .filter_map(|with| pair(table, switch, setting, with, &rows))
            .collect();
        let is_usual = |row: &Row| row.entry == GETPPID.entry && row.operation == GETPPID.operation;
        let first = pairs.iter().find(|pair| is_usual(pair.with)).or(pairs.first())?;
        let of_row: Vec<&Pair> = pairs
            .iter()
            .filter(|pair| pair.with.entry == first.with.entry && pair.with.operation == first.with.operation)
            .collect();
        let alone = of_row.iter().find(|pair| pair.is_alone);
        let company =
            of_row.iter().filter(|pair| !pair.is_alone).max_by_key(|pair| (pair.others, pair.raised));
        let figure = |pair: &Pair| added(document, pair);
        let (alone, company) =
            (alone.map(|pair| figure(pair)), company.map(|pair| (figure(pair), pair.others)));
        let unit = [alone, company.map(|(found, _)| found)].into_iter().flatten().flatten().next()?.1;
        let base = value(first.base, switch).filter(|base| **base != switch.first()).cloned();
        Some(Price {
            entry: first.with.entry.clone(),
            operation: first.with.operation.clone(),
            base,
            alone: alone.flatten().map(|(figure, _)| figure),
            in_company: company.and_then(|(found, others)| Some((found?.0, others))),
            unit,
        })
    }
}

fn value<'a>(row: &'a Row, switch: &Switch) -> Option<&'a String> {
    row.configuration.get(&switch.name)
}

/// A row beside the one that has less of the switch and is else the same: of several, the one that has most of it.
fn pair<'a>(
    table: &Table,
    switch: &Switch,
    setting: &Setting,
    with: &'a Row,
    rows: &[&'a Row],
) -> Option<Pair<'a>> {
    let others = |row: &Row| {
        let mut configuration = row.configuration.clone();
        configuration.remove(&switch.name);
        configuration
    };
    let beside = others(with);
    let is_less = |value: &String| {
        *value != setting.value && (*value == switch.first() || switch.raises(value, &setting.value))
    };
    let candidates = rows.iter().copied().filter(|row| {
        let is_same_row = row.entry == with.entry && row.operation == with.operation;
        is_same_row && value(row, switch).is_some_and(is_less) && others(row) == beside
    });
    let base = candidates.reduce(|most, row| {
        let (before, now) = (value(most, switch), value(row, switch));
        if before.zip(now).is_some_and(|(before, now)| switch.raises(before, now)) { row } else { most }
    })?;
    let bare = table.bare();
    let changed = |(name, value): &(&String, &String)| bare.get(*name) != Some(value);
    let level = |(name, value): (&String, &String)| table.switch(name)?.level(value);
    let raised = beside.iter().filter(changed).filter_map(level).map(u64::from).sum();
    let changed: BTreeSet<&String> = beside.iter().filter(changed).map(|(name, _)| name).collect();
    let required = table.required(setting, &with.configuration).unwrap_or_default();
    let required: BTreeSet<&String> = required.iter().map(|needed| &needed.name).collect();
    Some(Pair { with, base, others: changed.len(), raised, is_alone: changed.is_subset(&required) })
}

/// The first row less the second, as a bill makes it.
fn added(document: &Document, pair: &Pair) -> Option<(Figure, Unit)> {
    let of = |row: &Row| Configuration {
        operation: row.operation.clone(),
        steps: BTreeSet::new(),
        values: row.configuration.clone(),
    };
    let measured = Measured::new(document, &pair.with.entry, &[of(pair.with), of(pair.base)]);
    let figure = measured.figure(&[(0, 1.0), (1, -1.0)])?;
    Some((figure.without_verdict(), measured.unit?))
}

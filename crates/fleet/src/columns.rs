//! The facts of all hosts, a column each.

use crate::fleet::{Fleet, PLACE};
use crate::hosts::{Host, KIND};
use crate::judgement::{FactValue, ValueCount};
use crate::words::{Word, Words};
use std::collections::{BTreeMap, BTreeSet};
use summary::FACTS;

/// A fact over all hosts.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub id: String,
    pub what: String,
    pub kind: Kind,
    /// Its value on each host; none where nobody knows. Where runs of a host differ, all values in one.
    pub values: Vec<Option<Word>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Fact,
    Mitigation,
    /// What a run found may come of its figures, and explains none.
    Finding,
}

/// All columns, and the words of their values.
#[derive(Debug)]
pub(crate) struct Columns {
    pub words: Words,
    pub columns: Vec<Column>,
}

impl Columns {
    pub fn of(fleet: &Fleet, hosts: &[Host]) -> Columns {
        let mut columns = Columns { words: fleet.words.clone(), columns: Vec::new() };
        let named = FACTS.iter().map(|fact| (fact.id, fact.what)).chain(PLACE);
        for (place, (id, what)) in named.enumerate() {
            columns.add(fleet, hosts, (id, what, Kind::Fact), |run| run.facts[place]);
        }
        let names: BTreeSet<&str> = fleet
            .runs
            .iter()
            .flat_map(|run| &run.mitigations)
            .map(|(name, _)| fleet.words.text(*name))
            .collect();
        for name in names {
            let value = |run: &crate::fleet::Run| {
                let found = run.mitigations.iter().find(|(own, _)| fleet.words.text(*own) == name);
                found.map(|(_, value)| *value)
            };
            columns.add(
                fleet,
                hosts,
                (&format!("mitigation:{name}"), &format!("mitigation of {name}"), Kind::Mitigation),
                value,
            );
        }
        let ids: BTreeSet<&str> =
            fleet.runs.iter().flat_map(|run| &run.findings).map(|(id, _)| fleet.words.text(*id)).collect();
        let absent = columns.words.of("absent");
        for id in ids {
            let levels: BTreeMap<&str, Word> = fleet
                .runs
                .iter()
                .flat_map(|run| run.findings.iter())
                .map(|(_, level)| (level.name(), columns.words.of(level.name())))
                .collect();
            let value = |run: &crate::fleet::Run| {
                let found = run.findings.iter().find(|(own, _)| fleet.words.text(*own) == id);
                Some(found.and_then(|(_, level)| levels.get(level.name()).copied()).unwrap_or(absent))
            };
            columns.add(
                fleet,
                hosts,
                (&format!("finding:{id}"), &format!("finding {id}"), Kind::Finding),
                value,
            );
        }
        columns
    }

    fn add(
        &mut self,
        fleet: &Fleet,
        hosts: &[Host],
        (id, what, kind): (&str, &str, Kind),
        value: impl Fn(&crate::fleet::Run) -> Option<Word>,
    ) {
        let values = hosts
            .iter()
            .map(|host| {
                let mut known: Vec<Word> =
                    host.runs.iter().filter_map(|run| value(&fleet.runs[*run as usize])).collect();
                known.sort_unstable();
                known.dedup();
                match known.as_slice() {
                    [] => None,
                    [one] => Some(*one),
                    several => {
                        let mut texts: Vec<&str> =
                            several.iter().map(|word| self.words.text(*word)).collect();
                        texts.sort_unstable();
                        let text = texts.join("; ");
                        Some(self.words.of(&text))
                    }
                }
            })
            .collect();
        self.columns.push(Column { id: id.to_owned(), what: what.to_owned(), kind, values });
    }

    pub fn find(&self, id: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.id == id)
    }

    /// What may be the reason for a difference inside a cohort.
    pub fn reasons(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| !KIND.contains(&column.id.as_str()))
    }

    pub fn text(&self, value: Option<Word>) -> Option<String> {
        value.map(|word| self.words.text(word).to_owned())
    }

    pub fn fact(&self, column: &Column, value: Option<Word>) -> FactValue {
        FactValue { id: column.id.clone(), what: column.what.clone(), value: self.text(value) }
    }

    /// The values of these hosts, the most frequent first.
    pub fn counts(&self, column: &Column, hosts: impl Iterator<Item = u32>) -> Vec<ValueCount> {
        let mut counts: BTreeMap<Option<Word>, usize> = BTreeMap::new();
        for host in hosts {
            *counts.entry(column.values[host as usize]).or_default() += 1;
        }
        let mut counts: Vec<ValueCount> =
            counts.into_iter().map(|(value, hosts)| ValueCount { value: self.text(value), hosts }).collect();
        counts.sort_by(|a, b| b.hosts.cmp(&a.hosts).then_with(|| a.value.cmp(&b.value)));
        counts
    }
}

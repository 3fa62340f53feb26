//! Rows under the verdicts that they share, in the order in which these matter.

use compare::{Comparison, Row, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// Rows that are shown together.
pub(super) struct Group<'a> {
    pub kind: Kind,
    /// In the comparison's order.
    pub rows: Vec<&'a Row>,
}

/// What the rows of a group share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub verdict: Verdict,
    /// Slower or faster, but by less than what counts as the same.
    pub is_within: bool,
}

impl Kind {
    pub const fn of_row(row: &Row) -> Kind {
        let is_change = matches!(row.verdict, Verdict::Slower | Verdict::Faster);
        Kind { verdict: row.verdict, is_within: is_change && row.within_margin }
    }

    /// All, those that matter most first: changes within the margin come behind those beyond it, and before what is not known.
    fn all() -> impl Iterator<Item = Kind> {
        let within = [Verdict::Slower, Verdict::Faster].map(|verdict| Kind { verdict, is_within: true });
        Verdict::ALL.into_iter().flat_map(move |verdict| {
            let before = if verdict == Verdict::Inconclusive { within.as_slice() } else { &[] };
            let own = Kind { verdict, is_within: false };
            before.iter().copied().chain([own]).collect::<Vec<_>>()
        })
    }

    /// Its place among all.
    pub fn place(self) -> usize {
        Kind::all().take_while(|other| *other != self).count()
    }

    /// Whether it says that something is not as it was.
    pub fn is_difference(self) -> bool {
        self.verdict.is_difference()
    }

    /// Whether its rows have figures of both sides.
    pub fn has_change(self) -> bool {
        matches!(self.verdict, Verdict::Slower | Verdict::Faster | Verdict::Inconclusive | Verdict::Same)
    }
}

/// Every group that has rows.
pub(super) fn groups(compared: &Comparison) -> Vec<Group<'_>> {
    let group = |kind: Kind| {
        let rows: Vec<&Row> = compared.rows.iter().filter(|row| Kind::of_row(row) == kind).collect();
        (!rows.is_empty()).then_some(Group { kind, rows })
    };
    Kind::all().filter_map(group).collect()
}

/// The switches that tell rows of one entry apart: a row carries all of them, and a reader needs those that differ.
pub(super) struct Names<'a> {
    keys: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    pub fn of(compared: &'a Comparison) -> Names<'a> {
        let mut values = BTreeMap::<(&str, &str), &str>::new();
        let mut keys = BTreeSet::new();
        for row in &compared.rows {
            for (key, value) in &row.configuration {
                if *values.entry((&row.entry, key)).or_insert(value) != value {
                    keys.insert(key.as_str());
                }
            }
        }
        Names { keys }
    }

    /// The operation, and what tells the row from others of its entry and operation: `getppid pti=on`.
    pub fn operation(&self, row: &Row) -> String {
        let switches = row.configuration.iter().filter(|(key, _)| self.keys.contains(key.as_str()));
        let switches = switches.map(|(key, value)| format!(" {key}={value}"));
        format!("{}{}", row.operation, switches.collect::<String>())
    }

    /// The whole name.
    pub fn whole(&self, row: &Row) -> String {
        format!("{} {}", row.entry, self.operation(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_there_once_and_what_is_within_the_margin_comes_before_what_is_not_known() {
        let all: Vec<Kind> = Kind::all().collect();
        assert_eq!(all.len(), Verdict::ALL.len() + 2);
        let place = |verdict, is_within| {
            let kind = Kind { verdict, is_within };
            assert_eq!(all.iter().filter(|other| **other == kind).count(), 1);
            all.iter().position(|other| *other == kind)
        };
        let order = [
            place(Verdict::Closed, false),
            place(Verdict::Slower, false),
            place(Verdict::Faster, false),
            place(Verdict::Slower, true),
            place(Verdict::Faster, true),
            place(Verdict::Inconclusive, false),
            place(Verdict::Same, false),
        ];
        assert!(order.is_sorted(), "{order:?}");
    }
}

//! Rows that had a figure before a roll-out and have none afterwards.

use crate::fleet::{Fleet, Row};
use crate::hosts::Host;
use crate::judgement::{Named, RowName};
use crate::rollout::LostRow;
use document::Outcome;
use std::collections::BTreeMap;

/// Hosts of pairs before and after, in one order, with the fleets that they are of.
pub(crate) struct Both<'a> {
    pub fleets: [&'a Fleet; 2],
    pub hosts: &'a [Vec<&'a Host>; 2],
}

impl Both<'_> {
    /// The row, where pairs that `had` a figure are not all among those that are `kept`; both in order.
    pub fn lost(&self, name: &RowName, had: &[u32], kept: &[u32]) -> Option<LostRow> {
        let lost: Vec<u32> = had.iter().filter(|place| kept.binary_search(place).is_err()).copied().collect();
        let names = lost.iter().map(|place| self.hosts[1][*place as usize].name.clone());
        (!lost.is_empty()).then(|| LostRow {
            name: name.clone(),
            pairs: had.len(),
            lost: Named::of(names),
            outcome_before: self.outcome(0, name, &lost),
            outcome_after: self.outcome(1, name, &lost),
            reason_after: self.reason(name, &lost),
        })
    }

    fn rows(&self, side: usize, name: &RowName, places: &[u32]) -> Vec<&Row> {
        let fleet = self.fleets[side];
        let hosts = places.iter().map(|place| self.hosts[side][*place as usize]);
        let runs = hosts.flat_map(|host| &host.runs).map(|run| &fleet.runs[*run as usize]);
        let row = fleet.place_of_row(name);
        runs.flat_map(|run| run.rows.iter()).filter(|own| Some(own.name) == row).collect()
    }

    fn outcome(&self, side: usize, name: &RowName, places: &[u32]) -> Option<Outcome> {
        most_frequent(self.rows(side, name, places).into_iter().map(|row| row.outcome))
    }

    fn reason(&self, name: &RowName, places: &[u32]) -> Option<String> {
        let reasons = self.rows(1, name, places).into_iter().filter_map(|row| row.reason);
        most_frequent(reasons).map(|reason| self.fleets[1].words.text(reason).to_owned())
    }
}

fn most_frequent<T: Ord>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(value, _)| value)
}

//! What differs on an odd host, and how well that separates odd hosts from the others.

use crate::cohort::Judged;
use crate::columns::{Column, Columns};
use crate::judgement::Differs;
use crate::words::Word;
use std::collections::BTreeMap;

/// A value is told if it and all values as rare belong to at most this part of the hosts.
const RARE: f64 = 0.2;

/// The facts of a cohort's odd hosts and of its others.
pub(crate) struct Facts<'a> {
    columns: &'a Columns,
    of: Vec<Counts<'a>>,
}

/// How many hosts have which value of a fact.
struct Counts<'a> {
    column: &'a Column,
    odd: BTreeMap<Word, usize>,
    others: BTreeMap<Word, usize>,
}

impl<'a> Facts<'a> {
    pub fn of(columns: &'a Columns, cohort: &Judged) -> Facts<'a> {
        let hosts =
            || (0_u32..).zip(&cohort.hosts).map(|(place, host)| (cohort.odd.contains_key(&place), *host));
        let counts = |column: &'a Column| {
            let mut counts = Counts { column, odd: BTreeMap::new(), others: BTreeMap::new() };
            for (is_odd, host) in hosts() {
                if let Some(value) = column.values[host as usize] {
                    let side = if is_odd { &mut counts.odd } else { &mut counts.others };
                    *side.entry(value).or_default() += 1;
                }
            }
            counts
        };
        Facts { columns, of: columns.reasons().map(counts).collect() }
    }

    /// What differs on an odd host, by its place in the fleet, the best first.
    pub fn differs(&self, host: u32) -> Vec<Differs> {
        let mut found: Vec<Differs> =
            self.of.iter().filter_map(|counts| counts.differs(self.columns, host)).collect();
        // Of those that tell as much, in the order in which facts are told.
        found.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.with_same.cmp(&b.with_same)));
        found
    }
}

impl Counts<'_> {
    fn differs(&self, columns: &Columns, host: u32) -> Option<Differs> {
        let here = self.column.values[host as usize]?;
        let count = |side: &BTreeMap<Word, usize>| side.get(&here).copied().unwrap_or(0);
        let (odd_with_same, with_same) = (count(&self.odd), count(&self.others));
        let [odd, of] = [&self.odd, &self.others].map(|side| side.values().sum::<usize>());
        let (usual, with_usual) = self.others.iter().max_by_key(|(_, count)| **count)?;
        if *usual == here || *with_usual < 2 {
            return None;
        }
        // As if this host was one of the others.
        let rare = self.others.iter().filter(|(value, count)| **count <= with_same + 1 && *value != usual);
        let as_rare = 1 + rare.map(|(_, count)| count).sum::<usize>();
        (as_rare as f64 <= RARE * (of + 1) as f64).then(|| Differs {
            fact: columns.fact(self.column, Some(here)),
            usual: columns.text(Some(*usual)),
            with_usual: *with_usual,
            with_same,
            of,
            odd_with_same,
            gain: gain(odd_with_same, odd, with_same, of),
        })
    }
}

/// What it tells of whether a host is odd that it has a value, bits: entropy before less entropy after.
fn gain(odd_with: usize, odd: usize, others_with: usize, others: usize) -> f64 {
    let all = (odd + others) as f64;
    let with = (odd_with + others_with) as f64;
    let entropy = |part: usize, whole: f64| {
        let share = if whole > 0.0 { part as f64 / whole } else { 0.0 };
        [share, 1.0 - share]
            .into_iter()
            .filter(|share| *share > 0.0)
            .map(|share| -share * share.log2())
            .sum::<f64>()
    };
    let after =
        with / all * entropy(odd_with, with) + (all - with) / all * entropy(odd - odd_with, all - with);
    (entropy(odd, all) - after).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_only_odd_hosts_have_tells_everything_and_one_that_all_have_nothing() {
        assert!((gain(2, 2, 0, 2) - 1.0).abs() < 1e-12);
        assert_eq!(gain(2, 2, 50, 50), 0.0);
        assert!(gain(1, 2, 0, 98) < gain(2, 2, 0, 98));
        assert!(gain(2, 2, 10, 98) < gain(2, 2, 0, 98));
    }
}

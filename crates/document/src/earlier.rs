//! What earlier runs show of how a row's cost changes from time to time.

use crate::compute::Sharing;
use crate::{Document, Row};
use stats::{Said, Shown};
use std::collections::BTreeMap;

/// A row, as runs have it in common: what it shares its levels with, and its operation.
type Key = (Sharing, String);

/// What several runs of a machine say of their rows.
#[derive(Debug, Clone, Default)]
pub struct EarlierRuns {
    said: BTreeMap<Key, Vec<Said>>,
}

impl EarlierRuns {
    /// Takes another run to them.
    pub fn add(&mut self, run: &Document) {
        for row in run.results.iter().filter(|row| row.is_timed() && row.rounds.is_whole()) {
            let said = Said::of(&row.rounds, &row.assumed_levels());
            self.said.entry(row.key()).or_default().extend(said);
        }
    }

    /// What they show of each row.
    fn shown(&self) -> BTreeMap<&Key, Shown> {
        let mut entries = BTreeMap::<&Sharing, (Vec<&Key>, Vec<&[Said]>)>::new();
        for (key, said) in &self.said {
            let (keys, all) = entries.entry(&key.0).or_default();
            keys.push(key);
            all.push(said);
        }
        let of_entries =
            entries.into_values().flat_map(|(keys, said)| keys.into_iter().zip(stats::shown(&said)));
        of_entries.filter_map(|(key, shown)| Some((key, shown?))).collect()
    }
}

impl Row {
    fn key(&self) -> Key {
        (self.sharing(), self.operation.clone())
    }
}

impl Document {
    /// Writes to each row what earlier runs of the machine show of it. To be called before [`Document::compute`].
    pub fn know(&mut self, earlier: &EarlierRuns) {
        let shown = earlier.shown();
        for row in &mut self.results {
            row.earlier = shown.get(&row.key()).copied();
        }
    }
}

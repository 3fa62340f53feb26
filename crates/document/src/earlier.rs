//! What earlier runs show of how a row's cost changes from time to time.

use crate::compute::Sharing;
use crate::{Document, Row};
use stats::{RunEstimate, SeenLevels};
use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

/// A row, as runs have it in common: what it shares its levels with, and its operation.
type Key = (Sharing, String);

/// Runs that began within so many seconds of each other see one state of the machine, and count as one.
const APART: f64 = 300.0;

/// A run that is shorter, in seconds, tells little but its own level.
const SHORTEST: f64 = 3.0;

/// What several runs of a machine say of their rows.
#[derive(Debug, Clone, Default)]
pub struct EarlierRuns {
    /// When they began, seconds since 1970.
    begun: Vec<f64>,
    said: BTreeMap<Key, Vec<RunEstimate>>,
}

impl EarlierRuns {
    /// Whether a run that began then (as [`crate::Measurement::started`] says) is far enough from those that are there.
    pub fn is_apart(&self, started: &str) -> bool {
        seconds(started).is_some_and(|begun| self.begun.iter().all(|other| (other - begun).abs() >= APART))
    }

    /// Takes another run to them, and says whether it did: not one that was short, or that began when another did.
    pub fn add(&mut self, run: &Document) -> bool {
        let started = &run.measurement.started;
        if run.measurement.seconds < SHORTEST || !self.is_apart(started) {
            return false;
        }
        self.begun.extend(seconds(started));
        for row in run.results.iter().filter(|row| row.is_timed() && row.rounds.is_whole()) {
            let said = RunEstimate::of(&row.rounds, &row.assumed_levels());
            self.said.entry(row.key()).or_default().extend(said);
        }
        true
    }

    /// What they show of each row.
    fn shown(&self) -> BTreeMap<&Key, SeenLevels> {
        let mut entries = BTreeMap::<&Sharing, (Vec<&Key>, Vec<&[RunEstimate]>)>::new();
        for (key, said) in &self.said {
            let (keys, all) = entries.entry(&key.0).or_default();
            keys.push(key);
            all.push(said);
        }
        let of_entries =
            entries.into_values().flat_map(|(keys, said)| keys.into_iter().zip(stats::seen_levels(&said)));
        of_entries.filter_map(|(key, shown)| Some((key, shown?))).collect()
    }
}

/// Seconds since 1970.
fn seconds(started: &str) -> Option<f64> {
    let since = humantime::parse_rfc3339_weak(started).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(since.as_secs_f64())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen runs of one calm minute made the next run's interval a third narrower.
    #[test]
    fn runs_of_one_minute_count_as_one_and_short_ones_as_none() {
        let run = |started: &str, seconds| Document {
            measurement: crate::Measurement { started: started.into(), seconds, ..Default::default() },
            ..Document::empty()
        };
        let mut earlier = EarlierRuns::default();
        earlier.add(&run("2026-11-24T08:00:00.000Z", 0.1));
        assert!(earlier.begun.is_empty(), "too short");
        earlier.add(&run("2026-11-24T08:00:00.000Z", 4.0));
        earlier.add(&run("2026-11-24T08:01:00.000Z", 4.0));
        assert_eq!(earlier.begun.len(), 1);
        assert!(!earlier.is_apart("2026-11-24T07:56:00.000Z") && !earlier.is_apart("yesterday"));
        assert!(earlier.is_apart("2026-11-24T08:05:00.000Z"));
        earlier.add(&run("2026-11-24T08:05:00.000Z", 4.0));
        assert_eq!(earlier.begun.len(), 2);
    }
}

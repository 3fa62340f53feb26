//! What is known about the noise during the measurement: enough to choose a CPU and to stop in time. The final judgement
//! takes all rounds into account ([`crate::conclude`]).

use crate::conclude::ALIKE;
use environment::CoreType;
use stats::{Reference, Round, Vouch};
use std::collections::BTreeMap;
use table::Probe;

/// How many canaries of the last rounds are remembered.
const REMEMBERED: usize = 4096;

/// A canary that is slower than the fastest by more than this will not be found quiet, whatever is seen later.
const HOPELESS: f64 = 1.3;

/// What is known of the canaries of one probe on one kind of core.
#[derive(Debug, Default)]
struct Seen {
    rates: Vec<f64>,
    next: usize,
    alone: f64,
}

/// Follows the canaries of a measurement.
#[derive(Debug)]
pub struct Live {
    vouches: BTreeMap<CoreType, Vouch>,
    seen: BTreeMap<(Probe, CoreType), Seen>,
    quiet: u64,
    all: u64,
}

/// A first judgement of a round, by what is known so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Share of its canaries that are quiet, 0 to 1.
    pub quiet: f64,
    /// Share of its blocks that will probably be kept, 0 to 1.
    pub kept: f64,
}

impl Look {
    /// Whether the round will probably be kept.
    pub fn is_good(&self) -> bool {
        self.kept > 0.0
    }
}

impl Live {
    /// With what vouches for each kind of core.
    pub fn new(vouches: BTreeMap<CoreType, Vouch>) -> Live {
        Live { vouches, seen: BTreeMap::new(), quiet: 0, all: 0 }
    }

    /// Takes a round of a probe on a core of this kind.
    pub fn take(&mut self, probe: Probe, core: CoreType, round: &mut Round) -> Look {
        let vouch = self.vouches.get(&core).copied().unwrap_or(Vouch::Nothing);
        let Some(own) = Reference::of(&[round], vouch) else { return Look { quiet: 0.0, kept: 0.0 } };
        let all = own.rates(round);
        let rates: Vec<f64> = all.iter().copied().filter(|rate| rate.is_finite()).collect();
        let seen = self.seen.entry((probe, core)).or_default();
        seen.add(&rates);
        let own_best = seen.alone;
        let best = self.best(core);
        let alone = if own_best * ALIKE >= best { best } else { own_best };
        let reference = own.with_alone(alone, vouch);
        let quiet = rates.iter().filter(|rate| reference.is_quiet(**rate)).count();
        self.quiet += quiet as u64;
        self.all += rates.len() as u64;
        let kept =
            reference.judge(round).map_or(0, |kept| kept.len()) as f64 / round.blocks.len().max(1) as f64;
        let is_hopeless = |mark: usize| all.get(mark).is_some_and(|rate| rate * HOPELESS < alone);
        round.forget(|block| is_hopeless(block) || is_hopeless(block + 1));
        Look { quiet: quiet as f64 / rates.len().max(1) as f64, kept }
    }

    /// The fastest canaries of any probe on a kind of core.
    fn best(&self, core: CoreType) -> f64 {
        let of_core = self.seen.iter().filter(|((_, other), _)| *other == core);
        of_core.map(|(_, seen)| seen.alone).fold(0.0, f64::max)
    }

    /// Share of all canaries so far that were quiet, 0 to 1; `None` before the first.
    pub fn quiet_share(&self) -> Option<f64> {
        (self.all > 0).then(|| self.quiet as f64 / self.all as f64)
    }
}

impl Seen {
    fn add(&mut self, rates: &[f64]) {
        for rate in rates {
            if self.rates.len() < REMEMBERED {
                self.rates.push(*rate);
            } else if let Some(slot) = self.rates.get_mut(self.next % REMEMBERED) {
                *slot = *rate;
            }
            self.next += 1;
        }
        let fastest = stats::quantile_of(self.rates.iter().copied(), 0.99);
        // The fastest ever seen is not forgotten.
        self.alone = self.alone.max(fastest.unwrap_or(0.0));
    }
}

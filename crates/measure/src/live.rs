//! What is known about the noise during the measurement: enough to choose a CPU, to set how long rounds are, and to stop in time.
//! The final judgement takes all rounds into account ([`crate::conclude`]); so do the reviews here, of the rounds so far.

use crate::conclude::{References, references};
use crate::earlier::Alone;
use crate::row::Row;
use environment::CoreType;
use stats::{Reference, Round, Vouch};
use std::collections::BTreeMap;

/// A canary that is slower than the fastest by more than this will not be found quiet, whatever is seen later.
const HOPELESS: f64 = 1.3;

/// All rounds are reviewed when there are so many times as many as at the last review: the work stays in proportion to the rounds.
const REVIEW_AT: f64 = 1.25;

/// The first review needs so many.
const FIRST_REVIEW: usize = 16;

/// Follows the canaries of a measurement.
#[derive(Debug)]
pub struct Live {
    vouches: BTreeMap<CoreType, Vouch>,
    alone: Alone,
    /// By all rounds that there were at the last review.
    references: References,
    /// Until the first review: the fastest canaries that a round had on a kind of core.
    fastest: BTreeMap<CoreType, f64>,
    /// Rounds of rows so far, and at the next review.
    rounds: usize,
    next_review: usize,
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
    /// With what vouches for each kind of core, and what earlier runs found of it.
    pub fn new(vouches: BTreeMap<CoreType, Vouch>, alone: Alone) -> Live {
        let (references, fastest) = (References::new(), BTreeMap::new());
        Live { vouches, alone, references, fastest, rounds: 0, next_review: FIRST_REVIEW, quiet: 0, all: 0 }
    }

    /// Takes a round of a probe of this bitness on a core of this kind.
    pub fn take(&mut self, bits: u8, core: CoreType, round: &mut Round) -> Look {
        let Some(reference) = self.reference(bits, core, round) else {
            return Look { quiet: 0.0, kept: 0.0 };
        };
        let rates = reference.rates(round);
        let (quiet, all) = self.count(&reference, &rates);
        let kept =
            reference.judge(round).map_or(0, |kept| kept.len()) as f64 / round.blocks.len().max(1) as f64;
        let is_hopeless = |mark: usize| rates.get(mark).is_some_and(|rate| rate * HOPELESS < reference.alone);
        round.forget(|block| is_hopeless(block) || is_hopeless(block + 1));
        Look { quiet: quiet as f64 / all.max(1) as f64, kept }
    }

    /// Counts a round's canaries: those that were quiet, and all that tell something.
    fn count(&mut self, reference: &Reference, rates: &[f64]) -> (usize, usize) {
        let finite = || rates.iter().filter(|rate| rate.is_finite());
        let (quiet, all) = (finite().filter(|rate| reference.is_quiet(**rate)).count(), finite().count());
        self.quiet += quiet as u64;
        self.all += all as u64;
        (quiet, all)
    }

    /// What a round is judged by: by the last review, or, before the first, by the round itself and the fastest canaries of others.
    fn reference(&mut self, bits: u8, core: CoreType, round: &Round) -> Option<Reference> {
        if let Some(reference) = self.references.get(&(bits, core)) {
            return Some(*reference);
        }
        let vouch = self.vouches.get(&core).copied().unwrap_or(Vouch::Nothing);
        let own = Reference::of(&[round], vouch)?;
        let fastest = self.fastest.entry(core).or_default();
        *fastest = fastest.max(own.alone);
        Some(own.with_alone(*fastest, vouch))
    }

    /// Judges all rounds anew by all that there are, when these have become so many more that it is worth it. What one round
    /// tells of itself is not sure to a few percent, and the fastest of many such guesses is too fast.
    pub fn review(&mut self, rows: &mut [Row], core: &dyn Fn(&Round) -> CoreType) {
        self.rounds += 1;
        if self.rounds < self.next_review {
            return;
        }
        self.next_review = (self.rounds as f64 * REVIEW_AT) as usize;
        let vouch = |core: CoreType| self.vouches.get(&core).copied().unwrap_or(Vouch::Nothing);
        self.references = references(&*rows, &vouch, core, &self.alone);
        (self.quiet, self.all) = (0, 0);
        for row in rows {
            let bits = row.row.0.bits();
            row.judge(|round| {
                let Some(reference) = self.references.get(&(bits, core(round))).copied() else {
                    return false;
                };
                self.count(&reference, &reference.rates(round));
                reference.judge(round).is_ok()
            });
        }
    }

    /// Share of all canaries so far that were quiet, 0 to 1; `None` before the first.
    pub fn quiet_share(&self) -> Option<f64> {
        (self.all > 0).then(|| self.quiet as f64 / self.all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::Counter;
    use simulator::{Machine, Model, Subject};
    use table::{Kernel, Table};

    #[test]
    fn one_round_that_misjudges_itself_spoils_no_later_one() {
        const ROUNDS: usize = 200;
        let row = Table::get().rows(Kernel::Linux).next().unwrap();
        let mut rows = [Row::new(row, Counter::Time, BTreeMap::new())];
        let mut live = Live::new([(CoreType::Uniform, Vouch::Width(5.0))].into(), Alone::new());
        let mut machine = Machine::new(2, Model::default());
        let mut kept = Vec::new();
        for number in 0..ROUNDS {
            let records = machine.run(0, &Subject::from(8.0), &simulator::request(16, 1));
            let mut round = Round::reduce(&records, number as f64).unwrap();
            if number == 0 {
                // Its chains take longer beside its canaries than those of any other round, so that these seem faster.
                round
                    .marks
                    .iter_mut()
                    .for_each(|mark| (mark.imul, mark.xor) = (mark.imul * 1.1, mark.xor * 1.1));
            }
            let look = live.take(row.0.bits(), CoreType::Uniform, &mut round);
            kept.push(look.kept);
            rows[0].good += usize::from(look.is_good());
            rows[0].rounds.push(round);
            live.review(&mut rows, &|_| CoreType::Uniform);
        }
        assert_eq!(kept[1], 0.0, "the first seems the fastest");
        // Until it is less than the fastest hundredth, and the next review.
        assert!(kept[ROUNDS - 20..].iter().all(|kept| *kept == 1.0), "{kept:?}");
        assert!(rows[0].good >= ROUNDS - 1 && live.quiet_share() > Some(0.9), "{} good", rows[0].good);
    }
}

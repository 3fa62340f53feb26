//! Interrupts that fell into an entry.
//!
//! An interrupt in a chain or a control gives itself away, since their time is fixed. One in an entry does not: a long
//! sample may be the entry's own. How often interrupts come is known from the chains and controls of the whole run, and
//! from those beside the entry's samples, since a machine that takes time away does so for a while; an entry's long samples
//! are attributed to interrupts only if there are no more of them than that explains.

use crate::primitives::{quantile, sorted};
use crate::round::{Block, Round};

/// If fewer interrupts were seen, they are too rare to matter, and their rate is not known.
const LEAST_STRIKES: usize = 8;

/// No interrupt is shorter, in core cycles.
const SHORTEST: f64 = 500.0;

/// What the chains and controls of a run tell about interrupts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interrupts {
    /// Interrupts in a tick.
    pub rate: f64,
    /// Length of a short one, in ticks: nine of ten are longer.
    pub length: f64,
}

/// Where a larger part of the samples is struck, long samples cannot be told from a second cost, and the mean has all of them.
const MOST_STRUCK: f64 = 0.05;

impl Interrupts {
    /// From all rounds of a run; `cycles_per_tick` is the core's clock. `None` if hardly any were seen.
    pub fn of<'a>(rounds: impl Iterator<Item = &'a Round>, cycles_per_tick: f64) -> Option<Interrupts> {
        let shortest = SHORTEST / cycles_per_tick;
        let (strikes, exposed) = strikes(rounds.flat_map(|round| &round.blocks), shortest);
        let rate = strikes.len() as f64 / exposed;
        let length = quantile(&sorted(strikes.clone()), 0.1)?;
        (strikes.len() >= LEAST_STRIKES && rate.is_finite()).then_some(Interrupts { rate, length })
    }

    /// With the rate in these blocks, if there it was higher than in the whole run.
    pub fn among<'a>(self, blocks: impl Iterator<Item = &'a Block>) -> Interrupts {
        let (strikes, exposed) = strikes(blocks, self.length);
        let rate = strikes.len() as f64 / exposed;
        Interrupts { rate: if rate.is_finite() { rate.max(self.rate) } else { self.rate }, ..self }
    }

    /// Samples of at least so many ticks are left out. These are samples that took longer than usual by at least an
    /// interrupt, if there are no more of them than interrupts explain. `entries` are sorted.
    pub fn limit(&self, entries: &[u32]) -> Option<f64> {
        let usual = f64::from(*entries.get(entries.len() / 2)?);
        let limit = usual + self.length;
        let first = entries.partition_point(|ticks| f64::from(*ticks) < limit);
        let long = (entries.len() - first) as f64;
        let exposed = usual * entries.len() as f64;
        if self.rate * usual > MOST_STRUCK {
            return None;
        }
        let due = self.rate * exposed;
        // Three standard deviations of a Poisson count above what is due.
        (long <= due + 3.0 * due.sqrt() + 3.0).then_some(limit)
    }
}

/// The lengths of interrupts in chains and controls, at least so long, and in how many ticks they could have come.
fn strikes<'a>(blocks: impl Iterator<Item = &'a Block>, shortest: f64) -> (Vec<f64>, f64) {
    let (mut strikes, mut exposed) = (Vec::new(), 0.0);
    for block in blocks {
        strikes
            .extend(block.strikes.iter().map(|ticks| f64::from(*ticks)).filter(|ticks| *ticks >= shortest));
        exposed += block.chain + block.control;
    }
    (strikes, exposed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERRUPTS: Interrupts = Interrupts { rate: 1e-6, length: 2000.0 };

    #[test]
    fn as_many_long_samples_as_interrupts_explain_are_laid_to_them() {
        let mut entries = vec![300; 20_000];
        // Six are due.
        entries.extend([9000; 8]);
        assert_eq!(INTERRUPTS.limit(&entries), Some(2300.0));
    }

    #[test]
    fn where_more_interrupts_come_than_elsewhere_more_long_samples_are_laid_to_them() {
        let mut entries = vec![300; 20_000];
        entries.extend([9000; 40]);
        let block = |count: usize| Block {
            taken: 20_000,
            chain: 16e6,
            control: 2e6,
            least_control: 90.0,
            sound: 20_000,
            entry: 6e6,
            entries: Vec::new(),
            strikes: vec![9000.0; count],
        };
        assert_eq!(INTERRUPTS.among([block(100)].iter()).limit(&entries), Some(2300.0));
        assert_eq!(INTERRUPTS.among([block(10)].iter()).limit(&entries), None);
        assert_eq!(INTERRUPTS.among([].iter()), INTERRUPTS);
    }

    #[test]
    fn more_are_the_entrys_own() {
        let mut entries = vec![300; 20_000];
        entries.extend([9000; 40]);
        assert_eq!(INTERRUPTS.limit(&entries), None);
        assert_eq!(INTERRUPTS.limit(&[]), None);
    }
}

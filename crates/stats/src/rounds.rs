use crate::Round;

/// Single samples that a row keeps, at most.
const KEEP: usize = 32_768;

/// The rounds of one row. Every round keeps its figures; of their single samples, from which percentiles are taken,
/// a long run keeps every second one, every fourth, and so on, of each round alike.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rounds {
    rounds: Vec<Round>,
    /// Single samples that are kept.
    kept: usize,
    /// How often they were halved.
    halvings: u32,
}

impl Rounds {
    /// Adds a round.
    pub fn push(&mut self, mut round: Round) {
        let phase = self.rounds.len();
        for halving in 0..self.halvings {
            halve(&mut round.intervals, phase >> halving);
        }
        self.kept += round.intervals.len();
        self.rounds.push(round);
        if self.kept > KEEP {
            self.halve();
        }
    }

    fn halve(&mut self) {
        for (index, round) in self.rounds.iter_mut().enumerate() {
            halve(&mut round.intervals, index >> self.halvings);
        }
        self.kept = self.rounds.iter().map(|round| round.intervals.len()).sum();
        self.halvings += 1;
    }

    /// All of them, in the order they were taken.
    pub fn all(&self) -> &[Round] {
        &self.rounds
    }
}

/// Leaves out every second of some sorted values, the first or the last of them by turns of `phase`, so that over many
/// rounds their distribution stays as it was.
fn halve(sorted: &mut Vec<u32>, phase: usize) {
    *sorted = sorted.iter().copied().skip(phase & 1).step_by(2).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::quantile;
    use crate::round::tests::records;

    #[test]
    fn a_long_run_keeps_a_bounded_number_of_samples_and_their_distribution() {
        let mut round = Round::reduce(&records(100, 64)).unwrap();
        round.intervals = (0..1000).collect();
        let mut rounds = Rounds::default();
        for _ in 0..5000 {
            rounds.push(round.clone());
            assert!(rounds.kept <= KEEP);
        }
        assert_eq!(rounds.all().len(), 5000);
        let mut kept: Vec<f64> =
            rounds.all().iter().flat_map(|r| r.intervals.iter().map(|t| f64::from(*t))).collect();
        kept.sort_by(f64::total_cmp);
        assert!(kept.len() > KEEP / 4, "{}", kept.len());
        for q in [0.01, 0.5, 0.99, 0.999] {
            let found = quantile(&kept, q).unwrap();
            assert!((found - q * 1000.0).abs() < 10.0, "{q}: {found}");
        }
        assert!(rounds.all().iter().all(|round| round.cost == 100.0 && round.extremes == (140.0, 140.0)));
    }

    #[test]
    fn a_round_costs_the_same_however_many_came_before() {
        let round = Round::reduce(&records(100, 64)).unwrap();
        let mut rounds = Rounds::default();
        (0..300_000).for_each(|_| rounds.push(round.clone()));
        assert_eq!(rounds.all().len(), 300_000);
    }
}

use crate::Round;

/// Rounds of a row that keep their single samples, at most.
const KEEP: usize = 32;

/// The rounds of one row, in bounded memory: every round keeps its figures, but of a long run only evenly spread
/// ones keep the single samples that the percentiles are taken from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rounds {
    rounds: Vec<Round>,
    /// Rounds whose index is no multiple of two to this power have given up their samples.
    thinned: u32,
}

impl Rounds {
    /// Adds a round.
    pub fn push(&mut self, round: Round) {
        self.rounds.push(round);
        if self.rounds.len() > KEEP << self.thinned {
            self.thinned += 1;
        }
        let step = 1 << self.thinned;
        let given_up = self
            .rounds
            .iter_mut()
            .enumerate()
            .filter(|(index, _)| index % step != 0);
        given_up.for_each(|(_, round)| round.intervals = Vec::new());
    }

    /// All of them, in the order they were taken.
    pub fn all(&self) -> &[Round] {
        &self.rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::tests::records;

    #[test]
    fn samples_are_kept_of_evenly_spread_rounds_and_figures_of_all() {
        let round = Round::reduce(&records(100, 64)).unwrap();
        let mut rounds = Rounds::default();
        for _ in 0..1000 {
            rounds.push(round.clone());
            let kept = rounds
                .all()
                .iter()
                .filter(|round| !round.intervals.is_empty())
                .count();
            assert!(
                kept <= KEEP && kept * 4 >= rounds.all().len().min(KEEP),
                "{kept} of {}",
                rounds.all().len()
            );
        }
        assert_eq!(rounds.all().len(), 1000);
        assert!(
            rounds
                .all()
                .iter()
                .all(|round| round.cost == 100.0 && round.extremes == (140.0, 140.0))
        );
    }
}

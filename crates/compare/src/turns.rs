//! A row whose rounds of both sides were taken in turns: its pairs alone tell the change, by the signed-rank test. Nothing is assumed of
//! how rounds are distributed.

use crate::comparison::Verdict;
use crate::figures::Figures;
use crate::judgement::{Judgement, USUAL};
use stats::SignedRank;
use stats::Student;

/// The change of a row by its pairs.
#[derive(Debug, Clone)]
pub(crate) struct PairedChange {
    /// What the base costs.
    base: f64,
    /// Standard error of that, within its run.
    error: f64,
    rank: SignedRank,
}

impl PairedChange {
    /// None where something is not finite.
    pub fn of(row: &Figures, rank: &SignedRank) -> Option<PairedChange> {
        let base = row.observations.iter().find(|o| o.side == 0)?;
        let is_sound = (base.figure + rank.difference()).is_finite() && base.error.is_finite();
        is_sound.then(|| PairedChange { base: base.figure, error: base.error, rank: rank.clone() })
    }

    pub fn pairs(&self) -> u64 {
        self.rank.pairs as u64
    }

    pub fn means(&self) -> [f64; 2] {
        [self.base, self.base + self.rank.difference()]
    }

    /// How probable a change at least this clear is if there is none.
    pub fn p(&self) -> f64 {
        self.rank.p(0.0)
    }

    /// How probable pairs so clearly within the margin are if the change is as great as the margin.
    pub fn p_of_same(&self, margin: f64) -> f64 {
        if self.rank.difference().abs() >= margin {
            return 1.0;
        }
        // One-sided: the other half is of pairs that are clearly beyond the margin.
        self.rank.p(margin).max(self.rank.p(-margin)) / 2.0
    }

    /// The verdict by the tests, and an interval that agrees with it: at the confidence that decided where a change is told, at 95 % where
    /// this says no more than the verdict, or else at the confidence that did not suffice.
    pub fn judgement(&self, margin: f64, [of_change, of_same]: [f64; 2]) -> Judgement {
        let (low, high) = self.rank.interval(of_change);
        if self.p() <= of_change && (low > 0.0 || high < 0.0) {
            let verdict = if low > 0.0 { Verdict::Slower } else { Verdict::Faster };
            return self.with(verdict, (low, high), of_change);
        }
        let usual = self.rank.interval(USUAL);
        let holds_nothing = usual.0 <= 0.0 && usual.1 >= 0.0;
        let (ends, error) = if holds_nothing { (usual, USUAL) } else { ((low, high), of_change) };
        let ends = (ends.0.min(0.0), ends.1.max(0.0));
        match (is_within(ends, margin), self.p_of_same(margin) <= of_same) {
            (true, true) => self.with(Verdict::Same, ends, error),
            (true, false) => {
                let (low, high) = self.rank.interval(2.0 * of_same);
                let ends = beyond((low.min(ends.0), high.max(ends.1)), margin);
                self.with(Verdict::Inconclusive, ends, 2.0 * of_same)
            }
            (false, _) => self.with(Verdict::Inconclusive, ends, error),
        }
    }

    fn with(&self, verdict: Verdict, (low, high): (f64, f64), error: f64) -> Judgement {
        let percent = self.in_percent((low, high), error);
        Judgement { verdict, low, high, confidence: 1.0 - error, percent }
    }

    /// The change in percent, and its interval by Fieller's theorem, an end at a time: each reaches as far as the pairs say, and the
    /// base as far as its own error does. None where the base may be zero.
    fn in_percent(&self, (low, high): (f64, f64), error: f64) -> Option<[f64; 3]> {
        let [base, new] = self.means();
        let of_base = (Student::new(f64::INFINITY)?.critical(error / 2.0) * self.error).powi(2);
        let a = base * base - of_base;
        if base <= 0.0 || a <= 0.0 {
            return None;
        }
        let b = base * new - of_base;
        let root = |reach: f64| (b * b - a * (new * new - of_base - reach * reach)).max(0.0).sqrt();
        let change = new - base;
        let ratios = [new / base, (b - root(change - low)) / a, (b + root(high - change)) / a];
        let [percent, percent_low, percent_high] = ratios.map(|ratio| 100.0 * (ratio - 1.0));
        // An end that is 0 is so in percent, too, whatever was rounded.
        let percent_low = if low > 0.0 { percent_low } else { percent_low.min(0.0) };
        let percent_high = if high < 0.0 { percent_high } else { percent_high.max(0.0) };
        let all = [percent, percent_low, percent_high];
        all.iter().all(|percent| percent.is_finite()).then_some(all)
    }
}

fn is_within((low, high): (f64, f64), margin: f64) -> bool {
    low > -margin && high < margin
}

/// Very few pairs have no interval of a great confidence: then the end that is nearer to the margin is drawn there.
fn beyond((low, high): (f64, f64), margin: f64) -> (f64, f64) {
    match is_within((low, high), margin) {
        true if high > -low => (low, margin),
        true => (-margin, high),
        false => (low, high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::Pair;

    fn turns(differences: &[f64], shift: f64) -> PairedChange {
        let pair = |difference: &f64| Pair { base: 300.0, new: 300.0 + difference + shift };
        let rank = SignedRank::of(&differences.iter().map(pair).collect::<Vec<_>>()).unwrap();
        PairedChange { base: 300.0, error: 0.3, rank }
    }

    #[test]
    fn the_interval_always_agrees_with_the_verdict_and_the_verdict_with_p() {
        let some = [1.0, -2.5, 3.0, 0.5, -1.0, 2.0, 4.5, -0.25, 1.5, 0.0, 0.0, 2.25, -1.75, 0.75];
        let margin = 6.0;
        let mut seen = std::collections::BTreeSet::new();
        for pairs in [6, 8, 14] {
            for limits in [[0.05, 0.025], [0.0005, 0.0005], [0.00001, 0.00001]] {
                for shift in (-60..=60).map(|step| f64::from(step) / 5.0) {
                    let turns = turns(&some[..pairs], shift);
                    let Judgement { verdict, low, high, percent, confidence } =
                        turns.judgement(margin, limits);
                    let holds_nothing = low <= 0.0 && high >= 0.0;
                    let agrees = match verdict {
                        Verdict::Slower => low > 0.0 && turns.p() <= limits[0],
                        Verdict::Faster => high < 0.0 && turns.p() <= limits[0],
                        Verdict::Same => holds_nothing && is_within((low, high), margin),
                        _ => holds_nothing && !is_within((low, high), margin),
                    };
                    assert!(agrees, "{verdict}: {low} to {high}, p {}", turns.p());
                    let [_, percent_low, percent_high] = percent.unwrap();
                    assert_eq!((percent_low > 0.0, percent_high < 0.0), (low > 0.0, high < 0.0));
                    assert!(confidence >= 0.95, "{confidence}");
                    seen.insert((pairs, verdict));
                }
            }
        }
        for verdict in [Verdict::Slower, Verdict::Faster, Verdict::Same, Verdict::Inconclusive] {
            assert!(seen.contains(&(14, verdict)), "{verdict}");
        }
    }

    #[test]
    fn few_pairs_are_not_surer_than_the_chance_that_all_of_them_agree() {
        // However far from 0: eight pairs agree in one of 128 cases. Student's t, drawn from their interval, was sure.
        let far = turns(&[100.0, 100.1, 100.2, 100.3, 100.4, 100.5, 100.6, 100.7], 0.0);
        assert_eq!(far.judgement(6.0, [0.005, 0.025]).verdict, Verdict::Inconclusive);
        assert_eq!(far.judgement(6.0, [0.02, 0.025]).verdict, Verdict::Slower);
    }
}

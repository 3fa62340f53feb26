//! From the rounds of two arms to a figure.

use super::{Added, Verdict};
use stats::{Cycles, Pair, SignedRank};

/// With this confidence all intervals together contain what they are of.
pub const CONFIDENCE: f64 = 0.95;

/// Why there is no figure of few turns.
const TOO_FEW: &str =
    "too few turns were quiet both with it and without (a greater --budget, or a quieter machine, has more)";

/// What pairs in order of time say a layer adds; `figures` is how many such figures there will be. So each interval has a part of the error
/// that all may have together (Bonferroni), and none of sixty tells a difference by chance.
///
/// # Errors
/// Why there is no figure, in words.
pub fn added(pairs: &[Pair], figures: usize) -> Result<Added, String> {
    let rank = SignedRank::of(pairs).ok_or(TOO_FEW)?;
    let (low, high) = rank.interval((1.0 - CONFIDENCE) / figures.max(1) as f64);
    let [cycles, low, high] = [rank.difference(), low, high].map(Cycles);
    let verdict = if low.0 > 0.0 { Verdict::Costs } else { Verdict::NoDifferenceSeen };
    Ok(Added { cycles, low, high, turns: rank.pairs, verdict })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(differences: &[f64]) -> Vec<Pair> {
        differences.iter().map(|difference| Pair { base: 300.0, new: 300.0 + difference }).collect()
    }

    /// Differences between `least` and `least + 1`, in no order.
    fn about(least: f64, count: u32) -> Vec<Pair> {
        pairs(&(0..count).map(|number| least + f64::from(number * 7 % 16) / 16.0).collect::<Vec<_>>())
    }

    #[test]
    fn a_difference_that_all_turns_have_is_a_cost() {
        let added = added(&about(40.0, 16), 60).unwrap();
        assert_eq!((added.verdict, added.turns), (Verdict::Costs, 16));
        assert!(added.low.0 > 39.5 && added.high.0 < 41.5 && added.seen() == Some(added.cycles), "{added:?}");
    }

    #[test]
    fn an_interval_with_nothing_in_it_was_never_a_gain() {
        for least in [-0.5, -40.0] {
            let added = added(&about(least, 16), 60).unwrap();
            assert_eq!((added.verdict, added.seen()), (Verdict::NoDifferenceSeen, None));
            assert!(added.at_most().0 >= 0.0 && added.is_below() == (least < -1.0), "{added:?}");
        }
    }

    #[test]
    fn intervals_are_wider_where_there_are_more_figures() {
        let width = |figures| {
            let added = added(&about(0.0, 40), figures).unwrap();
            added.high.0 - added.low.0
        };
        assert!(width(60) > 1.2 * width(1));
    }

    #[test]
    fn too_few_turns_have_no_figure_and_say_so() {
        assert!(added(&about(40.0, 5), 3).unwrap_err().starts_with("too few turns"));
    }
}

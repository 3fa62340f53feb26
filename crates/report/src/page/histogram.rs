//! The distribution of a row's single samples, in bins that an eye can tell apart.

use super::rounds::digits;
use crate::figure::{Shown, number};
use serde::Serialize;
use stats::Distribution;
use std::fmt::Write;

/// The most bins.
const MOST: f64 = 60.0;

/// The bins hold all samples but this share at either end.
const ENDS: f64 = 0.005;

/// Samples in bins.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Histogram {
    /// Where the first bin begins, in the unit of the row.
    from: f64,
    width: f64,
    /// Percent of all samples, of each bin.
    shares: Vec<f64>,
    /// What the bins do not show.
    note: String,
}

impl Histogram {
    /// `step` is the counter's, in the unit of the row: finer bins would show its ticks as modes. None of nothing.
    pub fn of(distribution: &Distribution, step: f64, shown: &Shown) -> Option<Histogram> {
        let (low, high) = (distribution.quantile(ENDS)?, distribution.quantile(1.0 - ENDS)?);
        // Values are kept to a sixteenth, or a thousandth of themselves.
        let finest = f64::max(0.125, 0.004 * low.abs().max(high.abs()));
        let width = digits(step.max((high - low) / MOST).max(finest), 3);
        let first = (low / width).floor();
        let mut counts = vec![0_u64; ((high / width).floor() - first) as usize + 1];
        let (mut below, mut above) = (0_u64, 0_u64);
        for (value, count) in distribution.values() {
            let bin = (value / width).floor() - first;
            match counts.get_mut(bin.max(0.0) as usize) {
                Some(bin_count) if bin >= 0.0 => *bin_count += count,
                _ if bin < 0.0 => below += count,
                _ => above += count,
            }
        }
        let percent = |count: u64| 100.0 * count as f64 / distribution.len() as f64;
        Some(Histogram {
            from: first * width,
            width,
            shares: counts.iter().map(|count| digits(percent(*count), 3)).collect(),
            note: note((percent(below), percent(above)), step >= width, shown),
        })
    }

    /// The outline, one wide for each bin and [`HEIGHT`] high. None where the bins are too few for a shape.
    pub fn spark(&self) -> Option<Spark> {
        if self.shares.len() < LEAST_OF_SPARK {
            return None;
        }
        let most = self.shares.iter().copied().fold(0.0, f64::max);
        let mut path = format!("M0 {HEIGHT}");
        for share in &self.shares {
            let top = f64::from(HEIGHT) * (1.0 - if most > 0.0 { share / most } else { 0.0 });
            // Writing to a String cannot fail.
            let _ = write!(path, "V{top:.1}h1");
        }
        let _ = write!(path, "V{HEIGHT}z");
        Some(Spark { path, width: self.shares.len(), height: HEIGHT })
    }
}

/// A histogram as small as a word.
pub(super) struct Spark {
    pub path: String,
    pub width: usize,
    pub height: u32,
}

const HEIGHT: u32 = 20;

/// With fewer bins, a counter of coarse steps would look like a shape.
const LEAST_OF_SPARK: usize = 4;

fn note((below, above): (f64, f64), is_step: bool, shown: &Shown) -> String {
    let mut parts = Vec::new();
    if below > 0.0 {
        parts.push(format!("{below:.2} % lie below, down to {}", number(shown.cost.min)));
    }
    if above > 0.0 {
        parts.push(format!("{above:.2} % lie above, up to {}", number(shown.cost.max)));
    }
    if is_step {
        parts.push("a bin is as wide as the counter's step".to_owned());
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Unit;
    use stats::Cost;

    fn shown() -> Shown {
        let cost = Cost { min: -40.0, max: 9000.0, ..Cost::single(100.0) };
        Shown { unit: Unit::Cycles, cost }
    }

    fn of(values: impl IntoIterator<Item = f64>, step: f64) -> Option<Histogram> {
        let mut distribution = Distribution::default();
        values.into_iter().for_each(|value| distribution.record(value));
        Histogram::of(&distribution, step, &shown())
    }

    #[test]
    fn two_modes_are_two_peaks_with_nothing_between() {
        let values =
            (0..1000).map(|index| f64::from(index % 10) + if index % 4 == 0 { 600.0 } else { 100.0 });
        let histogram = of(values, 1.0).unwrap();
        let peaks: Vec<usize> =
            (0..histogram.shares.len()).filter(|bin| histogram.shares[*bin] > 5.0).collect();
        assert!(peaks.len() >= 2 && peaks.windows(2).any(|pair| pair[1] - pair[0] > 20), "{histogram:?}");
        let total: f64 = histogram.shares.iter().sum();
        assert!((total - 100.0).abs() < 1.5, "{total}");
        assert_eq!(histogram.spark().unwrap().path.matches('h').count(), histogram.shares.len());
    }

    #[test]
    fn bins_are_no_finer_than_the_counter() {
        let histogram = of((0..1000).map(|index| f64::from(index % 5) * 26.0), 26.0).unwrap();
        assert_eq!((histogram.width, histogram.shares.len()), (26.0, 5));
        assert!(histogram.note.contains("counter's step"), "{}", histogram.note);
    }

    #[test]
    fn what_the_bins_leave_out_is_said() {
        let values = (0..10_000).map(|index| if index < 30 { 9000.0 } else { 100.0 + f64::from(index % 7) });
        let note = of(values, 1.0).unwrap().note;
        assert!(note.contains("0.30 % lie above, up to 9000.0") && !note.contains("below"), "{note}");
    }

    #[test]
    fn one_value_is_one_bin_and_nothing_is_none() {
        let one = of([7.0], 1.0).unwrap();
        assert_eq!((&one.shares[..], one.spark().is_none()), (&[100.0][..], true));
        assert_eq!(of([], 1.0), None);
        let extreme = of([-1e15, 1e15], 1.0).unwrap();
        assert!(extreme.shares.len() <= 64, "{}", extreme.shares.len());
    }
}

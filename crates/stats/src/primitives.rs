//! The few primitives, over plain numbers.

use statrs::distribution::{Binomial, DiscreteCDF};

/// Sorts, ascending; there is no NaN among measured values.
pub fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The smallest value that is not below a share `q` of all: one that was really seen. None of nothing.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

/// The middle value, or the mean of the two in the middle.
pub fn median(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Some((lower + upper) / 2.0)
}

/// Mean without the `share` lowest and the `share` highest.
pub fn trimmed_mean(sorted: &[f64], share: f64) -> Option<f64> {
    let cut = (sorted.len() as f64 * share) as usize;
    let kept = sorted.get(cut..sorted.len() - cut)?;
    if kept.is_empty() { None } else { Some(kept.iter().sum::<f64>() / kept.len() as f64) }
}

/// The distribution-free 95 % confidence interval of the median: the order statistics outside of which it lies
/// with a probability of at most 2.5 % on either side (e.g. Hahn and Meeker, Statistical Intervals, 5.2).
pub fn median_interval(sorted: &[f64]) -> Option<(f64, f64)> {
    let binomial = Binomial::new(0.5, sorted.len() as u64).ok()?;
    // The highest rank k (from 1) with P(fewer than k values lie below the median) <= 2.5 %: the least number of
    // values for which that probability is reached.
    let k = usize::try_from(binomial.inverse_cdf(0.025)).ok().filter(|k| *k > 0)?;
    Some((*sorted.get(k - 1)?, *sorted.get(sorted.len() - k)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_seen() {
        let values: Vec<f64> = (1..=1000).map(f64::from).collect();
        assert_eq!(quantile(&values, 0.5), Some(500.0));
        assert_eq!(quantile(&values, 0.999), Some(999.0));
        assert_eq!(quantile(&values, 1.0), Some(1000.0));
        assert_eq!(quantile(&[7.0], 0.001), Some(7.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn medians_of_odd_even_and_nothing() {
        assert_eq!(median(&[1.0, 2.0, 9.0]), Some(2.0));
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), Some(3.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn a_trimmed_mean_drops_both_ends() {
        let mut values = vec![10.0; 18];
        values.insert(0, -1e9);
        values.push(1e9);
        assert_eq!(trimmed_mean(&values, 0.05), Some(10.0));
        assert_eq!(trimmed_mean(&[], 0.05), None);
    }

    /// Ranks as tabulated for n = 6 (1, 6), 10 (2, 9), 20 (6, 15).
    #[test]
    fn the_interval_of_a_median_has_the_tabulated_ranks() {
        let ranks = |n: u32| median_interval(&(1..=n).map(f64::from).collect::<Vec<_>>());
        assert_eq!(ranks(5), None);
        assert_eq!(ranks(6), Some((1.0, 6.0)));
        assert_eq!(ranks(10), Some((2.0, 9.0)));
        assert_eq!(ranks(20), Some((6.0, 15.0)));
    }
}

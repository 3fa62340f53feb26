//! Probabilities of many tests, taken together.

/// Of the hosts that are named odd, this part is not, in the mean over fleets.
pub(crate) const FALSE_ODD: f64 = 0.01;

/// The harmonic mean of probabilities (Wilson 2019): how likely rows as far off are together, whether or not they depend on each other. One
/// row of n that is clear by itself counts as n times its probability; rows that agree count as one of them.
pub(crate) fn together(probabilities: &[f64]) -> Option<f64> {
    let sum: f64 = probabilities.iter().map(|p| p.max(f64::MIN_POSITIVE).recip()).sum();
    (sum > 0.0).then(|| (probabilities.len() as f64 / sum).min(1.0))
}

/// Each probability corrected for the number of tests by Benjamini and Hochberg (1995): the least rate of false ones at which it is told.
pub(crate) fn benjamini_hochberg(probabilities: &[f64]) -> Vec<f64> {
    let count = probabilities.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_unstable_by(|a, b| probabilities[*b].total_cmp(&probabilities[*a]));
    let mut corrected = vec![1.0; count];
    let mut least = 1.0_f64;
    for (behind, place) in order.into_iter().enumerate() {
        least = least.min(probabilities[place] * count as f64 / (count - behind) as f64);
        corrected[place] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_correction_is_the_textbooks() {
        let corrected = benjamini_hochberg(&[0.04, 0.001, 0.03, 0.008]);
        let expected = [0.04, 0.004, 0.04, 0.016];
        assert!(
            corrected.iter().zip(expected).all(|(found, right)| (found - right).abs() < 1e-12),
            "{corrected:?}"
        );
        assert!(benjamini_hochberg(&[]).is_empty());
    }

    #[test]
    fn rows_that_agree_count_as_one_and_a_single_one_pays_for_all() {
        assert!((together(&[0.01; 5]).unwrap() - 0.01).abs() < 1e-12);
        let single = together(&[1e-9, 1.0, 1.0, 1.0]).unwrap();
        assert!((single / 4e-9 - 1.0).abs() < 1e-6, "{single}");
        assert_eq!(together(&[]), None);
    }
}

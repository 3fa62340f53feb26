//! Middle and spread, which a few odd values hardly move.

/// Makes the median absolute deviation of normal values their standard deviation.
pub(crate) const NORMAL: f64 = 1.4826;

/// No row is told to better than this part of its median, whatever its hosts agree to: what kentry's clock is good for.
const FINEST_PART: f64 = 0.001;

/// Nor to better than so many cycles or nanoseconds.
const FINEST: f64 = 0.05;

/// The least standard deviation that a row is told to, by its median.
pub(crate) fn finest(middle: f64) -> f64 {
    (FINEST_PART * middle.abs()).max(FINEST)
}

/// The same of logarithms of figures around this middle.
pub(crate) fn finest_of_logarithms(middle: f64) -> f64 {
    finest(middle) / middle
}

/// The middle value, or the mean of the two in the middle; changes the order.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    let is_odd = values.len() % 2 == 1;
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    let lower = below.iter().copied().reduce(f64::max).filter(|_| !is_odd);
    Some(lower.map_or(upper, |lower| f64::midpoint(lower, upper)))
}

/// Median, and the median absolute deviation as a standard deviation.
pub(crate) fn middle_and_spread(values: &[f64]) -> Option<(f64, f64)> {
    let mut values = values.to_vec();
    let middle = median(&mut values)?;
    values.iter_mut().for_each(|value| *value = (*value - middle).abs());
    Some((middle, NORMAL * median(&mut values)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_even_and_nothing() {
        assert_eq!(median(&mut [9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 9.0, 1.0, 2.0]), Some(3.0));
        assert_eq!(median(&mut [7.0]), Some(7.0));
        assert_eq!(median(&mut []), None);
    }

    #[test]
    fn the_spread_of_most_values_is_not_that_of_one_far_off() {
        assert_eq!(middle_and_spread(&[1.0, 2.0, 3.0, 4.0, 1e6]), Some((3.0, NORMAL)));
    }
}

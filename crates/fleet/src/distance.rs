//! How far each host is from the others of its cohort, row by row.

use crate::median::{NORMAL, median, middle_and_spread};
use crate::sample::Sample;
use stats::Student;

/// The variance of a median of n normal values, times n, is so many times theirs.
const OF_A_MEDIAN: f64 = std::f64::consts::FRAC_PI_2;

/// With more hosts, what one of them adds to its own row's middle and spread is nothing.
const ONE_COUNTS: usize = 200;

/// How far a host is from the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Distance {
    /// The others' median.
    pub middle: f64,
    /// The standard error of the host's difference from that: what hosts differ by, its own error and that of the median.
    pub error: f64,
    /// Its difference in these errors.
    pub distance: f64,
}

/// The distance of each value from the others. A host's own part is left out of their middle, so that an odd one does not hide itself. The
/// spread is no less than that of all: of two halves that lie apart, each would be far from a majority of the other.
pub(crate) fn distances(sample: &Sample) -> Vec<Distance> {
    let count = sample.values.len();
    let usual = usual_variance(sample);
    let finest = sample.finest();
    let Some(of_all) = middle_and_spread(&sample.values) else { return Vec::new() };
    let mut others = Vec::with_capacity(count);
    let mut found = Vec::with_capacity(count);
    for (place, (value, variance)) in sample.values.iter().zip(&sample.variances).enumerate() {
        let (mut middle, mut spread) = of_all;
        if count <= ONE_COUNTS {
            others.clear();
            others.extend_from_slice(&sample.values[..place]);
            others.extend_from_slice(&sample.values[place + 1..]);
            middle = median(&mut others).unwrap_or(middle);
            others.iter_mut().for_each(|other| *other = (*other - middle).abs());
            spread = spread.max(NORMAL * median(&mut others).unwrap_or(spread));
        }
        let error = error(spread, finest, usual, *variance, count);
        found.push(Distance { middle, error, distance: (value - middle) / error });
    }
    found
}

/// The standard error of a host's difference. The spread has the usual error of a host in it: what its own error has beyond that is added.
/// It is no less than `finest`.
pub(crate) fn error(spread: f64, finest: f64, usual: f64, own: f64, count: usize) -> f64 {
    let between = (spread * spread).max(usual).max(finest * finest);
    let of_middle = OF_A_MEDIAN * between / (count as f64 - 1.0).max(1.0);
    (between + of_middle + (own - usual).max(0.0)).sqrt()
}

/// The error's variance of a host in the middle.
pub(crate) fn usual_variance(sample: &Sample) -> f64 {
    median(&mut sample.variances.clone()).unwrap_or(0.0)
}

/// The distribution of the distances of so many hosts, whose values have the tail of a Student t of these degrees of freedom. By simulation,
/// a normal value less the median of n others, in their median absolute deviations, is beyond any distance at most as often as a Student t
/// of `0.37 n + 0.3`, n rounded down to an even number: with n = 4, 1.8; with 9, 3.3; with 99, 36.6.
pub(crate) fn distribution(count: usize, tail_freedom: f64) -> Option<Student> {
    let others = count.saturating_sub(1);
    let of_spread = 0.37 * (others - others % 2) as f64 + 0.3;
    Student::new(1.0 / (of_spread.recip() + tail_freedom.recip()))
}

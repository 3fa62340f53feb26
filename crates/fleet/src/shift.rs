//! How far the differences of pairs lie from 0, by Student's t where they are few, by ranks where they are many.

use crate::median::middle_and_spread;
use stats::Student;
use stats::{Pair, SignedRank};

/// With fewer pairs, ranks have too few orders to pass a correction for many rows: 2^-19 is the least probability of twenty.
const FEW: usize = 20;

/// What pairs say of a difference.
#[derive(Debug, Clone)]
pub(crate) struct Shift {
    /// The difference: the mean of few pairs; of many the median of the means of two (Hodges and Lehmann 1963).
    pub middle: f64,
    /// Standard deviation of the differences, by their median absolute deviation.
    pub spread: f64,
    by: By,
}

#[derive(Debug, Clone)]
enum By {
    Mean { error: f64, student: Student },
    Ranks(SignedRank),
}

impl Shift {
    /// Of at least two differences.
    pub fn of(differences: &[f64]) -> Option<Shift> {
        let (_, spread) = middle_and_spread(differences)?;
        let count = differences.len() as f64;
        if differences.len() < FEW {
            let mean = differences.iter().sum::<f64>() / count;
            let squares = differences.iter().map(|difference| (difference - mean).powi(2)).sum::<f64>();
            let error = (squares / (count - 1.0) / count).sqrt().max(f64::EPSILON);
            return Some(Shift {
                middle: mean,
                spread,
                by: By::Mean { error, student: Student::new(count - 1.0)? },
            });
        }
        let pairs: Vec<Pair> =
            differences.iter().map(|difference| Pair { base: 0.0, new: *difference }).collect();
        // Hosts are independent of each other.
        let ranks = SignedRank::with_correlation(&pairs, 0.0)?;
        Some(Shift { middle: ranks.difference(), spread, by: By::Ranks(ranks) })
    }

    /// How likely a difference as far from `value` is where that is the truth, two-sided.
    pub fn p(&self, value: f64) -> f64 {
        match &self.by {
            By::Mean { error, student } => student.beyond((self.middle - value) / error),
            By::Ranks(ranks) => ranks.p(value),
        }
    }

    /// How likely a difference as far inside of a bound is where the truth is beyond it, one-sided.
    pub fn p_beyond(&self, bound: f64) -> f64 {
        let is_inside = if bound > 0.0 { self.middle < bound } else { self.middle > bound };
        if is_inside { self.p(bound) / 2.0 } else { 1.0 - self.p(bound) / 2.0 }
    }

    /// The values that such an error does not refuse.
    pub fn interval(&self, error: f64) -> (f64, f64) {
        match &self.by {
            By::Mean { error: of_mean, student } => {
                let reach = of_mean * student.reach(error);
                (self.middle - reach, self.middle + reach)
            }
            By::Ranks(ranks) => ranks.interval(error),
        }
    }
}

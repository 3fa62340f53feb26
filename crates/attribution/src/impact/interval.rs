//! A figure between two bounds.

use serde::{Deserialize, Serialize};
use std::ops::{Add, Mul};

/// A figure with the bounds that it lies between.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The likeliest value; null where only the bounds are known.
    pub estimate: Option<f64>,
    /// It is not less.
    pub low: f64,
    /// It is not more.
    pub high: f64,
}

impl Interval {
    /// Nothing.
    pub const ZERO: Interval = Interval { estimate: Some(0.0), low: 0.0, high: 0.0 };

    /// Less another: as far apart as their bounds allow.
    pub fn less(self, other: Interval) -> Interval {
        Interval {
            estimate: self.estimate.zip(other.estimate).map(|(own, other)| own - other),
            low: self.low - other.high,
            high: self.high - other.low,
        }
    }

    /// Either this or the other, and nobody knows which.
    pub fn or(self, other: Interval) -> Interval {
        Interval { estimate: None, low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// No bound beyond these.
    pub fn within(self, low: f64, high: f64) -> Interval {
        let clamp = |value: f64| value.clamp(low, high);
        Interval { estimate: self.estimate.map(clamp), low: clamp(self.low), high: clamp(self.high) }
    }
}

impl Add for Interval {
    type Output = Interval;

    fn add(self, other: Interval) -> Interval {
        Interval {
            estimate: self.estimate.zip(other.estimate).map(|(own, other)| own + other),
            low: self.low + other.low,
            high: self.high + other.high,
        }
    }
}

impl Mul<f64> for Interval {
    type Output = Interval;

    /// So many times; not less often than 0 times.
    fn mul(self, times: f64) -> Interval {
        Interval {
            estimate: self.estimate.map(|estimate| estimate * times),
            low: self.low * times,
            high: self.high * times,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(estimate: f64, low: f64, high: f64) -> Interval {
        Interval { estimate: Some(estimate), low, high }
    }

    #[test]
    fn bounds_are_carried_on() {
        let (one, other) = (of(10.0, 9.0, 12.0), of(4.0, 3.0, 5.0));
        assert_eq!(one.less(other), of(6.0, 4.0, 9.0));
        assert_eq!(one + other, of(14.0, 12.0, 17.0));
        assert_eq!(one * 2.0, of(20.0, 18.0, 24.0));
        assert_eq!(one.or(other), Interval { estimate: None, low: 3.0, high: 12.0 });
        assert_eq!((one.or(other) + one).estimate, None);
        assert_eq!(one.within(0.0, 1.0), of(1.0, 1.0, 1.0));
    }
}

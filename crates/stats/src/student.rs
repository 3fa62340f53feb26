//! Student's t distribution.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// So many degrees of freedom are as good as any number, and less than the library's functions can take.
const MANY: f64 = 1e6;

/// With how many degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Student(StudentsT);

impl Student {
    /// None unless there are some.
    pub fn new(freedom: f64) -> Option<Student> {
        let freedom = if freedom > MANY { MANY } else { freedom };
        StudentsT::new(0.0, 1.0, freedom).ok().map(Student)
    }

    /// How probable it is to be above `t`.
    pub fn above(self, t: f64) -> f64 {
        self.0.sf(t)
    }

    /// What it is above with this probability, which is not above one half.
    pub fn critical(self, probability: f64) -> f64 {
        -self.0.inverse_cdf(probability.clamp(f64::MIN_POSITIVE, 0.5))
    }

    /// How probable it is to be at least so far from 0, on either side.
    pub fn beyond(self, distance: f64) -> f64 {
        (2.0 * self.above(distance.abs())).clamp(f64::MIN_POSITIVE, 1.0)
    }

    /// How far from 0 it is with this probability.
    pub fn reach(self, probability: f64) -> f64 {
        -self.0.inverse_cdf(probability.clamp(f64::MIN_POSITIVE, 1.0) / 2.0)
    }
}

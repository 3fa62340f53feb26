//! Student's t distribution.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// So many degrees of freedom are as good as any number, and less than the library's functions can take.
const MANY: f64 = 1e6;

/// With how many degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Student(StudentsT);

impl Student {
    /// None unless there are some.
    pub fn new(freedom: f64) -> Option<Student> {
        StudentsT::new(0.0, 1.0, freedom.min(MANY)).ok().map(Student)
    }

    /// How probable it is to be at least so far from 0, on either side.
    pub fn beyond(self, distance: f64) -> f64 {
        (2.0 * self.0.sf(distance.abs())).clamp(f64::MIN_POSITIVE, 1.0)
    }

    /// How far from 0 it is with this probability.
    pub fn reach(self, probability: f64) -> f64 {
        -self.0.inverse_cdf(probability.clamp(f64::MIN_POSITIVE, 1.0) / 2.0)
    }
}

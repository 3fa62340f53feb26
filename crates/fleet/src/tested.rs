//! A stratum of a roll-out, tested: what it is made of, and what is told of it.

use crate::difference::rounded;
use crate::rollout::Stratum;
use crate::sample::Sample;
use crate::shift::Shift;

/// A stratum, and of each of its rows what pairs say of it.
pub(crate) struct Tested {
    pub told: Stratum,
    pub shifts: Vec<Option<Shift>>,
    /// How much each pair changed, logarithms; rows are places among those that are told.
    pub samples: Vec<Sample>,
    /// Hosts that rows leave out for their unit.
    pub left_out: Vec<String>,
}

/// A difference of logarithms as percent.
pub(crate) fn percent(difference: f64) -> f64 {
    rounded(100.0 * difference.exp_m1())
}

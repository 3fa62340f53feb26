//! How much more a row costs in one place than in another.

use crate::fleet::Fleet;
use crate::judgement::{Difference, Unit};

/// A difference before it is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Between {
    /// Place of the row in [`Fleet::rows`].
    pub row: u32,
    pub unit: Unit,
    pub estimate: f64,
    pub middle: f64,
    /// Half of the interval's width.
    pub reach: f64,
    pub p: f64,
    pub is_clear: bool,
}

impl Between {
    pub fn told(&self, fleet: &Fleet) -> Difference {
        let difference = self.estimate - self.middle;
        let percent = |value: f64| (self.middle > 0.0).then(|| rounded(100.0 * value / self.middle));
        let (low, high) = (difference - self.reach, difference + self.reach);
        Difference {
            name: fleet.rows[self.row as usize].clone(),
            unit: self.unit,
            estimate: rounded(self.estimate),
            median: rounded(self.middle),
            difference: rounded(difference),
            difference_low: rounded(low),
            difference_high: rounded(high),
            percent: percent(difference),
            percent_low: percent(low),
            percent_high: percent(high),
            p: self.p,
            is_clear: self.is_clear,
        }
    }
}

/// To a thousandth, as summaries are.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

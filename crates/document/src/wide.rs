//! Which costs are figures: an interval that is wider than its estimate says that next to nothing is known.

use crate::{Row, Timing};
use stats::Cost;

/// An interval may be so wide in any case, in cycles, ticks or nanoseconds: what costs about nothing is known well enough if that is known.
const NOTHING: f64 = 10.0;

/// Whether a cost is a figure: to be shown as a number, to be in a sum, on an axis or in a comparison. What was counted always is.
pub fn is_figure(cost: &Cost<f64>) -> bool {
    let ends = cost.ci_low.zip(cost.ci_high);
    ends.is_none_or(|(low, high)| is_narrow(cost.estimate, [low, high]))
}

/// Whether an interval, of a cost or of its change, is no wider than that cost.
pub fn is_narrow(cost: f64, [low, high]: [f64; 2]) -> bool {
    high - low <= cost.abs().max(NOTHING)
}

impl Row {
    /// What it costs: in core cycles, or else in ticks; in instructions where an emulator counted them. None where too little is known to
    /// call it a figure.
    pub fn figure(&self) -> Option<Cost<f64>> {
        let cycles = || self.core_cycles.as_ref().map(Cost::unitless);
        let cost = match self.timing {
            Timing::Emulated => self.instructions.as_ref().map(Cost::unitless),
            Timing::Hardware => cycles().or_else(|| self.ticks.as_ref().map(Cost::unitless)),
        };
        cost.filter(is_figure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(estimate: f64, low: f64, high: f64) -> Cost<f64> {
        Cost { min: low, max: high, ..Cost::single(estimate).within(low, high) }
    }

    #[test]
    fn an_exec_was_460599_cycles_give_or_take_3629157() {
        assert!(!is_figure(&cost(460_599.8, 420_000.0, 4_089_757.3)));
        assert!(!is_figure(&cost(100.0, 40.0, 141.0)) && is_figure(&cost(100.0, 60.0, 160.0)));
        assert!(is_figure(&cost(-0.4, -3.0, 4.0)), "about nothing");
        assert!(is_figure(&Cost { ci_low: None, ci_high: None, ..cost(7.0, 0.0, 0.0) }), "counted");
    }
}

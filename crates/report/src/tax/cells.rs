//! How a difference is written: never as a figure where none was seen.

use crate::compare::interval::{WrittenChange, of_cycles};
use crate::figure::{ABSENT, number};
use attribution::tax::{Added, Base, LayerCost, Verdict};

/// As in JSON.
pub(super) fn verdict(added: &Added) -> &'static str {
    match added.verdict {
        Verdict::Costs => "costs",
        Verdict::NoDifferenceSeen => "no-difference-seen",
    }
}

/// What an operation costs alone.
pub(super) fn base(base: &Base) -> String {
    base.cycles.map_or_else(|| ABSENT.to_owned(), |cycles| number(cycles.0))
}

/// `+12.3 ±1.3`, with the longer half of the interval; both ends where that would reach nothing; `≤3.4` where no difference was seen.
pub(super) fn added(added: &Added) -> String {
    let half = (added.high.0 - added.cycles.0).max(added.cycles.0 - added.low.0);
    match added.verdict {
        Verdict::Costs if half < added.cycles.0 => {
            let middle = added.cycles.0;
            let WrittenChange { change, beside, .. } = of_cycles(middle, [middle - half, middle + half]);
            format!("{change} {beside}")
        }
        Verdict::Costs => {
            let WrittenChange { change, beside, .. } = written(added);
            format!("{change} {beside}")
        }
        Verdict::NoDifferenceSeen => format!("≤{:.1}", (added.at_most().0 * 10.0).ceil() / 10.0),
    }
}

/// Both ends: `+11.1 to +13.5`.
pub(super) fn ends(added: &Added) -> String {
    let WrittenChange { low, high, .. } = written(added);
    format!("{low} to {high}")
}

fn written(added: &Added) -> WrittenChange {
    of_cycles(added.cycles.0, [added.low.0, added.high.0])
}

/// What a layer adds to an operation.
pub(super) fn of_layer(layer: &LayerCost, operation: &str) -> String {
    layer.added(operation).map_or_else(|| ABSENT.to_owned(), added)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::Cycles;

    fn of(cycles: f64, low: f64, high: f64) -> String {
        let verdict = if low > 0.0 { Verdict::Costs } else { Verdict::NoDifferenceSeen };
        added(&Added { cycles: Cycles(cycles), low: Cycles(low), high: Cycles(high), turns: 14, verdict })
    }

    #[test]
    fn a_cost_has_its_longer_half_and_no_cost_has_no_figure() {
        assert_eq!(of(12.34, 11.0, 13.0), "+12.3 ±1.3");
        assert_eq!(of(21_345.6, 20_000.0, 22_000.0), "+21346 ±1346");
        assert_eq!(of(12.0, 11.0, 88.0), "+12.0 +11 to +88");
        assert_eq!(of(1.0, -1.0, 3.01), "≤3.1");
        assert_eq!(of(-8.0, -9.0, -3.0), "≤0.0", "never a gain");
    }
}

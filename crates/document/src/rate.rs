//! A cost as UnixBench would count it: how often its loop would turn in a second, and what index that is.

use serde::{Deserialize, Serialize};
use stats::{Cost, Nanos};
use table::Table;

/// Turns of a loop of UnixBench in a second, if a turn took what the row costs; and UnixBench's index of them. It is made of the
/// row's `ns`, so that the loop itself is not in it, nor the C library unless the row is the library's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Turns in a second.
    pub loops_per_second: Interval,
    /// UnixBench's index of as many; null where it has none for this loop.
    pub index: Option<Interval>,
}

/// A figure, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The figure.
    pub estimate: f64,
    /// Lower end of its 95 % confidence interval; null where the cost has none, or its upper end is not above zero.
    pub ci_low: Option<f64>,
    /// Upper end of it.
    pub ci_high: Option<f64>,
}

impl Rate {
    /// Of an operation that costs so much; none where it is no loop of UnixBench, or the cost is not above zero.
    pub fn of(operation: &str, cost: Option<&Cost<Nanos>>) -> Option<Rate> {
        let loops = Table::get().operation(operation)?.loops?;
        let cost = cost?;
        let per_second = |ns: Nanos| (ns.0 > 0.0).then(|| 1e9 / ns.0);
        let turns = Interval {
            estimate: per_second(cost.estimate)?,
            // What takes longest is done least often.
            ci_low: cost.ci_high.and_then(per_second),
            ci_high: cost.ci_low.and_then(per_second),
        };
        Some(Rate { loops_per_second: turns, index: turns.map(|turns| loops.index(turns)) })
    }
}

impl Interval {
    /// The same in another unit; none where its estimate is in none.
    fn map(self, unit: impl Fn(f64) -> Option<f64>) -> Option<Interval> {
        let Interval { estimate, ci_low, ci_high } = self;
        let (ci_low, ci_high) = (ci_low.and_then(&unit), ci_high.and_then(&unit));
        Some(Interval { estimate: unit(estimate)?, ci_low, ci_high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(estimate: f64, ends: Option<[f64; 2]>) -> Cost<Nanos> {
        let alone = Cost::single(Nanos(estimate));
        ends.map_or(alone, |[low, high]| alone.within(Nanos(low), Nanos(high)))
    }

    #[test]
    fn the_published_index_is_that_of_a_turn_of_967_nanoseconds() {
        // 689 is what was published for a host without page-table isolation.
        let found =
            Rate::of("unixbench-syscall", Some(&cost(1e9 / 1_033_500.0, Some([900.0, 1000.0])))).unwrap();
        let index = found.index.unwrap();
        assert!((found.loops_per_second.estimate - 1_033_500.0).abs() < 1e-3, "{found:?}");
        assert!((index.estimate - 689.0).abs() < 1e-6, "{found:?}");
        let ends = [found.loops_per_second.ci_low, index.ci_low].map(Option::unwrap);
        assert!((ends[0] - 1e6).abs() < 1e-3 && (ends[1] - 1e6 / 1500.0).abs() < 1e-6, "{found:?}");
        assert!(index.ci_low < Some(index.estimate) && Some(index.estimate) < index.ci_high);
    }

    #[test]
    fn what_has_no_rate_has_none() {
        let of = |operation: &str, estimate| Rate::of(operation, Some(&cost(estimate, None)));
        assert_eq!(of("getppid", 100.0), None, "no loop of UnixBench");
        assert_eq!(of("unheard-of", 100.0), None);
        assert_eq!(of("unixbench-syscall", 0.0), None);
        assert_eq!(of("unixbench-syscall", -3.0), None);
        assert_eq!(Rate::of("unixbench-syscall", None), None);
        let close = of("unixbench-close", 100.0).unwrap();
        assert_eq!((close.index, close.loops_per_second.ci_low), (None, None));
        // An interval that reaches below zero has one end.
        let wide = Rate::of("unixbench-getpid", Some(&cost(10.0, Some([-1.0, 20.0])))).unwrap();
        assert_eq!((wide.loops_per_second.ci_low, wide.loops_per_second.ci_high), (Some(5e7), None));
    }
}

//! How far the counters of two CPUs are apart, by exchanges between them.
//!
//! What the second CPU read lies between two readings of the first in true time. So its counter is ahead by no more than `echoed - sent`
//! and by no less than `echoed - returned`, whatever took how long, and whoever was preempted. Each exchange bounds the offset so; the
//! shortest bounds it best, with half of its length as uncertainty. Where all of them together leave no room for zero, a program that
//! goes from one CPU to the other, or reads what the other has stamped, sees time run backward.

use super::machine::{Counter, Exchange};
use serde::{Deserialize, Serialize};

/// How far two CPUs are apart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Apart {
    /// The CPU that began the exchanges.
    pub from: usize,
    /// The one that answered.
    pub to: usize,
    /// `tsc` or `monotonic`.
    pub counter: String,
    /// When, since the look began, nanoseconds.
    pub at_ns: f64,
    /// Exchanges.
    pub exchanges: u64,
    /// By how much `to` is ahead of `from`, by the shortest exchange, nanoseconds.
    pub offset_ns: f64,
    /// By how much that may be wrong: half of the shortest exchange, and a step of the counter.
    pub uncertainty_ns: f64,
    /// How far all exchanges together exclude an offset of zero, nanoseconds; 0 where they do not. A program can see time run backward
    /// by so much.
    pub warp_ns: f64,
}

/// What an exchange of so many units is, where the counter has such steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// Nanoseconds in a unit of the counter.
    pub unit_ns: f64,
    /// By how much a reading may lag behind what is counted, in units.
    pub step: f64,
}

/// Exchanges that are enough to say something.
const ENOUGH: usize = 8;

impl Apart {
    /// None where there were too few exchanges.
    pub(super) fn of(
        pair: (usize, usize),
        counter: Counter,
        exchanges: &[Exchange],
        scale: Scale,
    ) -> Option<Apart> {
        let length = |exchange: &Exchange| exchange.returned.saturating_sub(exchange.sent);
        let shortest =
            exchanges.iter().filter(|exchange| length(exchange) >= 0).min_by_key(|each| length(each));
        let shortest = shortest.filter(|_| exchanges.len() >= ENOUGH)?;
        let half = length(shortest) as f64 / 2.0;
        let at_least = exchanges.iter().map(|each| each.echoed.saturating_sub(each.returned)).max()?;
        let at_most = exchanges.iter().map(|each| each.echoed.saturating_sub(each.sent)).min()?;
        let warp = (at_least as f64 - scale.step).max(-(at_most as f64) - scale.step).max(0.0);
        Some(Apart {
            from: pair.0,
            to: pair.1,
            counter: counter.name().to_owned(),
            at_ns: 0.0,
            exchanges: exchanges.len() as u64,
            offset_ns: (shortest.echoed.saturating_sub(shortest.sent) as f64 - half) * scale.unit_ns,
            uncertainty_ns: (half + scale.step) * scale.unit_ns,
            warp_ns: warp * scale.unit_ns,
        })
    }

    /// Between which offsets the true one lies, nanoseconds.
    pub fn ends(&self) -> (f64, f64) {
        (self.offset_ns - self.uncertainty_ns, self.offset_ns + self.uncertainty_ns)
    }
}

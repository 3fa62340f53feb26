//! From raw samples to costs. Pure: no clock is read here, nothing is printed.
//!
//! One probe run is a *round*: blocks of samples between canaries.
//!
//! 1. [`Round::reduce`] sums up a round's blocks, and leaves out samples with an interrupt in their chain or control.
//! 2. [`Reference`] knows, from all rounds of a run, how fast a canary is when the core is alone, and keeps the blocks of a
//!    round that lie in quiet stretches.
//! 3. [`tabulate`] makes a line of each round: the mean over its kept blocks, of entry less control.
//! 4. [`figures`] turns these lines into a row's costs: the median of the rounds with its interval, the percentiles of the
//!    single samples, and the modes. It needs only what a document keeps, so that everybody can compute them again.
//!
//! Apart from these, [`paired`] compares two rows whose rounds were taken in turns.
//!
//! Every rule here is tested by simulations whose truth is known (`tests/truth.rs`), not by what one machine showed.

mod between;
mod cost;
mod distribution;
mod estimate;
mod instructions;
mod interrupts;
mod layout;
mod levels;
mod modes;
mod paired;
mod primitives;
mod quiet;
mod round;
mod step;
mod student;
mod summary;
mod tabulate;

pub use between::{RunEstimate, seen_levels};
pub use cost::{Cost, Cycles, Instructions, Mode, Nanos, Ticks};
pub use distribution::{Distribution, NotADistribution, StoredDistribution};
pub use instructions::instructions;
pub use interrupts::Interrupts;
pub use layout::{LEAST_LAYOUTS, Spread, spread};
pub use levels::{Assumed, Levels, OfEntry, SeenLevels};
pub use paired::{Pair, Paired, SignedRank, paired};
pub use quiet::{Excluded, Reference, Vouch};
pub use round::{Block, Malformed, Mark, Order, Round};
pub use student::Student;
pub use summary::{Figures, Noise, NoiseKind, Scale, figures};
pub use tabulate::{Counts, Lines, Tabulated, tabulate};

/// Core cycles that one dependent 32-bit `imul` takes on Intel since Nehalem and on AMD since Zen.
pub const IMUL_CYCLES: f64 = 3.0;

/// How far the chain of `imul` may be from three times the chain of `xor`, as a part of it.
pub const CHAIN_TOLERANCE: f64 = 0.01;

/// How far the core's clock by the samples may differ from that by the canaries, as a part of it.
pub const CLOCK_TOLERANCE: f64 = 0.01;

/// How far the time of imul chains in a row may differ from as many single ones, as a part of it. If it differs by more,
/// lfence does not order.
pub const ORDER_TOLERANCE: f64 = 0.1;

/// Standard errors within which 95 of 100 lie.
const TWO_SIDED: f64 = 1.96;

/// With fewer rounds there is no estimate: the range of five covers the median in 94 of 100 cases at best.
pub const LEAST_ROUNDS: usize = 6;

/// A 99th percentile needs so many samples: ten beyond it.
pub const SAMPLES_FOR_P99: u64 = 1_000;

/// A 99.9th percentile needs so many samples: ten beyond it.
pub const SAMPLES_FOR_P999: u64 = 10_000;

/// The value below which a share `q` of the finite values lies; `None` if there are none.
pub fn quantile_of(values: impl Iterator<Item = f64>, q: f64) -> Option<f64> {
    primitives::quantile(&primitives::sorted(values.filter(|value| value.is_finite()).collect()), q)
}

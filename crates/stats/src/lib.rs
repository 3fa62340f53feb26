//! From raw samples to costs. Pure: no clock is read here, nothing is printed.
//!
//! One probe run is a *round*. [`Round::reduce`] turns its records into interval means and keeps the single samples
//! for the tail; [`summarize`] takes the rounds of one row, leaves out the disturbed ones, and gives a [`Cost`] in
//! every unit.
//!
//! - A round's figure is the difference of two means, entry less control, each trimmed by a twentieth at both
//!   ends: that drops interrupts, and unlike a median it is not caught on the counter's granularity (two ticks on
//!   some machines).
//! - The estimate is the median of the rounds: each ran in a process of its own, and now and then one is laid out
//!   so that it runs a little slower or faster throughout.
//! - The interval is the distribution-free one for a median, from order statistics; it needs six rounds.

mod cost;
mod instructions;
mod primitives;
mod round;
mod rounds;
mod summary;

pub use cost::{Cost, Cycles, Instructions, Nanos, Ticks};
pub use instructions::instructions;
pub use round::{Malformed, Round};
pub use rounds::Rounds;
pub use summary::{Disturbed, Reference, Scale, Summary, summarize};

/// Core cycles that one dependent 32-bit `imul` takes on Intel since Nehalem and on AMD since Zen.
pub const IMUL_CYCLES: f64 = 3.0;

/// How far the chain of `imul` may be from three times the chain of `xor`, as a part of it.
pub const CHAIN_TOLERANCE: f64 = 0.01;

/// How far a round's canary may be from the run's best, as a part of it.
pub const CANARY_TOLERANCE: f64 = 0.02;

/// The value below which a share `q` lies, of those values that are numbers; none of nothing.
pub fn quantile_of(values: impl Iterator<Item = f64>, q: f64) -> Option<f64> {
    primitives::quantile(&primitives::sorted(values.filter(|value| value.is_finite()).collect()), q)
}

//! What is told of a row's change, whatever tells it.

use crate::comparison::Verdict;

/// What an interval leaves out at most, on both ends together.
pub(crate) const USUAL: f64 = 0.05;

/// A verdict, and the interval that it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Judgement {
    pub verdict: Verdict,
    pub low: f64,
    pub high: f64,
    /// Of the interval.
    pub confidence: f64,
    /// The change in percent, and both ends; none where the base may be zero.
    pub percent: Option<[f64; 3]>,
}

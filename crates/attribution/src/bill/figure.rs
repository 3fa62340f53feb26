//! A figure of a bill, with its unit.

use serde::{Deserialize, Serialize};

/// The unit of a bill's figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Core cycles.
    Cycles,
    /// Ticks of the time stamp counter, where core cycles are withheld.
    Ticks,
    /// Instructions, where they are counted.
    Instructions,
}

impl Unit {
    /// For readers.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Cycles => "cycles",
            Unit::Ticks => "ticks",
            Unit::Instructions => "instructions",
        }
    }
}

/// A cost, or a difference of costs, in the unit of its bill.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The estimate; of instructions, the count.
    pub estimate: f64,
    /// Lower end of its 95 % confidence interval; null where instructions are counted, and with too few rounds.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
    /// How likely a figure that is so far from 0 is by chance where the truth is 0, two-sided, and corrected for the number of
    /// steps of the bill (Holm); null as `low`, and where no verdict is drawn from it.
    pub p: Option<f64>,
    /// How many boots and layouts it is of; 0 where instructions are counted.
    pub rounds: usize,
}

impl Figure {
    /// The same, of which nobody asks whether it is 0.
    pub(crate) fn without_verdict(self) -> Figure {
        Figure { p: None, ..self }
    }

    /// So much more.
    pub(crate) fn moved(self, more: f64) -> Figure {
        let end = |end: Option<f64>| end.map(|end| end + more);
        Figure { estimate: self.estimate + more, low: end(self.low), high: end(self.high), ..self }
    }

    /// A part of it.
    pub(crate) fn by(self, divisor: f64) -> Figure {
        let part = |end: Option<f64>| end.map(|end| end / divisor);
        Figure { estimate: self.estimate / divisor, low: part(self.low), high: part(self.high), ..self }
    }

    /// Of a count.
    pub fn count(estimate: f64) -> Figure {
        Figure { estimate, low: None, high: None, p: None, rounds: 0 }
    }
}

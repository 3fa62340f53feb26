//! What a table's figures are.

use document::{Outcome, Timing};
use summary::Row;

/// What a table's figures are; each has a table of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// Core cycles and nanoseconds, of processors.
    Time,
    /// Instructions, of emulators.
    Count,
}

impl Measure {
    pub const ALL: [Measure; 2] = [Measure::Time, Measure::Count];

    /// Names it in the page's addresses.
    pub fn id(self) -> &'static str {
        match self {
            Measure::Time => "measured",
            Measure::Count => "counted",
        }
    }

    pub fn heading(self) -> &'static str {
        match self {
            Measure::Time => "Measured on processors, in time",
            Measure::Count => "Counted in emulators, in instructions",
        }
    }

    pub fn caption(self) -> &'static str {
        match self {
            Measure::Time => {
                "Core cycles of one call, each less its control, with their 95 % interval; below, nanoseconds. A figure's link leads to its run."
            }
            Measure::Count => {
                "Instructions of one call, each less its control, as an emulator executed them: no time, and no cost. A count ranks nothing, \
                 since iretq and cpuid count one each, as mov does."
            }
        }
    }

    /// Whether a row is of this kind, with a figure or without.
    pub fn is_of(self, row: &Row) -> bool {
        (row.timing == Timing::Emulated) == (self == Measure::Count)
    }

    /// Whether a row has a figure of this kind.
    pub fn has_figure(self, row: &Row) -> bool {
        let figure = match self {
            Measure::Time => row.core_cycles.or(row.nanoseconds),
            Measure::Count => row.instructions,
        };
        self.is_of(row) && row.outcome == Outcome::Ok && figure.is_some()
    }
}

//! What to measure on this Linux. Made without touching the system.

use crate::row::TableRow;
use record::{Footprint, Request, abi};
use std::time::Duration;

/// Which CPUs to measure on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuChoice {
    /// Wherever it is quiet, on fast cores.
    Quiet,
    /// This one.
    Only(usize),
    /// Each kind of core, side by side.
    EveryKind,
}

impl CpuChoice {
    /// The one CPU that was asked for, if it was one.
    pub fn only(self) -> Option<usize> {
        match self {
            CpuChoice::Only(cpu) => Some(cpu),
            CpuChoice::Quiet | CpuChoice::EveryKind => None,
        }
    }
}

/// What to measure.
#[derive(Debug, Clone)]
pub struct HostPlan<'a> {
    /// The rows, in the table's order.
    pub rows: Vec<TableRow<'a>>,
    /// Each row is measured among each of these; where there are none, among nothing, and the document says nothing of it.
    pub footprints: Vec<Footprint>,
    /// On which CPUs.
    pub cpus: CpuChoice,
    /// How long; but at least one round of every row is always taken.
    pub budget: Duration,
    /// Whether to stop at the budget even if rows lack rounds. Otherwise these may use [`HostPlan::EXTENSION`] times the budget.
    pub strict_budget: bool,
    /// The seed of the order of the rounds.
    pub seed: u64,
    /// Whether real-time priority is asked for.
    pub realtime: bool,
}

impl HostPlan<'_> {
    /// How many times the budget a run may take for rows that lack rounds.
    pub const EXTENSION: u32 = 3;

    /// Blocks of samples in a round, at most, on a quiet CPU.
    pub const BLOCKS: u64 = 32;

    /// The longest that a round's samples may take, in ticks: about two milliseconds, on a quiet CPU.
    pub const TICKS: u64 = 5_000_000;

    /// Samples in a block, at most: so few that a block takes some 10 µs, because a quiet stretch may be that short.
    pub const SAMPLES: u64 = 24;

    /// Bursts of calls back to back in a round, at most.
    pub const BURSTS: u64 = 16;

    /// What a probe is asked on CPUs whose rounds are so many times longer: no footprint, whole blocks, one use in a sample, the CPU and the parent as the probe finds
    /// them, and not the path.
    pub(crate) fn request((entry, operation): TableRow, longer: u64) -> Request {
        Request {
            entry: entry.id,
            operation: operation.id,
            blocks: HostPlan::BLOCKS * longer,
            ticks: HostPlan::TICKS * longer,
            bursts: HostPlan::BURSTS,
            parent: abi::REQUEST_ASK,
            cpu: abi::REQUEST_ASK,
            path: false,
            samples: HostPlan::SAMPLES,
            footprint: Footprint::NONE,
            uses: 1,
        }
    }

    /// How many rows the document will have of each kind of core.
    pub fn measured(&self) -> usize {
        self.rows.len() * self.footprints.len().max(1)
    }

    /// The longest that it may take.
    pub fn longest(&self) -> Duration {
        if self.strict_budget { self.budget } else { self.budget * HostPlan::EXTENSION }
    }
}

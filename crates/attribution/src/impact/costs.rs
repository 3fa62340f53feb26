//! What crossings cost, by rows of a run on this machine.

use crate::impact::Interval;
use document::{Document, Outcome, Path, Row};
use observe::Way;
use stats::Cost;
use table::special::{BARE_SYSCALL, GETPPID};

/// The entries whose cost stands for a way; of two, nobody knows which it was.
pub fn entries(way: Way) -> &'static [&'static str] {
    match way {
        Way::Syscall => &["syscall-x86_64"],
        Way::X32 => &["syscall-x32"],
        Way::Int80In64 => &["int80-x86_64"],
        Way::Gateway => &["gateway-i386"],
        Way::Int80 => &["int80-i386"],
        Way::Code32 => &["gateway-i386", "int80-i386"],
    }
}

/// What was measured of crossings: as they are, and while they are counted.
#[derive(Debug, Clone, Copy)]
pub struct Costs<'a> {
    /// As they are.
    pub plain: &'a Document,
    /// The same entry while its calls are counted; none where that could not be measured.
    pub counted: Option<&'a Document>,
}

/// In nanoseconds and in core cycles.
pub(super) type Units = (Option<Interval>, Option<Interval>);

impl Costs<'_> {
    /// What a whole call with the least service costs by a way.
    pub(super) fn crossing(&self, way: Way) -> Units {
        let each = entries(way).iter().map(|entry| figures(row(self.plain, entry, GETPPID.operation)));
        each.reduce(|one, other| (either(one.0, other.0), either(one.1, other.1))).unwrap_or_default()
    }

    /// How long a cycle of the core takes, by what the plainest call costs in both; none where it has no figure.
    pub fn ns_of_a_cycle(&self) -> Option<f64> {
        let (ns, cycles) = self.crossing(Way::Syscall);
        let (ns, cycles) = (ns?.estimate?, cycles?.estimate.filter(|cycles| *cycles > 0.0)?);
        Some(ns / cycles)
    }

    /// What a call that no kernel has costs.
    pub(super) fn bare(&self) -> Option<Interval> {
        figures(row(self.plain, BARE_SYSCALL.entry, BARE_SYSCALL.operation)).0
    }

    /// What an operation costs by an entry, in nanoseconds; by a function only where that does not enter the kernel.
    pub(super) fn ns(&self, entry: &str, operation: &str) -> Option<Interval> {
        let row = row(self.plain, entry, operation).filter(|row| row.path != Some(Path::Kernel));
        figures(row).0
    }

    /// Why an operation has no figure, in words.
    pub(super) fn why(&self, entry: &str, operation: &str) -> String {
        let row = row(self.plain, entry, operation);
        row.and_then(|row| row.reason.clone()).unwrap_or_else(|| "it has no figure here".into())
    }

    /// What counting adds to a call.
    pub(super) fn counting(&self) -> Option<Interval> {
        let of = |document| figures(row(document, GETPPID.entry, GETPPID.operation)).0;
        Some(of(self.counted?)?.less(of(self.plain)?))
    }
}

fn either(one: Option<Interval>, other: Option<Interval>) -> Option<Interval> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.or(other)),
        // The one that is closed here is not the way that was taken.
        (one, other) => one.or(other),
    }
}

fn row<'d>(document: &'d Document, entry: &str, operation: &str) -> Option<&'d Row> {
    document.results.iter().find(|row| row.entry == entry && row.operation == operation)
}

fn figures(row: Option<&Row>) -> Units {
    let Some(row) = row.filter(|row| row.outcome == Outcome::Ok) else { return (None, None) };
    (
        row.ns.as_ref().and_then(|cost| interval(&cost.unitless())),
        row.core_cycles.as_ref().and_then(|cost| interval(&cost.unitless())),
    )
}

fn interval(cost: &Cost<f64>) -> Option<Interval> {
    let (low, high) = (cost.ci_low?, cost.ci_high?);
    Some(Interval { estimate: Some(cost.estimate), low, high })
}

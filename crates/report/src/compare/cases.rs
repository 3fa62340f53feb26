//! Rows as test cases, for programs that know passed, failed and skipped, and nothing between.

use super::gate;
use super::words::{figures, outcomes, verdict};
use compare::{Comparison, GateAnswer, Inconclusive, Row, Verdict};

/// What a test harness is told of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Passed,
    /// The gate says that it regressed, or leaves open whether it did, and this is to be a failure or the row is slower for sure.
    Failed,
    /// Nothing can be said.
    Skipped,
}

/// A row as a test. Only a gate makes one fail; without it, differences are told, and that is all.
pub(super) fn case(compared: &Comparison, row: &Row) -> Case {
    let fails = compared.settings.gate.inconclusive == Inconclusive::Fail;
    match row.gate.as_ref().map(|gate| gate.answer) {
        Some(GateAnswer::Pass) => Case::Passed,
        Some(GateAnswer::Regression) => Case::Failed,
        // What is slower is never green, and never left out.
        Some(GateAnswer::Inconclusive) if fails || row.verdict == Verdict::Slower => Case::Failed,
        Some(GateAnswer::Inconclusive) => Case::Skipped,
        None => match row.verdict {
            Verdict::Inconclusive | Verdict::NoFigure | Verdict::StillClosed | Verdict::Absent => {
                Case::Skipped
            }
            _ => Case::Passed,
        },
    }
}

/// What the gate says of the row, if it says something, and the verdict with its figures: `slower: 1435.2 → 1502.1 cycles: …`.
pub(super) fn said(compared: &Comparison, row: &Row) -> String {
    let what = figures(row).unwrap_or_else(|| outcomes(row));
    let verdict = format!("{}: {what}", verdict(row, compared));
    match &row.gate {
        // That it works on both sides adds nothing to the lack of a figure.
        Some(gate) if row.verdict == Verdict::NoFigure && !has_reason(row) => gate::of_row(row, gate),
        Some(gate) => format!("{}; {verdict}", gate::of_row(row, gate)),
        None => verdict,
    }
}

/// Whether a side says why it has no figure.
fn has_reason(row: &Row) -> bool {
    [&row.base, &row.new].into_iter().flatten().any(|side| side.reason.is_some())
}

//! Whether a comparison passes a gate. A row regressed only where its whole interval lies above the limit, and passes only where its
//! whole interval lies below. What runs vary by is known by three runs a side or more: with fewer, nothing regresses by its cost. What is
//! counted, what was measured in turns, and what opened or closed needs no more runs than it has.

use crate::comparison::{Change, GateAnswer, GateResult, Row, RowGate, RowSide, Source, Unit, Verdict};
use crate::settings::{Gate, Limit, On};
use table::{Kernel, Table};

/// Runs with a figure that each side needs.
pub(crate) const LEAST_RUNS: u64 = 3;

/// What the gate says of each row, and of all; none where there is no rule.
///
/// The rows that decide come first among those of their verdict.
pub(crate) fn judge(
    table: &Table,
    kernel: Option<Kernel>,
    gate: &Gate,
    rows: &mut [Row],
) -> Option<GateResult> {
    if !gate.is_asked_for() {
        return None;
    }
    for row in rows.iter_mut() {
        row.gate = of_row(table, kernel, gate, row);
    }
    let answer = rows.iter().filter_map(|row| row.gate.as_ref()).map(|gate| gate.answer).max();
    let answer = answer.unwrap_or(GateAnswer::Pass);
    let decides =
        |row: &Row| answer != GateAnswer::Pass && row.gate.as_ref().is_some_and(|gate| gate.answer == answer);
    rows.sort_by_key(|row| (row.verdict, row.within_margin, !decides(row)));
    let decided_by = rows.iter().filter(|row| decides(row)).map(Row::in_words).collect();
    let limited = || rows.iter().filter(|row| row.gate.is_some() && needs_runs(row));
    let missing = [|row: &Row| missing(&row.base), |row: &Row| missing(&row.new)];
    let missing = missing.map(|of_side| limited().map(of_side).min().unwrap_or(0));
    Some(GateResult { answer, decided_by, missing })
}

fn of_row(table: &Table, kernel: Option<Kernel>, gate: &Gate, row: &Row) -> Option<RowGate> {
    let event = match row.verdict {
        Verdict::Opened => Some(On::Opened),
        Verdict::Closed => Some(On::Closed),
        Verdict::CauseChanged => Some(On::Changed),
        _ => None,
    };
    if let Some(event) = event.filter(|event| gate.on.contains(event)) {
        let why = format!(
            "it {}",
            if event == On::Changed { "is closed for another reason" } else { event.name() }
        );
        return Some(RowGate { rule: event.name().into(), answer: GateAnswer::Regression, why });
    }
    let above = gate.of_row(table, kernel, &row.entry, &row.operation)?;
    let (answer, why) = match (&row.change, row.verdict) {
        (Some(change), _) => of_enough(row, of_change(change, row.unit, above.limit)),
        (None, Verdict::NoFigure) => (GateAnswer::Inconclusive, "it has no figure on one side".into()),
        // Closed, or not there: no cost to judge.
        (None, _) => return None,
    };
    Some(RowGate { rule: above.to_string(), answer, why })
}

/// Whether a row's change rests on how much runs vary.
fn needs_runs(row: &Row) -> bool {
    let source = row.variation.as_ref().map(|variation| variation.source);
    matches!(source, Some(Source::Runs | Source::History | Source::Prior))
}

/// So many more runs with a figure a side needs for a gate to fail.
fn missing(side: &Option<RowSide>) -> u64 {
    LEAST_RUNS.saturating_sub(side.as_ref().map_or(0, |side| side.figures))
}

/// What would be a regression by fewer runs than a gate needs is none yet.
fn of_enough(row: &Row, (answer, why): (GateAnswer, String)) -> (GateAnswer, String) {
    let [base, new] = [&row.base, &row.new].map(missing);
    if answer != GateAnswer::Regression || !needs_runs(row) || base.max(new) == 0 {
        return (answer, why);
    }
    let why = format!(
        "{why}, by fewer than {LEAST_RUNS} runs a side: {base} more of the base and {new} more of the new side are missing"
    );
    (GateAnswer::Inconclusive, why)
}

/// Of two limits the greater counts: a change is above it where it is above both, and below where it is below one.
fn of_change(change: &Change, unit: Option<Unit>, limit: Limit) -> (GateAnswer, String) {
    let in_percent = change.percent_low.zip(change.percent_high);
    let is_counted = matches!(unit, Some(Unit::Cycles | Unit::Instructions));
    let in_unit = is_counted.then_some((change.low, change.high));
    let of_percent = limit.percent.zip(in_percent).map(|(limit, interval)| of_interval(interval, limit, "%"));
    let name = unit.map_or("", Unit::name);
    let of_cycles = limit.cycles.zip(in_unit).map(|(limit, interval)| of_interval(interval, limit, name));
    let answers = of_percent.into_iter().chain(of_cycles);
    answers.min_by_key(|(answer, _)| *answer).unwrap_or_else(|| {
        let why = format!("its change has no interval that a limit of {limit} could be compared with");
        (GateAnswer::Inconclusive, why)
    })
}

fn of_interval((low, high): (f64, f64), limit: f64, unit: &str) -> (GateAnswer, String) {
    if low > limit {
        (GateAnswer::Regression, format!("it costs at least {} more", amount(low, unit)))
    } else if high <= limit {
        (GateAnswer::Pass, format!("it costs at most {} more", amount(high, unit)))
    } else {
        let (low, high) = (amount(low, unit), amount(high, unit));
        (GateAnswer::Inconclusive, format!("it costs between {low} and {high} more"))
    }
}

fn amount(value: f64, unit: &str) -> String {
    let space = if unit == "%" { "" } else { " " };
    format!("{value:.1}{space}{unit}")
}

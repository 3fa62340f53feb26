//! Whether a comparison passes a gate. A row regressed only where its whole interval lies above the limit, and passes only where its
//! whole interval lies below.

use crate::comparison::{Change, GateAnswer, GateResult, Row, RowGate, Unit, Verdict};
use crate::settings::{Above, Gate, Limit, On};

/// What the gate says of each row, and of all; none where there is no rule.
pub(crate) fn judge(gate: &Gate, rows: &mut [Row]) -> Option<GateResult> {
    if !gate.is_asked_for() {
        return None;
    }
    for row in rows.iter_mut() {
        row.gate = of_row(gate, row);
    }
    let answer = rows.iter().filter_map(|row| row.gate.as_ref()).map(|gate| gate.answer).max();
    let answer = answer.unwrap_or(GateAnswer::Pass);
    let decides = |row: &&Row| row.gate.as_ref().is_some_and(|gate| gate.answer == answer);
    let decided_by = if answer == GateAnswer::Pass {
        Vec::new()
    } else {
        rows.iter().filter(decides).map(Row::in_words).collect()
    };
    Some(GateResult { answer, decided_by })
}

fn of_row(gate: &Gate, row: &Row) -> Option<RowGate> {
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
    let is_meant =
        |above: &&Above| above.rows.as_ref().is_none_or(|rows| rows.matches(&row.entry, &row.operation));
    let above = gate.above.iter().rev().find(is_meant)?;
    let (answer, why) = match (&row.change, row.verdict) {
        (Some(change), _) => of_change(change, row.unit, above.limit),
        (None, Verdict::NoFigure) => (GateAnswer::Inconclusive, "it has no figure on one side".into()),
        // Closed, or not there: no cost to judge.
        (None, _) => return None,
    };
    Some(RowGate { rule: above.to_string(), answer, why })
}

fn of_change(change: &Change, unit: Option<Unit>, limit: Limit) -> (GateAnswer, String) {
    let (interval, limit, unit) = match limit {
        Limit::Percent(limit) => (change.percent_low.zip(change.percent_high), limit, "%"),
        Limit::Cycles(limit) => {
            let is_counted = matches!(unit, Some(Unit::Cycles | Unit::Instructions));
            (is_counted.then_some((change.low, change.high)), limit, unit.map_or("", Unit::name))
        }
    };
    match interval {
        None => (
            GateAnswer::Inconclusive,
            format!("its change has no interval in {unit} that a limit could be compared with"),
        ),
        Some((low, _)) if low > limit => {
            (GateAnswer::Regression, format!("it costs at least {} more", amount(low, unit)))
        }
        Some((_, high)) if high <= limit => {
            (GateAnswer::Pass, format!("it costs at most {} more", amount(high, unit)))
        }
        Some((low, high)) => {
            let (low, high) = (amount(low, unit), amount(high, unit));
            (GateAnswer::Inconclusive, format!("it costs between {low} and {high} more"))
        }
    }
}

fn amount(value: f64, unit: &str) -> String {
    let space = if unit == "%" { "" } else { " " };
    format!("{value:.1}{space}{unit}")
}

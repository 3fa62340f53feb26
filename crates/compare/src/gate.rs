//! Whether a comparison passes a gate. A row regressed only where its whole interval lies above the limit, and passes only where its
//! whole interval lies below. What runs vary by is known by three runs a side or more: with fewer, nothing regresses by its cost. What is
//! counted, what was measured in turns, and what opened or closed needs no more runs than it has.

use crate::comparison::{
    Change, GateAnswer, GateInterval, GateResult, Row, RowGate, RowSide, Source, Unit, Verdict,
};
use crate::pair::{RowOfBoth, ToldBy};
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
    pairs: &mut [RowOfBoth],
) -> Option<GateResult> {
    if !gate.is_asked_for() {
        return None;
    }
    for pair in pairs.iter_mut() {
        pair.row.gate = of_row(table, kernel, gate, pair);
    }
    let rows = || pairs.iter().map(|pair| &pair.row);
    let answer = rows().filter_map(|row| row.gate.as_ref()).map(|gate| gate.answer).max();
    let answer = answer.unwrap_or(GateAnswer::Pass);
    let decides =
        |row: &Row| answer != GateAnswer::Pass && row.gate.as_ref().is_some_and(|gate| gate.answer == answer);
    pairs.sort_by_key(|RowOfBoth { row, .. }| (row.verdict, row.within_margin, !decides(row)));
    let rows = || pairs.iter().map(|pair| &pair.row);
    let decided_by = rows().filter(|row| decides(row)).map(Row::in_words).collect();
    let limited = || rows().filter(|row| row.gate.is_some() && needs_runs(row));
    let missing = [|row: &Row| missing(&row.base), |row: &Row| missing(&row.new)];
    let missing = missing.map(|of_side| limited().map(of_side).min().unwrap_or(0));
    Some(GateResult { answer, decided_by, missing })
}

fn of_row(table: &Table, kernel: Option<Kernel>, gate: &Gate, pair: &RowOfBoth) -> Option<RowGate> {
    let row = &pair.row;
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
        let rule = event.name().into();
        return Some(RowGate { rule, answer: GateAnswer::Regression, why, interval: None, more_runs: None });
    }
    let above = gate.of_row(table, kernel, &row.entry, &row.operation)?;
    let rule = above.to_string();
    let Some(change) = &row.change else {
        // Closed, or not there: no cost to judge.
        return (row.verdict == Verdict::NoFigure).then(|| RowGate {
            rule,
            answer: GateAnswer::Inconclusive,
            why: format!("it has no figure on {}", without_figure(row)),
            interval: None,
            more_runs: None,
        });
    };
    let held = held(change, row.unit, above.limit);
    let (answer, why) = match &held {
        Some((answer, interval)) => of_enough(row, (*answer, of_interval(*answer, interval))),
        None => {
            let limit = above.limit;
            let why = format!("its change has no interval that a limit of {limit} could be compared with");
            (GateAnswer::Inconclusive, why)
        }
    };
    let is_open = answer == GateAnswer::Inconclusive;
    let more_runs = if is_open { more_runs(pair, change, above.limit) } else { None };
    Some(RowGate { rule, answer, why, interval: held.map(|(_, interval)| interval), more_runs })
}

/// About how many more runs a side it takes until a row passes or regresses.
fn more_runs(pair: &RowOfBoth, change: &Change, limit: Limit) -> Option<u64> {
    let ToldBy { fit, of_change } = pair.fit?;
    let of_percent = change.percent.and(limit.percent).map(|percent| percent / 100.0 * fit.means[0]);
    let in_unit = limit.cycles.filter(|_| pair.row.unit != Some(Unit::Ns));
    let limit = of_percent.into_iter().chain(in_unit).reduce(f64::max)?;
    let lacks = missing(&pair.row.base).max(missing(&pair.row.new));
    let lacks = if fit.change() > limit { lacks } else { 0 };
    fit.more_runs_to_clear(limit, of_change, Row::MANY).map(|more| more.max(lacks))
}

/// The side of a row that has no figure.
fn without_figure(row: &Row) -> &'static str {
    let has = |side: &Option<RowSide>| side.as_ref().is_some_and(|side| side.figures > 0);
    match (has(&row.base), has(&row.new)) {
        (false, true) => "the base's side",
        (true, false) => "the new side",
        _ => "either side",
    }
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

/// The interval, and what its limit says of it. Of two limits the greater counts: a change is above it where it is above both, and below
/// where it is below one. None where there is no interval in the unit of a limit.
fn held(change: &Change, unit: Option<Unit>, limit: Limit) -> Option<(GateAnswer, GateInterval)> {
    let of = |(low, high): (f64, f64), limit: f64, unit: Option<Unit>| {
        let answer = match () {
            () if low > limit => GateAnswer::Regression,
            () if high <= limit => GateAnswer::Pass,
            () => GateAnswer::Inconclusive,
        };
        (answer, GateInterval { low, high, limit, unit })
    };
    let in_percent = change.percent_low.zip(change.percent_high);
    let is_counted = matches!(unit, Some(Unit::Cycles | Unit::Instructions));
    let in_unit = is_counted.then_some((change.low, change.high));
    let of_percent = limit.percent.zip(in_percent).map(|(limit, interval)| of(interval, limit, None));
    let of_cycles = limit.cycles.zip(in_unit).map(|(limit, interval)| of(interval, limit, unit));
    of_percent.into_iter().chain(of_cycles).min_by_key(|(answer, _)| *answer)
}

fn of_interval(answer: GateAnswer, interval: &GateInterval) -> String {
    let [low, high] = [interval.low, interval.high].map(|end| amount(end, interval.unit));
    match answer {
        GateAnswer::Pass if interval.high < 0.0 => {
            format!("it costs at least {} less", amount(-interval.high, interval.unit))
        }
        GateAnswer::Regression => format!("it costs at least {low} more"),
        GateAnswer::Pass => format!("it costs at most {high} more"),
        GateAnswer::Inconclusive => format!("it costs between {low} and {high} more"),
    }
}

fn amount(value: f64, unit: Option<Unit>) -> String {
    // Adding zero takes the sign from a negative zero.
    let value = (100.0 * value).round() / 100.0 + 0.0;
    format!("{value:.2} {}", unit.map_or("%", Unit::name))
}

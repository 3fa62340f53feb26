//! What a gate says: of a comparison, and of a row.

use super::groups::Names;
use super::interval;
use super::more;
use super::words::{NAMED, count, plainly, without_figure};
use compare::{Above, Comparison, GateAnswer, GateInterval, GateResult, Row, RowGate, Unit, Verdict};

/// Of rows that cost less, percents are so few cycles that no number of runs tells them.
const FEW_CYCLES: f64 = 50.0;

/// The rules of the gate: `--fail-above 3%, --fail-on closed`.
fn rules(compared: &Comparison) -> String {
    let gate = &compared.settings.gate;
    let above = gate.above.iter().map(|above| format!("--fail-above {above}"));
    let on = gate.on.iter().map(|on| format!("--fail-on {}", on.name()));
    above.chain(on).collect::<Vec<_>>().join(", ")
}

/// What the gate says.
pub(super) fn result(compared: &Comparison, result: &GateResult) -> String {
    let first_of = |rows: Vec<String>| {
        let rest = rows.len().saturating_sub(NAMED);
        let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        format!("{}{rest}", rows.into_iter().take(NAMED).collect::<Vec<_>>().join(", "))
    };
    match result.answer {
        GateAnswer::Pass => format!("Passed: {} ({}).", checked(compared), rules(compared)),
        GateAnswer::Regression => {
            let rows = count(result.decided_by.len(), "row");
            format!("Failed: {rows} ({}): {}.", rules(compared), first_of(result.decided_by.clone()))
        }
        GateAnswer::Inconclusive => {
            let names = Names::of(compared);
            let open = more::open(compared).into_iter();
            let open = open.map(|row| format!("{} ({})", names.whole(row), why_open(row)));
            let missing = missing(result).unwrap_or_default();
            let then = format!("{missing}{}{}", more::decides(compared), few_cycles(compared));
            format!("Inconclusive: open by {}.{then}", first_of(open.collect()))
        }
    }
}

/// Why a row leaves a gate open: `+0.03 to +8.20 %, limit 5 %`.
fn why_open(row: &Row) -> String {
    let Some(gate) = &row.gate else { return String::new() };
    match (&gate.interval, &row.change) {
        (Some(interval), _) => {
            let ([low, high], unit) = ends(interval);
            format!("{low} to {high} {unit}, {}", limit(gate))
        }
        (None, None) => format!("no figure on {}, {}", without_figure(row), limit(gate)),
        (None, Some(_)) => format!("no interval in the unit of its limit, {}", limit(gate)),
    }
}

/// The ends of an interval that was held against a limit, with their signs, and its unit.
fn ends(interval: &GateInterval) -> ([String; 2], &'static str) {
    let digits = |value: f64| match interval.unit {
        None => interval::digits_of_percent(value),
        Some(_) => 1,
    };
    let ends = interval::ends([interval.low, interval.high], digits);
    (ends, interval.unit.map_or("%", Unit::name))
}

/// `limit 5 % or 5 cycles`
fn limit(gate: &RowGate) -> String {
    let Ok(above) = gate.rule.parse::<Above>() else { return gate.rule.clone() };
    let percent = above.limit.percent.map(|percent| format!("{} %", plainly(percent)));
    let cycles = above.limit.cycles.map(|cycles| {
        let unit = gate.interval.and_then(|interval| interval.unit).unwrap_or(Unit::Cycles);
        format!("{} {}", plainly(cycles), unit.name())
    });
    format!("limit {}", percent.into_iter().chain(cycles).collect::<Vec<_>>().join(" or "))
}

/// What a gate says of a row, and why: a row that is slower for sure is called so, even if the gate cannot tell by how much.
pub(super) fn of_row(row: &Row, gate: &RowGate) -> String {
    let is_open = gate.answer == GateAnswer::Inconclusive;
    let Some(interval) = &gate.interval else {
        return match row.change {
            None if is_open => format!("no figure on {}; the gate stays open", without_figure(row)),
            _ if is_open => format!("{}; the gate stays open", gate.why),
            _ => format!("{} ({})", gate.why, gate.rule),
        };
    };
    let ([low, high], unit) = ends(interval);
    let unsigned = |end: &str| end.trim_start_matches('+').to_owned();
    let (limit, least, most) = (limit(gate), unsigned(&low), unsigned(&high));
    let is_counted = row.unit == Some(Unit::Instructions);
    let (takes, slower) =
        if is_counted { ("executes", "longer for sure, and ") } else { ("costs", "slower for sure, and ") };
    let slower = if row.verdict == Verdict::Slower { slower } else { "" };
    match gate.answer {
        GateAnswer::Regression => format!("it {takes} at least {least} {unit} more ({limit})"),
        GateAnswer::Pass if interval.high < 0.0 => {
            format!("it {takes} at least {} {unit} less ({limit})", most.trim_start_matches('-'))
        }
        GateAnswer::Pass => format!("it {takes} at most {most} {unit} more ({limit})"),
        GateAnswer::Inconclusive if interval.low > interval.limit => format!(
            "{slower}by at least {least} {unit} ({limit}), but by fewer than three runs a side; the gate stays open"
        ),
        GateAnswer::Inconclusive => {
            format!("{slower}the gate stays open: it {takes} between {low} and {high} {unit} more ({limit})")
        }
    }
}

/// What a gate with too few runs lacks.
fn missing(result: &GateResult) -> Option<String> {
    let [base, new] = result.missing;
    let what = match (base, new) {
        _ if result.answer != GateAnswer::Inconclusive => return None,
        (0, 0) => return None,
        (base, 0) => format!("{} of the base", count(base as usize, "more run")),
        (0, new) => format!("{} of the new side", count(new as usize, "more run")),
        (base, new) => format!("{} of the base and {new} of the new side", count(base as usize, "more run")),
    };
    Some(format!(" A gate fails by three runs a side or more: it lacks {what}."))
}

/// What a gate that passed has looked at: `103 rows within their limit, none of 106 rows closed`.
fn checked(compared: &Comparison) -> String {
    let gate = &compared.settings.gate;
    let limited = compared.rows.iter().filter(|row| row.gate.is_some()).count();
    let limited = (!gate.above.is_empty()).then(|| format!("{} within the limit", count(limited, "row")));
    let events: Vec<&str> = gate.on.iter().map(|on| on.name()).collect();
    let all = count(compared.rows.len(), "row");
    let events = (!events.is_empty()).then(|| format!("none of {all} {}", events.join(" or ")));
    limited.into_iter().chain(events).collect::<Vec<_>>().join(", ")
}

/// What is said where a limit in percent alone leaves rows open of which it is a few cycles.
fn few_cycles(compared: &Comparison) -> &'static str {
    let is_open = |row: &&Row| {
        let (limit, base) = (row.gate.as_ref(), row.base.as_ref().and_then(|side| side.estimate));
        let is_open = limit.is_some_and(|gate| {
            gate.answer == GateAnswer::Inconclusive && gate.rule.ends_with('%') && !gate.rule.contains(',')
        });
        is_open && row.unit == Some(Unit::Cycles) && base.is_some_and(|base| base < FEW_CYCLES)
    };
    if compared.rows.iter().any(|row| is_open(&row)) {
        " Rows of a few cycles seldom settle a limit in percent: a limit such as 5%,5cycles, of which the greater counts, suits them."
    } else {
        ""
    }
}

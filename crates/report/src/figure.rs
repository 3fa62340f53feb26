//! Which figures of a row are shown, and how numbers are written.

use crate::configuration::Compared;
use document::{Document, Row, Timing, is_figure};
use stats::Cost;
use std::collections::BTreeMap;
use table::special::{BARE_SYSCALL, CALL, RowName};

/// What stands where there is no number.
pub(crate) const ABSENT: &str = "-";

/// From here on a number is written with an exponent, so that no number is wider than nine characters.
pub(crate) const EXPONENT_FROM: f64 = 1e7;

/// The unit that a row's cost is shown in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Cycles,
    Ticks,
    Instructions,
}

impl Unit {
    pub const ALL: [Unit; 3] = [Unit::Cycles, Unit::Ticks, Unit::Instructions];

    pub fn name(self) -> &'static str {
        match self {
            Unit::Cycles => "core cycles",
            Unit::Ticks => "TSC ticks",
            Unit::Instructions => "instructions",
        }
    }

    /// For a narrow column.
    pub fn short(self) -> &'static str {
        match self {
            Unit::Cycles => "cycles",
            Unit::Ticks => "ticks",
            Unit::Instructions => "instr.",
        }
    }

    /// Behind a number among numbers of other units.
    pub fn letter(self) -> &'static str {
        match self {
            Unit::Cycles => "c",
            Unit::Ticks => "t",
            Unit::Instructions => "i",
        }
    }
}

/// What is shown of a row's costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    pub unit: Unit,
    pub cost: Cost<f64>,
}

impl Shown {
    /// One of its figures: what was counted is whole.
    pub fn number(&self, figure: f64) -> String {
        if self.unit == Unit::Instructions && figure.fract() == 0.0 && figure.abs() < EXPONENT_FROM {
            // Adding zero takes the sign from a negative zero.
            return format!("{:.0}", figure + 0.0);
        }
        number(figure)
    }

    /// The estimate; of a count whose samples differ with a sign before it, because it is no exact one.
    pub fn estimate(&self) -> String {
        let differs = self.unit == Unit::Instructions && self.cost.min < self.cost.max;
        format!("{}{}", if differs { "~" } else { "" }, self.number(self.cost.estimate))
    }
}

/// A row's cost in core cycles; in ticks where there are none; in instructions when it was emulated.
/// None of a cost whose interval is wider than itself.
pub(crate) fn shown(row: &Row) -> Option<Shown> {
    known(row).filter(|cost| is_figure(&cost.cost))
}

/// The same, or what is so little known that it is no figure.
pub(crate) fn known(row: &Row) -> Option<Shown> {
    let show = |unit, cost: Option<Cost<f64>>| cost.map(|cost| Shown { unit, cost });
    match row.timing {
        Timing::Emulated => show(Unit::Instructions, row.instructions.as_ref().map(Cost::unitless)),
        Timing::Hardware => show(Unit::Cycles, row.core_cycles.as_ref().map(Cost::unitless))
            .or_else(|| show(Unit::Ticks, row.ticks.as_ref().map(Cost::unitless))),
    }
}

/// Estimates of one row, in every unit.
#[derive(Debug, Clone, Copy, Default)]
struct Base {
    cycles: Option<f64>,
    ticks: Option<f64>,
    instructions: Option<f64>,
}

impl Base {
    fn of(row: &Row) -> Self {
        Self {
            cycles: row.core_cycles.map(|cost| cost.estimate.0),
            ticks: row.ticks.map(|cost| cost.estimate.0),
            instructions: row.instructions.map(|cost| cost.estimate.0),
        }
    }

    /// A cost as a multiple of this one, in the cost's unit; absent where this one is unknown or not positive.
    fn ratio(self, shown: &Shown) -> Option<f64> {
        let base = match shown.unit {
            Unit::Cycles => self.cycles,
            Unit::Ticks => self.ticks,
            Unit::Instructions => self.instructions,
        };
        base.filter(|base| *base > 0.0).map(|base| shown.cost.estimate / base)
    }
}

/// What costs are compared with: a bare system call, and a call and return. Each configuration has its own.
#[derive(Debug, Default)]
pub(crate) struct Ratios {
    syscall: BTreeMap<String, Base>,
    call: BTreeMap<String, Base>,
}

impl Ratios {
    pub fn of(document: &Document, compared: &Compared) -> Self {
        let bases = |name: RowName| {
            let rows = document.results.iter().filter(|row| row.is(name) && shown(row).is_some());
            rows.map(|row| (compared.of(row), Base::of(row))).collect()
        };
        Self { syscall: bases(BARE_SYSCALL), call: bases(CALL) }
    }

    pub fn has_syscall(&self) -> bool {
        !self.syscall.is_empty()
    }

    pub fn has_call(&self) -> bool {
        !self.call.is_empty()
    }

    /// A row's cost as a multiple of a bare system call's.
    pub fn to_syscall(&self, row: &Row, compared: &Compared) -> String {
        ratio(&self.syscall, row, compared)
    }

    /// A row's cost as a multiple of a call's.
    pub fn to_call(&self, row: &Row, compared: &Compared) -> String {
        ratio(&self.call, row, compared)
    }
}

fn ratio(bases: &BTreeMap<String, Base>, row: &Row, compared: &Compared) -> String {
    let base = bases.get(&compared.of(row));
    let ratio = base.zip(shown(row)).and_then(|(base, shown)| base.ratio(&shown));
    ratio.map_or_else(|| ABSENT.to_owned(), multiple)
}

/// With two figures below ten, where a third of a system call matters.
pub(crate) fn multiple(ratio: f64) -> String {
    if !ratio.is_finite() {
        return ABSENT.to_owned();
    }
    let text = match ratio.abs() {
        EXPONENT_FROM.. => format!("{ratio:.0e}"),
        9.95.. => format!("{ratio:.0}"),
        0.995.. => format!("{ratio:.1}"),
        _ => format!("{ratio:.2}"),
    };
    if text.trim_start_matches(['-', '0', '.']).is_empty() { "0.00".to_owned() } else { text }
}

/// With one digit behind the point. A negative number that rounds to zero loses its sign.
pub(crate) fn number(number: f64) -> String {
    if !number.is_finite() {
        return ABSENT.to_owned();
    }
    if number.abs() >= EXPONENT_FROM {
        return format!("{number:.1e}");
    }
    let text = format!("{number:.1}");
    if text == "-0.0" { "0.0".to_owned() } else { text }
}

/// How much longer one half of an interval may be than the other, as a part of it, for both to be told by one number.
const UNEQUAL: f64 = 0.2;

/// Whether one half of an interval is so much longer that one number would be untrue of the other.
pub(crate) fn is_lopsided(below: f64, above: f64) -> bool {
    (above - below).abs() > UNEQUAL * above.max(below)
}

/// The interval beside its estimate: `±0.2`, where the farther end stands for both, or `120.1 to 190.0` where that would be untrue
/// of the nearer one. What rounding makes of short halves does not count.
pub(crate) fn beside(estimate: f64, [low, high]: [f64; 2], text: impl Fn(f64) -> String) -> String {
    let (below, above) = (estimate - low, high - estimate);
    let (least, most) = (below.min(above), below.max(above));
    let width = text(most);
    let width = width.trim_start_matches('+');
    if !is_lopsided(below, above) || text(least).trim_start_matches('+') == width {
        return format!("±{width}");
    }
    // Ends that are farther away than ten need no tenths.
    let end = |value: f64| match most {
        ..10.0 => text(value),
        _ => text(value.round()).trim_end_matches(".0").to_owned(),
    };
    format!("{} to {}", end(low), end(high))
}

/// `287.9 – 288.2`.
pub(crate) fn interval(cost: &Cost<f64>) -> Option<String> {
    Some(format!("{} – {}", number(cost.ci_low?), number(cost.ci_high?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_with_unequal_halves_is_shown_by_its_ends() {
        let of = |estimate, low, high| beside(estimate, [low, high], number);
        assert_eq!(of(300.0, 299.0, 301.1), "±1.1");
        assert_eq!(of(300.0, 299.0, 302.0), "299.0 to 302.0");
        assert_eq!(of(69_086.7, -128_000.0, 336_001.3), "-128000 to 336001");
        assert_eq!(of(4.0, 3.96, 4.02), "±0.0", "what rounding makes unequal is not");
    }

    #[test]
    fn a_cost_that_is_less_known_than_itself_is_not_shown() {
        let alone = Cost::single(stats::Cycles(460.0));
        let alone = Cost { min: stats::Cycles(400.0), max: stats::Cycles(900.0), ..alone };
        let cost = |reach: f64| alone.within(stats::Cycles(420.0), stats::Cycles(460.0 + reach));
        let row = |reach| Row { core_cycles: Some(cost(reach)), ..Row::unmeasured("call", "none", 64) };
        assert!(
            shown(&row(300.0)).is_some() && shown(&row(3629.0)).is_none() && known(&row(3629.0)).is_some()
        );
    }

    #[test]
    fn numbers() {
        assert_eq!(number(-3.26), "-3.3");
        assert_eq!(number(-0.04), "0.0");
        assert_eq!(number(9_999_999.0), "9999999.0");
        assert_eq!(number(-1e300), "-1.0e300");
        assert_eq!(number(f64::NAN), "-");
        assert_eq!(multiple(35.96), "36");
        assert_eq!(multiple(9.96), "10");
        assert_eq!(multiple(1.04), "1.0");
        assert_eq!(multiple(0.226), "0.23");
        assert_eq!(multiple(-0.31), "-0.31");
        assert_eq!(multiple(-0.001), "0.00");
        assert_eq!(multiple(f64::INFINITY), "-");
    }
}

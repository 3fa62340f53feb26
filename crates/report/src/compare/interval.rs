//! A change with its interval, in as many digits as show on which side of zero its ends lie: the verdict rests on that.

use crate::figure::{ABSENT, EXPONENT_FROM, is_lopsided};
use compare::{Change, Row, Verdict};
use document::is_narrow;

/// So many more digits than usual show the sign of an end that nearly is zero.
const MOST: usize = 6;

/// So many show that an interval reaches beyond zero; behind that, it is rounded outward.
const BEYOND: usize = 2;

/// A change and its interval, as they are written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WrittenChange {
    /// With its sign.
    pub change: String,
    pub low: String,
    pub high: String,
    /// What stands beside the change: `±12.1`, or both ends where the halves are not equally long.
    pub beside: String,
}

/// What stands in place of a change that is no figure.
pub(crate) const UNCERTAIN: &str = "uncertain";

/// Whether a change is no figure: nothing is told of it, and its interval is wider than what the row costs.
pub(crate) fn is_uncertain(row: &Row, change: &Change) -> bool {
    let base = row.base.as_ref().and_then(|base| base.estimate).unwrap_or_default();
    row.verdict == Verdict::Inconclusive && !is_narrow(base, [change.low, change.high])
}

/// As it is written of a row: of a change that is no figure, its interval is all that is known.
pub(crate) fn of_row(row: &Row, change: &Change, written: WrittenChange) -> WrittenChange {
    if !is_uncertain(row, change) {
        return written;
    }
    let beside = format!("{} to {}", written.low, written.high);
    WrittenChange { change: UNCERTAIN.to_owned(), beside, ..written }
}

/// In the unit of the row.
pub(crate) fn in_unit(change: &Change) -> WrittenChange {
    told(change.estimate, [change.low, change.high], |_| 1)
}

/// A difference that is no row's, in cycles.
pub(crate) fn of_cycles(middle: f64, ends: [f64; 2]) -> WrittenChange {
    let digits = if middle.abs() < WHOLE_CYCLES { 1 } else { 0 };
    told(middle, ends, |_| digits)
}

/// From so many cycles on, tenths say nothing.
const WHOLE_CYCLES: f64 = 1000.0;

/// In percent, without the sign `%`; none where there is none.
pub(crate) fn in_percent(change: &Change) -> Option<WrittenChange> {
    let (low, high) = change.percent_low.zip(change.percent_high)?;
    Some(told(change.percent?, [low, high], digits_of_percent))
}

/// Digits behind the point: two where less than ten percent matter.
pub(crate) fn digits_of_percent(percent: f64) -> usize {
    if percent.abs() < 9.995 { 2 } else { 1 }
}

pub(crate) fn told(middle: f64, [low, high]: [f64; 2], digits: impl Fn(f64) -> usize) -> WrittenChange {
    let holds_nothing = low <= 0.0 && high >= 0.0;
    let end = |value: f64| end(value, holds_nothing, &digits);
    let (change, beside) = match plus_minus(middle, [low, high], &digits) {
        Some(told) => told,
        None => {
            // Ends that are farther away than ten need no tenths.
            let is_far = (middle - low).max(high - middle) >= 10.0;
            let short = |value: f64| match value.round() {
                whole if is_far && whole != 0.0 => text(whole, 0),
                _ => end(value),
            };
            let change = if holds_nothing { text(middle, digits(middle)) } else { end(middle) };
            (change, format!("{} to {}", short(low), short(high)))
        }
    };
    WrittenChange { change, low: end(low), high: end(high), beside }
}

/// The middle and `±` with the half that stands for both; none where the halves are not equally long, or would say something else of
/// zero than the end itself.
fn plus_minus(middle: f64, [low, high]: [f64; 2], digits: impl Fn(f64) -> usize) -> Option<(String, String)> {
    let (below, above) = (middle - low, high - middle);
    let half = below.max(above);
    let usual = digits(middle).max(digits(half));
    let is_written_alike = rounded(below, usual) == rounded(above, usual);
    if is_lopsided(below, above) && !is_written_alike {
        return None;
    }
    let is_clear = if middle < 0.0 { high < 0.0 } else { low > 0.0 };
    // By how much the written half is short of the written middle.
    let short =
        |more: usize| rounded(middle.abs(), digits(middle) + more) - rounded(half, digits(half) + more);
    let written = |more: usize| {
        let beside = format!("±{}", unsigned(half, digits(half) + more));
        (text(middle, digits(middle) + more), beside)
    };
    if half == 0.0 {
        return Some(written(0));
    }
    if is_clear {
        return (0..=MOST).find(|more| short(*more) > 0.0).map(written);
    }
    let found = (0..=BEYOND).find(|more| short(*more) < 0.0).map(written);
    found.or_else(|| {
        let outward = rounded(half, usual) + 10_f64.powi(-(usual as i32));
        Some((text(middle, digits(middle)), format!("±{}", unsigned(outward, usual))))
    })
}

/// Both ends of an interval.
pub(super) fn ends([low, high]: [f64; 2], digits: impl Fn(f64) -> usize) -> [String; 2] {
    [low, high].map(|value| end(value, low <= 0.0 && high >= 0.0, &digits))
}

/// One end. What is not zero is not written as zero: of an interval that holds nothing, it is rounded outward, and otherwise it has a few
/// digits more.
fn end(value: f64, holds_nothing: bool, digits: impl Fn(f64) -> usize) -> String {
    let usual = digits(value);
    if holds_nothing && value != 0.0 && rounded(value, usual) == 0.0 {
        return text(value.signum() * 10_f64.powi(-(usual as i32)), usual);
    }
    let more = (0..=MOST).find(|more| rounded(value, usual + more) != 0.0);
    text(value, usual + more.unwrap_or(0))
}

fn rounded(value: f64, digits: usize) -> f64 {
    let scale = 10_f64.powi(digits as i32);
    (value * scale).round() / scale
}

/// With its sign; nothing has none.
pub(super) fn text(value: f64, digits: usize) -> String {
    let text = unsigned(value.abs(), digits);
    let is_nothing = text.trim_start_matches(['0', '.']).is_empty() || text == ABSENT;
    let sign = if is_nothing {
        ""
    } else if value < 0.0 {
        "-"
    } else {
        "+"
    };
    format!("{sign}{text}")
}

fn unsigned(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    if value >= EXPONENT_FROM { format!("{value:.1e}") } else { format!("{value:.digits$}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(middle: f64, low: f64, high: f64) -> String {
        let told = told(middle, [low, high], |_| 1);
        format!("{} {}", told.change, told.beside)
    }

    fn percent(middle: f64, low: f64, high: f64) -> String {
        let told = told(middle, [low, high], digits_of_percent);
        format!("{} {}", told.change, told.beside)
    }

    #[test]
    fn halves_that_are_about_as_long_are_one_number() {
        assert_eq!(cycles(66.9, 54.8, 79.0), "+66.9 ±12.1");
        assert_eq!(cycles(-3.26, -5.0, -1.6), "-3.3 ±1.7");
        assert_eq!(cycles(49.1, 10.2, 88.0), "+49.1 ±38.9");
        assert_eq!(cycles(20.0, 10.2, 88.0), "+20.0 +10 to +88");
        assert_eq!(percent(4.663, 3.82, 5.506), "+4.66 ±0.84");
        assert_eq!(percent(124.0, 100.0, 180.0), "+124.0 +100 to +180");
    }

    /// `+23.3 ±23.3` was inconclusive, and `+0.4 ±0.4` slower.
    #[test]
    fn an_end_near_zero_shows_on_which_side_it_lies() {
        assert_eq!(cycles(23.3, 23.3 - 23.300_023, 46.600_023), "+23.3 ±23.4");
        assert_eq!(cycles(23.3, -0.02, 46.62), "+23.30 ±23.32");
        assert_eq!(cycles(0.42, 0.04, 0.8), "+0.42 ±0.38");
        assert_eq!(cycles(-0.42, -0.8, -0.04), "-0.42 ±0.38");
        assert_eq!(cycles(-0.42, -0.86, 0.02), "-0.42 ±0.44");
        assert_eq!(percent(5.001, 0.002, 10.0), "+5.001 ±4.999");
        assert_eq!(cycles(10.0, 0.5, 21.0), "+10.0 +1 to +21", "the longer half reaches zero");
        assert_eq!(cycles(0.0, -0.01, 0.01), "0.00 ±0.01");
        assert_eq!(cycles(20.0, 0.3, 88.0), "+20.0 +0.3 to +88");
        assert_eq!(cycles(20.0, -0.000_3, 88.0), "+20.0 -0.1 to +88", "outward");
        assert_eq!(cycles(20.0, 0.0, 88.0), "+20.0 0.0 to +88");
        assert_eq!(cycles(0.04, 0.01, 0.5), "+0.04 +0.01 to +0.5");
    }

    #[test]
    fn nothing_has_no_sign_and_what_is_no_number_is_absent() {
        for value in [-0.0, -1e-9, 1e-9] {
            assert_eq!(end(value, false, |_| 1), "0.0");
            assert_eq!(end(value, false, digits_of_percent), "0.00");
        }
        assert_eq!(end(f64::NAN, false, |_| 1), "-");
        assert_eq!(end(-1e300, true, |_| 1), "-1.0e300");
        for middle in [-1e9, -40.0, -0.04, 0.0, 1e-5, 0.4, 23.3] {
            for half in [0.0, 1e-9, 0.04, 0.4, 23.3, 1e9] {
                for outward in [0.0, 1e-7, 0.01] {
                    let text = cycles(middle, middle - half - outward, middle + half + outward);
                    assert!(!text.contains("-0.0 ") && !text.ends_with("-0.0"), "{text}");
                }
            }
        }
    }
}

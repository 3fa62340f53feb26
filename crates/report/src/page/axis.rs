//! Where a value stands on an axis, and what is written along it.

use std::fmt;

/// A place on an axis, in percent of its width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct At(f64);

impl At {
    /// By the part of the whole that lies before it.
    pub fn part(part: f64) -> At {
        At(100.0 * part)
    }

    /// How far it is to another place.
    pub fn to(self, end: At) -> At {
        At(end.0 - self.0)
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}", self.0)
    }
}

/// The line through charts at a value, and what is written above it.
pub(super) struct Tick {
    pub at: At,
    pub label: String,
    /// Whether it is what others are compared with.
    pub is_zero: bool,
    /// Where the label stands by the line; empty for in its middle.
    pub class: &'static str,
}

/// An axis without its ends, which marks may reach over, has this part of the width.
const INNER: f64 = 92.0;

/// A place by the part of the axis that lies before it.
fn place(part: f64) -> At {
    At((100.0 - INNER) / 2.0 + INNER * part.clamp(0.0, 1.0))
}

/// Costs on a logarithmic axis from a whole decade to another. It begins at 1: costs below that, which include negative ones, are
/// not on it.
pub(super) struct Logarithmic {
    first: i32,
    last: i32,
}

impl Logarithmic {
    pub fn of(costs: impl Iterator<Item = f64>) -> Self {
        let decades = costs.filter(|cost| cost.is_finite() && *cost >= 1.0).map(f64::log10);
        let (least, most) = decades
            .fold((f64::INFINITY, 0.0_f64), |(least, most), decade| (least.min(decade), most.max(decade)));
        // No cost that a document may have is beyond 10 to the 20.
        let first = if least.is_finite() { least.floor() as i32 } else { 0 };
        Self { first, last: (most.ceil() as i32).max(first + 1) }
    }

    pub fn least(&self) -> f64 {
        10_f64.powi(self.first)
    }

    /// At the beginning where the cost lies before it.
    pub fn at(&self, cost: f64) -> At {
        let decade = if cost > 0.0 { cost.log10() } else { f64::NEG_INFINITY };
        place((decade - f64::from(self.first)) / f64::from(self.last - self.first))
    }

    pub fn ticks(&self) -> Vec<Tick> {
        let tick = |decade| Tick {
            at: self.at(10_f64.powi(decade)),
            label: power(decade),
            is_zero: false,
            class: "",
        };
        (self.first..=self.last).map(tick).collect()
    }
}

/// `1`, `10`, `100`, `1k`, … `100M`; beyond, `1e9`.
fn power(decade: i32) -> String {
    let zeros = "0".repeat(usize::try_from(decade % 3).unwrap_or(0));
    match decade {
        0..3 => format!("1{zeros}"),
        3..6 => format!("1{zeros}k"),
        6..9 => format!("1{zeros}M"),
        _ => format!("1e{decade}"),
    }
}

/// Differences in percent, as far to the left as to the right.
pub(super) struct Relative {
    reach: f64,
}

/// How far an axis of differences may reach, percent.
const REACHES: [f64; 8] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];

/// So many of all differences are on the axis with their whole intervals; what of others lies beyond its ends are arrows there.
const INSIDE: f64 = 0.9;

impl Relative {
    /// By how far each difference and its interval reach, up or down.
    pub fn of(reaches: impl Iterator<Item = f64>) -> Self {
        let most = stats::quantile_of(reaches.map(f64::abs), INSIDE).unwrap_or(0.0);
        let reach = REACHES.into_iter().find(|reach| *reach >= most);
        Self { reach: reach.unwrap_or(REACHES[REACHES.len() - 1]) }
    }

    /// How far it reaches, up and down.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    pub fn has(&self, difference: f64) -> bool {
        difference.abs() <= self.reach
    }

    /// At the end beyond which the difference lies.
    pub fn at(&self, difference: f64) -> At {
        place((difference / self.reach + 1.0) / 2.0)
    }

    pub fn ticks(&self) -> Vec<Tick> {
        let label = |part: f64| match part * self.reach {
            0.0 => "0".to_owned(),
            percent => format!("{percent:+} %").replace('-', "−"),
        };
        let tick = |(part, class)| Tick {
            at: self.at(part * self.reach),
            label: label(part),
            is_zero: part == 0.0,
            class,
        };
        [(-1.0, "first"), (-0.5, "half"), (0.0, ""), (0.5, "half"), (1.0, "last")].map(tick).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<(String, String)> {
        ticks.iter().map(|tick| (tick.at.to_string(), tick.label.clone())).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(at, label)| ((*at).into(), (*label).into())).collect()
    }

    #[test]
    fn decades_are_as_far_apart_as_each_other() {
        let axis = Logarithmic::of([12.0, 40_000.0, -3.0, f64::NAN, 0.2].into_iter());
        let expected =
            [("4.00", "10"), ("27.00", "100"), ("50.00", "1k"), ("73.00", "10k"), ("96.00", "100k")];
        assert_eq!(labels(&axis.ticks()), pairs(&expected));
        assert_eq!(axis.at(1000.0).to_string(), "50.00");
        assert_eq!(axis.at(-1.0), axis.at(10.0), "what lies before stands at the beginning");
    }

    #[test]
    fn an_axis_of_nothing_is_still_one() {
        for costs in [vec![], vec![-5.0], vec![1.0], vec![f64::INFINITY]] {
            let axis = Logarithmic::of(costs.clone().into_iter());
            assert_eq!(labels(&axis.ticks()), pairs(&[("4.00", "1"), ("96.00", "10")]), "{costs:?}");
        }
        assert_eq!(Relative::of(std::iter::empty()).ticks().len(), 5);
    }

    #[test]
    fn zero_is_in_the_middle_of_differences() {
        let axis = Relative::of([-0.4, 3.0, 9.0].into_iter());
        let expected =
            [("4.00", "−10 %"), ("27.00", "−5 %"), ("50.00", "0"), ("73.00", "+5 %"), ("96.00", "+10 %")];
        assert_eq!(labels(&axis.ticks()), pairs(&expected));
        assert!(axis.has(-10.0) && !axis.has(10.1));
        assert_eq!(axis.at(400.0), axis.at(10.0));
    }
}

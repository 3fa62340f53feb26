//! What is drawn of a row on an axis that all rows share.

use super::axis::{At, Logarithmic, Relative};
use crate::compare::interval::is_uncertain;
use crate::figure::{Shown, interval, shown};
use compare::Row as Compared;
use document::Row;
use stats::Cost;

/// A row of one run on a logarithmic axis.
pub(super) struct Mark {
    /// The same in words.
    pub title: String,
    pub estimate: Option<At>,
    pub interval: Option<(At, At)>,
    /// From the estimate to p99.
    pub tail: Option<(At, At)>,
    /// From the least to the most that was seen while the core was shared; estimates nothing.
    pub shared: Option<(At, At)>,
    /// Whether the estimate lies before the axis.
    pub is_below: bool,
}

impl Mark {
    pub fn of(row: &Row, axis: &Logarithmic) -> Option<Mark> {
        match shown(row) {
            Some(shown) => Some(Mark::of_figure(&shown, axis)),
            None => Mark::of_noise(row, axis),
        }
    }

    fn of_figure(shown: &Shown, axis: &Logarithmic) -> Mark {
        let cost = &shown.cost;
        let is_below = cost.estimate < axis.least();
        let p99 = cost.p99.filter(|p99| *p99 > cost.estimate);
        let seen = interval(cost).map(|interval| format!(", 95 % interval {interval}")).unwrap_or_default();
        let tail = p99.map(|p99| format!(", p99 {}", shown.number(p99))).unwrap_or_default();
        Mark {
            title: format!("{} {}{seen}{tail}", shown.estimate(), shown.unit.name()),
            estimate: (!is_below).then(|| axis.at(cost.estimate)),
            interval: ends(cost)
                .filter(|(_, high)| *high >= axis.least())
                .map(|(a, b)| (axis.at(a), axis.at(b))),
            tail: p99.filter(|p99| *p99 > axis.least()).map(|p99| (axis.at(cost.estimate), axis.at(p99))),
            shared: None,
            is_below,
        }
    }

    fn of_noise(row: &Row, axis: &Logarithmic) -> Option<Mark> {
        let noise = row.noise?;
        let (low, high) = noise.low.zip(noise.high)?;
        Some(Mark {
            title: format!("no estimate; {low:.0} to {high:.0} seen"),
            estimate: None,
            interval: None,
            tail: None,
            shared: Some((axis.at(low), axis.at(high))),
            is_below: high < axis.least(),
        })
    }
}

/// What a row's chart needs room for.
pub(super) fn extremes(row: &Row) -> impl Iterator<Item = f64> {
    let cost = shown(row).map(|shown| shown.cost);
    let of_cost = cost.map(|cost| [Some(cost.estimate), cost.ci_low, cost.ci_high, cost.p99]);
    let of_noise = row.noise.filter(|_| cost.is_none()).map(|noise| [noise.low, noise.high]);
    of_cost.into_iter().flatten().chain(of_noise.into_iter().flatten()).flatten()
}

/// The ends of the interval, the lower first, also where a document has them the other way round.
fn ends(cost: &Cost<f64>) -> Option<(f64, f64)> {
    let (low, high) = cost.ci_low.zip(cost.ci_high)?;
    Some((low.min(high), low.max(high)))
}

/// How far a run's figures lie from those of the first run, in percent of its estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Difference {
    pub estimate: f64,
    /// The ends of the run's own interval; what the first run's leaves open is not in it. Of a comparison, the change's.
    pub interval: Option<(f64, f64)>,
    /// Whether a comparison found it.
    pub is_compared: bool,
}

impl Difference {
    /// None where both are not known in one unit, or the first is not positive, or as good as zero.
    pub fn of(first: &Row, other: &Row) -> Option<Difference> {
        let (first, other) = (shown(first)?, shown(other)?);
        if first.unit != other.unit || first.cost.estimate <= 0.0 {
            return None;
        }
        let percent = |figure: f64| 100.0 * (figure / first.cost.estimate - 1.0);
        let is_finite = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
        let interval = ends(&other.cost).map(|(low, high)| (percent(low), percent(high))).filter(is_finite);
        let estimate = Some(percent(other.cost.estimate)).filter(|percent| percent.is_finite())?;
        Some(Difference { estimate, interval, is_compared: false })
    }

    /// What a comparison found. None where it is not known in percent, or too little known to draw it.
    pub fn of_row(row: &Compared) -> Option<Difference> {
        let change = row.change.as_ref().filter(|change| !is_uncertain(row, change))?;
        let is_finite = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
        let interval = change.percent_low.zip(change.percent_high).filter(is_finite);
        let estimate = change.percent.filter(|percent| percent.is_finite())?;
        Some(Difference { estimate, interval, is_compared: true })
    }

    /// How far the axis must reach for all of it.
    pub fn reach(&self) -> f64 {
        let (low, high) = self.interval.unwrap_or_default();
        [low, high].into_iter().fold(self.estimate.abs(), |reach, end| reach.max(end.abs()))
    }

    /// `+1.2 %`; a difference that rounds to nothing has no sign.
    pub fn in_words(&self) -> String {
        let text = format!("{:+.1} %", self.estimate).replace('-', "−");
        if text.trim_start_matches(['+', '−']) == "0.0 %" { "0.0 %".to_owned() } else { text }
    }
}

/// A row of several runs, as differences from the first.
pub(super) struct Forest {
    /// Where the first run's interval begins, and how wide it is; none beside what a comparison found, whose interval holds it.
    pub base: Option<(At, At)>,
    pub marks: Vec<Differing>,
}

/// One of the other runs.
pub(super) struct Differing {
    /// Its number.
    pub run: usize,
    pub title: String,
    /// None where it lies beyond the axis.
    pub estimate: Option<At>,
    /// How far down, in percent of the height.
    pub y: At,
    /// As far as it is on the axis.
    pub interval: Option<(At, At)>,
    /// At each end of the axis beyond which it goes on.
    pub off: Vec<Off>,
}

/// The mark at an end of the axis.
pub(super) struct Off {
    pub arrow: char,
    pub at: At,
    pub anchor: &'static str,
}

impl Forest {
    /// Of the first run's row, and how the others differ from it.
    pub fn of(first: Option<&Row>, differences: &[Option<Difference>], axis: &Relative) -> Option<Forest> {
        let first = first?;
        let known = differences.iter().enumerate().filter_map(|(number, known)| Some((number, (*known)?)));
        let marks: Vec<Differing> =
            known.clone().map(|(number, known)| mark(number, differences.len(), &known, axis)).collect();
        let is_compared = known.clone().any(|(_, known)| known.is_compared);
        let base = Difference::of(first, first).and_then(|own| own.interval).filter(|_| !is_compared);
        let base = base.map(|(low, high)| (axis.at(low), axis.at(low).to(axis.at(high))));
        (!marks.is_empty()).then_some(Forest { base, marks })
    }
}

fn mark(number: usize, of: usize, difference: &Difference, axis: &Relative) -> Differing {
    let (low, high) = difference.interval.unwrap_or((difference.estimate, difference.estimate));
    let ends = [('◂', "start", low.min(difference.estimate)), ('▸', "end", high.max(difference.estimate))];
    let off = ends.into_iter().zip([-1.0, 1.0]).filter(|((_, _, end), side)| side * end > axis.reach());
    let off = off.map(|((arrow, anchor, end), _)| Off { arrow, at: axis.at(end), anchor }).collect();
    let interval = difference.interval.map(|(low, high)| format!(" ({low:+.1} to {high:+.1} %)"));
    Differing {
        run: number + 1,
        title: format!("{}{}", difference.in_words(), interval.unwrap_or_default()),
        estimate: axis.has(difference.estimate).then(|| axis.at(difference.estimate)),
        y: At::part((number as f64 + 0.5) / of as f64),
        interval: difference.interval.map(|(low, high)| (axis.at(low), axis.at(high))),
        off,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::Cycles;

    fn row(estimate: f64, half: f64) -> Row {
        let cost = Cost::single(Cycles(estimate)).within(Cycles(estimate - half), Cycles(estimate + half));
        let cost = Cost { p99: Some(Cycles(estimate + 10.0)), ..cost };
        Row { core_cycles: Some(cost), ..Row::unmeasured("call", "none", 64) }
    }

    #[test]
    fn a_difference_is_in_percent_of_the_first_run() {
        let (first, other) = (row(200.0, 2.0), row(210.0, 1.0));
        let found = Difference::of(&first, &other).unwrap();
        let (low, high) = found.interval.unwrap();
        assert_eq!(found.in_words(), "+5.0 %");
        assert!((low - 4.5).abs() < 1e-9 && (high - 5.5).abs() < 1e-9, "{low} {high}");
        assert_eq!(Difference::of(&other, &first).unwrap().in_words(), "−4.8 %");
        assert_eq!(Difference::of(&first, &row(200.02, 0.0)).unwrap().in_words(), "0.0 %");
    }

    #[test]
    fn what_cannot_be_compared_has_no_difference() {
        let unmeasured = Row::unmeasured("call", "none", 64);
        assert_eq!(Difference::of(&unmeasured, &row(1.0, 0.0)), None);
        assert_eq!(Difference::of(&row(1.0, 0.0), &unmeasured), None);
        assert_eq!(Difference::of(&row(-1.0, 0.0), &row(1.0, 0.0)), None);
        assert_eq!(Difference::of(&row(5e-324, 0.0), &row(1.0, 0.0)), None);
        let in_ticks = Row {
            core_cycles: None,
            ticks: serde_json::from_str(r#"{"estimate": 200, "min": 200, "p50": 200, "max": 200}"#).ok(),
            ..unmeasured
        };
        assert!(shown(&in_ticks).is_some());
        assert_eq!(Difference::of(&row(200.0, 1.0), &in_ticks), None, "another unit");
    }

    #[test]
    fn what_lies_beyond_the_axis_is_an_arrow_at_its_end() {
        let axis = Relative::of([1.0].into_iter());
        let first = row(100.0, 0.5);
        let differences = [Difference::of(&first, &row(130.0, 1.0)), None];
        let forest = Forest::of(Some(&first), &differences, &axis).unwrap();
        let [mark] = &forest.marks[..] else { panic!("one run is compared") };
        let arrows = |mark: &Differing| mark.off.iter().map(|off| (off.arrow, off.at)).collect::<Vec<_>>();
        assert_eq!((mark.run, mark.estimate), (1, None));
        assert_eq!(arrows(mark), [('▸', axis.at(1.0))]);
        assert!(Forest::of(None, &[None], &axis).is_none());
        let wide = Difference { estimate: 0.1, interval: Some((-3.0, 4.0)), is_compared: true };
        let forest = Forest::of(Some(&first), &[Some(wide)], &axis).unwrap();
        assert_eq!(arrows(&forest.marks[0]), [('◂', axis.at(-1.0)), ('▸', axis.at(1.0))]);
        assert_eq!(
            forest.marks[0].estimate,
            Some(axis.at(0.1)),
            "an interval that goes on is not one that ends there"
        );
    }

    #[test]
    fn an_interval_that_was_turned_round_had_a_negative_width() {
        let axis = Relative::of([5.0].into_iter());
        let turned = row(100.0, -1.0);
        let differences = [Difference::of(&turned, &turned)];
        let (from, width) = Forest::of(Some(&turned), &differences, &axis).unwrap().base.unwrap();
        let written = [from, width].map(|place| place.to_string());
        assert_eq!(written, [axis.at(-1.0), axis.at(-1.0).to(axis.at(1.0))].map(|place| place.to_string()));
    }

    #[test]
    fn costs_before_the_axis_are_not_drawn_on_it() {
        let axis = Logarithmic::of([10.0, 1000.0].into_iter());
        let mark = Mark::of(&row(-3.0, 0.4), &axis).unwrap();
        assert!(mark.is_below && mark.estimate.is_none() && mark.interval.is_none() && mark.tail.is_none());
        assert!(mark.title.starts_with("-3.0 core cycles"), "{}", mark.title);
    }
}

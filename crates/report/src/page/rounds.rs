//! The rounds of rows as points in time.

use crate::figure::{Unit, shown};
use document::{Measurement, Row};
use serde::Serialize;
use stats::Excluded;

/// The most rounds that a page draws; of more, every second, third, … of each row. A page of so many takes half a megabyte.
pub(super) const MOST: usize = 16_000;

/// What became of a round, as the page's script numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "u8")]
pub(super) enum State {
    Kept,
    /// It is kept, and the estimate is that of another CPU.
    Elsewhere,
    Shared,
    Preempted,
    Struck,
}

impl From<State> for u8 {
    fn from(state: State) -> u8 {
        state as u8
    }
}

impl State {
    fn of(excluded: Option<Excluded>, cpu: usize, of_estimate: Option<usize>) -> State {
        match excluded {
            Some(Excluded::Shared) => State::Shared,
            Some(Excluded::Preempted) => State::Preempted,
            Some(Excluded::Struck) => State::Struck,
            None if of_estimate.is_some_and(|of_estimate| of_estimate != cpu) => State::Elsewhere,
            None => State::Kept,
        }
    }
}

/// One round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    /// Seconds since the run began.
    pub at: f64,
    /// In the unit of the row.
    pub cost: f64,
    pub state: State,
    /// Independent instructions in a core cycle.
    pub canary: Option<f64>,
    /// The core's clock.
    pub ghz: Option<f64>,
}

/// The unit of a row's rounds: that of its figures, or what figures would have.
pub(super) fn unit(row: &Row, measurement: &Measurement) -> Unit {
    let otherwise = if measurement.cycles_per_tick.is_some() { Unit::Cycles } else { Unit::Ticks };
    shown(row).map_or(otherwise, |shown| shown.unit)
}

/// A row's rounds, those that all columns have.
pub(super) fn points<'a>(row: &'a Row, measurement: &'a Measurement) -> impl Iterator<Item = Point> + 'a {
    let rounds = &row.rounds;
    let in_cycles = unit(row, measurement) == Unit::Cycles;
    (0..rounds.len()).filter_map(move |index| {
        let clock = rounds.cycles_per_tick.get(index).copied().filter(|clock| clock.is_finite());
        let cost = if in_cycles { rounds.core_cycles(index) } else { rounds.cost.get(index).copied() };
        let excluded = *rounds.excluded.get(index)?;
        Some(Point {
            at: rounds.at_ms.get(index)? / 1e3,
            cost: cost.filter(|cost| cost.is_finite())?,
            state: State::of(excluded, *rounds.cpu.get(index)?, row.cpu),
            canary: rounds.canary.get(index).copied().filter(|canary| *canary > 0.0),
            ghz: measurement.tsc_hz.zip(clock).map(|(hertz, clock)| hertz * clock / 1e9),
        })
    })
}

/// The columns of a row's points that the page draws.
#[derive(Debug, Default, Serialize)]
pub(super) struct Drawn {
    /// One of so many is drawn.
    pub every: usize,
    /// Seconds since the run began.
    t: Vec<f64>,
    /// Costs, in the unit of the row.
    v: Vec<f64>,
    /// States.
    s: Vec<State>,
    canary: Vec<Option<f64>>,
    ghz: Vec<Option<f64>>,
}

impl Drawn {
    pub fn of(points: impl Iterator<Item = Point>, every: usize) -> Drawn {
        let mut drawn = Drawn { every, ..Drawn::default() };
        for point in points.step_by(every) {
            drawn.t.push((point.at * 1e3).round() / 1e3);
            drawn.v.push(digits(point.cost, 5));
            drawn.s.push(point.state);
            drawn.canary.push(point.canary.map(|canary| digits(canary, 3)));
            drawn.ghz.push(point.ghz.map(|ghz| digits(ghz, 4)));
        }
        drawn
    }
}

/// A number with so many digits: more would be bytes that nobody sees.
pub(super) fn digits(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::Lines;

    fn row(rounds: usize) -> Row {
        let lines = Lines {
            at_ms: (0..rounds).map(|at| at as f64 * 10.0).collect(),
            cpu: (0..rounds).map(|index| usize::from(index % 5 == 4)).collect(),
            cost: vec![100.0; rounds],
            cycles_per_tick: vec![1.5; rounds],
            canary: vec![4.0; rounds],
            excluded: (0..rounds).map(|index| (index % 5 == 3).then_some(Excluded::Shared)).collect(),
            ..Lines::default()
        };
        Row { cpu: Some(0), rounds: lines, ..Row::unmeasured("call", "none", 64) }
    }

    fn measurement() -> Measurement {
        Measurement { cycles_per_tick: Some(1.5), tsc_hz: Some(2e9), ..Measurement::default() }
    }

    #[test]
    fn a_round_is_in_the_unit_of_its_row_and_says_what_became_of_it() {
        let (row, measurement) = (row(5), measurement());
        let points: Vec<Point> = points(&row, &measurement).collect();
        let states: Vec<State> = points.iter().map(|point| point.state).collect();
        assert_eq!(states, [State::Kept, State::Kept, State::Kept, State::Shared, State::Elsewhere]);
        assert_eq!((points[1].at, points[1].cost, points[1].ghz), (0.01, 150.0, Some(3.0)));
    }

    #[test]
    fn columns_that_break_off_end_the_rounds() {
        let mut broken = row(5);
        broken.rounds.excluded.truncate(2);
        assert_eq!(points(&broken, &measurement()).count(), 2);
        broken.rounds.cycles_per_tick.truncate(1);
        assert_eq!(points(&broken, &measurement()).count(), 1);
    }

    #[test]
    fn of_many_rounds_one_of_several_is_drawn() {
        let (row, measurement) = (row(100), measurement());
        let drawn = Drawn::of(points(&row, &measurement), 7);
        assert_eq!((drawn.t.len(), drawn.every), (15, 7));
        assert_eq!(serde_json::to_string(&drawn.s[..3]).unwrap(), "[0,0,1]");
    }

    #[test]
    fn digits_are_what_is_seen() {
        assert_eq!(digits(154.244_312, 5), 154.24);
        assert_eq!(digits(0.000_123_456, 3), 0.000_123);
        assert_eq!(digits(-98_765_432.0, 5), -98_765_000.0);
        assert_eq!(digits(0.0, 5), 0.0);
    }
}

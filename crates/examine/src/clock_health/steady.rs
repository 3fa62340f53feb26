//! A clock that is read over and over on one CPU, between readings of the counter of the same thread. A thread that was preempted has
//! seen both go on; a clock that stands, or jumps, does so beside the counter.

use super::machine::{Clock, Core, Reading};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How one CPU saw a clock go.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Steadiness {
    /// The CPU that read it.
    pub cpu: usize,
    /// `monotonic`, `realtime`, `monotonic-raw`, or `tsc`.
    pub clock: String,
    /// How often it was read.
    pub readings: u64,
    /// How many readings were the same as those before them.
    pub repeats: u64,
    /// The least by which it went on, nanoseconds: its step, or the cost of a reading, if that is more. Null if it stood.
    pub smallest_ns: Option<f64>,
    /// What all differences are multiples of, in the clock's own unit (nanoseconds or ticks); null where there was no difference.
    pub common_step: Option<u64>,
    /// It was less than just before.
    pub backward: Steps,
    /// It went on by less than the counter beside it. Always none of the counter itself.
    pub stalls: Steps,
    /// It went on by more than the counter beside it. Always none of the counter itself.
    pub jumps: Steps,
    /// The longest that the thread itself saw nothing, as when it is preempted, nanoseconds.
    pub longest_gap_ns: f64,
}

/// Steps that a steady clock does not make.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Steps {
    /// How many.
    pub count: u64,
    /// The largest, nanoseconds.
    pub largest_ns: f64,
}

impl Steps {
    fn note(&mut self, by: f64) {
        self.count += 1;
        self.largest_ns = self.largest_ns.max(by);
    }

    fn of(deviations: &[f64], tolerance: f64) -> Steps {
        let mut steps = Steps::default();
        deviations
            .iter()
            .map(|by| by - tolerance)
            .filter(|by| *by > 0.0)
            .for_each(|by| steps.note(by + tolerance));
        steps
    }
}

/// What a clock and the counter beside it may differ by in the time between two readings: vDSO data that is updated meanwhile.
const TOLERANCE_NS: f64 = 10_000.0;

/// By what part the rate of a clock may change while it is looked at: NTP slews by 0.05 % at most.
const SLEW: f64 = 0.002;

/// Readings of one watch, at most: a clock that stands would never end it.
const MOST_READINGS: u64 = 4_000_000;

/// Deviations that are kept for judgement, at most.
const MOST_DEVIATIONS: usize = 4096;

/// Readings between two looks at the time.
const BETWEEN: u64 = 64;

/// How a clock goes beside the counter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub ns_per_tick: f64,
    /// The steps of a clock that stands for longer than readings take, nanoseconds; otherwise 0.
    pub step_ns: f64,
}

/// By short windows, of which one that a jump falls into does not count. None where the clock or the counter stands.
pub(super) fn pace(core: &mut impl Core, clock: Clock) -> Option<Pace> {
    const WINDOWS: usize = 9;
    let windows: Option<Vec<f64>> = (0..WINDOWS).map(|_| window(core, clock)).collect();
    let Some(mut windows) = windows else { return pace_of_steps(core, clock) };
    windows.sort_by(f64::total_cmp);
    let ns_per_tick = windows.get(WINDOWS / 2).copied().filter(|rate| *rate > 0.0)?;
    Some(Pace { ns_per_tick, step_ns: 0.0 })
}

/// Nanoseconds in a tick; none where the clock stands between most readings, so that a window is too short for it.
fn window(core: &mut impl Core, clock: Clock) -> Option<f64> {
    const READINGS: usize = 1_000;
    let first = Reading::closest(core, clock);
    let mut before = first.time;
    let changes =
        (0..READINGS).filter(|_| std::mem::replace(&mut before, core.time(clock)) != before).count();
    let last = Reading::closest(core, clock);
    let ticks = last.middle() - first.middle();
    (ticks > 0.0 && changes > READINGS / 2).then(|| last.time.saturating_sub(first.time) as f64 / ticks)
}

/// By the steps of a clock that has large ones: some of them, three at least. None where it makes none for half a second.
fn pace_of_steps(core: &mut impl Core, clock: Clock) -> Option<Pace> {
    const ENOUGH: Duration = Duration::from_millis(4);
    const STEPS: usize = 3;
    const PATIENCE: Duration = Duration::from_millis(500);
    let began = core.elapsed();
    let mut changes: Vec<Reading> = vec![Reading::take(core, clock)];
    while changes.len() < STEPS + 2 || core.elapsed() < began + ENOUGH {
        let next = Reading::take(core, clock);
        if changes.last().is_some_and(|last| last.time != next.time) {
            changes.push(next);
        }
        if core.elapsed() > began + PATIENCE {
            return None;
        }
    }
    // The first is no change: nobody knows when that time began.
    let changes = changes.get(1..)?;
    let (first, last) = (changes.first()?, changes.last()?);
    let (ticks, ns) = (last.middle() - first.middle(), last.time.saturating_sub(first.time));
    let steps = changes.windows(2).filter_map(|two| Some(two.last()?.time.saturating_sub(two.first()?.time)));
    let step_ns = steps.filter(|step| *step > 0).min()? as f64;
    (ticks > 0.0 && ns > 0).then(|| Pace { ns_per_tick: ns as f64 / ticks, step_ns })
}

/// Watches a clock for so long, and the counter beside it.
pub(super) fn watch(core: &mut impl Core, clock: Clock, pace: Pace, time: Duration) -> [Steadiness; 2] {
    let mut seen = Watch::new(clock, pace, Reading::take(core, clock));
    let until = core.elapsed() + time;
    while seen.of_clock.readings < MOST_READINGS {
        seen.next(Reading::take(core, clock));
        if seen.of_clock.readings.is_multiple_of(BETWEEN) && core.elapsed() >= until {
            break;
        }
    }
    seen.judged()
}

/// A watch that goes on.
struct Watch {
    pace: Pace,
    last: Reading,
    of_clock: Steadiness,
    of_counter: Steadiness,
    behind: Vec<f64>,
    ahead: Vec<f64>,
}

impl Watch {
    fn new(clock: Clock, pace: Pace, first: Reading) -> Watch {
        let named = |name: &str| Steadiness { clock: name.to_owned(), readings: 1, ..Steadiness::default() };
        let (of_clock, of_counter) = (named(clock.name()), named("tsc"));
        Watch { pace, last: first, of_clock, of_counter, behind: Vec::new(), ahead: Vec::new() }
    }

    fn next(&mut self, next: Reading) {
        let last = std::mem::replace(&mut self.last, next);
        let ns_per_tick = self.pace.ns_per_tick;
        let by = next.time.saturating_sub(last.time);
        count(&mut self.of_clock, by, 1.0);
        for (from, to) in [(last.after, next.before), (next.before, next.after)] {
            count(&mut self.of_counter, difference(from, to), ns_per_tick);
        }
        if by < 0 || next.before < last.after || next.after < next.before {
            return;
        }
        let least = (next.before - last.after) as f64 * ns_per_tick;
        let most = (next.after - last.before) as f64 * ns_per_tick;
        let by = by as f64;
        self.of_clock.longest_gap_ns = self.of_clock.longest_gap_ns.max(least);
        keep(&mut self.behind, least * (1.0 - SLEW) - by);
        keep(&mut self.ahead, by - most * (1.0 + SLEW));
    }

    /// A clock of large steps stands between them, which is no stall.
    fn judged(self) -> [Steadiness; 2] {
        let Watch { pace, mut of_clock, mut of_counter, behind, ahead, .. } = self;
        let step = of_clock.smallest_ns.unwrap_or(0.0).max(pace.step_ns);
        let tolerance = TOLERANCE_NS + 2.0 * step;
        of_clock.stalls = Steps::of(&behind, tolerance);
        of_clock.jumps = Steps::of(&ahead, tolerance);
        of_counter.longest_gap_ns = of_clock.longest_gap_ns;
        [of_clock, of_counter]
    }
}

/// From one reading to the next, in the clock's unit, of which each is so many nanoseconds.
fn count(of: &mut Steadiness, by: i64, unit_ns: f64) {
    of.readings += 1;
    let magnitude = by.unsigned_abs();
    match by {
        0 => of.repeats += 1,
        ..0 => of.backward.note(magnitude as f64 * unit_ns),
        _ => {
            let by_ns = magnitude as f64 * unit_ns;
            of.smallest_ns = Some(of.smallest_ns.map_or(by_ns, |least| least.min(by_ns)));
            of.common_step = Some(greatest_common_divisor(of.common_step.unwrap_or(0), magnitude));
        }
    }
}

fn keep(deviations: &mut Vec<f64>, by: f64) {
    if by > TOLERANCE_NS && deviations.len() < MOST_DEVIATIONS {
        deviations.push(by);
    }
}

fn difference(from: u64, to: u64) -> i64 {
    to.wrapping_sub(from) as i64
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

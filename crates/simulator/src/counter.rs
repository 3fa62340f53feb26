use std::cell::Cell;

/// A time stamp counter; the same for all CPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct Counter {
    /// Its frequency, in ticks per second.
    pub frequency: f64,
    /// Readings are rounded down to a multiple of so many ticks, and then to a whole tick: 1, 2, or 10 ns worth of them on real
    /// machines; not a whole number where the counter is derived from a slower clock.
    pub step: f64,
    /// How often in a second it is set anew, by less than a step: an interval with that in it is not a whole number of steps.
    pub rebases: f64,
    /// Whether `lfence` makes a reading wait for the instructions before it. Where it does not, a reading is taken while
    /// up to [`IN_FLIGHT`](crate::IN_FLIGHT) instructions before it are still executing, so short chains read far too
    /// short.
    pub ordered: bool,
}

impl Default for Counter {
    /// 2 GHz, in steps of two ticks, ordered.
    fn default() -> Counter {
        Counter { frequency: 2e9, step: 2.0, rebases: 0.0, ordered: true }
    }
}

impl Counter {
    /// Of this frequency, in ticks per second, and with steps of so many nanoseconds, at least one tick.
    pub fn with_step(frequency: f64, nanos: f64) -> Counter {
        let step = (frequency * nanos / 1e9).round().max(1.0);
        Counter { frequency, step, ..Counter::default() }
    }

    /// Steps in a nanosecond.
    pub(crate) fn rate(&self) -> f64 {
        self.frequency / 1e9 / self.step
    }

    /// What the counter says when it has counted so many steps, so many nanoseconds after the machine began to count.
    pub(crate) fn reading(&self, steps: f64, time: f64, ahead: &Ahead) -> u64 {
        (steps.floor() * self.step) as u64 + self.set_ahead(time, ahead)
    }

    /// By how many ticks it was set ahead until now: each time by a part of a step that follows from how often it was.
    fn set_ahead(&self, time: f64, known: &Ahead) -> u64 {
        let part = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (self.step as u64).max(1);
        let times = (time / 1e9 * self.rebases) as u64;
        let (from, ticks) = known.0.get();
        // An instruction may have been read before the one that was asked for last.
        let ticks = match from <= times {
            true => ticks + (from + 1..=times).map(part).sum::<u64>(),
            false => ticks - (times + 1..=from).map(part).sum::<u64>(),
        };
        known.0.set((times, ticks));
        ticks
    }
}

/// How often a machine's counter was set anew when it was last asked, and by how many ticks that has set it ahead. It is asked so often
/// that adding these up from the beginning took half the time of a simulation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ahead(Cell<(u64, u64)>);

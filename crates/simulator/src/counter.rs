/// A time stamp counter; the same for all CPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct Counter {
    /// Its frequency, in ticks per second.
    pub frequency: f64,
    /// Readings are rounded down to a multiple of so many ticks: 1, 2, or 10 ns worth of them on real machines.
    pub step: u64,
    /// Whether `lfence` makes a reading wait for the instructions before it. Where it does not, a reading is taken while
    /// up to [`IN_FLIGHT`](crate::IN_FLIGHT) instructions before it are still executing, so short chains read far too
    /// short.
    pub ordered: bool,
}

impl Default for Counter {
    /// 2 GHz, in steps of two ticks, ordered.
    fn default() -> Counter {
        Counter { frequency: 2e9, step: 2, ordered: true }
    }
}

impl Counter {
    /// Of this frequency, in ticks per second, and with steps of so many nanoseconds, at least one tick.
    pub fn with_step(frequency: f64, nanos: f64) -> Counter {
        let step = (frequency * nanos / 1e9).round().max(1.0) as u64;
        Counter { frequency, step, ordered: true }
    }

    /// Steps in a nanosecond.
    pub(crate) fn rate(&self) -> f64 {
        self.frequency / 1e9 / self.step as f64
    }
}

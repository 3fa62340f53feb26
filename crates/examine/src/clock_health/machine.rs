//! What the method asks of a machine, so that one whose clocks are known can take its place.

use std::time::Duration;

/// A clock of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    Monotonic,
    Realtime,
    /// Not slewed by NTP.
    Raw,
}

impl Clock {
    /// As in documents.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Monotonic => "monotonic",
            Clock::Realtime => "realtime",
            Clock::Raw => "monotonic-raw",
        }
    }
}

/// What is compared between CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counter {
    /// The time stamp counter, in ticks.
    Tsc,
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    Monotonic,
}

impl Counter {
    /// As in documents.
    pub fn name(self) -> &'static str {
        match self {
            Counter::Tsc => "tsc",
            Counter::Monotonic => "monotonic",
        }
    }
}

/// What a thread that stays on one CPU reads there. Readings are in the order of the calls.
pub(super) trait Core {
    /// The time stamp counter.
    fn ticks(&mut self) -> u64;
    /// A clock, in nanoseconds.
    fn time(&mut self, clock: Clock) -> i64;
    /// How long this thread has been at work. It need not be right: it ends the work.
    fn elapsed(&mut self) -> Duration;
}

/// A clock between two readings of the counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    pub before: u64,
    pub time: i64,
    pub after: u64,
}

impl Reading {
    pub fn take(core: &mut impl Core, clock: Clock) -> Reading {
        let before = core.ticks();
        let time = core.time(clock);
        Reading { before, time, after: core.ticks() }
    }

    /// Of several, the one that took the least.
    pub fn closest(core: &mut impl Core, clock: Clock) -> Reading {
        let first = Reading::take(core, clock);
        let others = (0..CLOSEST).map(|_| Reading::take(core, clock));
        others.fold(first, |best, next| if next.width() < best.width() { next } else { best })
    }

    /// How far apart the two readings of the counter are.
    pub fn width(self) -> u64 {
        self.after.saturating_sub(self.before)
    }

    /// When the clock was read, in ticks, give or take half of the width.
    pub fn middle(self) -> f64 {
        self.before as f64 + self.width() as f64 / 2.0
    }
}

/// Readings of which the closest is kept.
const CLOSEST: usize = 32;

/// There and back: a CPU reads its counter and writes to memory that another waits for; that one reads its own and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exchange {
    /// What the first read before it wrote.
    pub sent: i64,
    /// What the second read in between.
    pub echoed: i64,
    /// What the first read when it had the answer.
    pub returned: i64,
}

/// Exchanges of two CPUs, by what was compared.
#[derive(Debug, Clone, Default)]
pub(super) struct Exchanges {
    pub ticks: Vec<Exchange>,
    pub monotonic: Vec<Exchange>,
}

/// CPUs, and threads on them.
pub(super) trait Machine {
    type Core: Core;

    /// Those that may be looked at, ascending.
    fn cpus(&self) -> Vec<usize>;

    /// Does this on that CPU.
    ///
    /// # Errors
    /// Why no thread runs there, in words.
    fn on<T: Send>(&self, cpu: usize, work: impl FnOnce(&mut Self::Core) -> T + Send) -> Result<T, String>;

    /// Exchanges between two CPUs, of both counters in turns, for about so long.
    ///
    /// # Errors
    /// Why there were none, in words.
    fn exchange(&self, pair: (usize, usize), time: Duration) -> Result<Exchanges, String>;

    /// Since the look began.
    fn elapsed(&self) -> Duration;
}

use crate::random::Random;
use std::time::Duration;

/// How fast a core runs: its frequency over time, in GHz (cycles per nanosecond).
#[derive(Debug, Clone, PartialEq)]
pub enum Clock {
    /// Always the same.
    Constant(f64),
    /// Another frequency from given times on, which ascend.
    Steps {
        /// At the start.
        first: f64,
        /// The time since the machine started, and the frequency from then on.
        changes: Vec<(Duration, f64)>,
    },
    /// Jumps between some frequencies, after exponentially distributed times.
    Jumps {
        /// The frequencies, each as likely as the others; at least one.
        among: Vec<f64>,
        /// Mean time at one of them.
        every: Duration,
    },
    /// Wanders slowly: a random walk between bounds.
    Wander {
        /// Lowest and highest frequency.
        between: (f64, f64),
        /// Standard deviation of one step of the walk, as a part of the frequency.
        step: f64,
        /// Time between two steps.
        every: Duration,
    },
}

impl Default for Clock {
    /// 4 GHz.
    fn default() -> Clock {
        Clock::Constant(4.0)
    }
}

/// A core's clock at work.
#[derive(Debug, Clone)]
pub(crate) struct RunningClock {
    clock: Clock,
    random: Random,
    /// The last frequency, in cycles per nanosecond.
    pub frequency: f64,
    /// When it changes next, in nanoseconds.
    pub next: f64,
}

impl RunningClock {
    pub fn new(clock: Clock, random: Random) -> RunningClock {
        let mut running = RunningClock { clock, random, frequency: 0.0, next: 0.0 };
        running.frequency = match &running.clock {
            Clock::Constant(frequency) => *frequency,
            Clock::Steps { first, .. } => *first,
            Clock::Jumps { among, .. } => among[running.random.below(among.len())],
            Clock::Wander { between, .. } => running.random.within(*between),
        };
        running.plan(0.0);
        running
    }

    /// Lets everything happen until `now`.
    pub fn catch_up(&mut self, now: f64) {
        while self.next <= now {
            self.advance();
        }
    }

    /// Lets the one thing happen that is due next.
    pub fn advance(&mut self) {
        let now = self.next;
        match &self.clock {
            Clock::Constant(_) => {}
            Clock::Steps { changes, .. } => {
                let last = changes.iter().rev().find(|(at, _)| nanos(*at) <= now);
                self.frequency = last.map_or(self.frequency, |(_, frequency)| *frequency);
            }
            Clock::Jumps { among, .. } => self.frequency = among[self.random.below(among.len())],
            Clock::Wander { between, step, .. } => {
                let moved = self.frequency * (1.0 + self.random.normal() * step);
                self.frequency = reflected(moved, *between);
            }
        }
        self.plan(now);
    }

    fn plan(&mut self, now: f64) {
        self.next = match &self.clock {
            Clock::Constant(_) => f64::INFINITY,
            Clock::Steps { changes, .. } => {
                changes.iter().map(|(at, _)| nanos(*at)).find(|at| *at > now).unwrap_or(f64::INFINITY)
            }
            Clock::Jumps { every, .. } => now + nanos(*every) * self.random.exponential(),
            Clock::Wander { every, .. } => now + nanos(*every),
        };
    }
}

/// Brings a value back between bounds as a mirror at either would.
fn reflected(value: f64, (low, high): (f64, f64)) -> f64 {
    let mirrored = if value < low { 2.0 * low - value } else { value };
    let mirrored = if mirrored > high { 2.0 * high - mirrored } else { mirrored };
    mirrored.clamp(low, high)
}

pub(crate) fn nanos(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e9
}

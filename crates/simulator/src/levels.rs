use crate::clock::nanos;
use crate::random::Random;
use std::time::Duration;

/// The state of a core that decides what a kernel entry costs there: every entry of every process takes longer or shorter by the same
/// factor, until the state is another one. Canaries, chains and controls do not notice.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// The factors, each as likely as the others; at least one.
    pub among: Vec<f64>,
    /// Mean time at one of them.
    pub every: Duration,
}

impl Default for Levels {
    /// One level, for ever.
    fn default() -> Levels {
        Levels { among: vec![1.0], every: Duration::MAX }
    }
}

impl Levels {
    /// The mean of the factors.
    pub fn mean(&self) -> f64 {
        self.among.iter().sum::<f64>() / self.among.len() as f64
    }
}

/// Levels at work.
#[derive(Debug, Clone)]
pub(crate) struct RunningLevels {
    levels: Levels,
    random: Random,
    /// The factor now.
    pub factor: f64,
    /// When it is drawn again, in nanoseconds.
    pub next: f64,
}

impl RunningLevels {
    pub fn new(levels: Levels, random: Random) -> RunningLevels {
        let mut running = RunningLevels { levels, random, factor: 1.0, next: 0.0 };
        running.advance();
        running
    }

    /// Lets everything happen until `now`.
    pub fn catch_up(&mut self, now: f64) {
        while self.next <= now {
            self.advance();
        }
    }

    /// Draws the next level.
    pub fn advance(&mut self) {
        let among = &self.levels.among;
        self.factor = among[self.random.below(among.len())];
        // One level lasts for ever.
        let lasts = if among.len() > 1 {
            nanos(self.levels.every) * self.random.exponential()
        } else {
            f64::INFINITY
        };
        self.next += lasts;
    }
}

use crate::clock::{Clock, RunningClock, nanos};
use crate::levels::{Levels, RunningLevels};
use crate::neighbour::{Durations, Neighbour, RunningNeighbour};
use crate::random::Random;
use std::time::Duration;

/// Interrupts of a core.
#[derive(Debug, Clone, PartialEq)]
pub struct Interrupts {
    /// How many there are in a second, at random times.
    pub per_second: f64,
    /// Median of what one takes, in cycles.
    pub cycles: f64,
    /// Standard deviation of the logarithm of that.
    pub spread: f64,
}

impl Default for Interrupts {
    /// 250 in a second, of some 8000 cycles.
    fn default() -> Interrupts {
        Interrupts { per_second: 250.0, cycles: 8000.0, spread: 0.5 }
    }
}

/// When the scheduler takes the core away from the probe.
#[derive(Debug, Clone, PartialEq)]
pub struct Preemptions {
    /// How often in a second in which the probe runs, at random times.
    pub per_second: f64,
    /// For how long.
    pub duration: Durations,
    /// Whether the probe may go on on another CPU.
    pub migrate: bool,
}

impl Default for Preemptions {
    /// Twice in a second, for some 3 ms, on the same CPU.
    fn default() -> Preemptions {
        let duration = Durations::LogNormal(Duration::from_millis(3), 0.5);
        Preemptions { per_second: 2.0, duration, migrate: false }
    }
}

/// One CPU.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cpu {
    /// Its frequency.
    pub clock: Clock,
    /// Who uses the sibling hyperthread.
    pub neighbour: Neighbour,
    /// Its interrupts.
    pub interrupts: Interrupts,
    /// When somebody else runs on it.
    pub preemptions: Preemptions,
    /// What entries cost at a time, by a state of the core.
    pub levels: Levels,
}

/// What makes an instruction take longer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// Nothing does: it waits for the one before it.
    Dependent,
    /// It competes for the core's execution ports.
    Independent,
    /// It is what the kernel does for an entry.
    Entry,
}

/// What happened to a running process.
pub(crate) enum Event {
    /// Something changed around it.
    Change,
    /// An interrupt, of so many nanoseconds.
    Interrupt(f64),
    /// It was preempted for so many nanoseconds.
    Preemption(f64),
}

/// A CPU at work. Its clock and its neighbour draw from streams of their own, so that they do not depend on what runs.
#[derive(Debug, Clone)]
pub(crate) struct Core {
    clock: RunningClock,
    neighbour: RunningNeighbour,
    levels: RunningLevels,
    interrupts: Interrupts,
    preemptions: Preemptions,
    random: Random,
    next_interrupt: f64,
    next_preemption: f64,
    /// Nanoseconds in a cycle; a division less for every piece of work.
    pace: f64,
    /// When the next event is due, in nanoseconds.
    pub next: f64,
}

impl Core {
    pub fn new(cpu: &Cpu, random: &mut Random) -> Core {
        let mut core = Core {
            clock: RunningClock::new(cpu.clock.clone(), random.split()),
            neighbour: RunningNeighbour::new(cpu.neighbour.clone(), random.seed()),
            interrupts: cpu.interrupts.clone(),
            preemptions: cpu.preemptions.clone(),
            random: random.split(),
            levels: RunningLevels::new(cpu.levels.clone(), random.split()),
            next_interrupt: 0.0,
            next_preemption: 0.0,
            pace: 0.0,
            next: 0.0,
        };
        core.catch_up(0.0);
        core
    }

    /// Whether a preempted process may go on elsewhere.
    pub fn migrates(&self) -> bool {
        self.preemptions.migrate
    }

    /// Whether somebody is on the sibling hyperthread.
    pub fn is_shared(&self) -> bool {
        self.neighbour.is_shared()
    }

    /// Nanoseconds that one cycle's worth of work takes now.
    pub fn nanos_per_cycle(&self, work: Work) -> f64 {
        match work {
            Work::Dependent => self.pace,
            Work::Independent => self.pace * self.neighbour.slowdown.canary,
            Work::Entry => self.pace * self.neighbour.slowdown.entry * self.levels.factor,
        }
    }

    /// Lets happen what was due until `now` while nothing of interest ran here.
    pub fn catch_up(&mut self, now: f64) {
        self.clock.catch_up(now);
        self.neighbour.catch_up(now);
        self.levels.catch_up(now);
        // Both come at random, without memory: those that nobody saw do not change when the next one is due.
        if self.next_interrupt <= now {
            self.next_interrupt = now + self.until(self.interrupts.per_second);
        }
        if self.next_preemption <= now {
            self.next_preemption = now + self.until(self.preemptions.per_second);
        }
        self.plan();
    }

    /// Lets the one event happen that is due next.
    pub fn advance(&mut self) -> Event {
        let now = self.next;
        let event = if now >= self.next_interrupt {
            self.next_interrupt = now + self.until(self.interrupts.per_second);
            let cycles = self.interrupts.cycles * (self.interrupts.spread * self.random.normal()).exp();
            Event::Interrupt(cycles / self.clock.frequency)
        } else if now >= self.next_preemption {
            self.next_preemption = now + self.until(self.preemptions.per_second);
            Event::Preemption(self.preemptions.duration.draw(&mut self.random))
        } else {
            if now >= self.clock.next {
                self.clock.advance();
            } else if now >= self.levels.next {
                self.levels.advance();
            } else {
                self.neighbour.advance();
            }
            Event::Change
        };
        self.plan();
        event
    }

    fn until(&mut self, per_second: f64) -> f64 {
        if per_second > 0.0 {
            nanos(Duration::from_secs(1)) / per_second * self.random.exponential()
        } else {
            f64::INFINITY
        }
    }

    fn plan(&mut self) {
        self.pace = 1.0 / self.clock.frequency;
        let changes = self.clock.next.min(self.neighbour.next).min(self.levels.next);
        self.next = changes.min(self.next_interrupt).min(self.next_preemption);
    }
}

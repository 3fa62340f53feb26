use crate::clock::nanos;
use crate::counter::{Ahead, Counter};
use crate::cpu::{Core, Cpu, Event, Work};
use crate::random::Random;
use std::time::Duration;

/// What a machine is like.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Its time stamp counter.
    pub counter: Counter,
    /// Its CPUs, independent of one another; at least one.
    pub cpus: Vec<Cpu>,
    /// What lies between two stamps with nothing between them, in cycles.
    pub overhead: f64,
    /// Standard deviation of that; it dithers a coarse counter.
    pub overhead_jitter: f64,
    /// What a control costs, in cycles.
    pub control: f64,
    /// Independent `not` instructions that a core executes in a cycle when it is alone.
    pub nots_per_cycle: f64,
    /// Standard deviation of that from canary to canary, as a part of it.
    pub nots_jitter: f64,
    /// The part of the canaries whose instructions come from the decoders, and how many times longer these take: none of a
    /// loop's, a fifth and more of a long piece of straight code's (docs/adr/0008).
    pub decoded: (f64, f64),
    /// How long a process takes from its start to its first stamp and from its last to its end, together.
    pub startup: Duration,
}

impl Default for Model {
    /// One quiet 4 GHz core, and a 2 GHz counter that counts by two.
    fn default() -> Model {
        Model {
            counter: Counter::default(),
            cpus: vec![Cpu::default()],
            overhead: 52.0,
            overhead_jitter: 1.0,
            control: 4.0,
            nots_per_cycle: 4.45,
            nots_jitter: 0.01,
            decoded: (0.0, 1.2),
            startup: Duration::from_micros(800),
        }
    }
}

/// The reading of the counter when the machine starts, in nanoseconds of its running: nobody finds it at 0.
const COUNTING_BEFORE: f64 = 1e9;

/// A machine at work. All that happens on it follows from its model, its seed, and what was run on it.
#[derive(Debug, Clone)]
pub struct Machine {
    model: Model,
    /// Steps of the counter in a nanosecond; two divisions less for every stamp.
    counter_rate: f64,
    ahead: Ahead,
    cores: Vec<Core>,
    random: Random,
    /// In nanoseconds.
    now: f64,
    /// The core that the process runs on.
    cpu: usize,
    /// Of the process that runs now.
    preemptions: u64,
    /// Interrupts in all processes so far.
    interrupts: u64,
}

impl Machine {
    /// Starts a machine.
    ///
    /// # Panics
    /// When the model has no CPU.
    pub fn new(seed: u64, model: Model) -> Machine {
        assert!(!model.cpus.is_empty(), "a machine has at least one CPU");
        let mut random = Random::new(seed);
        let cores = model.cpus.iter().map(|cpu| Core::new(cpu, &mut random)).collect();
        let counter_rate = model.counter.rate();
        let ahead = Ahead::default();
        Machine { model, counter_rate, ahead, cores, random, now: 0.0, cpu: 0, preemptions: 0, interrupts: 0 }
    }

    /// What it is like.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The time since it started. Runs and pauses advance it.
    pub fn now(&self) -> Duration {
        Duration::from_secs_f64(self.now / 1e9)
    }

    /// Runs nothing for a while.
    pub fn pause(&mut self, duration: Duration) {
        self.now += nanos(duration);
    }

    /// Interrupts that came while probes were running, from their start to their end.
    pub fn interrupts(&self) -> u64 {
        self.interrupts
    }

    /// Whether somebody is on the sibling hyperthread of a CPU now.
    pub fn is_shared(&mut self, cpu: u64) -> bool {
        let core = &mut self.cores[cpu as usize];
        core.catch_up(self.now);
        core.is_shared()
    }

    /// Starts a process that is pinned to a CPU, and goes on to its first stamp.
    pub(crate) fn start(&mut self, cpu: u64) {
        self.cpu = cpu as usize;
        self.preemptions = 0;
        self.cores[self.cpu].catch_up(self.now);
        self.wait(nanos(self.model.startup));
    }

    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    pub(crate) fn cpu(&self) -> u64 {
        self.cpu as u64
    }

    /// In nanoseconds.
    pub(crate) fn time(&self) -> f64 {
        self.now
    }

    /// Of the running process so far.
    pub(crate) fn preemptions(&self) -> u64 {
        self.preemptions
    }

    /// Executes what takes so many cycles on a core that is alone, and lets everything fall into it that is due.
    pub(crate) fn execute(&mut self, cycles: f64, work: Work) {
        let mut left = cycles.max(0.0);
        loop {
            let core = &self.cores[self.cpu];
            let nanos_per_cycle = core.nanos_per_cycle(work);
            let end = self.now + left * nanos_per_cycle;
            if end < core.next {
                self.now = end;
                return;
            }
            let until = core.next.max(self.now);
            left = (left - (until - self.now) / nanos_per_cycle).max(0.0);
            self.now = until;
            self.happen();
        }
    }

    /// Lets the process do something for so many nanoseconds.
    fn wait(&mut self, nanos: f64) {
        let mut left = nanos;
        loop {
            let next = self.cores[self.cpu].next;
            if self.now + left < next {
                self.now += left;
                return;
            }
            let until = next.max(self.now);
            left -= until - self.now;
            self.now = until;
            self.happen();
        }
    }

    /// Lets the next event of this core happen to the process.
    fn happen(&mut self) {
        match self.cores[self.cpu].advance() {
            Event::Change => {}
            Event::Interrupt(nanos) => {
                self.interrupts += 1;
                self.now += nanos;
            }
            Event::Preemption(nanos) => {
                self.preemptions += 1;
                self.now += nanos;
                if self.cores[self.cpu].migrates() {
                    self.cpu = self.random.below(self.cores.len());
                }
                self.cores[self.cpu].catch_up(self.now);
            }
        }
    }

    /// What the counter says at a time.
    pub(crate) fn reading(&self, time: f64) -> u64 {
        let steps = (COUNTING_BEFORE + time) * self.counter_rate;
        self.model.counter.reading(steps, time, &self.ahead)
    }
}

//! The state of CPUs over time: levels that hold for a second or so, on each CPU by itself, and shifts that hold for minutes.

use rand::RngExt;
use rand::rngs::StdRng;
use std::collections::BTreeMap;

/// What a CPU's state does to the cost of what enters the kernel, each as a part of that.
#[derive(Clone, Copy)]
pub struct State {
    /// By how much levels differ: their standard deviation.
    pub levels: f64,
    /// How long one holds on average, in seconds.
    pub seconds: f64,
    /// Whether all entries have one level together; otherwise each has its own.
    pub are_together: bool,
    /// Whether the intervals of runs have levels in them.
    pub are_told: bool,
    /// How far the two states are apart that hold for minutes.
    pub shifts: f64,
}

impl State {
    /// Nothing.
    pub const NONE: State =
        State { levels: 0.0, seconds: 1.0, are_together: false, are_told: false, shifts: 0.0 };
}

/// How long a shift holds on average, in seconds.
const MINUTES: f64 = 300.0;

/// Rounds of a row in a run.
const ROUNDS: usize = 24;

/// CPUs, of which a run uses one.
const CPUS: u8 = 2;

/// A value that holds for a while, and then is another.
#[derive(Default, Clone, Copy)]
struct Holding {
    value: f64,
    until: f64,
}

impl Holding {
    fn at(&mut self, now: f64, mean: f64, random: &mut StdRng, draw: impl Fn(&mut StdRng) -> f64) -> f64 {
        // Long after its end, nothing is left of what it was.
        self.until = self.until.max(now - 20.0 * mean);
        while self.until <= now {
            self.value = draw(random);
            self.until += -mean * (1.0 - random.random::<f64>()).ln();
        }
        self.value
    }
}

/// The time, and what holds now.
#[derive(Default)]
pub struct Clock {
    now: f64,
    levels: BTreeMap<(u8, String), Holding>,
    shifts: BTreeMap<String, Holding>,
}

impl Clock {
    pub fn now(&self) -> f64 {
        self.now
    }

    pub fn pass(&mut self, seconds: f64) {
        self.now += seconds;
    }

    /// A run: what the state adds to the median of each row's rounds, as a part of the cost, and what the run's interval tells of it.
    pub fn run(
        &mut self,
        state: &State,
        seconds: f64,
        entries: &[&str],
        random: &mut StdRng,
    ) -> Vec<(f64, f64)> {
        if state.levels == 0.0 && state.shifts == 0.0 {
            self.pass(seconds);
            return vec![(0.0, 0.0); entries.len()];
        }
        let cpu = random.random_range(0..CPUS);
        let mut rounds = vec![Vec::with_capacity(ROUNDS); entries.len()];
        for _ in 0..ROUNDS {
            for (entry, rounds) in entries.iter().zip(&mut rounds) {
                self.now += seconds / (ROUNDS * entries.len()) as f64;
                let of = if state.are_together { "all" } else { entry };
                let level = self.levels.entry((cpu, of.into())).or_default();
                let level = level.at(self.now, state.seconds, random, |random| state.levels * normal(random));
                let shift = self.shifts.entry(of.into()).or_default();
                let draw =
                    |random: &mut StdRng| if random.random_bool(0.5) { 0.5 } else { -0.5 } * state.shifts;
                rounds.push(level + shift.at(self.now, MINUTES, random, draw));
            }
        }
        let median = |mut rounds: Vec<f64>| {
            rounds.sort_by(f64::total_cmp);
            (rounds[ROUNDS / 2 - 1] + rounds[ROUNDS / 2]) / 2.0
        };
        let correlated = (2.0 * state.seconds / seconds).min(1.0);
        let told = |rounds: &[f64]| if state.are_told { (correlated * variance(rounds)).sqrt() } else { 0.0 };
        rounds
            .into_iter()
            .map(|rounds| (told(&rounds), rounds))
            .map(|(told, rounds)| (median(rounds), told))
            .collect()
    }
}

/// Of the values of a run: what it can know of the state by itself.
fn variance(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count
}

fn normal(random: &mut StdRng) -> f64 {
    let (a, b): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

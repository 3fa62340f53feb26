use crate::clock::nanos;
use crate::random::Random;
use std::f64::consts::TAU;
use std::time::Duration;

/// What one use of an entry costs more than its control, in core cycles, on a core that is alone. May be negative.
///
/// Costs nest: one per CPU may be a mixture on one of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Cost {
    /// Always the same.
    Constant(f64),
    /// Each use draws one of these, with these shares, which add up to 1.
    Mixture(Vec<(f64, Cost)>),
    /// Every so many uses within a process, the first included, one costs something else.
    Periodic {
        /// Most uses.
        usual: Box<Cost>,
        /// That one.
        rare: Box<Cost>,
        /// After how many uses it comes again; at least 1.
        every: u64,
    },
    /// Each process draws one of these layouts, with these shares, which add up to 1.
    PerProcess(Vec<(f64, Cost)>),
    /// By the CPU's number; the last one holds for all CPUs after it. Not empty.
    PerCpu(Vec<Cost>),
    /// Another cost from given times on, which ascend; a change may fall into a run.
    Steps {
        /// At the start.
        first: Box<Cost>,
        /// The time since the machine started, and the cost from then on.
        changes: Vec<(Duration, Cost)>,
    },
    /// Drifts slowly up and down around a middle, as a sine.
    Drift {
        /// Its middle.
        middle: Box<Cost>,
        /// How far it drifts up and down, in cycles.
        swing: f64,
        /// After which time it comes back.
        period: Duration,
    },
}

/// When and where a subject is used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use {
    pub cpu: u64,
    /// In nanoseconds.
    pub now: f64,
    /// Uses within this process before.
    pub before: u64,
    /// Which layout the process has, from 0 to 1.
    pub layout: f64,
}

impl From<f64> for Cost {
    fn from(cycles: f64) -> Cost {
        Cost::Constant(cycles)
    }
}

impl Cost {
    /// [`Cost::Mixture`] of constants.
    pub fn mixture(modes: &[(f64, f64)]) -> Cost {
        Cost::Mixture(constants(modes))
    }

    /// [`Cost::PerProcess`] of constants.
    pub fn per_process(layouts: &[(f64, f64)]) -> Cost {
        Cost::PerProcess(constants(layouts))
    }

    /// [`Cost::PerCpu`] of constants.
    pub fn per_cpu(costs: &[f64]) -> Cost {
        Cost::PerCpu(costs.iter().map(|cycles| Cost::Constant(*cycles)).collect())
    }

    /// [`Cost::Periodic`] of constants.
    pub fn periodic(usual: f64, rare: f64, every: u64) -> Cost {
        Cost::Periodic { usual: Box::new(usual.into()), rare: Box::new(rare.into()), every }
    }

    /// [`Cost::Steps`] of constants.
    pub fn steps(first: f64, changes: &[(Duration, f64)]) -> Cost {
        let changes = changes.iter().map(|(at, cycles)| (*at, Cost::Constant(*cycles))).collect();
        Cost::Steps { first: Box::new(first.into()), changes }
    }

    /// [`Cost::Drift`] around a constant.
    pub fn drift(middle: f64, swing: f64, period: Duration) -> Cost {
        Cost::Drift { middle: Box::new(middle.into()), swing, period }
    }

    /// Of this use.
    pub(crate) fn of(&self, used: &Use, random: &mut Random) -> f64 {
        match self {
            Cost::Constant(cycles) => *cycles,
            Cost::Mixture(modes) => {
                let point = random.uniform();
                chosen(modes, point).of(used, random)
            }
            Cost::Periodic { usual, rare, every } => {
                let cost = if used.before.is_multiple_of(*every) { rare } else { usual };
                cost.of(used, random)
            }
            Cost::PerProcess(layouts) => chosen(layouts, used.layout).of(used, random),
            Cost::PerCpu(costs) => on(costs, used.cpu).of(used, random),
            Cost::Steps { first, changes } => {
                let last = changes.iter().rev().find(|(at, _)| nanos(*at) <= used.now);
                last.map_or(first.as_ref(), |(_, cost)| cost).of(used, random)
            }
            Cost::Drift { middle, swing, period } => {
                middle.of(used, random) + swing * (TAU * used.now / nanos(*period)).sin()
            }
        }
    }

    /// The mean over uses, processes, and the time between two times.
    fn mean(&self, cpu: u64, from: f64, to: f64) -> f64 {
        match self {
            Cost::Constant(cycles) => *cycles,
            Cost::Mixture(parts) | Cost::PerProcess(parts) => {
                parts.iter().map(|(share, cost)| share * cost.mean(cpu, from, to)).sum()
            }
            Cost::Periodic { usual, rare, every } => {
                let share = 1.0 / *every as f64;
                usual.mean(cpu, from, to) * (1.0 - share) + rare.mean(cpu, from, to) * share
            }
            Cost::PerCpu(costs) => on(costs, cpu).mean(cpu, from, to),
            Cost::Steps { first, changes } => mean_of_steps(first, changes, cpu, from, to),
            Cost::Drift { middle, swing, period } => {
                let turn = TAU / nanos(*period);
                let sine = if to > from {
                    ((from * turn).cos() - (to * turn).cos()) / (turn * (to - from))
                } else {
                    (from * turn).sin()
                };
                middle.mean(cpu, from, to) + swing * sine
            }
        }
    }
}

fn constants(parts: &[(f64, f64)]) -> Vec<(f64, Cost)> {
    parts.iter().map(|(share, cycles)| (*share, Cost::Constant(*cycles))).collect()
}

/// The part that `point`, from 0 to 1, falls into.
fn chosen(parts: &[(f64, Cost)], mut point: f64) -> &Cost {
    for (share, cost) in parts {
        if point < *share {
            return cost;
        }
        point -= share;
    }
    &parts[parts.len() - 1].1
}

fn on(costs: &[Cost], cpu: u64) -> &Cost {
    &costs[(cpu as usize).min(costs.len() - 1)]
}

fn mean_of_steps(first: &Cost, changes: &[(Duration, Cost)], cpu: u64, from: f64, to: f64) -> f64 {
    let starts = std::iter::once((0.0, first)).chain(changes.iter().map(|(at, cost)| (nanos(*at), cost)));
    let ends = changes.iter().map(|(at, _)| nanos(*at)).chain([f64::INFINITY]);
    let mut pieces = starts.zip(ends).map(|((start, cost), end)| (start.max(from), end.min(to), end, cost));
    if to > from {
        let seen = pieces.filter(|(start, until, ..)| start < until);
        seen.map(|(start, until, _, cost)| cost.mean(cpu, start, until) * (until - start)).sum::<f64>()
            / (to - from)
    } else {
        pieces.find(|(.., end, _)| from < *end).map_or(0.0, |(.., cost)| cost.mean(cpu, from, from))
    }
}

/// What is measured: a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// One use between two stamps.
    pub cost: Cost,
    /// One use among others back to back, where that is another.
    pub burst: Option<Cost>,
    /// Standard deviation of single uses, in cycles.
    pub jitter: f64,
    /// By how much it makes each load of a footprint dearer that comes after it, in cycles.
    pub evicts: f64,
}

impl Subject {
    /// Of this cost, the same back to back, with a jitter of 2 cycles.
    pub fn new(cost: impl Into<Cost>) -> Subject {
        Subject { cost: cost.into(), burst: None, jitter: 2.0, evicts: 0.0 }
    }

    /// Its true mean cost at the start, on CPU 0, alone on the core, in core cycles. The whole truth where neither CPU
    /// nor time matters.
    pub fn truth(&self) -> f64 {
        self.truth_on(0)
    }

    /// Its true mean cost on a CPU at the start, in core cycles.
    pub fn truth_on(&self, cpu: u64) -> f64 {
        self.truth_during(cpu, Duration::ZERO, Duration::ZERO)
    }

    /// Its true mean cost on a CPU between two times since the machine started, in core cycles.
    pub fn truth_during(&self, cpu: u64, from: Duration, to: Duration) -> f64 {
        self.cost.mean(cpu, nanos(from), nanos(to))
    }

    /// What one use back to back truly costs more than a control, as [`Subject::truth`] defines it.
    pub fn truth_of_burst(&self) -> f64 {
        self.burst.as_ref().unwrap_or(&self.cost).mean(0, 0.0, 0.0)
    }

    /// Cycles of one use.
    pub(crate) fn draw(&self, used: &Use, random: &mut Random) -> f64 {
        self.cost.of(used, random) + self.jitter * random.normal()
    }

    /// Cycles of one use among others back to back.
    pub(crate) fn draw_in_burst(&self, used: &Use, random: &mut Random) -> f64 {
        self.burst.as_ref().unwrap_or(&self.cost).of(used, random) + self.jitter * random.normal()
    }
}

impl From<f64> for Subject {
    fn from(cycles: f64) -> Subject {
        Subject::new(cycles)
    }
}

//! The look itself: which CPUs do what, one or two at a time, so that a machine that is at work hardly notices.

use super::apart::{Apart, Scale};
use super::machine::{Clock, Counter, Machine, Reading};
use super::steady::{Pace, Steadiness, pace, watch};
use super::{ClockHealth, NotLooked, Rate};
use std::time::Duration;

/// Most CPUs that exchanges are made with from the first; more are sampled.
const MOST_RAYS: usize = 384;

/// Most pairs besides.
const MOST_PAIRS: usize = 48;

/// A look may take so many times its time before what is left is given up.
const PATIENCE: u32 = 4;

/// For what part of the time the first CPU is watched for the clocks' steps, before anything is judged.
const FIRST_WATCH: u32 = 100;

/// The least that a pair or a CPU gets.
const LEAST: Duration = Duration::from_micros(500);

pub(super) fn look(machine: &impl Machine, time: Duration) -> ClockHealth {
    let cpus = machine.cpus();
    let mut look = Look { machine, time, found: ClockHealth::default(), scale: None };
    let Some(&centre) = cpus.first() else {
        look.give_up(0, "no CPU may be used by this process");
        return look.found;
    };
    let first = look.calibrate(centre);
    let rays: Vec<(usize, usize)> =
        spread(cpus.get(1..).unwrap_or_default(), MOST_RAYS).into_iter().map(|cpu| (centre, cpu)).collect();
    let others = pairs_of(&cpus);
    let shares = rays.len() * 2 + others.len();
    if look.scale.is_some() {
        // The first CPU's exchanges come twice, so that counters that go at two rates have time to show it.
        look.exchange(&rays, time * 2 / 5, shares);
        look.watch(&cpus, time / 2);
        look.exchange(&others, time * 2 / 5, shares);
        look.exchange(&rays, time * 2 / 5, shares);
        look.conclude_rate(centre, first);
    }
    look.forget_passing(cpus.len() > 1);
    look.found.cpus = cpus;
    look.found.seconds = machine.elapsed().as_secs_f64();
    look.found
}

/// So many of them, evenly.
fn spread(cpus: &[usize], most: usize) -> Vec<usize> {
    let every = cpus.len().div_ceil(most).max(1);
    cpus.iter().copied().step_by(every).collect()
}

/// Pairs that have not the first CPU in them: half of the CPUs away from each other, and next to each other.
fn pairs_of(cpus: &[usize]) -> Vec<(usize, usize)> {
    let others = cpus.get(1..).unwrap_or_default();
    let at_distance = |distance: usize| others.iter().copied().zip(others.iter().copied().skip(distance));
    let half = (others.len() / 2).max(1);
    let neighbours = at_distance(1).filter(|_| half > 1);
    let pairs: Vec<(usize, usize)> = at_distance(half).chain(neighbours).collect();
    let every = pairs.len().div_ceil(MOST_PAIRS).max(1);
    pairs.into_iter().step_by(every).collect()
}

struct Look<'m, M> {
    machine: &'m M,
    time: Duration,
    found: ClockHealth,
    scale: Option<Rates>,
}

/// How clocks go; and steps in units, by which a reading may lag behind what is counted.
#[derive(Clone, Copy)]
struct Rates {
    monotonic: Pace,
    realtime: Pace,
    monotonic_step: f64,
    tsc_step: f64,
}

impl<M: Machine> Look<'_, M> {
    fn give_up(&mut self, cpu: usize, why: &str) {
        if self.found.not_looked.iter().all(|not| not.cpu != cpu) {
            self.found.not_looked.push(NotLooked { cpu, why: why.to_owned() });
        }
    }

    /// A CPU that had no time for one thing, and later had it, was looked at.
    fn forget_passing(&mut self, has_pairs: bool) {
        let ClockHealth { not_looked, steadiness, apart, .. } = &mut self.found;
        let is_watched = |cpu: usize| steadiness.iter().any(|each| each.cpu == cpu);
        let is_compared = |cpu: usize| apart.iter().any(|each| each.from == cpu || each.to == cpu);
        not_looked.retain(|not| !is_watched(not.cpu) || (has_pairs && !is_compared(not.cpu)));
    }

    fn is_late(&self) -> bool {
        self.machine.elapsed() > self.time * PATIENCE
    }

    /// What a tick is, and the first reading of the clock that is not slewed.
    fn calibrate(&mut self, cpu: usize) -> Option<Reading> {
        let work = |core: &mut M::Core| {
            let first = Reading::closest(core, Clock::Raw);
            let rates = pace(core, Clock::Monotonic).zip(pace(core, Clock::Realtime));
            let seen =
                rates.map(|(monotonic, _)| watch(core, Clock::Monotonic, monotonic, self.time / FIRST_WATCH));
            (first, rates.zip(seen))
        };
        match self.machine.on(cpu, work) {
            Ok((first, rates)) => {
                self.scale = rates.map(|((monotonic, realtime), [clock, counter])| {
                    let tsc_step = step(&counter, monotonic.ns_per_tick);
                    // A clock that goes by the counter has its steps, which rounding to nanoseconds hides.
                    let own = step(&clock, 1.0).max(monotonic.step_ns);
                    let monotonic_step = own.max(tsc_step * monotonic.ns_per_tick);
                    Rates { monotonic, realtime, monotonic_step, tsc_step }
                });
                if self.scale.is_none() {
                    self.give_up(cpu, "the clock or the time stamp counter stood still");
                }
                Some(first)
            }
            Err(why) => {
                self.give_up(cpu, &why);
                None
            }
        }
    }

    fn watch(&mut self, cpus: &[usize], time: Duration) {
        let Some(rates) = self.scale else { return };
        let each = (time / u32::try_from(cpus.len()).unwrap_or(u32::MAX).max(1)).max(LEAST);
        for &cpu in cpus {
            if self.is_late() {
                self.found.left_out += 1;
                continue;
            }
            let work = |core: &mut M::Core| {
                let [monotonic, counter] = watch(core, Clock::Monotonic, rates.monotonic, each * 2 / 3);
                let [realtime, _] = watch(core, Clock::Realtime, rates.realtime, each / 3);
                [monotonic, realtime, counter]
            };
            match self.machine.on(cpu, work) {
                Ok(seen) => self.found.steadiness.extend(seen.map(|each| Steadiness { cpu, ..each })),
                Err(why) => self.give_up(cpu, &why),
            }
        }
    }

    /// Of all pairs together, each share of that time.
    fn exchange(&mut self, pairs: &[(usize, usize)], time: Duration, shares: usize) {
        let each = (time / u32::try_from(shares).unwrap_or(u32::MAX).max(1)).max(LEAST);
        for &pair in pairs {
            if self.is_late() {
                self.found.left_out += 1;
                continue;
            }
            let at_ns = self.machine.elapsed().as_nanos() as f64;
            let exchanges = match self.machine.exchange(pair, each) {
                Ok(exchanges) => exchanges,
                Err(why) => {
                    self.give_up(pair.1, &why);
                    continue;
                }
            };
            let of = [(Counter::Tsc, &exchanges.ticks), (Counter::Monotonic, &exchanges.monotonic)];
            for (counter, exchanges) in of {
                match Apart::of(pair, counter, exchanges, self.scale_of(counter)) {
                    Some(apart) => self.found.apart.push(Apart { at_ns, ..apart }),
                    None => self.give_up(pair.1, "other work left too little time there"),
                }
            }
        }
    }

    fn scale_of(&self, counter: Counter) -> Scale {
        match (counter, self.scale) {
            (_, None) => Scale { unit_ns: 1.0, step: 1.0 },
            (Counter::Tsc, Some(rates)) => {
                Scale { unit_ns: rates.monotonic.ns_per_tick, step: rates.tsc_step }
            }
            (Counter::Monotonic, Some(rates)) => Scale { unit_ns: 1.0, step: rates.monotonic_step },
        }
    }

    fn conclude_rate(&mut self, cpu: usize, first: Option<Reading>) {
        let Some(first) = first else { return };
        if let Ok(last) = self.machine.on(cpu, |core| Reading::closest(core, Clock::Raw)) {
            self.found.rate = Rate::between(first, last);
        }
    }
}

/// In units. What repeats itself has steps that take longer than a reading; the differences of another tell its step.
fn step(seen: &Steadiness, unit_ns: f64) -> f64 {
    let step = match seen.repeats {
        0 => seen.common_step.map(|step| step as f64),
        _ => seen.smallest_ns.map(|step| step / unit_ns),
    };
    step.unwrap_or(1.0).max(1.0)
}

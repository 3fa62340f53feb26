//! A machine whose clocks are known, and what the method says of it.

use super::apart::Apart;
use super::look::look;
use super::machine::{Clock, Core, Exchange, Exchanges, Machine};
use super::steady::{pace, watch};
use super::{ClockHealth, Steps};
use std::cell::RefCell;
use std::time::Duration;

/// What is wrong with a machine, and how it is otherwise.
#[derive(Debug, Clone)]
struct Truth {
    cpus: usize,
    seed: u64,
    /// Ticks in a nanosecond.
    ticks: f64,
    /// In how many ticks the counter goes on at once.
    tsc_step: u64,
    /// In how many nanoseconds the clocks do.
    clock_step: u64,
    /// By how much the counter of each CPU is ahead, nanoseconds; and by how much of itself it is too fast.
    ahead: Vec<f64>,
    fast: Vec<f64>,
    /// At this time the clocks go on by so much more, nanoseconds.
    jump: Option<(f64, f64)>,
    /// From this time on the clocks stand for so long, nanoseconds, and then go on as if they had not.
    stall: Option<(f64, f64)>,
    /// How many times in a million steps a thread loses its CPU, and for how long at most, nanoseconds.
    preemptions: f64,
    longest: f64,
    /// How long a message takes at least, and the mean of what comes on top, nanoseconds.
    message: f64,
    noise: f64,
    /// What a reading of a clock costs, nanoseconds.
    reading: f64,
    /// Whether clocks go by the counter of the CPU, as with clocksource tsc.
    by_tsc: bool,
}

impl Truth {
    fn healthy(seed: u64) -> Truth {
        Truth {
            cpus: 2,
            seed,
            ticks: 2.6,
            tsc_step: 1,
            clock_step: 1,
            ahead: vec![0.0; 2],
            fast: vec![0.0; 2],
            jump: None,
            stall: None,
            preemptions: 20.0,
            longest: 3e5,
            message: 45.0,
            noise: 30.0,
            reading: 22.0,
            by_tsc: true,
        }
    }

    fn with_cpus(cpus: usize, seed: u64) -> Truth {
        Truth { cpus, ahead: vec![0.0; cpus], fast: vec![0.0; cpus], ..Truth::healthy(seed) }
    }

    /// The counter of a CPU at a true time.
    fn counter(&self, cpu: usize, now: f64) -> u64 {
        let ns = now * (1.0 + self.fast[cpu]) + self.ahead[cpu] + 1e9;
        (ns * self.ticks) as u64 / self.tsc_step * self.tsc_step
    }

    fn clock(&self, cpu: usize, now: f64) -> i64 {
        let mut now_ns = if self.by_tsc { self.counter(cpu, now) as f64 / self.ticks } else { now + 1e9 };
        if let Some((at, by)) = self.jump
            && now >= at
        {
            now_ns += by;
        }
        if let Some((at, long)) = self.stall
            && now >= at
            && now < at + long
        {
            now_ns -= now - at;
        }
        now_ns as u64 as i64 / self.clock_step as i64 * self.clock_step as i64
    }
}

/// A made-up stream of numbers (xorshift64*).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }
}

struct State {
    now: f64,
    dice: Dice,
}

impl State {
    /// Time goes by: so much at least, some noise, and sometimes something else runs.
    fn pass(&mut self, truth: &Truth, at_least: f64, noise: f64) {
        self.now += at_least - noise * self.dice.next().max(1e-12).ln();
        if self.dice.next() < truth.preemptions / 1e6 {
            self.now += truth.longest * self.dice.next();
        }
    }
}

struct Simulated {
    truth: Truth,
    state: RefCell<State>,
}

struct SimulatedCore {
    truth: Truth,
    cpu: usize,
    state: State,
    began: f64,
}

impl Core for SimulatedCore {
    fn ticks(&mut self) -> u64 {
        self.state.pass(&self.truth, 12.0, 1.0);
        self.truth.counter(self.cpu, self.state.now)
    }

    fn time(&mut self, clock: Clock) -> i64 {
        self.state.pass(&self.truth, self.truth.reading / 2.0, 1.0);
        let time = match clock {
            Clock::Raw => (self.state.now + 1e9) as i64,
            _ => self.truth.clock(self.cpu, self.state.now),
        };
        self.state.pass(&self.truth, self.truth.reading / 2.0, 1.0);
        time
    }

    fn elapsed(&mut self) -> Duration {
        Duration::from_nanos((self.state.now - self.began) as u64)
    }
}

impl Machine for Simulated {
    type Core = SimulatedCore;

    fn cpus(&self) -> Vec<usize> {
        (0..self.truth.cpus).collect()
    }

    fn on<T: Send>(
        &self,
        cpu: usize,
        work: impl FnOnce(&mut SimulatedCore) -> T + Send,
    ) -> Result<T, String> {
        let mut state = self.state.borrow_mut();
        state.now += 1e5;
        let own = State { now: state.now, dice: Dice(state.dice.0) };
        let mut core = SimulatedCore { truth: self.truth.clone(), cpu, began: own.now, state: own };
        let done = work(&mut core);
        *state = core.state;
        Ok(done)
    }

    fn exchange(&self, (from, to): (usize, usize), time: Duration) -> Result<Exchanges, String> {
        let mut exchanges = Exchanges::default();
        let (truth, mut state) = (&self.truth, self.state.borrow_mut());
        let until = state.now + time.as_nanos() as f64;
        for number in 0..4000 {
            let is_tsc = number % 2 == 0;
            let read = |cpu, now| if is_tsc { truth.counter(cpu, now) as i64 } else { truth.clock(cpu, now) };
            state.pass(truth, 10.0, 1.0);
            let sent = read(from, state.now);
            state.pass(truth, truth.message, truth.noise);
            let echoed = read(to, state.now);
            state.pass(truth, truth.message, truth.noise);
            let returned = read(from, state.now);
            let of = if is_tsc { &mut exchanges.ticks } else { &mut exchanges.monotonic };
            of.push(Exchange { sent, echoed, returned });
            if state.now > until && number > 64 {
                break;
            }
        }
        Ok(exchanges)
    }

    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.state.borrow().now as u64)
    }
}

fn simulated(truth: Truth) -> Simulated {
    let dice = Dice(truth.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    Simulated { truth, state: RefCell::new(State { now: 0.0, dice }) }
}

fn looked(truth: Truth, millis: u64) -> ClockHealth {
    let cpus = truth.cpus;
    let found = look(&simulated(truth), Duration::from_millis(millis));
    assert_eq!((found.steadiness.len(), found.left_out), (cpus * 3, 0), "all of it was looked at");
    assert!(found.apart.len() >= 4 * (cpus - 1) && found.not_looked.is_empty(), "{found:?}");
    found
}

/// Whether anything in it is no steady clock.
fn is_suspicious(found: &ClockHealth) -> bool {
    let none = Steps::default();
    found.apart.iter().any(|apart| apart.warp_ns > 0.0)
        || found.steadiness.iter().any(|each| [each.backward, each.stalls, each.jumps] != [none; 3])
}

/// Short looks: thousands of them take a minute.
const MILLIS: u64 = 10;

fn worst(found: &ClockHealth, counter: &str) -> f64 {
    let of = found.apart.iter().filter(|apart| apart.counter == counter);
    of.map(|apart| apart.warp_ns).fold(0.0, f64::max)
}

fn best(found: &ClockHealth, counter: &str) -> Apart {
    let of = found.apart.iter().filter(|apart| apart.counter == counter);
    of.min_by(|a, b| a.uncertainty_ns.total_cmp(&b.uncertainty_ns)).unwrap().clone()
}

#[test]
fn three_thousand_healthy_machines_raise_no_alarm() {
    for seed in 0..3000 {
        let healthy = Truth::healthy(seed);
        let truth = match seed % 8 {
            0 => Truth { tsc_step: 26, ..healthy },
            1 => Truth { tsc_step: 2, clock_step: 10, ..healthy },
            2 => Truth { preemptions: 2000.0, longest: 2e5, ..healthy },
            3 => Truth { clock_step: 1_000_000, by_tsc: false, ..healthy },
            4 => Truth { reading: 1200.0, clock_step: 279, by_tsc: false, ..healthy },
            5 => Truth { message: 400.0, noise: 300.0, ..healthy },
            6 => Truth { fast: vec![2e-9, -2e-9], ..healthy },
            _ => healthy,
        };
        let found = looked(truth.clone(), MILLIS);
        assert!(!is_suspicious(&found), "{truth:?}: {found:#?}");
    }
}

#[test]
fn a_known_offset_lies_within_the_uncertainty() {
    for seed in 0..400 {
        let ahead = (seed as f64 - 200.0) * 5.0;
        let found = looked(Truth { ahead: vec![0.0, ahead], ..Truth::healthy(seed) }, MILLIS);
        for apart in &found.apart {
            let (low, high) = apart.ends();
            // The rate of the counter is measured, too.
            assert!(low - 1.0 <= ahead && ahead <= high + 1.0, "{ahead}: {apart:?}");
            assert!(apart.uncertainty_ns < 100.0, "half of the shortest exchange: {apart:?}");
        }
    }
}

#[test]
fn a_warp_beyond_the_uncertainty_is_always_seen_and_one_far_within_it_never() {
    for seed in 0..400 {
        for (ahead, is_seen) in [(150.0, true), (-150.0, true), (30.0, false), (-30.0, false)] {
            let found = looked(Truth { ahead: vec![0.0, ahead], ..Truth::healthy(seed) }, MILLIS);
            for counter in ["tsc", "monotonic"] {
                assert_eq!(
                    worst(&found, counter) > 0.0,
                    is_seen,
                    "{seed} {ahead} {counter}: {:?}",
                    found.apart
                );
            }
            assert!(worst(&found, "tsc") < f64::abs(ahead), "it is no larger than the offset");
        }
    }
}

#[test]
fn counters_that_drift_apart_differ_from_the_first_exchanges_to_the_last() {
    // 200 parts in a million, over some 6 ms: about a microsecond.
    let truth = Truth { fast: vec![0.0, 2e-4], by_tsc: false, ..Truth::healthy(3) };
    let found = looked(truth, 20);
    let of: Vec<&Apart> = found.apart.iter().filter(|apart| apart.counter == "tsc").collect();
    let (first, last) = (of.first().unwrap(), of.last().unwrap());
    assert!(last.ends().0 > first.ends().1, "{of:?}");
    let drift = (last.offset_ns - first.offset_ns) / (last.at_ns - first.at_ns);
    assert!((1.5e-4..2.5e-4).contains(&drift), "{drift}");
    assert_eq!(worst(&found, "monotonic"), 0.0, "the clock does not go by the counter");
}

/// A watch of 8 ms on the second CPU, the event in its middle.
fn watched(truth: Truth) -> super::Steadiness {
    let machine = simulated(truth);
    let work = |core: &mut SimulatedCore| {
        let pace = pace(core, Clock::Monotonic).unwrap();
        assert!(core.state.now < EVENT, "it is known before");
        watch(core, Clock::Monotonic, pace, Duration::from_millis(8))
    };
    let [clock, _] = machine.on(1, work).unwrap();
    clock
}

/// When clocks jump or stand.
const EVENT: f64 = 6e6;

#[test]
fn jumps_and_stalls_are_told_from_preemption() {
    let largest = |steps: Steps| steps.largest_ns;
    let mut seen = [0; 3];
    for seed in 0..300 {
        // A thread that loses its CPU some ten times in a millisecond, for up to 100 µs.
        let noisy = Truth { preemptions: 100.0, longest: 1e5, ..Truth::healthy(seed) };
        let none = Steps::default();
        let quiet = watched(noisy.clone());
        assert_eq!([quiet.backward, quiet.stalls, quiet.jumps], [none; 3], "{quiet:?}");
        assert!(quiet.longest_gap_ns > 20_000.0, "it was preempted: {quiet:?}");
        for (index, by) in [30_000.0, 3e6].into_iter().enumerate() {
            let forward = largest(watched(Truth { jump: Some((EVENT, by)), ..noisy.clone() }).jumps);
            // How long the thread was kept from the clock at that very moment is in doubt.
            assert!(forward < by + 1000.0, "{by}: {forward}");
            seen[index] += u32::from(forward > by - 1000.0);
            let back = watched(Truth { jump: Some((EVENT, -by)), ..noisy.clone() });
            seen[index] += u32::from(largest(back.backward) > 0.0 || largest(back.stalls) > 0.0);
        }
        let stalled = watched(Truth { stall: Some((EVENT, 200_000.0)), ..noisy });
        seen[2] += u32::from(stalled.jumps.count + stalled.stalls.count > 0);
    }
    // What happens while the thread has no CPU is hidden, if it is shorter than that.
    println!("{seen:?} of 600 jumps of 30 µs, 600 of 3 ms, and 300 stalls of 200 µs were told");
    assert!(seen[0] > 400 && seen[1] > 500 && seen[2] > 250, "{seen:?} of 600, 600 and 300");
}

#[test]
fn steps_are_told() {
    let of = |truth: Truth, clock: &str| {
        let found = looked(truth, MILLIS);
        let seen = found.steadiness.iter().find(|each| each.clock == clock).unwrap();
        (seen.common_step, seen.smallest_ns.unwrap())
    };
    for step in [1, 2, 10] {
        assert_eq!(of(Truth { clock_step: step, ..Truth::healthy(1) }, "monotonic").0, Some(step));
    }
    assert_eq!(of(Truth { tsc_step: 26, ..Truth::healthy(1) }, "tsc").0, Some(26));
    let coarse = Truth { clock_step: 100_000, by_tsc: false, ..Truth::healthy(1) };
    assert_eq!(of(coarse, "monotonic"), (Some(100_000), 100_000.0));
}

#[test]
fn a_large_machine_is_looked_at_in_seconds_and_the_bad_cpu_is_found() {
    let mut truth = Truth::with_cpus(256, 5);
    truth.ahead[200] = 900.0;
    let found = looked(truth, 1500);
    assert!(found.seconds < 4.0, "{}", found.seconds);
    assert_eq!((found.left_out, found.not_looked.len()), (0, 0));
    let bad: Vec<&Apart> = found.apart.iter().filter(|apart| apart.warp_ns > 0.0).collect();
    assert!(!bad.is_empty() && bad.iter().all(|apart| apart.from == 200 || apart.to == 200), "{bad:?}");
    assert!((best(&found, "tsc").uncertainty_ns) < 100.0);
}

#[test]
fn the_rate_is_told_with_its_uncertainty() {
    for seed in 0..100 {
        let rate = looked(Truth { ticks: 3.1, ..Truth::healthy(seed) }, MILLIS).rate.unwrap();
        assert!((rate.hz / 3.1e9 - 1.0).abs() <= rate.uncertainty, "{rate:?}");
        assert!(rate.uncertainty < 1e-4, "{rate:?}");
    }
}

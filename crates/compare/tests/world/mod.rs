//! Simulated runs whose truth is known, of every row that works on a usual machine.
//!
//! The figures of a run are the true costs, plus what its boot adds, plus what the run adds (a part of that to all rows of a kind alike,
//! as on real machines), plus the error within the run, which its interval tells, plus the error of its clock, which all of its rows have
//! in common. Where a world has levels, a row's figure is the median of rounds that were taken all through the run, and each round
//! costs what the CPU's state makes it cost in that moment.
#![allow(clippy::unwrap_used, dead_code)] // a failing unwrap is a failing test; each test uses a part

pub mod state;

use compare::{Comparison, Row, Run, Settings, SideRuns, Verdict, compare};
use document::{Document, Measurement, Path};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use state::{Clock, State};
use stats::{Cost, Counts, Cycles};
use table::special::CALL;
use table::{Kernel, Table};

/// Comparisons of a case.
pub fn many() -> u64 {
    simulator::runs(100)
}

/// Of what takes many runs too, and is less than a claim of its own.
pub fn fewer() -> u64 {
    (many() / 4).max(100)
}

/// Entries that are closed on the machines that were seen.
const CLOSED: [&str; 5] =
    ["syscall-x32", "sysenter-i386", "lcall7-i386", "mapped-time-devmem", "mapped-time-perf"];

/// How much figures move, each standard deviation as a part of the cost.
#[derive(Clone, Copy)]
pub struct Moves {
    /// Steady rows, from run to run.
    pub steady: f64,
    /// Interrupts and exceptions.
    pub piecewise: f64,
    /// Boots, as a part of what runs do.
    pub boots: f64,
    /// By how much rows of a kind differ in that: a factor of e to this, in both directions.
    pub unlike: f64,
    /// The part of a run's variance that all rows of a kind have in common.
    pub in_common: f64,
    /// Within a run. Its interval says a quarter more.
    pub within: f64,
    /// Of a run's clock.
    pub clock: f64,
    /// Runs in which every system call costs 2.9 % more and every interrupt 8 %: bench/OUTLIERS.md has seen one in 56.
    pub states: f64,
    /// What a CPU's state does over time to whatever enters the kernel.
    pub state: State,
    /// How long a run takes, in seconds.
    pub seconds: f64,
}

/// As they were seen on two machines (docs/adr/0012-comparisons-reckon-with-runs.md).
pub const SEEN: Moves = Moves {
    steady: 0.0015,
    piecewise: 0.02,
    boots: 0.0,
    unlike: 0.3,
    in_common: 0.5,
    within: 0.0015,
    clock: 0.0006,
    states: 0.0,
    state: State::NONE,
    seconds: 5.0,
};

/// As the prior says; then nothing varies within a run.
pub const PRIOR: Moves =
    Moves { steady: 0.002, piecewise: 0.025, unlike: 0.0, in_common: 0.0, within: 1e-6, clock: 0.0, ..SEEN };

pub const TWICE: Moves = Moves { steady: 0.004, piecewise: 0.05, ..PRIOR };

/// In which order the runs of both sides are taken, a second between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Order {
    /// One of each side in turns.
    Turns,
    /// Those of the base, and then the others.
    OneAfterTheOther,
    /// Those of the others an hour later.
    AnHourLater,
}

pub struct World {
    random: StdRng,
    pub moves: Moves,
    pub rows: Vec<Truth>,
    runs: u64,
    clock: Clock,
}

pub struct Truth {
    pub entry: String,
    pub operation: String,
    bits: u8,
    pub cost: f64,
    deviation: f64,
    pub is_steady: bool,
    path: Option<Path>,
    /// What stays in user space has none.
    has_state: bool,
}

/// What a run is taken of, and when.
struct Taken<'a> {
    boot: &'a str,
    of_boot: &'a [f64],
}

impl World {
    pub fn new(seed: u64, moves: Moves) -> World {
        let random = StdRng::seed_from_u64(seed);
        let mut world = World { random, moves, rows: Vec::new(), runs: 0, clock: Clock::default() };
        let open = |entry: &&table::Entry| !CLOSED.contains(&entry.name.as_str());
        for (entry, operation) in Table::get().rows(Kernel::Linux).filter(|(entry, _)| open(entry)) {
            let is_steady = !entry.uses_idt();
            let cost = if is_steady { world.between(80.0, 600.0) } else { world.between(700.0, 9000.0) };
            let factor = (moves.unlike * world.normal()).exp();
            let deviation = factor * cost * if is_steady { moves.steady } else { moves.piecewise };
            let stays = ["vdso", "mapped-time"].iter().any(|name| entry.name.starts_with(name));
            let path = stays.then_some(Path::User);
            let is_instruction = entry.kind == table::Kind::Instruction && !entry.uses_idt();
            let has_state = !stays && !is_instruction && entry.name != CALL.entry;
            let (entry, operation, bits) = (entry.name.clone(), operation.name.clone(), entry.bits());
            world.rows.push(Truth { entry, operation, bits, cost, deviation, is_steady, path, has_state });
        }
        assert!((90..200).contains(&world.rows.len()), "{} rows", world.rows.len());
        world
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        (self.random.random_range(low.ln()..high.ln())).exp()
    }

    fn normal(&mut self) -> f64 {
        let (a, b): (f64, f64) = (self.random.random(), self.random.random());
        (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// Runs of so many boots, in which costs are multiplied by what `change` says of their row.
    pub fn side(&mut self, boots: usize, runs: usize, change: impl Fn(&str, &str) -> f64) -> SideRuns {
        let mut side = SideRuns::default();
        for _ in 0..boots {
            let boot = self.random.random::<u64>().to_string();
            let common = self.common();
            let of_boot: Vec<f64> =
                (0..self.rows.len()).map(|row| self.moves.boots * self.share(row, common)).collect();
            let boot = if self.moves.boots > 0.0 { boot } else { "one".into() };
            let taken = Taken { boot: &boot, of_boot: &of_boot };
            side.runs.extend((0..runs).map(|_| self.run(&taken, &change)));
        }
        side
    }

    /// Both sides of one boot, in this order.
    pub fn sides(&mut self, order: Order, runs: usize, change: impl Fn(&str, &str) -> f64) -> [SideRuns; 2] {
        let none = vec![0.0; self.rows.len()];
        let taken = Taken { boot: "one", of_boot: &none };
        let mut sides = [SideRuns::default(), SideRuns::default()];
        let turn = |number: usize| match order {
            Order::Turns => number % 2,
            Order::OneAfterTheOther | Order::AnHourLater => number / runs,
        };
        for number in 0..2 * runs {
            if order == Order::AnHourLater && number == runs {
                self.clock.pass(3600.0);
            }
            let run = match turn(number) {
                0 => self.run(&taken, &nothing_changed),
                _ => self.run(&taken, &change),
            };
            sides[turn(number)].runs.push(run);
        }
        sides
    }

    /// What a run, or a boot, adds to all steady rows, and to all others.
    fn common(&mut self) -> [f64; 2] {
        [self.normal(), self.normal()]
    }

    fn share(&mut self, row: usize, common: [f64; 2]) -> f64 {
        let in_common = self.moves.in_common;
        let Truth { deviation, is_steady, .. } = self.rows[row];
        let own = self.normal();
        deviation * (in_common.sqrt() * common[usize::from(is_steady)] + (1.0 - in_common).sqrt() * own)
    }

    fn run(&mut self, taken: &Taken, change: &impl Fn(&str, &str) -> f64) -> Run {
        let (clock, common) = (self.moves.clock * self.normal(), self.common());
        let is_odd = self.random.random_bool(self.moves.states);
        self.runs += 1;
        let entries: Vec<&str> = self.rows.iter().map(|row| row.entry.as_str()).collect();
        let (started, seconds) = (self.clock.now(), self.moves.seconds);
        let states = self.clock.run(&self.moves.state, seconds, &entries, &mut self.random);
        self.clock.pass(1.0);
        let mut document = document(self.runs, taken.boot, started, seconds);
        for (row, boot) in taken.of_boot.iter().enumerate() {
            let moved = boot + self.share(row, common);
            let within = self.moves.within * self.rows[row].cost;
            let error = within * self.normal();
            let truth = &self.rows[row];
            let odd = match (is_odd, truth.is_steady) {
                (false, _) => 1.0,
                (true, true) => 1.029,
                (true, false) => 1.08,
            };
            let (state, told) = if truth.has_state { states[row] } else { (0.0, 0.0) };
            let cost = truth.cost * change(&truth.entry, &truth.operation) * odd * (1.0 + state);
            let figure = (cost + moved + error) * (1.0 + clock);
            let stated = 1.25 * within.hypot(self.moves.clock * cost).hypot(told * cost);
            document.results.push(measured(truth, figure, 1.96 * stated));
        }
        Run::of(Table::get(), &document, None)
    }
}

fn document(number: u64, boot: &str, started: f64, seconds: f64) -> Document {
    let began = std::time::UNIX_EPOCH + std::time::Duration::from_secs_f64(1.8e9 + started);
    let started = humantime::format_rfc3339_millis(began).to_string();
    Document {
        id: Some(format!("{number:032x}")),
        measurement: Measurement { cycles_per_tick: Some(1.2), started, seconds, ..Measurement::default() },
        environment: environment::Environment { boot_id: Some(boot.into()), ..Default::default() },
        ..Document::empty()
    }
}

fn measured(truth: &Truth, figure: f64, reach: f64) -> document::Row {
    let cost = Cost::single(Cycles(figure)).within(Cycles(figure - reach), Cycles(figure + reach));
    document::Row {
        core_cycles: Some(cost),
        path: truth.path,
        counts: Counts { samples: 1000, ..Counts::default() },
        ..document::Row::unmeasured(&truth.entry, &truth.operation, truth.bits)
    }
}

pub fn nothing_changed(_: &str, _: &str) -> f64 {
    1.0
}

/// `syscall-x86_64 none` costs so many times what it did.
pub fn system_calls_cost(factor: f64) -> impl Fn(&str, &str) -> f64 {
    move |entry, operation| if (entry, operation) == ("syscall-x86_64", "none") { factor } else { 1.0 }
}

pub fn the_system_call(found: &Comparison) -> &Row {
    found.rows.iter().find(|row| (&*row.entry, &*row.operation) == ("syscall-x86_64", "none")).unwrap()
}

pub fn between(base: &SideRuns, new: &SideRuns, history: &[Run]) -> Comparison {
    let found = compare(Table::get(), base, new, history, &Settings::default());
    assert!(!found.refused && found.summary.compared == found.summary.rows && found.summary.rows > 90);
    found
}

/// Counts the cases of which `is_so` holds, in two threads.
pub fn count(cases: u64, is_so: impl Fn(u64) -> bool + Sync) -> u64 {
    let half =
        |odd: u64| (0..cases).filter(|case| case % 2 == odd).filter(|case| is_so(*case)).count() as u64;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        half(0) + other.join().unwrap()
    })
}

/// Of so many cases at most that many have what has a probability of 5 %: 6 % of 2000; of fewer, three standard deviations more.
pub fn at_most(cases: u64) -> u64 {
    let count = cases as f64;
    let most = if cases < 2000 { 0.05 * count + 3.0 * (0.05 * 0.95 * count).sqrt() } else { 0.06 * count };
    most as u64
}

pub fn tells_a_change(row: &Row) -> bool {
    matches!(row.verdict, Verdict::Slower | Verdict::Faster)
}

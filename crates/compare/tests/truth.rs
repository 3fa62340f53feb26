//! Comparisons of runs whose truth is known: how often a verdict is false, how often a true change is found, what intervals cover.
//!
//! A simulated run has every row that works on a usual machine. Its figures are the true costs, plus what its boot adds, plus what the
//! run adds (a part of that to all rows of a kind alike, as on real machines), plus the error within the run, which its interval
//! tells, plus the error of its clock, which all of its rows have in common.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use compare::{Comparison, Given, Row, Run, Settings, Verdict, compare};
use document::{Document, Measurement, SCHEMA};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use stats::{Cost, Counts, Cycles};
use std::collections::BTreeMap;
use table::{Kernel, Table};

/// Comparisons of a case: few in the inner loop; `make test` takes 2000.
fn many() -> u64 {
    let asked = std::env::var("KENTRY_SIMULATED_RUNS").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(100)
}

/// Of what takes many runs too, and is less than a claim of its own.
fn fewer() -> u64 {
    (many() / 4).max(100)
}

/// Entries that are closed on the machines that were seen.
const CLOSED: [&str; 5] =
    ["syscall-x32", "sysenter-i386", "lcall7-i386", "mapped-time-devmem", "mapped-time-perf"];

/// How much figures move, each standard deviation as a part of the cost.
#[derive(Clone, Copy)]
struct Moves {
    /// Steady rows, from run to run.
    steady: f64,
    /// Interrupts and exceptions.
    piecewise: f64,
    /// Boots, as a part of what runs do.
    boots: f64,
    /// By how much rows of a kind differ in that: a factor of e to this, in both directions.
    unlike: f64,
    /// The part of a run's variance that all rows of a kind have in common.
    in_common: f64,
    /// Within a run. Its interval says a quarter more.
    within: f64,
    /// Of a run's clock.
    clock: f64,
    /// Runs in which every system call costs 2.9 % more and every interrupt 8 %: bench/OUTLIERS.md has seen one in 56.
    states: f64,
}

/// As they were seen on two machines (docs/adr/0012-comparisons-reckon-with-runs.md).
const SEEN: Moves = Moves {
    steady: 0.0015,
    piecewise: 0.02,
    boots: 0.0,
    unlike: 0.3,
    in_common: 0.5,
    within: 0.0015,
    clock: 0.0006,
    states: 0.0,
};

/// As the prior says; then nothing varies within a run.
const PRIOR: Moves =
    Moves { steady: 0.002, piecewise: 0.025, unlike: 0.0, in_common: 0.0, within: 1e-6, clock: 0.0, ..SEEN };

const TWICE: Moves = Moves { steady: 0.004, piecewise: 0.05, ..PRIOR };

struct World {
    random: StdRng,
    moves: Moves,
    rows: Vec<Truth>,
    runs: u64,
}

struct Truth {
    entry: String,
    operation: String,
    bits: u8,
    cost: f64,
    deviation: f64,
    is_steady: bool,
}

impl World {
    fn new(seed: u64, moves: Moves) -> World {
        let mut world = World { random: StdRng::seed_from_u64(seed), moves, rows: Vec::new(), runs: 0 };
        let open = |entry: &&table::Entry| !CLOSED.contains(&entry.name.as_str());
        for (entry, operation) in Table::get().rows(Kernel::Linux).filter(|(entry, _)| open(entry)) {
            let is_steady = !entry.uses_idt();
            let cost = if is_steady { world.between(80.0, 600.0) } else { world.between(700.0, 9000.0) };
            let factor = (moves.unlike * world.normal()).exp();
            let deviation = factor * cost * if is_steady { moves.steady } else { moves.piecewise };
            let (entry, operation, bits) = (entry.name.clone(), operation.name.clone(), entry.bits());
            world.rows.push(Truth { entry, operation, bits, cost, deviation, is_steady });
        }
        assert!((90..150).contains(&world.rows.len()), "{} rows", world.rows.len());
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
    fn side(&mut self, boots: usize, runs: usize, change: impl Fn(&str, &str) -> f64) -> Given {
        let mut side = Given::default();
        for _ in 0..boots {
            let boot = self.random.random::<u64>().to_string();
            let common = self.common();
            let of_boot: Vec<f64> =
                (0..self.rows.len()).map(|row| self.moves.boots * self.share(row, common)).collect();
            let boot = if self.moves.boots > 0.0 { boot } else { "one".into() };
            side.runs.extend((0..runs).map(|_| self.run(&boot, &of_boot, &change)));
        }
        side
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

    fn run(&mut self, boot: &str, of_boot: &[f64], change: &impl Fn(&str, &str) -> f64) -> Run {
        let (clock, common) = (self.moves.clock * self.normal(), self.common());
        let is_odd = self.random.random_bool(self.moves.states);
        self.runs += 1;
        let mut document = Document {
            schema: SCHEMA.into(),
            id: Some(format!("{:032x}", self.runs)),
            measurement: Measurement { cycles_per_tick: Some(1.2), ..Measurement::default() },
            environment: environment::Environment { boot_id: Some(boot.into()), ..Default::default() },
            vdso: BTreeMap::new(),
            results: Vec::new(),
            findings: Vec::new(),
        };
        for (row, boot) in of_boot.iter().enumerate() {
            let moved = boot + self.share(row, common);
            let within = self.moves.within * self.rows[row].cost;
            let error = within * self.normal();
            let truth = &self.rows[row];
            let state = match (is_odd, truth.is_steady) {
                (false, _) => 1.0,
                (true, true) => 1.029,
                (true, false) => 1.08,
            };
            let cost = truth.cost * change(&truth.entry, &truth.operation) * state;
            let figure = (cost + moved + error) * (1.0 + clock);
            let stated = 1.25 * within.hypot(self.moves.clock * cost);
            document.results.push(measured(truth, figure, 1.96 * stated));
        }
        Run::of(Table::get(), &document, None)
    }
}

fn measured(truth: &Truth, figure: f64, reach: f64) -> document::Row {
    let [estimate, low, high] = [figure, figure - reach, figure + reach].map(Cycles);
    let cost = Cost {
        estimate,
        ci_low: Some(low),
        ci_high: Some(high),
        min: estimate,
        p50: estimate,
        p99: None,
        p999: None,
        max: estimate,
    };
    document::Row {
        core_cycles: Some(cost),
        counts: Counts { samples: 1000, ..Counts::default() },
        ..document::Row::unmeasured(&truth.entry, &truth.operation, truth.bits)
    }
}

fn nothing_changed(_: &str, _: &str) -> f64 {
    1.0
}

fn between(base: &Given, new: &Given, history: &[Run]) -> Comparison {
    let found = compare(Table::get(), base, new, history, &Settings::default());
    assert!(!found.refused && found.summary.compared == found.summary.rows && found.summary.rows > 90);
    found
}

/// Counts the cases of which `is_so` holds, in two threads.
fn count(cases: u64, is_so: impl Fn(u64) -> bool + Sync) -> u64 {
    let half =
        |odd: u64| (0..cases).filter(|case| case % 2 == odd).filter(|case| is_so(*case)).count() as u64;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        half(0) + other.join().unwrap()
    })
}

/// Of so many cases at most that many have what has a probability of 5 %: 6 % of 2000; of fewer, three standard deviations more.
fn at_most(cases: u64) -> u64 {
    let count = cases as f64;
    let most = if cases < 2000 { 0.05 * count + 3.0 * (0.05 * 0.95 * count).sqrt() } else { 0.06 * count };
    most as u64
}

fn tells_a_change(row: &Row) -> bool {
    matches!(row.verdict, Verdict::Slower | Verdict::Faster)
}

struct Case {
    name: &'static str,
    moves: Moves,
    boots: usize,
    runs: usize,
    history: usize,
}

const fn case(name: &'static str, moves: Moves, runs: usize, history: usize) -> Case {
    Case { name, moves, boots: 1, runs, history }
}

/// Boots add twice as much as runs do, which is more than is assumed.
const BOOTS: Moves = Moves { boots: 2.0, ..SEEN };

const CASES: [Case; 18] = [
    case("one run a side, as seen", SEEN, 1, 0),
    case("one run a side, by the prior", PRIOR, 1, 0),
    case("one run a side, twice the prior", TWICE, 1, 0),
    case("one run a side with history, as seen", SEEN, 1, 8),
    case("one run a side with history, by the prior", PRIOR, 1, 8),
    case("one run a side with history, twice the prior", TWICE, 1, 8),
    case("one run a side, with odd runs", Moves { states: 1.0 / 56.0, ..SEEN }, 1, 0),
    case("three runs a side, as seen", SEEN, 3, 0),
    case("three runs a side, by the prior", PRIOR, 3, 0),
    case("three runs a side, twice the prior", TWICE, 3, 0),
    case("three runs a side, with odd runs", Moves { states: 1.0 / 56.0, ..SEEN }, 3, 0),
    Case {
        name: "three boots a side, as seen",
        moves: Moves { boots: 1.0, ..SEEN },
        boots: 3,
        runs: 1,
        history: 0,
    },
    Case {
        name: "two runs of two boots",
        moves: Moves { boots: 1.0, ..PRIOR },
        boots: 2,
        runs: 2,
        history: 0,
    },
    // What one boot shows says nothing of another one: neither the sides' runs of it, nor kept ones.
    case("one run of one boot a side", BOOTS, 1, 0),
    case("one run of one boot a side, 16 kept of one boot", BOOTS, 1, 16),
    case("three runs of one boot a side", BOOTS, 3, 0),
    case("three runs of one boot a side, 16 kept of one boot", BOOTS, 3, 16),
    Case { name: "three boots a side, 16 kept of one boot", moves: BOOTS, boots: 3, runs: 1, history: 16 },
];

/// The claim of the issue: of 2000 comparisons in which nothing changed, at most 6 % contain any false verdict.
#[test]
fn where_nothing_changed_nothing_is_told() {
    let only = std::env::var("CASE").unwrap_or_default();
    for Case { name, moves, boots, runs, history } in CASES.iter().filter(|case| case.name.contains(&only)) {
        let is_false = |seed: u64| {
            let mut world = World::new(seed, *moves);
            let (base, new) =
                (world.side(*boots, *runs, nothing_changed), world.side(*boots, *runs, nothing_changed));
            let kept = world.side(1, *history, nothing_changed);
            between(&base, &new, &kept.runs).rows.iter().any(tells_a_change)
        };
        let comparisons = if name.ends_with("as seen") { many() } else { fewer() };
        let found = count(comparisons, is_false);
        println!("{name:50} {found:4} of {comparisons} comparisons contain a false verdict");
        assert!(found <= at_most(comparisons), "{name}: {found} of {comparisons}");
    }
}

/// `syscall-x86_64 none` costs so many times what it did.
fn system_calls_cost(factor: f64) -> impl Fn(&str, &str) -> f64 {
    move |entry, operation| if (entry, operation) == ("syscall-x86_64", "none") { factor } else { 1.0 }
}

fn the_system_call(found: &Comparison) -> &Row {
    found.rows.iter().find(|row| (&*row.entry, &*row.operation) == ("syscall-x86_64", "none")).unwrap()
}

/// The claim of the issue: a true change of 1 % in a row whose run-to-run standard deviation is 0.15 % is found in 95 of 100
/// comparisons of three runs a side, among all other rows. The deviation is that of figures: between runs and within them.
#[test]
fn a_change_of_one_percent_is_found_by_three_runs_a_side() {
    let moves = Moves { steady: 0.0012, within: 0.0009, unlike: 0.0, ..SEEN };
    for (name, change, verdict) in [("slower", 1.01, Verdict::Slower), ("faster", 0.99, Verdict::Faster)] {
        let is_found = |seed: u64| {
            let mut world = World::new(seed, moves);
            let (base, new) =
                (world.side(1, 3, nothing_changed), world.side(1, 3, system_calls_cost(change)));
            the_system_call(&between(&base, &new, &[])).verdict == verdict
        };
        let found = count(many(), is_found);
        println!("1 % {name} is found in {found} of {} comparisons", many());
        assert!(found * 100 >= 95 * many(), "{found} of {}", many());
    }
}

/// A row that changed by exactly the margin is not the same: that is said in 5 of 100 comparisons at most.
#[test]
fn what_changed_by_the_margin_is_seldom_called_the_same() {
    for (name, moves, runs) in
        [("three runs", SEEN, 3), ("one run", SEEN, 1), ("one run by the prior", PRIOR, 1)]
    {
        let is_same = |seed: u64| {
            let mut world = World::new(seed, moves);
            // So dear that 2 % are more than 5 cycles.
            world
                .rows
                .iter_mut()
                .filter(|row| row.entry == "syscall-x86_64")
                .for_each(|row| row.cost = 500.0);
            let (base, new) =
                (world.side(1, runs, nothing_changed), world.side(1, runs, system_calls_cost(1.02)));
            let found = between(&base, &new, &[]);
            the_system_call(&found).verdict == Verdict::Same
        };
        let found = count(fewer(), is_same);
        println!("{name} a side: 2 % are called the same in {found} of {} comparisons", fewer());
        assert!(found <= at_most(fewer()), "{name}: {found} of {}", fewer());
    }
}

/// And where nothing changed, most steady rows are called the same, by one run a side.
#[test]
fn what_did_not_change_is_called_the_same() {
    for (runs, least) in [(1, 0.6), (3, 0.9)] {
        let (mut same, mut steady) = (0, 0);
        for seed in 0..20 {
            let mut world = World::new(seed, SEEN);
            let (base, new) = (world.side(1, runs, nothing_changed), world.side(1, runs, nothing_changed));
            let found = between(&base, &new, &[]);
            let is_steady = |row: &&Row| row.entry.starts_with("syscall") || row.entry.starts_with("vdso");
            steady += found.rows.iter().filter(is_steady).count();
            same += found.rows.iter().filter(is_steady).filter(|row| row.verdict == Verdict::Same).count();
        }
        println!("{runs} a side: {same} of {steady} steady rows are the same");
        assert!(same as f64 >= least * steady as f64, "{same} of {steady}");
    }
}

/// Every interval covers the truth at least as often as it says, up to chance: those of a change, in cycles and in percent, and those
/// of each side.
#[test]
fn intervals_cover() {
    for (name, moves, boots, runs) in [
        ("as seen", SEEN, 1, 3),
        ("by the prior", PRIOR, 1, 1),
        ("of several boots", Moves { boots: 1.0, ..SEEN }, 3, 1),
    ] {
        let (mut covered, mut in_percent, mut of_side, mut all) = (0, 0, 0, 0);
        for seed in 0..many().clamp(50, 400) {
            let mut world = World::new(seed, moves);
            let change = |entry: &str, _: &str| if entry.starts_with("vdso") { 1.05 } else { 1.0 };
            let (base, new) = (world.side(boots, runs, nothing_changed), world.side(boots, runs, change));
            for row in &between(&base, &new, &[]).rows {
                let truth = world
                    .rows
                    .iter()
                    .find(|truth| (&truth.entry, &truth.operation) == (&row.entry, &row.operation));
                let truth = truth.unwrap();
                let factor = change(&row.entry, &row.operation);
                let found = row.change.as_ref().unwrap();
                let side = row.base.as_ref().unwrap();
                all += 1;
                covered += u64::from((found.low..=found.high).contains(&(truth.cost * (factor - 1.0))));
                let percent = found.percent_low.zip(found.percent_high).map(|(low, high)| low..=high);
                in_percent +=
                    u64::from(percent.is_none_or(|range| range.contains(&(100.0 * (factor - 1.0)))));
                of_side += u64::from((side.low.unwrap()..=side.high.unwrap()).contains(&truth.cost));
            }
        }
        let share = |count: u64| 100.0 * count as f64 / all as f64;
        let shares = [covered, in_percent, of_side].map(share);
        println!(
            "{name}: changes {:.1} %, in percent {:.1} %, sides {:.1} %",
            shares[0], shares[1], shares[2]
        );
        assert!(shares.iter().all(|share| *share > 94.0), "{name}: {shares:?}");
    }
}

/// `--fail-above 1%` fails on 1 % in 5 of 100 comparisons at most, and on 3 % in nearly all.
#[test]
fn a_gate_fails_only_where_the_limit_is_cleared() {
    let fails = |change: f64| {
        let gate = compare::Gate { above: vec!["syscall-x86_64 none=1%".parse().unwrap()], on: Vec::new() };
        let settings = Settings { gate, ..Settings::default() };
        count(fewer(), |seed| {
            let mut world = World::new(seed, SEEN);
            let (base, new) =
                (world.side(1, 3, nothing_changed), world.side(1, 3, system_calls_cost(change)));
            let found = compare(Table::get(), &base, &new, &[], &settings);
            found.gate.unwrap().answer == compare::GateAnswer::Regression
        })
    };
    let (at_the_limit, above) = (fails(1.01), fails(1.03));
    println!("of {}, {at_the_limit} fail at the limit, {above} above it", fewer());
    assert!(at_the_limit <= at_most(fewer()) && above * 100 >= 95 * fewer(), "{at_the_limit}, {above}");
}

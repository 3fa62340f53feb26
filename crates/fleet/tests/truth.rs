//! Fleets whose truth is known: how many of the hosts that are named are not odd, and how many of the odd ones are named.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

mod world;

use fleet::{Settings, Verdict};
use world::{PLAIN, Where, World};

/// What came out over many fleets of a kind.
#[derive(Debug, Default, Clone, Copy)]
struct Found {
    fleets: u64,
    /// Part of the named that is not odd, summed over fleets, and its squares.
    false_part: f64,
    squares: f64,
    /// Fleets with anyone falsely named.
    with_false: u64,
    named: u64,
    odd: u64,
    found: u64,
}

/// Whether so many in so many cases are more than a mean of 1 % gives once in a thousand times (Poisson).
fn refuses_one_percent(found: f64, of: u64) -> bool {
    let mean = 0.01 * of as f64;
    let (mut fewer, mut chance) = (0.0, (-mean).exp());
    for number in 1..=found as u64 {
        fewer += chance;
        chance *= mean / number as f64;
    }
    1.0 - fewer < 0.001
}

impl Found {
    fn of(world: &World, fleets: u64) -> Found {
        let mut all = Found { fleets, ..Found::default() };
        for seed in 0..fleets {
            let simulated = world.simulate(seed);
            let judgement = simulated.fleet.judge(&Settings::default()).unwrap();
            let named = judgement.odd.len() as u64;
            let right = judgement.odd.iter().filter(|odd| simulated.odd.contains(&odd.host)).count() as u64;
            let part = (named - right) as f64 / named.max(1) as f64;
            all.false_part += part;
            all.squares += part * part;
            all.with_false += u64::from(named > right);
            all.named += named;
            all.odd += simulated.odd.len() as u64;
            all.found += right;
        }
        all
    }

    fn mean(&self) -> f64 {
        self.false_part / self.fleets as f64
    }

    /// Upper end of its one-sided interval of 95 %; at least what no false one in so many fleets leaves possible.
    fn at_most(&self) -> f64 {
        let count = self.fleets as f64;
        let variance = (self.squares / count - self.mean().powi(2)).max(0.0);
        (self.mean() + 1.645 * (variance / count).sqrt()).max(3.0 / count)
    }

    fn is_too_many(&self) -> bool {
        refuses_one_percent(self.false_part, self.fleets)
    }

    fn power(&self) -> Option<f64> {
        (self.odd > 0).then(|| self.found as f64 / self.odd as f64)
    }
}

const fn of(hosts: usize, world: World) -> World {
    World { hosts, ..world }
}

const HEAVY: World = World { freedom: 3.0, ..PLAIN };
const DRIFT: World = World { drift: 0.01, ..PLAIN };
const LEVELS: World = World { level: 0.015, ..PLAIN };
const NOISY: World = World { noisy: 0.2, ..PLAIN };
const MISSING: World = World { missing: 0.3, ..PLAIN };
const BOOTS: World = World { boots: 2, boot: 0.01, ..PLAIN };
const KERNEL: World = World { kernel: (0.3, 0.05), ..PLAIN };
const COHORTS: World = World { cohorts: 4, ..PLAIN };
const STATES: World = World { boots: 2, states: 1.0 / 56.0, ..PLAIN };
const EVERYTHING: World = World {
    freedom: 4.0,
    drift: 0.005,
    level: 0.01,
    noisy: 0.1,
    missing: 0.1,
    boots: 2,
    boot: 0.005,
    kernel: (0.3, 0.05),
    cohorts: 2,
    ..PLAIN
};

const KINDS: [(&str, World); 11] = [
    ("plain", PLAIN),
    ("heavy tails (t of 3)", HEAVY),
    ("clocks drift", DRIFT),
    ("levels in time", LEVELS),
    ("noisy hosts", NOISY),
    ("missing rows", MISSING),
    ("two boots", BOOTS),
    ("30 % on another kernel", KERNEL),
    ("four cohorts", COHORTS),
    ("passing states, two boots", STATES),
    ("all of it", EVERYTHING),
];

/// Fleets in a case: a fifth of what cases of single hosts have, since each has a hundred.
fn simulated(usual: u64) -> u64 {
    (simulator::runs(usual) / 5).max(usual)
}

/// So many fleets of a kind: as many of a hundred hosts as are asked for, fewer of larger ones.
fn fleets(hosts: usize, of_hundred: u64) -> u64 {
    let count = match hosts {
        0..=30 => 2 * of_hundred,
        31..=100 => of_hundred,
        101..=1000 => of_hundred / 10,
        _ => of_hundred / 100,
    };
    count.max(2)
}

/// Kinds of fleets without any odd host.
fn nulls(of_hundred: u64) -> impl Iterator<Item = (&'static str, World, u64)> {
    let sizes = [6, 10, 30, 100, 1000];
    KINDS
        .into_iter()
        .flat_map(move |(name, world)| sizes.map(|hosts| (name, of(hosts, world), fleets(hosts, of_hundred))))
}

#[test]
fn where_no_host_is_odd_none_is_named() {
    let mut all = Found::default();
    for (name, world, fleets) in nulls(simulated(20)) {
        let found = Found::of(&world, fleets);
        assert!(!found.is_too_many(), "{name}, {} hosts: {found:?}", world.hosts);
        all.fleets += found.fleets;
        all.false_part += found.false_part;
    }
    // A cell has so few fleets that it would let 10 % of false ones pass; all of them together would not.
    println!("{} of {} fleets", all.false_part, all.fleets);
    assert!(!all.is_too_many(), "{all:?}");
}

#[test]
fn of_the_hosts_that_are_named_one_in_a_hundred_is_not_odd() {
    for (name, world) in KINDS {
        for (hosts, size) in [(30, 0.5), (100, 0.1), (100, 0.5)] {
            let world = World { odd: (0.03, size), odd_where: Where::Entry, ..of(hosts, world) };
            let found = Found::of(&world, fleets(hosts, simulated(20)));
            assert!(!found.is_too_many(), "{name}, {hosts} hosts, +{size}: {found:?}");
        }
    }
}

/// What a user counts on: hosts that differ by 0.5 %, rows measured to 0.3 %, and an entry that is a fifth dearer on two of a hundred.
#[test]
fn odd_hosts_are_found() {
    let cases = [
        (30, 0.5, Where::All, PLAIN),
        (100, 0.2, Where::Entry, PLAIN),
        (100, 0.5, Where::Row, PLAIN),
        (1000, 0.1, Where::Entry, PLAIN),
        (100, 0.5, Where::Entry, KERNEL),
        (1000, 0.5, Where::Entry, EVERYTHING),
    ];
    for (hosts, size, odd_where, world) in cases {
        let world = World { odd: (0.02, size), odd_where, ..of(hosts, world) };
        let found = Found::of(&world, fleets(hosts, simulated(10)));
        let power = found.power().unwrap();
        println!("{hosts} hosts, +{size} of {odd_where:?}: {power}");
        assert!(power >= 0.9, "{hosts} hosts, +{size} of {odd_where:?}: {power}");
    }
}

/// Fleets in which nothing changed: verdicts of rows that are false, as a part of those given; then a change of one entry in one of four
/// generations.
#[derive(Debug, Default)]
struct Changes {
    roll_outs: u64,
    false_part: f64,
    found: u64,
    there: u64,
    covered: u64,
    intervals: u64,
    /// Roll-outs in which a host is said to have changed otherwise than the others: there is none.
    with_otherwise: u64,
}

impl Changes {
    fn of(world: &World, change: f64, roll_outs: u64) -> Changes {
        let mut all = Changes { roll_outs, ..Changes::default() };
        for seed in 0..roll_outs {
            let [before, after] = world.roll_out(seed, change);
            let settings = Settings { fail_above_percent: Some(2.0), ..Settings::default() };
            let rollout = before.roll_out(&after, &settings).unwrap();
            let (mut told, mut wrong) = (0.0, 0.0_f64);
            for (stratum, row) in
                rollout.strata.iter().flat_map(|stratum| stratum.rows.iter().map(move |row| (stratum, row)))
            {
                let is_first =
                    stratum.facts.iter().any(|fact| fact.value.as_deref() == Some("GenuineIntel 6.100.-"));
                let truth = if is_first && row.name.entry == "entry0" { change } else { 0.0 };
                let is_told = matches!(row.verdict, Verdict::Slower | Verdict::Faster);
                told += f64::from(u8::from(is_told));
                wrong += f64::from(u8::from(is_told && truth == 0.0));
                if truth == 0.0 && change != 0.0 {
                    continue;
                }
                if truth != 0.0 {
                    all.there += 1;
                    all.found += u64::from(row.verdict == Verdict::Slower);
                }
                if let Some((low, high)) = row.percent_low.zip(row.percent_high) {
                    all.intervals += 1;
                    all.covered += u64::from(low <= 100.0 * truth && 100.0 * truth <= high);
                }
            }
            all.false_part += wrong / f64::max(told, 1.0);
            all.with_otherwise += u64::from(!rollout.otherwise.is_empty());
        }
        all
    }

    fn is_too_many(&self) -> bool {
        refuses_one_percent(self.false_part, self.roll_outs)
    }
}

#[test]
fn a_roll_out_that_changed_nothing_is_told_to_have_changed_nothing() {
    let (mut otherwise, mut roll_outs) = (0, 0);
    for (name, world) in ROLL_OUTS {
        for hosts in [24, 100] {
            let found = Changes::of(&of(hosts, world), 0.0, fleets(hosts, simulated(60)));
            println!("{name}, {hosts} hosts: {found:?}");
            assert!(!found.is_too_many(), "{name}, {hosts} hosts: {found:?}");
            (otherwise, roll_outs) = (otherwise + found.with_otherwise, roll_outs + found.roll_outs);
        }
    }
    assert!(!refuses_one_percent(otherwise as f64, roll_outs), "{otherwise} of {roll_outs}");
}

#[test]
fn a_change_of_one_generation_is_found_there_and_not_elsewhere() {
    for (name, world) in [("plain", COHORTS), ("two boots", World { boots: 2, boot: 0.005, ..COHORTS })] {
        let found = Changes::of(&of(100, world), 0.02, simulated(20));
        assert!(!found.is_too_many(), "{name}: {found:?}");
        assert!(found.covered as f64 >= 0.94 * found.intervals as f64, "{name}: {found:?}");
        assert!(found.found as f64 >= 0.9 * found.there as f64, "{name}: {found:?}");
    }
}

/// Writes `bench/FLEET.md`: `KENTRY_SIMULATED_RUNS=500 cargo test --locked -p fleet --test truth -- --ignored`.
#[test]
#[ignore = "writes bench/FLEET.md, by many simulated fleets"]
fn the_table() {
    let runs = simulator::runs(20);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/FLEET.md");
    let mut refused = Vec::new();
    let mut table = |table: fn(u64, &mut Vec<String>) -> String, runs: u64| table(runs, &mut refused);
    let tables = [table(null_table, runs), table(power_table, runs / 4), table(rollout_table, runs / 2)];
    let text = HEAD.replace("RUNS", &runs.to_string()) + &tables.concat();
    std::fs::write(path, text).unwrap();
    assert!(refused.is_empty(), "{refused:#?}");
}

fn null_table(runs: u64, refused: &mut Vec<String>) -> String {
    let mut text = "\n## Fleets without any odd host\n\nThe part of the fleets in which any host is named, at most 1 % by the rule; in brackets the \
                    upper end of\nits one-sided interval of 95 %, and how many fleets there were.\n\n| fleet | 6 hosts | 10 | 30 | 100 | 1000 \
                    |\n|---|---:|---:|---:|---:|---:|\n"
        .to_owned();
    let cells: Vec<_> = nulls(runs).collect();
    for of_kind in cells.chunk_by(|a, b| a.0 == b.0) {
        text += &format!("| {} |", of_kind[0].0);
        for (name, world, fleets) in of_kind {
            let found = Found::of(world, *fleets);
            if found.is_too_many() {
                refused.push(format!("{name}, {} hosts: {found:?}", world.hosts));
            }
            let share = 100.0 * found.with_false as f64 / *fleets as f64;
            text += &format!(" {share:.1} % (≤ {:.1}, {fleets}) |", 100.0 * found.at_most());
        }
        text += "\n";
        eprintln!("{}", of_kind[0].0);
    }
    let found = Found::of(&of(10_000, EVERYTHING), fleets(10_000, runs));
    if found.is_too_many() {
        refused.push(format!("{found:?}"));
    }
    text + &format!(
        "\nOf {} fleets of 10,000 hosts with all of it, {} have anyone named.\n",
        found.fleets, found.with_false
    )
}

fn power_table(runs: u64, refused: &mut Vec<String>) -> String {
    let mut text = "\n## Fleets with odd hosts\n\nTwo of a hundred hosts are odd (at least one): this part of them is named, and in brackets this part of the \
                    named is\nnot odd, in the mean over fleets. Where it is one entry or one row that is dearer, it is another one on each host.\n\n| \
                    fleet | dearer | hosts | +1 % | +2 % | +5 % | +10 % | +20 % | +50 % |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for (name, world) in KINDS {
        let wheres: &[Where] =
            if name == "plain" { &[Where::All, Where::Entry, Where::Row] } else { &[Where::Entry] };
        for odd_where in wheres {
            let where_ = match odd_where {
                Where::All => "all rows",
                Where::Entry => "an entry",
                Where::Row => "a row",
            };
            for hosts in [10, 30, 100, 1000] {
                text += &format!("| {name} | {where_} | {hosts} |");
                for size in [0.01, 0.02, 0.05, 0.1, 0.2, 0.5] {
                    let world = World { odd: (0.02, size), odd_where: *odd_where, ..of(hosts, world) };
                    let found = Found::of(&world, fleets(hosts, runs));
                    if found.is_too_many() {
                        refused.push(format!("{name}, {hosts} hosts, +{size}: {found:?}"));
                    }
                    text += &format!(
                        " {:.0} % ({:.1} %) |",
                        100.0 * found.power().unwrap(),
                        100.0 * found.mean()
                    );
                }
                text += "\n";
            }
        }
        eprintln!("{name}");
    }
    text
}

fn rollout_table(runs: u64, refused: &mut Vec<String>) -> String {
    let mut text = "\n## Roll-outs\n\nFour generations. Nothing changed: the false part of the verdicts, in the mean over roll-outs. Then all \
                    rows of one\nentry cost more in one generation: so many of these are called slower, and so many of their intervals hold the \
                    truth.\n\n| roll-out | hosts | false | +0.5 % | +1 % | +2 % | +5 % | intervals that hold \
                    |\n|---|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for (name, world) in ROLL_OUTS {
        for hosts in [24, 100, 400] {
            let null = Changes::of(&of(hosts, world), 0.0, fleets(hosts, runs));
            if null.is_too_many() {
                refused.push(format!("{name}, {hosts}: {null:?}"));
            }
            let wrong = 100.0 * null.false_part / null.roll_outs as f64;
            text += &format!("| {name} | {hosts} | {wrong:.1} % |");
            let (mut covered, mut intervals) = (0, 0);
            for change in [0.005, 0.01, 0.02, 0.05] {
                let found = Changes::of(&of(hosts, world), change, fleets(hosts, runs / 4));
                if found.is_too_many() {
                    refused.push(format!("{name}, {hosts}, +{change}: {found:?}"));
                }
                text += &format!(" {:.0} % |", 100.0 * found.found as f64 / found.there as f64);
                (covered, intervals) = (covered + found.covered, intervals + found.intervals);
            }
            text += &format!(" {:.1} % |\n", 100.0 * covered as f64 / intervals as f64);
        }
    }
    text
}

const ROLL_OUTS: [(&str, World); 5] = [
    ("plain", COHORTS),
    ("heavy tails (t of 3)", World { freedom: 3.0, ..COHORTS }),
    ("clocks drift", World { drift: 0.01, ..COHORTS }),
    ("one boot, which adds 1 %", World { boot: 0.01, ..COHORTS }),
    ("two boots, each adds 1 %", World { boots: 2, boot: 0.01, ..COHORTS }),
];

const HEAD: &str = "# How often a fleet's judge is wrong

By simulation with a known truth, `crates/fleet/tests/truth.rs`; RUNS fleets of 100 hosts in a cell of the first table, a quarter of
them in one of the second, a half in one of the third; twice as many of fewer hosts, a tenth of 1,000. Written by that file's `the_table`,
which fails where a mean of 1 % would give so many false ones once in a thousand times.

A run has 25 rows of 5 entries. A row differs between hosts by 0.5 % (standard deviation), and is measured to 0.3 %, which its interval
tells. Besides that:

| fleet | what moves costs |
|---|---|
| heavy tails | hosts differ by a Student t of 3 degrees of freedom, times 0.5 % |
| clocks drift | all rows of a run move together by 1 % |
| levels in time | in a quarter of the runs, all rows of an entry are 1.5 % dearer |
| noisy hosts | on a fifth of the hosts, rows are measured to 3 % |
| missing rows | 30 % of all rows have no figure |
| two boots | of each host, and each adds 1 % to a row |
| 30 % on another kernel | where two of the five entries are 5 % dearer |
| four cohorts | processors of four models, with other costs each |
| passing states | in 1 of 56 runs, an entry is 5 to 20 % dearer for as long as the run lasts. A host in such a state in both of its boots counts as odd |
| all of it | a t of 4, drift 0.5 %, levels 1 %, a tenth noisy, a tenth missing, two boots of 0.5 %, another kernel, two cohorts |
";

//! Comparisons of rounds in turns whose truth is known: how often a verdict is false, how often a true change is told, what intervals
//! cover. Verdicts are those of [`compare_pairs`], over all rows together.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use compare::{Comparison, Paired, Run, Settings, SideRuns, Verdict, compare_pairs};
use document::{Document, Identity, Measurement, Row};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use stats::{Cost, Counts, Cycles, Pair};
use table::{Kernel, Table};

/// Rows of a comparison.
const ROWS: usize = 40;

/// So many comparisons tell a share of them to within what is asserted below; with 16 or 32, chance alone exceeds it.
const LEAST: u64 = 200;

/// Comparisons of a case.
fn many() -> u64 {
    simulator::runs(LEAST)
}

/// What moves the cost of a round, in core cycles, beside a drift that both rounds of a turn have in common.
#[derive(Debug, Clone, Copy)]
struct World {
    /// Turns of each row.
    turns: usize,
    /// The true difference of the first rows.
    difference: f64,
    /// How many rows differ.
    different: usize,
    /// How much more the second round of a turn costs.
    second: f64,
    /// What a round scatters by: the quotient of two evenly distributed numbers, without a mean, or one of them.
    has_outliers: bool,
    /// A second cost, so much greater, which a third of the rounds have.
    mode: f64,
    /// CPUs that arms are measured on, whose state has levels which all rows have in common; 0 for none.
    levels_of: usize,
}

/// Standard deviation of levels: 2 % of what a row costs.
const LEVEL: f64 = 6.0;

/// How long one holds on average, in seconds.
const HOLDS: f64 = 1.0;

/// How long a measurement takes, and a round of it, in seconds.
const LASTS: f64 = 10.0;
const ROUND: f64 = 0.004;

/// The levels of a CPU during a measurement: from when on, and which.
struct Levels(Vec<(f64, f64)>);

impl Levels {
    fn new(random: &mut StdRng) -> Levels {
        let (mut levels, mut now) = (Vec::new(), 0.0);
        while now < LASTS + 1.0 {
            // The sum of twelve even numbers is nearly normal.
            let normal = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            levels.push((now, LEVEL * normal));
            now -= HOLDS * (1.0 - random.random::<f64>()).ln();
        }
        Levels(levels)
    }

    fn at(&self, now: f64) -> f64 {
        self.0.iter().rfind(|(from, _)| *from <= now).map_or(0.0, |(_, level)| *level)
    }
}

const CALM: World = World {
    turns: 24,
    difference: 0.0,
    different: 0,
    second: 0.0,
    has_outliers: false,
    mode: 0.0,
    levels_of: 0,
};

impl World {
    fn noise(self, random: &mut StdRng) -> f64 {
        let even = random.random_range(-3.0..3.0);
        let noise = if self.has_outliers { even / random.random_range(1e-3..1.0) } else { even };
        noise + if random.random_bool(1.0 / 3.0) { self.mode } else { 0.0 }
    }

    fn pairs(self, difference: f64, row: usize, levels: &[Levels], random: &mut StdRng) -> Vec<Pair> {
        let mut drift = 300.0;
        let pair = |turn: usize| {
            let at = LASTS * (turn as f64 + row as f64 / ROWS as f64) / self.turns as f64;
            let (mut costs, mut order) = ([0.0, difference], [0, 1]);
            order.shuffle(random);
            drift += random.random_range(-3.0..3.0);
            for (place, arm) in order.into_iter().enumerate() {
                let cpu = levels.get(arm).or(levels.first());
                costs[arm] += cpu.map_or(0.0, |levels| levels.at(at + ROUND * place as f64));
                costs[arm] += drift + self.second * place as f64 + self.noise(random);
            }
            Pair { base: costs[0], new: costs[1] }
        };
        (0..self.turns).map(pair).collect()
    }

    fn compared(self, seed: u64) -> Comparison {
        let mut random = StdRng::seed_from_u64(seed);
        let levels: Vec<Levels> = (0..self.levels_of).map(|_| Levels::new(&mut random)).collect();
        let rows = Table::get().rows(Kernel::Linux).take(ROWS);
        let paired = rows.enumerate().map(|(number, row)| Paired {
            row: Identity::of(row),
            pairs: self.pairs(
                if number < self.different { self.difference } else { 0.0 },
                number,
                &levels,
                &mut random,
            ),
        });
        let paired: Vec<Paired> = paired.collect();
        compare_pairs(Table::get(), &side(1), &side(2), &paired, &Settings::default())
    }

    /// Parts of the comparisons, or of rows.
    fn found(self) -> Found {
        let mut found = Found::default();
        let names = |row: &compare::Row| (row.entry.clone(), row.operation.clone());
        let different: Vec<_> = Table::get()
            .rows(Kernel::Linux)
            .take(self.different)
            .map(|(entry, operation)| (entry.name.clone(), operation.name.clone()))
            .collect();
        for seed in 0..many() {
            let compared = self.compared(seed);
            assert_eq!((compared.rows.len(), compared.summary.compared), (ROWS, ROWS as u64));
            let mut is_false = false;
            for row in &compared.rows {
                let truth = if different.contains(&names(row)) { self.difference } else { 0.0 };
                let change = row.change.as_ref().unwrap();
                found.missed += f64::from(u8::from(change.low > truth || change.high < truth));
                let is_told = matches!(row.verdict, Verdict::Slower | Verdict::Faster);
                found.told += f64::from(u8::from(is_told && truth != 0.0));
                is_false |= is_told && (truth == 0.0 || (truth > 0.0) != (row.verdict == Verdict::Slower));
                found.same += f64::from(u8::from(row.verdict == Verdict::Same));
            }
            found.false_in += f64::from(u8::from(is_false));
        }
        let comparisons = many() as f64;
        found.false_in /= comparisons;
        found.missed /= comparisons * ROWS as f64;
        found.same /= comparisons * ROWS as f64;
        found.told /= comparisons * self.different.max(1) as f64;
        found
    }
}

#[derive(Debug, Default)]
struct Found {
    /// Comparisons with any false `slower` or `faster`.
    false_in: f64,
    /// Rows whose interval leaves out the truth.
    missed: f64,
    /// Rows that differ, and are told to.
    told: f64,
    /// Rows that are called the same.
    same: f64,
}

/// A run of an arm. What it says of itself is not what the verdicts are made of.
fn side(id: u64) -> SideRuns {
    let cost = Cost::single(Cycles(300.0)).within(Cycles(299.0), Cycles(301.0));
    let row = |(entry, operation): (&table::Entry, &table::Operation)| Row {
        core_cycles: Some(cost),
        counts: Counts { samples: 1000, ..Counts::default() },
        ..Row::unmeasured(&entry.name, &operation.name, entry.bits())
    };
    let document = Document {
        id: Some(format!("{id:032x}")),
        measurement: Measurement { cycles_per_tick: Some(1.0), ..Measurement::default() },
        results: Table::get().rows(Kernel::Linux).take(ROWS).map(row).collect(),
        ..Document::empty()
    };
    SideRuns { label: id.to_string(), runs: vec![Run::of(Table::get(), &document, None)] }
}

/// Three standard errors of a share of 0.05.
fn by_chance() -> f64 {
    3.0 * (0.05 * 0.95 / many() as f64).sqrt()
}

#[test]
fn arms_that_are_the_same_are_told_apart_in_5_of_100_comparisons_at_most() {
    for turns in [6, 8, 14, 24] {
        for world in [
            CALM,
            World { second: 6.0, ..CALM },
            World { mode: 44.0, ..CALM },
            World { levels_of: 1, ..CALM },
            World { levels_of: 2, ..CALM },
            World { has_outliers: true, ..CALM },
            World { has_outliers: true, mode: 44.0, second: 6.0, ..CALM },
        ] {
            let world = World { turns, ..world };
            let found = world.found();
            // Arms on two CPUs have no levels in common, and few turns do not show how long these hold: docs/live.md says so.
            let most = if world.levels_of > 1 { 0.10 } else { 0.05 };
            assert!(found.false_in <= most + by_chance(), "{world:?}: {found:?}");
            assert!(found.missed <= 0.05, "{world:?}: {found:?}");
        }
    }
}

#[test]
fn what_differs_is_told() {
    let told = |world: World| {
        let found = World { different: 4, ..world }.found();
        assert!(found.missed <= 0.05, "{world:?}: {found:?}");
        found.told
    };
    // Not every time: neighbouring turns that are alike by chance count for fewer.
    assert!(told(World { difference: 6.0, ..CALM }) > 0.9);
    assert!(told(World { difference: -3.0, ..CALM }) > 0.7);
    assert!(told(World { difference: 6.0, levels_of: 1, ..CALM }) > 0.7, "levels are in both arms");
    // With as many turns as a measurement asks for.
    assert!(told(World { difference: 6.0, turns: 14, ..CALM }) > 0.7);
    assert!(told(World { difference: 10.0, turns: 40, has_outliers: true, ..CALM }) > 0.7);
}

#[test]
fn what_is_the_same_is_called_so() {
    let found = CALM.found();
    assert!(found.same > 0.9, "{found:?}");
}

//! Fleets whose truth is known.

use document::{Outcome, Timing};
use fleet::Fleet;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeSet;
use summary::{Cohort, Row, Run, Summary};

/// Rows of a run, five of each entry.
pub const ROWS: usize = 25;
const ROWS_OF_ENTRY: usize = 5;

/// Which rows of an odd host are dearer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Where {
    All,
    Entry,
    Row,
}

/// What moves the costs of hosts, as parts of a cost.
#[derive(Debug, Clone, Copy)]
pub struct World {
    pub hosts: usize,
    pub cohorts: usize,
    /// Boots of each host, with a run each.
    pub boots: usize,
    /// Standard deviation of a row over hosts, and the degrees of freedom of its Student t.
    pub between: f64,
    pub freedom: f64,
    /// Standard error of a row in a run, which its interval tells.
    pub within: f64,
    /// Part of the hosts whose intervals are ten times as wide.
    pub noisy: f64,
    /// Standard deviation of what a boot adds to a row.
    pub boot: f64,
    /// Standard deviation of what all rows of a run have in common: its clock.
    pub drift: f64,
    /// What a level adds to all rows of an entry in a quarter of runs.
    pub level: f64,
    /// Part of the runs in which an entry is 5 to 20 % dearer for as long as the run lasts.
    pub states: f64,
    /// Part of the rows that are missing.
    pub missing: f64,
    /// Part of the hosts with another kernel, and what that adds to all rows of two entries.
    pub kernel: (f64, f64),
    /// Odd hosts, a part of all, and by how much.
    pub odd: (f64, f64),
    pub odd_where: Where,
}

/// Nothing but what always is.
pub const PLAIN: World = World {
    hosts: 100,
    cohorts: 1,
    boots: 1,
    between: 0.005,
    freedom: 1e3,
    within: 0.003,
    noisy: 0.0,
    boot: 0.0,
    drift: 0.0,
    level: 0.0,
    states: 0.0,
    missing: 0.0,
    kernel: (0.0, 0.0),
    odd: (0.0, 0.0),
    odd_where: Where::All,
};

/// A fleet, and its hosts that are odd in truth.
pub struct Simulated {
    pub fleet: Fleet,
    pub odd: BTreeSet<String>,
}

pub struct Random(StdRng);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(StdRng::seed_from_u64(seed))
    }

    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn is(&mut self, part: f64) -> bool {
        part > 0.0 && self.uniform() < part
    }

    /// Student's t, of a whole number of degrees of freedom where they are few.
    fn student(&mut self, freedom: f64) -> f64 {
        if freedom > 100.0 {
            return self.normal();
        }
        let squares: f64 = (0..freedom as usize).map(|_| self.normal().powi(2)).sum();
        self.normal() / (squares / freedom).sqrt()
    }
}

/// What a host is, apart from its runs.
struct Host {
    name: String,
    cohort: usize,
    is_noisy: bool,
    has_kernel: bool,
    odd: Option<(usize, f64)>,
    rows: Vec<f64>,
}

impl World {
    pub fn simulate(&self, seed: u64) -> Simulated {
        let mut fleet = Fleet::new();
        let odd = self.each(seed, |name, summary| fleet.add(name, &summary));
        Simulated { fleet, odd }
    }

    /// Each run with its host's name; returns the hosts that are odd in truth.
    pub fn each(&self, seed: u64, mut take: impl FnMut(&str, Summary)) -> BTreeSet<String> {
        let mut random = Random::new(seed);
        let mut odd = BTreeSet::new();
        for number in 0..self.hosts {
            let host = self.host(&mut random, number);
            let of_boots: Vec<Vec<[f64; 2]>> =
                (0..self.boots).map(|_| self.of_entries(&mut random)).collect();
            // A state that no boot was without is no passing one, as far as anybody could see.
            let stays =
                (0..ROWS / ROWS_OF_ENTRY).any(|entry| of_boots.iter().all(|boot| boot[entry][1] > 0.0));
            if host.odd.is_some() || stays {
                odd.insert(host.name.clone());
            }
            for (boot, of_entries) in of_boots.iter().enumerate() {
                let rows = self.rows(&mut random, &host, of_entries);
                take(&host.name, Summary { run: run(&host, boot), rows });
            }
        }
        odd
    }

    /// The same hosts before and after: afterwards, rows of the first entry cost `change` more in the first cohort. Each host's own change
    /// varies by what hosts differ by.
    pub fn roll_out(&self, seed: u64, change: f64) -> [Fleet; 2] {
        let mut random = Random::new(seed);
        let mut sides = [Fleet::new(), Fleet::new()];
        for number in 0..self.hosts {
            let mut host = self.host(&mut random, number);
            for (side, fleet) in sides.iter_mut().enumerate() {
                for boot in 0..self.boots {
                    let of_entries = self.of_entries(&mut random);
                    let rows = self.rows(&mut random, &host, &of_entries);
                    fleet.add(&host.name, &Summary { run: run(&host, side * self.boots + boot), rows });
                }
                for (row, part) in host.rows.iter_mut().enumerate() {
                    let is_changed = host.cohort == 0 && row < ROWS_OF_ENTRY;
                    *part += if is_changed { change } else { 0.0 }
                        + 0.5 * self.between * random.student(self.freedom);
                }
            }
        }
        sides
    }

    fn host(&self, random: &mut Random, number: usize) -> Host {
        // So many in any case, in cells of few hosts too.
        let odd = (self.odd.0 * self.hosts as f64).ceil() as usize;
        let is_odd = number < odd;
        let place = (random.uniform() * ROWS as f64) as usize;
        Host {
            name: format!("node{number:05}"),
            cohort: number % self.cohorts,
            is_noisy: random.is(self.noisy),
            has_kernel: random.is(self.kernel.0),
            odd: is_odd.then_some((place, self.odd.1)),
            rows: (0..ROWS).map(|_| self.between * random.student(self.freedom)).collect(),
        }
    }

    fn adds(&self, host: &Host, row: usize) -> f64 {
        let odd = host.odd.map_or(0.0, |(place, size)| match self.odd_where {
            Where::All => size,
            Where::Entry if place / ROWS_OF_ENTRY == row / ROWS_OF_ENTRY => size,
            Where::Row if place == row => size,
            _ => 0.0,
        });
        let kernel = if host.has_kernel && row < 2 * ROWS_OF_ENTRY { self.kernel.1 } else { 0.0 };
        host.rows[row] + odd + kernel
    }

    /// What entries add in a run: a level, and a state.
    fn of_entries(&self, random: &mut Random) -> Vec<[f64; 2]> {
        let entries = ROWS / ROWS_OF_ENTRY;
        let draw = |_| {
            let level = if random.is(0.25) { self.level } else { 0.0 };
            let state =
                if random.is(self.states / entries as f64) { 0.05 + 0.15 * random.uniform() } else { 0.0 };
            [level, state]
        };
        (0..entries).map(draw).collect()
    }

    fn rows(&self, random: &mut Random, host: &Host, of_entries: &[[f64; 2]]) -> Vec<Row> {
        let clock = self.drift * random.normal();
        let within = if host.is_noisy { 10.0 } else { 1.0 } * self.within;
        let mut rows = Vec::with_capacity(ROWS);
        for row in 0..ROWS {
            let error = self.boot * random.normal() + within * random.normal();
            let [level, state] = of_entries[row / ROWS_OF_ENTRY];
            let part = 1.0 + self.adds(host, row) + level + state + clock + error;
            let cost = 60.0 * 1.25_f64.powi(row as i32) * (1.0 + 0.2 * host.cohort as f64);
            if !random.is(self.missing) {
                rows.push(self::row(row, cost * part.max(0.01), 1.96 * within * cost));
            }
        }
        rows
    }
}

fn run(host: &Host, boot: usize) -> Run {
    let release = if host.has_kernel { "6.12.1" } else { "6.1.0" };
    Run {
        run_id: format!("{}-{boot}", host.name),
        started: format!("2026-01-{:02}T00:00:00Z", boot + 1),
        duration_seconds: 30.0,
        kentry: "0.1.0".to_owned(),
        machine: "host".to_owned(),
        kernel: "linux".to_owned(),
        boot_id: Some(format!("boot {boot} of {}", host.name)),
        product: Some("c7.large".to_owned()),
        kernel_version: Some(format!("#1 SMP {release}")),
        // Of every host another: it must explain nothing.
        command_line: Some(format!("quiet serial={}", host.name)),
        seccomp_filters: Some(if host.odd.is_some() { 2 } else { 0 }),
        cohort: Cohort {
            machine_id: Some(format!("id of {}", host.name)),
            cpu_vendor: Some("GenuineIntel".to_owned()),
            cpu_family: Some(6),
            cpu_model: Some(100 + host.cohort as u32),
            hypervisor: Some("none".to_owned()),
            kernel_release: Some(release.to_owned()),
            ..Cohort::default()
        },
        ..Run::default()
    }
}

pub fn row(number: usize, cycles: f64, reach: f64) -> Row {
    Row {
        entry: format!("entry{}", number / ROWS_OF_ENTRY),
        operation: format!("operation{}", number % ROWS_OF_ENTRY),
        bits: 64,
        configuration: None,
        timing: Timing::Hardware,
        outcome: Outcome::Ok,
        reason: None,
        path: None,
        noise: None,
        core_cycles: Some(cycles),
        core_cycles_ci_low: Some(cycles - reach),
        core_cycles_ci_high: Some(cycles + reach),
        nanoseconds: Some(cycles / 3.0),
        nanoseconds_ci_low: None,
        nanoseconds_ci_high: None,
        instructions: None,
        kept_rounds: 30,
    }
}

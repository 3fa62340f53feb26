//! Compares runs of one machine with each other, in which nothing changed, and says how often a comparison has a false verdict:
//!
//!     cargo run --release -p compare --example aa -- [--comparisons N] [--pad 'syscall-x86_64 none=5%'] FOLDER | FILE...
//!
//! The documents are those of whole runs, in the order in which they began. Sides of 1, 2, 3 and 5 runs are taken from them in three
//! ways: drawn from all without repetition; in turns, from runs that follow each other; and one side after the other, likewise. Stores
//! are empty: nothing but the runs of both sides tells how runs vary. Prints a table in Markdown; `found` is how often a change that
//! was added to one row of the new side is told. Ends with 1 if, of the comparisons of runs that were drawn, more than 5 % had a false
//! verdict.
#![allow(clippy::unwrap_used)] // a tool for who works on kentry

use compare::{Comparison, Row, Run, Settings, SideRuns, Verdict, compare};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use stats::Cycles;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::Table;

/// Runs on each side.
const A_SIDE: [usize; 4] = [1, 2, 3, 5];

/// How sides are taken.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Drawn,
    Turns,
    OneAfterTheOther,
}

impl Order {
    const ALL: [(Order, &str); 3] = [
        (Order::Drawn, "drawn"),
        (Order::Turns, "in turns"),
        (Order::OneAfterTheOther, "one side after the other"),
    ];

    /// The runs of both sides.
    fn sides(self, runs: &[[Run; 2]], a_side: usize, random: &mut StdRng) -> [SideRuns; 2] {
        let mut taken: Vec<&[Run; 2]> = runs.iter().collect();
        if self == Order::Drawn {
            taken.shuffle(random);
        } else {
            let first = random.random_range(0..=runs.len() - 2 * a_side);
            taken.drain(..first);
        }
        let side = |number: usize| match self {
            Order::Turns => number % 2,
            Order::Drawn | Order::OneAfterTheOther => number / a_side,
        };
        let of = |which: usize| {
            let taken = taken.iter().take(2 * a_side).enumerate();
            let runs = taken.filter(|(number, _)| side(*number) == which).map(|(_, run)| run[which].clone());
            SideRuns { label: String::new(), runs: runs.collect() }
        };
        [of(0), of(1)]
    }
}

/// A change that is made to a row of the new side.
struct Pad {
    row: String,
    part: f64,
}

impl Pad {
    fn parse(text: &str) -> Pad {
        let (row, percent) = text.rsplit_once('=').unwrap();
        Pad { row: row.into(), part: percent.trim_end_matches('%').parse::<f64>().unwrap() / 100.0 }
    }
}

/// When a run began, and the run as it is, and with the padded row.
fn read(path: &Path, pad: &Pad) -> (String, [Run; 2]) {
    // By the statistics as they are now.
    let document = document::load(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut document = document::recompute(&document).unwrap();
    let run = |document: &document::Document| Run::of(Table::get(), document, None);
    let as_it_is = run(&document);
    for row in document.results.iter_mut().filter(|row| row.in_words() == pad.row) {
        let Some(cost) = &mut row.core_cycles else { continue };
        let more = |cycles: Cycles| Cycles(cycles.0 * (1.0 + pad.part));
        (cost.estimate, cost.ci_low, cost.ci_high) =
            (more(cost.estimate), cost.ci_low.map(more), cost.ci_high.map(more));
    }
    (document.measurement.started.clone(), [as_it_is, run(&document)])
}

/// The documents of a folder, or the file itself.
fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.into()];
    }
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|file| file.extension().is_some_and(|ending| ending == "json")).collect()
}

/// What some comparisons said.
#[derive(Default)]
struct Said {
    comparisons: u64,
    with_false: u64,
    found: u64,
    false_rows: BTreeMap<String, u64>,
}

impl Said {
    fn take(&mut self, compared: &Comparison, pad: &Pad) {
        let tells = |row: &&Row| matches!(row.verdict, Verdict::Slower | Verdict::Faster);
        let told: Vec<String> = compared.rows.iter().filter(tells).map(Row::in_words).collect();
        let is_pad = |name: &&String| **name == pad.row;
        let false_ones: Vec<&String> = told.iter().filter(|name| !is_pad(name)).collect();
        self.comparisons += 1;
        self.with_false += u64::from(!false_ones.is_empty());
        self.found += u64::from(told.iter().any(|name| is_pad(&name)));
        false_ones.into_iter().for_each(|name| *self.false_rows.entry(name.clone()).or_default() += 1);
    }

    fn percent(&self, of: u64) -> f64 {
        100.0 * of as f64 / self.comparisons as f64
    }
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (mut comparisons, mut pad, mut paths) = (1000, Pad::parse("none=0%"), Vec::new());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--comparisons" => comparisons = words.next().unwrap().parse().unwrap(),
            "--pad" => pad = Pad::parse(&words.next().unwrap()),
            path => paths.extend(files(Path::new(path))),
        }
    }
    let mut runs: Vec<(String, [Run; 2])> = paths.iter().map(|path| read(path, &pad)).collect();
    runs.sort_by(|(one, _), (other, _)| one.cmp(other));
    let runs: Vec<[Run; 2]> = runs.into_iter().map(|(_, run)| run).collect();
    println!(
        "{} runs\n\n| runs a side | taken | comparisons | with a false verdict % | found % |",
        runs.len()
    );
    println!("|---:|---|---:|---:|---:|");
    let mut is_kept = true;
    let mut rows = BTreeMap::<String, u64>::new();
    for a_side in A_SIDE.into_iter().filter(|a_side| 2 * a_side <= runs.len()) {
        for (order, name) in Order::ALL {
            let mut random = StdRng::seed_from_u64(1);
            let mut said = Said::default();
            for _ in 0..comparisons {
                let [base, new] = order.sides(&runs, a_side, &mut random);
                said.take(&compare(Table::get(), &base, &new, &[], &Settings::default()), &pad);
            }
            let (wrong, found) = (said.percent(said.with_false), said.percent(said.found));
            println!("| {a_side} | {name} | {comparisons} | {wrong:.1} | {found:.0} |");
            is_kept &= order != Order::Drawn || wrong <= 5.0;
            said.false_rows.into_iter().for_each(|(row, count)| *rows.entry(row).or_default() += count);
        }
    }
    let mut rows: Vec<(String, u64)> = rows.into_iter().collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    rows.iter().take(12).for_each(|(row, count)| eprintln!("{count:6} false verdicts of {row}"));
    if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

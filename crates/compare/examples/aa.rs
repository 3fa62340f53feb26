//! Compares runs of one machine with each other, in which nothing changed, and says how often a verdict is false:
//!
//!     cargo run --release -p compare --example aa -- RUNS-A-SIDE COMPARISONS run*.json
//!
//! Sides are drawn from the documents without repetition. With `HISTORY=8`, so many further ones are the machine's history.
#![allow(clippy::unwrap_used)] // an example that is used by hand

use compare::{Comparison, Given, Run, Settings, Verdict, compare};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use std::collections::BTreeMap;
use table::Table;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (a_side, comparisons): (usize, usize) =
        (arguments[0].parse().unwrap(), arguments[1].parse().unwrap());
    let kept = std::env::var("HISTORY").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let table = Table::get();
    let run = |path: &String| {
        let mut document = document::load(&std::fs::read_to_string(path).unwrap()).unwrap();
        // Documents that do not know their boot are taken to be of one.
        document.environment.boot_id.get_or_insert_default();
        Run::of(table, &document, None)
    };
    let mut runs: Vec<Run> = arguments[2..].iter().map(run).collect();
    let mut random = StdRng::seed_from_u64(1);
    let (mut with_false, mut verdicts, mut rows) =
        (0, BTreeMap::<Verdict, u64>::new(), BTreeMap::<String, u64>::new());
    for _ in 0..comparisons {
        runs.shuffle(&mut random);
        let given = |from: usize| Given { label: String::new(), runs: runs[from..from + a_side].to_vec() };
        let history = &runs[2 * a_side..2 * a_side + kept];
        let found: Comparison = compare(table, &given(0), &given(a_side), history, &Settings::default());
        let is_false = |verdict: Verdict| matches!(verdict, Verdict::Slower | Verdict::Faster);
        with_false += u64::from(found.rows.iter().any(|row| is_false(row.verdict)));
        found
            .summary
            .verdicts
            .iter()
            .for_each(|(verdict, count)| *verdicts.entry(*verdict).or_default() += count);
        let names = found.rows.iter().filter(|row| is_false(row.verdict)).map(|row| row.in_words());
        names.for_each(|name| *rows.entry(name).or_default() += 1);
    }
    println!(
        "{with_false} of {comparisons} comparisons of {a_side} and {a_side} runs contain a false verdict"
    );
    verdicts
        .iter()
        .filter(|(_, count)| **count > 0)
        .for_each(|(verdict, count)| println!("{verdict}: {count}"));
    rows.iter().for_each(|(row, count)| println!("  {row}: {count}"));
}

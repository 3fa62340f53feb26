//! Compares runs of one machine with each other, in which nothing changed, and says how often a verdict is false:
//!
//!     cargo run --release -p compare --example aa -- RUNS-A-SIDE COMPARISONS run*.json
//!
//! Sides are drawn from the documents without repetition. With `HISTORY=8`, so many further ones are the machine's history. With
//! `PAD='syscall-x86_64 none'` that row costs 1 % more on the new side, and it says how often that is found.
#![allow(clippy::unwrap_used)] // an example that is used by hand

use compare::{Given, Row, Run, Settings, Verdict, compare};
use document::Document;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use stats::Cycles;
use std::collections::BTreeMap;
use table::Table;

/// A document as it is, and with the padded row.
fn read(path: &String, padded: &str) -> [Run; 2] {
    let mut document = document::load(&std::fs::read_to_string(path).unwrap()).unwrap();
    // Documents that do not know their boot are taken to be of one.
    document.environment.boot_id.get_or_insert_default();
    let run = |document: &Document| Run::of(Table::get(), document, None);
    let as_it_is = run(&document);
    for row in document.results.iter_mut().filter(|row| row.in_words() == padded) {
        let Some(cost) = &mut row.core_cycles else { continue };
        let pad = Cycles(0.01 * cost.estimate.0);
        let more = |cycles: Cycles| Cycles(cycles.0 + pad.0);
        (cost.estimate, cost.ci_low, cost.ci_high) =
            (more(cost.estimate), cost.ci_low.map(more), cost.ci_high.map(more));
    }
    [as_it_is, run(&document)]
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (a_side, comparisons): (usize, usize) =
        (arguments[0].parse().unwrap(), arguments[1].parse().unwrap());
    let kept = std::env::var("HISTORY").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let padded = std::env::var("PAD").unwrap_or_default();
    let mut runs: Vec<[Run; 2]> = arguments[2..].iter().map(|path| read(path, &padded)).collect();
    let mut random = StdRng::seed_from_u64(1);
    let (mut with_false, mut found_pad) = (0, 0);
    let (mut verdicts, mut rows) = (BTreeMap::<Verdict, u64>::new(), BTreeMap::<String, u64>::new());
    for _ in 0..comparisons {
        runs.shuffle(&mut random);
        let take = |from: usize, count: usize, which: usize| -> Vec<Run> {
            runs[from..from + count].iter().map(|run| run[which].clone()).collect()
        };
        let given = |runs: Vec<Run>| Given { label: String::new(), runs };
        let (base, new) = (given(take(0, a_side, 0)), given(take(a_side, a_side, 1)));
        let found = compare(Table::get(), &base, &new, &take(2 * a_side, kept, 0), &Settings::default());
        let tells = |row: &&Row| matches!(row.verdict, Verdict::Slower | Verdict::Faster);
        found_pad += u64::from(found.rows.iter().filter(tells).any(|row| row.in_words() == padded));
        let names: Vec<String> =
            found.rows.iter().filter(tells).map(Row::in_words).filter(|row| *row != padded).collect();
        with_false += u64::from(!names.is_empty());
        names.into_iter().for_each(|name| *rows.entry(name).or_default() += 1);
        found
            .summary
            .verdicts
            .iter()
            .for_each(|(verdict, count)| *verdicts.entry(*verdict).or_default() += count);
    }
    println!(
        "{with_false} of {comparisons} comparisons of {a_side} and {a_side} runs contain a false verdict"
    );
    println!("{found_pad} find the padded row");
    verdicts
        .iter()
        .filter(|(_, count)| **count > 0)
        .for_each(|(verdict, count)| println!("{verdict}: {count}"));
    rows.iter().for_each(|(row, count)| println!("  {row}: {count}"));
}

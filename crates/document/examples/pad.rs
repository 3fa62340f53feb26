//! Makes one row of real runs dearer by a known amount, for bench/soak.sh: what must be found is then known to the cycle, and all else is
//! as this machine measured it.
//!
//!     pad PERCENT ENTRY/OPERATION TO FROM...
//!
//! Of each document FROM, one of the same name is written into the folder TO, in which every round of the row took so many core cycles
//! more, as if the probe's code had been padded by that; its figures are computed again from its rounds. A document that
//! has no figure for the row is copied.
#![allow(clippy::unwrap_used)] // a developer's tool: what fails, fails loudly

use document::{Document, Row};
use std::path::{Path, PathBuf};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [percent, row, to, from @ ..] = words.as_slice() else {
        panic!("pad PERCENT ENTRY/OPERATION TO FROM...")
    };
    let (percent, (entry, operation)) = (percent.parse::<f64>().unwrap(), row.split_once('/').unwrap());
    for from in from.iter().map(PathBuf::from) {
        let mut document = document::load(&std::fs::read_to_string(&from).unwrap()).unwrap();
        let is_meant = |row: &&mut Row| row.entry == entry && row.operation == operation;
        document.results.iter_mut().filter(is_meant).for_each(|row| pad(row, percent));
        let document: Document = document::recompute(&document).unwrap();
        let file = Path::new(to).join(from.file_name().unwrap());
        std::fs::write(file, serde_json::to_string(&document).unwrap()).unwrap();
    }
}

/// The same number of cycles in every round, in ticks of its clock.
fn pad(row: &mut Row, percent: f64) {
    let cycles = row.core_cycles.map_or(0.0, |cost| cost.estimate.0) * percent / 100.0;
    for (cost, cycles_per_tick) in row.rounds.cost.iter_mut().zip(&row.rounds.cycles_per_tick) {
        *cost += cycles / cycles_per_tick;
    }
}

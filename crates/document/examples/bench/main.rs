//! Computes bench/RESULTS.md from what bench/run.sh collected in a folder, and prints it.
//!
//!     bench FOLDER
//!
//! The folder holds `run-NUMBER-BUDGET-LOADED.json` (whole runs; BUDGET in seconds, LOADED is 1 where one CPU was loaded), `peers.csv` (run,
//! loaded, value, name), `processes.csv` (CPU, process, cost, the other process's), `truth.csv` (document, row, loop before, loop after, bare
//! loop; nanoseconds), `cost.csv` (limit, value, name), `head.md` and `compared.md`. A value that is missing is `-` there, and `-` here.
#![allow(clippy::unwrap_used)] // a developer's tool: what fails, fails loudly

mod bias;
mod cost;
mod figures;
mod intervals;
mod numbers;
mod peers;
mod processes;
mod runs;
mod truth;

use std::path::Path;

fn main() {
    let folder = std::env::args().nth(1).expect("usage: bench FOLDER");
    let folder = Path::new(&folder);
    let runs = runs::runs(folder);
    let peers = table(&folder.join("peers.csv"));
    println!("# Precision, truth and cost\n\n{}", read(&folder.join("head.md")));
    peers::machine(&runs, &peers);
    figures::figures(&runs);
    intervals::intervals(&runs);
    intervals::spreads(&runs);
    bias::bias(&runs);
    println!("{}", read(&folder.join("compared.md")));
    peers::beside(&runs, &peers);
    processes::processes(folder);
    truth::truth(folder);
    cost::cost(folder);
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Lines of values with commas between them; the last may hold commas.
fn table(path: &Path) -> Vec<Vec<String>> {
    let columns = if path.ends_with("truth.csv") {
        5
    } else if path.ends_with("cost.csv") {
        3
    } else {
        4
    };
    let line = |line: &str| line.splitn(columns, ',').map(str::to_string).collect();
    read(path).lines().map(line).collect()
}

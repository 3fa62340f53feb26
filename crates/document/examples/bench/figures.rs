//! How many rows lack a figure, and how long runs take.

use crate::numbers::{mean, median, show, sorted};
use crate::runs::{Run, by_budget};

pub fn figures(runs: &[Run]) {
    println!("## Rows without a figure, and time\n");
    println!("`quiet`: the share of a run's checks that found the core alone.\n");
    println!(
        "| budget, s | CPU loaded | runs | rows without core cycles, mean % | worst % | seconds, median | longest | quiet, median % | least % |"
    );
    println!("|---:|---|---:|---:|---:|---:|---:|---:|---:|");
    for (budget, runs) in by_budget(runs) {
        for loaded in [false, true] {
            let of = || runs.iter().filter(|run| run.loaded == loaded);
            let missing = sorted(of().map(|run| run.missing()));
            let seconds = sorted(of().map(|run| run.document.measurement.seconds));
            let quiet = sorted(of().map(|run| 100.0 * run.quiet()));
            println!(
                "| {budget} | {} | {} | {} | {} | {} | {} | {} | {} |",
                if loaded { "one" } else { "none" },
                missing.len(),
                show(mean(&missing), 1),
                show(missing.last().copied(), 1),
                show(median(&seconds), 1),
                show(seconds.last().copied(), 1),
                show(median(&quiet), 0),
                show(quiet.first().copied(), 0),
            );
        }
    }
    println!();
}

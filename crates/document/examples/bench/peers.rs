//! The machine, and what other tools say of it in the same minutes.

use crate::numbers::{median, show, sorted, spread, worst};
use crate::runs::Run;

/// A run is one of a quiet minute when more than this share of its canaries found the core alone.
const QUIET: f64 = 0.9;

const GETPPID: (&str, &str) = ("syscall-x86_64", "getppid");

pub fn machine(runs: &[Run], peers: &[Vec<String>]) {
    let quiet = sorted(runs.iter().map(|run| 100.0 * run.quiet()));
    println!(
        "{} whole runs. The core was alone in {} % of a run's checks in the median ({} to {} %); quiet runs (more than {:.0} %): {}. {} of {} figures of peers are missing.\n",
        runs.len(),
        show(median(&quiet), 0),
        show(quiet.first().copied(), 0),
        show(quiet.last().copied(), 0),
        100.0 * QUIET,
        runs.iter().filter(|run| run.quiet() > QUIET).count(),
        peers.iter().filter(|line| line.get(2).is_none_or(|value| value.parse::<f64>().is_err())).count(),
        peers.len(),
    );
}

fn values<'a>(peers: &'a [Vec<String>], name: &'a str, loaded: bool) -> Vec<f64> {
    let is_of = |line: &&Vec<String>| {
        let found = line.get(1).map(String::as_str) == Some(if loaded { "1" } else { "0" });
        found && line.get(3).is_some_and(|found| found == name)
    };
    sorted(peers.iter().filter(is_of).filter_map(|line| line.get(2)?.parse().ok()))
}

pub fn beside(runs: &[Run], peers: &[Vec<String>]) {
    println!("## Beside the peers\n");
    println!(
        "In the same minutes, in nanoseconds for the peers, in core cycles and nanoseconds for kentry. Peers say nothing of \
         noise; kentry's share of checks that did not find the core alone stands in the last column. stress-ng has its stressor for Intel's processors alone.\n"
    );
    println!(
        "| what | other CPU | figures | median | spread % | worst off median % | noise % |\n|---|---|---:|---:|---:|---:|---:|"
    );
    let line = |what: &str, loaded: bool, values: Vec<f64>, noise: Option<f64>| {
        let usual = median(&values);
        println!(
            "| {what} | {} | {} | {} | {} | {} | {} |",
            if loaded { "loaded" } else { "idle" },
            values.len(),
            show(usual, 2),
            show(spread(&values), 1),
            show(usual.and_then(|usual| worst(&values, usual)), 1),
            show(noise, 0)
        );
    };
    let mut names: Vec<&String> = peers.iter().filter_map(|line| line.get(3)).collect();
    names.sort();
    names.dedup();
    for loaded in [false, true] {
        let of = || runs.iter().filter(move |run| run.loaded == loaded);
        let noise = median(&sorted(of().map(|run| 100.0 * (1.0 - run.quiet()))));
        let cycles = of().filter_map(|run| Some(run.row(GETPPID)?.core_cycles?.estimate.0));
        line("kentry `syscall-x86_64 getppid`, core cycles", loaded, sorted(cycles), noise);
        let nanos = of().filter_map(|run| Some(run.row(GETPPID)?.ns?.estimate.0));
        line("kentry `syscall-x86_64 getppid`, ns", loaded, sorted(nanos), noise);
        for name in &names {
            line(&format!("{name}, ns"), loaded, values(peers, name, loaded), None);
        }
    }
    println!();
}

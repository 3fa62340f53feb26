//! That a large fleet is judged in seconds and in little memory: `cargo test --locked --release -p fleet --test large -- --ignored`.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

#[allow(dead_code)] // the other tests use the rest
mod world;

use fleet::{Fleet, Settings};
use std::time::{Duration, Instant};
use world::{PLAIN, World};

const MEBIBYTE: u64 = 1 << 20;

/// The most memory that this process ever had, bytes.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
#[ignore = "asks for an optimized build"]
fn ten_thousand_hosts_are_judged_in_ten_seconds_and_200_mib() {
    let world = World { hosts: 10_000, cohorts: 4, kernel: (0.3, 0.05), odd: (0.01, 0.2), ..PLAIN };
    let mut fleet = Fleet::new();
    let mut taken = Duration::ZERO;
    let mut bytes = 0;
    world.each(1, |name, summary| {
        let lines = summary::write(&summary);
        bytes += lines.len();
        drop(summary);
        let started = Instant::now();
        for read in summary::Reader::new(lines.as_slice()) {
            fleet.add(name, &read.unwrap());
        }
        taken += started.elapsed();
    });
    let read = taken;
    let started = Instant::now();
    let judgement = fleet.judge(&Settings::default()).unwrap();
    taken += started.elapsed();
    let memory = most_memory();
    println!(
        "{} MB read in {:.1} s, judged in {:.1} s, {} MiB; {} cohorts, {} odd",
        bytes / 1_000_000,
        read.as_secs_f64(),
        (taken - read).as_secs_f64(),
        memory / MEBIBYTE,
        judgement.cohorts.len(),
        judgement.odd.len()
    );
    assert!(judgement.odd.len() >= 90 && judgement.cohorts.len() == 8);
    assert!(memory < 200 * MEBIBYTE, "{} MiB", memory / MEBIBYTE);
    assert!(taken < Duration::from_secs(10), "{taken:?}");
}

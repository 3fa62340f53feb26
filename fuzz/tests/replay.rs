//! Every seed of the corpus, and some of what a fuzzer would make of it, without a fuzzer: that a target holds and its seeds still mean
//! something is known by each `make test`; `make fuzz` searches.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use fuzz::targets::{TARGETS, Target, document, kernel};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::panic::catch_unwind;
use std::path::Path;

/// How many others are made of each seed.
const OTHERS: u64 = 40;

/// The seeds of a target, by their files' names.
fn seeds(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    let mut seeds: Vec<(String, Vec<u8>)> = files
        .map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap()))
        .collect();
    seeds.sort();
    seeds
}

/// A few bytes changed, left out, repeated or put in; of a document every other time a number instead.
fn other(seed: &[u8], number: u64) -> Vec<u8> {
    let mut random = StdRng::seed_from_u64(number);
    if number.is_multiple_of(2)
        && let Some(text) = document::with_other_number(seed, random.random_range(0..usize::MAX / 2))
    {
        return text;
    }
    let mut bytes = seed.to_vec();
    for _ in 0..random.random_range(1..=4) {
        let at = random.random_range(0..=bytes.len());
        let end = bytes.len().min(at + random.random_range(1..=16));
        match random.random_range(0..5) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes.truncate(at),
            2 => bytes.insert(at, random.random()),
            3 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            _ => bytes[at..end].iter_mut().for_each(|byte| *byte = random.random()),
        }
    }
    bytes
}

#[test]
fn what_must_hold_holds_of_every_seed_and_of_what_is_like_it() {
    for target in &TARGETS {
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "{} has no seed", target.name);
        for (name, seed) in seeds {
            for number in 0..=OTHERS {
                let input = if number == 0 { seed.clone() } else { other(&seed, number) };
                let held = catch_unwind(|| (target.run)(&input)).is_ok();
                assert!(held, "{}: change {number} of {name} (0: none)", target.name);
            }
        }
    }
}

#[test]
fn every_folder_of_seeds_is_a_targets() {
    let folders = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")).unwrap();
    let mut folders: Vec<String> =
        folders.map(|folder| folder.unwrap().file_name().into_string().unwrap()).collect();
    let mut names = TARGETS.map(|target| target.name.to_string());
    folders.sort();
    names.sort();
    assert_eq!(folders, names);
}

#[test]
fn seeds_are_what_their_targets_take() {
    let seed = |target: &str, name: &str| {
        let target = TARGETS.iter().find(|one| one.name == target).unwrap();
        seeds(target).into_iter().find(|(own, _)| own == name).unwrap().1
    };
    let text = |target, name| String::from_utf8(seed(target, name)).unwrap();
    assert!(::document::load(&text("document", "ordinary.json")).is_ok());
    assert!(attribution::anatomy::load(&text("anatomy", "two.json")).is_ok());
    assert!(table::Table::parse(&text("table", "four-rows.toml")).is_ok());
    assert!(record::parse(&seed("records", "measured-64")).is_ok());
    for (name, bytes) in seeds(TARGETS.iter().find(|target| target.name == "kernel").unwrap()) {
        let whole = kernel::with_checksum(&bytes).unwrap_or(bytes);
        let parsed = linux::Kernel::parse(whole, &std::sync::atomic::AtomicBool::new(false));
        assert!(parsed.is_ok(), "{name}: {}", parsed.unwrap_err());
    }
}

//! How identifiers of address spaces are given: the kernel's code, compiled for the host, against a model of a TLB that keeps
//! whatever is not flushed. No emulator has such a TLB.

use crate::build::{OnHost, compile_once, root};
use std::collections::{BTreeMap, BTreeSet};

/// The processor goes to one of eight address spaces, one ends and a new one takes its place, or all that is cached is void.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Enter(usize),
    End(usize),
    Forget,
}

const SPACES: usize = 8;

/// Any events, the same in each run.
fn events(seed: u64) -> Vec<Event> {
    let mut state = seed;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut event = || match next(20) {
        0 => Event::Forget,
        1 | 2 => Event::End(next(SPACES as u64) as usize),
        _ => Event::Enter(next(SPACES as u64) as usize),
    };
    (0..400).map(|_| event()).collect()
}

/// For each entering the pair that the kernel gives, and whether it flushes that.
fn taken(pairs: usize, events: &[Event]) -> Vec<(usize, bool)> {
    let lab = root().join("lab");
    let files = [lab.join("mm/pcid.c"), root().join("tests/lab/pcid.c")];
    let include = format!("-I{}", lab.display());
    let flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", &include];
    let program = OnHost::of(&compile_once("pcid", &flags, &files).bytes);
    let words = events.iter().map(|event| match event {
        Event::Enter(space) => space.to_string(),
        Event::End(space) => format!("e{space}"),
        Event::Forget => "f".into(),
    });
    let words: Vec<String> = std::iter::once(pairs.to_string()).chain(words).collect();
    let line = |line: &str| {
        let (pair, flush) = line.split_once(' ').unwrap();
        (pair.parse().unwrap(), flush == "1")
    };
    program.run(&words.join(" "), b"").lines().map(line).collect()
}

/// Whether a translation could be used that is not, or not any more, of the address space that the processor is in. It keeps
/// all that it ever had with an identifier, until that is flushed.
fn is_stale_used(events: &[Event], taken: &[(usize, bool)]) -> bool {
    let mut taken = taken.iter();
    // Of each place, which address space it has; of each pair, whose translations it may have.
    let (mut spaces, mut made) = ([0_u64; SPACES], 0);
    spaces.iter_mut().for_each(|space| {
        made += 1;
        *space = made;
    });
    let mut cached: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    let mut is_used = false;
    for event in events {
        match event {
            Event::Enter(place) => {
                let (pair, flush) = *taken.next().unwrap();
                let holds = cached.entry(pair).or_default();
                if flush {
                    holds.clear();
                }
                is_used |= holds.iter().any(|space| *space != spaces[*place]);
                holds.insert(spaces[*place]);
            }
            Event::End(place) => {
                made += 1;
                spaces[*place] = made;
            }
            // No address space has any more what it had.
            Event::Forget => spaces.iter_mut().for_each(|space| {
                made += 1;
                *space = made;
            }),
        }
    }
    is_used
}

#[test]
fn an_identifier_is_flushed_before_another_address_space_has_it() {
    for pairs in 1..=SPACES {
        let events = events(pairs as u64);
        let taken = taken(pairs, &events);
        assert!(taken.iter().all(|(pair, _)| *pair < pairs), "{taken:?}");
        assert!(!is_stale_used(&events, &taken), "{pairs} pairs");
        // Most flushes are needed, and a missing one is noticed. One that is not comes when a pair goes to the address space that
        // had it in the generation before.
        let flushes = (0..taken.len()).filter(|i| taken[*i].1);
        let is_noticed = |left_out: usize| {
            let mut without = taken.clone();
            without[left_out].1 = false;
            is_stale_used(&events, &without)
        };
        let (noticed, other): (Vec<usize>, Vec<usize>) = flushes.partition(|i| is_noticed(*i));
        assert!(noticed.len() > other.len(), "{pairs} pairs: {noticed:?} {other:?}");
    }
}

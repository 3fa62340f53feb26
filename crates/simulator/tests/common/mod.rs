//! What the tests look for in records.
#![allow(dead_code)] // each test uses a part of it

use record::{Canary, Payload, Record, Sample};
use simulator::{LENGTHS, Model};

/// Every sample of the blocks.
pub fn samples(records: &[Record]) -> Vec<Sample> {
    let blocks = records.iter().filter_map(|record| match &record.payload {
        Payload::Samples(samples) => Some(samples),
        _ => None,
    });
    blocks.flatten().copied().collect()
}

pub fn bursts(records: &[Record]) -> Vec<Sample> {
    let bursts = records.iter().find_map(|record| match &record.payload {
        Payload::Bursts(bursts) => Some(bursts.clone()),
        _ => None,
    });
    bursts.unwrap()
}

pub fn order(records: &[Record]) -> Vec<Sample> {
    let order = records.iter().find_map(|record| match &record.payload {
        Payload::Order(order) => Some(order.clone()),
        _ => None,
    });
    order.unwrap()
}

pub fn canaries(records: &[Record]) -> Vec<Canary> {
    let canaries = records.iter().filter_map(|record| match &record.payload {
        Payload::Canary(canary) => Some(*canary),
        _ => None,
    });
    canaries.collect()
}

pub fn preemptions(records: &[Record]) -> u64 {
    let Some(Payload::End { preemptions, .. }) = records.last().map(|record| record.payload.clone()) else {
        panic!("{:?}", records.last())
    };
    preemptions
}

/// Ticks between two stamps of a canary.
pub fn interval(canary: &Canary, from: usize) -> f64 {
    canary.stamps[from + 1] as f64 - canary.stamps[from] as f64
}

/// How many times slower the nots of a canary are than on a core that is alone, judged by the canary's own chain.
pub fn slowdown(canary: &Canary, model: &Model) -> f64 {
    let overhead = interval(canary, 0);
    let cycles_per_tick = 3.0 * LENGTHS.imuls as f64 / (interval(canary, 1) - overhead);
    let alone = LENGTHS.nots as f64 / model.nots_per_cycle;
    (interval(canary, 3) - overhead) * cycles_per_tick / alone
}

/// Mean, and the standard error of it.
pub fn mean(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let values: Vec<f64> = values.into_iter().collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// Asserts that a truth is within four standard errors of what was seen, and that these say something.
pub fn assert_true(seen: (f64, f64), truth: f64, at_most: f64) {
    let (value, error) = seen;
    assert!(error < at_most, "a standard error of {error} shows nothing");
    assert!((value - truth).abs() <= 4.0 * error + 1e-9, "{value} ± {error}, not {truth}");
}

//! Cohorts of several modes: where a fact separates hosts that cost more from those that cost less, each side becomes a cohort of its own,
//! and none of its hosts is odd for being on the rarer side.

use crate::LEAST_HOSTS;
use crate::columns::{Column, Columns, Kind};
use crate::median::{NORMAL, finest, median, middle_and_spread};
use crate::sample::Sample;
use crate::words::Word;
use statrs::distribution::{ContinuousCDF, Normal};
use std::collections::BTreeMap;

/// Of cohorts that are alike, at most this part is split.
const FALSE_SPLITS: f64 = 0.01;

/// The part of a cohort that a mode has at least. Fewer hosts are odd ones, and the fact is what differs there.
const LEAST_PART: f64 = 0.05;

/// The sides' medians differ by at least this many standard deviations within sides; a smaller difference hides no odd host.
const LEAST_APART: f64 = 1.0;

/// A fact that separates a cohort's hosts.
#[derive(Debug, Clone)]
pub(crate) struct Found<'a> {
    pub fact: (&'a Column, Option<Word>),
    /// Other facts with just the same hosts.
    pub alike: Vec<(&'a Column, Option<Word>)>,
    /// Of each host of the cohort, whether it has the value.
    pub has: Vec<bool>,
    /// The rows that differ, the clearest first.
    pub rows: Vec<Apart>,
}

/// A row on both sides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Apart {
    /// Place of the sample.
    pub sample: usize,
    /// Median of the hosts with the value.
    pub with: f64,
    /// Median of those without.
    pub without: f64,
    /// Standard error of the difference.
    pub error: f64,
    /// How likely such a difference is by chance, of this row alone.
    pub p: f64,
    /// By how many tests, of rows and facts, it was found.
    pub tests: f64,
    /// Standard deviation within sides.
    pub spread: f64,
}

impl Apart {
    /// The probability up to which a test rejects.
    pub fn least_p(&self) -> f64 {
        FALSE_SPLITS / self.tests.max(1.0)
    }

    pub fn is_clear(&self) -> bool {
        self.p <= self.least_p() && (self.with - self.without).abs() >= LEAST_APART * self.spread
    }
}

/// The fact that separates these hosts best, if any does. Hosts are places in the fleet; samples count places among them.
pub(crate) fn best<'a>(columns: &'a Columns, hosts: &[u32], samples: &[Sample]) -> Option<Found<'a>> {
    let candidates = candidates(columns, hosts);
    let samples: Vec<(usize, &Sample, Vec<f64>)> = samples
        .iter()
        .enumerate()
        .filter(|(_, sample)| sample.values.len() >= 2 * LEAST_HOSTS)
        .map(|(place, sample)| (place, sample, ranks(&sample.values)))
        .collect();
    let tests = (samples.len() * candidates.len()) as f64;
    let score =
        |has: &[bool]| samples.iter().map(|(_, sample, ranks)| rank_sum(sample, ranks, has).powi(2)).sum();
    let mut scored: Vec<(f64, Found)> =
        candidates.into_iter().map(|found| (score(&found.has), found)).collect();
    // Of facts that separate as well, the one that is told first.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().map(|(_, found)| found).find_map(|mut found| {
        let apart = samples.iter().filter_map(|(place, sample, ranks)| {
            let z = rank_sum(sample, ranks, &found.has);
            apart(*place, sample, &found.has, z, tests)
        });
        found.rows = apart.collect();
        found.rows.sort_by(|a, b| a.p.total_cmp(&b.p));
        found.rows.iter().any(Apart::is_clear).then_some(found)
    })
}

/// Every value that enough hosts have and enough have not; those of the same hosts together.
fn candidates<'a>(columns: &'a Columns, hosts: &[u32]) -> Vec<Found<'a>> {
    let least = (LEAST_PART * hosts.len() as f64).ceil().max(LEAST_HOSTS as f64) as usize;
    let mut places: BTreeMap<Vec<bool>, usize> = BTreeMap::new();
    let mut found: Vec<Found> = Vec::new();
    for column in columns.reasons().filter(|column| column.kind != Kind::Finding) {
        let values = || hosts.iter().map(|host| column.values[*host as usize]);
        let mut counts: BTreeMap<Option<Word>, usize> = BTreeMap::new();
        values().for_each(|value| *counts.entry(value).or_default() += 1);
        let mut counts: Vec<(Option<Word>, usize)> = counts.into_iter().collect();
        // The rarer first: of two values, it is the one that is told.
        counts.sort_by_key(|(value, count)| (*count, *value));
        for (value, count) in counts {
            if value.is_none() || count < least || hosts.len() - count < least {
                continue;
            }
            let has: Vec<bool> = values().map(|own| own == value).collect();
            let others: Vec<bool> = has.iter().map(|has| !has).collect();
            match places.get(&has).or_else(|| places.get(&others)) {
                Some(place) => {
                    let known = &mut found[*place];
                    if known.has == has && known.fact.0.id != column.id {
                        known.alike.push((column, value));
                    }
                }
                None => {
                    places.insert(has.clone(), found.len());
                    found.push(Found { fact: (column, value), alike: Vec::new(), has, rows: Vec::new() });
                }
            }
        }
    }
    found
}

/// Ranks from 1; equal values have their mean.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 1.0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = first + (equal.len() as f64 - 1.0) / 2.0;
        equal.iter().for_each(|place| ranks[*place] = rank);
        first += equal.len() as f64;
    }
    ranks
}

/// The sum of the ranks of those that have it (Wilcoxon 1945), in standard deviations from its mean; 0 where a side is too small.
fn rank_sum(sample: &Sample, ranks: &[f64], has: &[bool]) -> f64 {
    let (mut sum, mut with) = (0.0, 0.0_f64);
    for (host, rank) in sample.hosts.iter().zip(ranks) {
        if has[*host as usize] {
            sum += rank;
            with += 1.0;
        }
    }
    let all = ranks.len() as f64;
    if with.min(all - with) < LEAST_HOSTS as f64 {
        return 0.0;
    }
    (sum - with * (all + 1.0) / 2.0) / (with * (all - with) * (all + 1.0) / 12.0).sqrt()
}

fn apart(place: usize, sample: &Sample, has: &[bool], z: f64, tests: f64) -> Option<Apart> {
    let side = |wanted: bool| {
        let all = sample.hosts.iter().zip(&sample.values);
        all.filter(|(host, _)| has[**host as usize] == wanted).map(|(_, value)| *value).collect::<Vec<f64>>()
    };
    let (mut with, mut without) = (side(true), side(false));
    if with.len().min(without.len()) < LEAST_HOSTS {
        return None;
    }
    let (middle_with, middle_without) = (median(&mut with)?, median(&mut without)?);
    // Each side has a spread of its own: the quieter majority does not know how well the others' median is known.
    let of_median = |values: &[f64], middle: f64| {
        let spread = middle_and_spread(values)?.1.max(finest(middle));
        Some(std::f64::consts::FRAC_PI_2 * spread * spread / values.len() as f64)
    };
    let error = (of_median(&with, middle_with)? + of_median(&without, middle_without)?).sqrt();
    let around = |values: Vec<f64>, middle: f64| values.into_iter().map(move |value| (value - middle).abs());
    let mut around: Vec<f64> = around(with, middle_with).chain(around(without, middle_without)).collect();
    let spread = (NORMAL * median(&mut around)?).max(finest(middle_without));
    let p = (2.0 * Normal::standard().sf(z.abs())).clamp(f64::MIN_POSITIVE, 1.0);
    Some(Apart { sample: place, with: middle_with, without: middle_without, error, p, tests, spread })
}

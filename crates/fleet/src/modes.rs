//! Hosts of a cohort that lie together, apart from the others, without a fact that says why.

use crate::LEAST_HOSTS;
use crate::cohort::Judged;
use crate::distance::Distance;
use crate::median::middle_and_spread;
use crate::sample::Sample;
use std::collections::BTreeSet;

/// The part of a cohort that is a mode and not some odd hosts.
const LEAST_PART: f64 = 0.1;

/// Fewer hosts have such gaps by chance.
const FEWEST: usize = 30;

/// Two modes are so many times as far apart as both sides spread together. Of 400 simulated fleets of thirty hosts and one mode, half of them
/// with tails of a Student t of 3, none has such a gap in any of 25 rows; of twenty hosts, 9.
const LEAST_GAP: f64 = 2.0;

/// So many odd hosts that agree are told to.
const AGREEING: usize = 3;

/// The smaller one of two modes, by any row: places of hosts that are not odd.
pub(crate) fn smaller_mode(cohort: &Judged) -> BTreeSet<u32> {
    let rows = cohort.samples.iter().filter_map(mode);
    rows.flatten().filter(|host| !cohort.odd.contains_key(host)).collect()
}

fn mode(sample: &Sample) -> Option<Vec<u32>> {
    let count = sample.values.len();
    let least = LEAST_HOSTS.max((LEAST_PART * count as f64).ceil() as usize);
    if count < FEWEST {
        return None;
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_unstable_by(|a, b| sample.values[*a].total_cmp(&sample.values[*b]));
    let values: Vec<f64> = order.iter().map(|place| sample.values[*place]).collect();
    let gap = |upper: &usize| values[*upper] - values[upper - 1];
    let upper = (least..=count - least).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let spread = middle_and_spread(&values[..upper])?.1 + middle_and_spread(&values[upper..])?.1;
    // Steps of a coarse clock have no spread.
    let is_mode = spread > 0.0 && gap(&upper) > LEAST_GAP * spread;
    let smaller = if upper <= count / 2 { &order[..upper] } else { &order[upper..] };
    is_mode.then(|| smaller.iter().map(|place| sample.hosts[*place]).collect())
}

/// Odd hosts, by places, that lie equally far off by a row.
pub(crate) fn agreeing(cohort: &Judged) -> BTreeSet<u32> {
    cohort.odd_by.iter().flat_map(|(sample, hosts)| agree(cohort, *sample, hosts)).collect()
}

fn agree(cohort: &Judged, sample: usize, hosts: &BTreeSet<u32>) -> Vec<u32> {
    let (of, distances) = (&cohort.samples[sample], &cohort.far.distances[sample]);
    let at = |host: &u32| of.hosts.binary_search(host).ok();
    let mut odd: Vec<(u32, f64, Distance)> =
        hosts.iter().filter_map(|host| at(host).map(|at| (*host, of.values[at], distances[at]))).collect();
    odd.sort_by(|a, b| a.1.total_cmp(&b.1));
    // Within what hosts differ by anyway.
    let clusters = odd.chunk_by(|a, b| b.1 - a.1 <= a.2.error.max(b.2.error));
    clusters.filter(|cluster| cluster.len() >= AGREEING).flatten().map(|(host, _, _)| *host).collect()
}

//! How likely hosts that are alike lie as far from the others as they do, all rows together.

use crate::LEAST_HOSTS;
use crate::corrected::{FALSE_ODD, benjamini_hochberg, together};
use crate::distance::{Distance, distances, distribution};
use crate::sample::Sample;
use crate::tails::Tails;
use stats::Student;
use std::collections::BTreeMap;

/// What the rows of hosts say of each. Hosts are places among those of the samples.
#[derive(Debug, Default)]
pub(crate) struct Far {
    /// Of each sample, the distances of its hosts; empty where there are too few.
    pub distances: Vec<Vec<Distance>>,
    /// Degrees of freedom of the distances; none where no sample has enough hosts.
    pub tail_freedom: Option<f64>,
    /// Of each host with a distance, how likely it is by chance.
    pub p: BTreeMap<u32, f64>,
}

/// How far a host is from the others by a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FarRow {
    /// Place of the sample.
    pub sample: usize,
    /// Place of the host in it.
    pub at: usize,
    pub distance: Distance,
    /// Half of the width of the difference's interval.
    pub reach: f64,
    pub p: f64,
    /// Whether the host is odd by this row alone.
    pub is_clear: bool,
}

/// Of the intervals of all rows of odd hosts, this part misses, in the mean.
const MISSES: f64 = 0.05;

impl Far {
    pub fn of(samples: &[Sample], hosts: usize) -> Far {
        let distances: Vec<Vec<Distance>> = samples.iter().map(of_enough).collect();
        let rows = || samples.iter().zip(&distances).filter(|(_, distances)| !distances.is_empty());
        if rows().next().is_none() {
            return Far { distances, ..Far::default() };
        }
        let mut tails = Tails::new(hosts);
        for (sample, distances) in rows() {
            tails.add(sample.hosts.iter().copied().zip(distances.iter().map(|distance| distance.distance)));
        }
        let freedom = tails.freedom();
        let mut of_hosts: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (sample, distances) in rows() {
            let Some(student) = distribution(distances.len(), freedom) else { continue };
            for (host, distance) in sample.hosts.iter().zip(distances) {
                of_hosts.entry(*host).or_default().push(student.beyond(distance.distance));
            }
        }
        let p = of_hosts.into_iter().filter_map(|(host, p)| Some((host, together(&p)?))).collect();
        Far { distances, tail_freedom: Some(freedom), p }
    }

    /// The distribution of the distances of a sample.
    pub fn distribution(&self, sample: usize) -> Option<Student> {
        let count = self.distances.get(sample).map_or(0, Vec::len);
        self.tail_freedom.filter(|_| count > 0).and_then(|freedom| distribution(count, freedom))
    }

    /// The rows of a host, the clearest first; `part` of all hosts are named.
    pub fn rows(&self, samples: &[Sample], host: u32, part: f64) -> Vec<FarRow> {
        let row = |(place, sample): (usize, &Sample)| {
            let at = sample.hosts.binary_search(&host).ok()?;
            let distance = *self.distances.get(place)?.get(at)?;
            let student = self.distribution(place)?;
            Some(FarRow {
                sample: place,
                at,
                distance,
                reach: distance.error * student.reach(MISSES * part),
                p: student.beyond(distance.distance),
                is_clear: false,
            })
        };
        let mut rows: Vec<FarRow> = samples.iter().enumerate().filter_map(row).collect();
        let corrected = benjamini_hochberg(&rows.iter().map(|row| row.p).collect::<Vec<f64>>());
        for (row, corrected) in rows.iter_mut().zip(corrected) {
            row.is_clear = corrected <= FALSE_ODD * part;
        }
        rows.sort_by(|a, b| a.p.total_cmp(&b.p));
        rows
    }
}

fn of_enough(sample: &Sample) -> Vec<Distance> {
    if sample.values.len() < LEAST_HOSTS { Vec::new() } else { distances(sample) }
}

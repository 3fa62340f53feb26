//! What is said of an odd host.

use crate::cohort::{Judged, id};
use crate::corrected::{FALSE_ODD, benjamini_hochberg};
use crate::difference::Between;
use crate::explain::Facts;
use crate::fleet::Fleet;
use crate::hosts::Host;
use crate::judgement::{Difference, OddHost};
use crate::median::median;

/// Of the intervals of all rows of odd hosts, this part misses, in the mean.
const MISSES: f64 = 0.05;

/// With fewer rows nothing is said of all of them together.
const SEVERAL: usize = 3;

/// Of the rows, this part lies close to what is common to all where all move together.
const MOST: f64 = 0.9;

/// An odd host of a cohort, by its place there and its corrected probability; `part` of all hosts are named.
pub(crate) fn host(
    cohort: &mut Judged,
    number: usize,
    (place, q): (u32, f64),
    part: f64,
    facts: &Facts,
    (hosts, fleet): (&[Host], &Fleet),
) -> OddHost {
    let (rows, odd_by) = rows(cohort, place, part);
    for sample in odd_by {
        cohort.odd_by.entry(sample).or_default().insert(place);
    }
    let rows: Vec<Difference> = rows.iter().map(|row| row.told(fleet)).collect();
    let common = common_percent(&rows);
    let in_fleet = cohort.hosts[place as usize];
    let own = &hosts[in_fleet as usize];
    OddHost {
        host: own.name.clone(),
        cohort: id(number),
        runs: own.runs.len(),
        p: cohort.p.get(&place).copied().unwrap_or(1.0),
        q,
        moves_together: common.is_some_and(|common| move_together(&rows, common)),
        common_percent: common,
        rows,
        differs: facts.differs(in_fleet),
    }
}

/// A host's rows, the clearest first, and the samples by which alone it is odd.
fn rows(cohort: &Judged, place: u32, part: f64) -> (Vec<Between>, Vec<usize>) {
    let mut found: Vec<(usize, Between)> = Vec::new();
    for (number, (sample, distances)) in cohort.samples.iter().zip(&cohort.distances).enumerate() {
        let Ok(at) = sample.hosts.binary_search(&place) else { continue };
        let (Some(distance), Some(student)) = (distances.get(at), cohort.distribution(number)) else {
            continue;
        };
        let between = Between {
            row: sample.row,
            unit: sample.unit,
            estimate: sample.values[at],
            middle: distance.middle,
            reach: distance.error * student.reach(MISSES * part),
            p: student.beyond(distance.distance),
            is_clear: false,
        };
        found.push((number, between));
    }
    let corrected = benjamini_hochberg(&found.iter().map(|(_, row)| row.p).collect::<Vec<f64>>());
    for ((_, row), corrected) in found.iter_mut().zip(corrected) {
        row.is_clear = corrected <= FALSE_ODD * part;
    }
    found.sort_by(|a, b| a.1.p.total_cmp(&b.1.p));
    let odd_by = found.iter().filter(|(_, row)| row.is_clear).map(|(number, _)| *number).collect();
    (found.into_iter().map(|(_, row)| row).collect(), odd_by)
}

fn common_percent(rows: &[Difference]) -> Option<f64> {
    let mut percents: Vec<f64> = rows.iter().filter_map(|row| row.percent).collect();
    let enough = percents.len() >= SEVERAL;
    median(&mut percents).filter(|_| enough)
}

fn move_together(rows: &[Difference], common: f64) -> bool {
    let percents: Vec<f64> = rows.iter().filter_map(|row| row.percent).collect();
    let close = percents.iter().filter(|percent| (0.5..=2.0).contains(&(*percent / common))).count();
    close as f64 >= MOST * percents.len() as f64
}

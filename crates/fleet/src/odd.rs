//! What is said of an odd host.

use crate::cohort::{Judged, id};
use crate::difference::Between;
use crate::explain::Facts;
use crate::far::FarRow;
use crate::fleet::Fleet;
use crate::hosts::Host;
use crate::judgement::{Difference, OddHost};
use crate::median::median;
use crate::sample::Sample;

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
    let rows = cohort.far.rows(&cohort.samples, place, part);
    for row in rows.iter().filter(|row| row.is_clear) {
        cohort.odd_by.entry(row.sample).or_default().insert(place);
    }
    let rows: Vec<Difference> =
        rows.iter().map(|row| between(row, &cohort.samples[row.sample]).told(fleet)).collect();
    let common = common_percent(&rows);
    let in_fleet = cohort.hosts[place as usize];
    let own = &hosts[in_fleet as usize];
    OddHost {
        host: own.name.clone(),
        cohort: id(number),
        runs: own.runs.len(),
        p: cohort.far.p.get(&place).copied().unwrap_or(1.0),
        q,
        moves_together: common.is_some_and(|common| move_together(&rows, common)),
        common_percent: common,
        rows,
        differs: facts.differs(in_fleet),
    }
}

fn between(row: &FarRow, sample: &Sample) -> Between {
    Between {
        row: sample.row,
        unit: sample.unit,
        estimate: sample.values[row.at],
        middle: row.distance.middle,
        reach: row.reach,
        p: row.p,
        is_clear: row.is_clear,
    }
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

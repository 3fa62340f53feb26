//! Hosts that are alike, split until no fact separates them any more.

use crate::columns::Columns;
use crate::corrected::FALSE_ODD;
use crate::difference::{Between, rounded};
use crate::distance::{error, usual_variance};
use crate::far::Far;
use crate::fleet::{Fleet, TWO_SIDED};
use crate::hosts::{Host, KIND};
use crate::judgement::{Cohort, CohortRow, SplitSide};
use crate::median::middle_and_spread;
use crate::sample::{Sample, samples};
use crate::split::{Found, best};
use crate::words::Word;
use statrs::distribution::{ContinuousCDF, Normal};
use std::collections::{BTreeMap, BTreeSet};

/// A cohort's name.
pub(crate) fn id(number: usize) -> String {
    format!("c{}", number + 1)
}

/// A fact by its place among columns, and a value.
type Fact = (usize, Option<Word>);

/// A split of a cohort; hosts are places in the fleet.
#[derive(Debug)]
pub(crate) struct Split {
    pub number: usize,
    pub fact: Fact,
    pub alike: Vec<Fact>,
    pub with: Vec<u32>,
    pub without: Vec<u32>,
    pub rows: Vec<Between>,
}

/// A cohort that is not split any more. Hosts are places in it where nothing else is said.
#[derive(Debug)]
pub(crate) struct Judged {
    /// Places in the fleet.
    pub hosts: Vec<u32>,
    /// What they have in common.
    pub facts: Vec<Fact>,
    /// Numbers of the splits that it is a side of, and whether it is the one that has the value.
    pub path: Vec<(usize, bool)>,
    /// Facts of these splits.
    sides: Vec<Fact>,
    pub samples: Vec<Sample>,
    pub far: Far,
    /// The odd ones, with their corrected probability.
    pub odd: BTreeMap<u32, f64>,
    /// Those that would be, were they not so many.
    pub mode: Vec<u32>,
    /// Of each sample, the hosts that are odd by it alone.
    pub odd_by: BTreeMap<usize, BTreeSet<u32>>,
    /// How many hosts are judged, in all cohorts.
    pub all: usize,
}

/// All cohorts, the largest first, and the splits that made them.
pub(crate) fn cohorts(
    fleet: &Fleet,
    hosts: &[Host],
    columns: &Columns,
    by: &[String],
) -> (Vec<Judged>, Vec<Split>) {
    let wanted = |id: &str| KIND.contains(&id) || by.iter().any(|by| by == id);
    let common: Vec<usize> = columns
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| wanted(&column.id))
        .map(|(place, _)| place)
        .collect();
    let mut groups: BTreeMap<Vec<Option<Word>>, Vec<u32>> = BTreeMap::new();
    for host in 0..u32::try_from(hosts.len()).unwrap_or(u32::MAX) {
        let key = common.iter().map(|place| columns.columns[*place].values[host as usize]).collect();
        groups.entry(key).or_default().push(host);
    }
    let (mut judged, mut splits) = (Vec::new(), Vec::new());
    for (key, members) in groups {
        let of_fleet: Vec<&Host> = members.iter().map(|host| &hosts[*host as usize]).collect();
        let samples = samples(fleet, &of_fleet);
        let facts = common.iter().copied().zip(key).collect();
        let whole = Part { hosts: members, samples, facts, path: Vec::new(), sides: Vec::new() };
        whole.divide(columns, &mut judged, &mut splits);
    }
    judged.sort_by(|a, b| b.hosts.len().cmp(&a.hosts.len()).then_with(|| a.hosts.cmp(&b.hosts)));
    (judged, splits)
}

/// A cohort that may be split yet.
struct Part {
    hosts: Vec<u32>,
    samples: Vec<Sample>,
    facts: Vec<Fact>,
    path: Vec<(usize, bool)>,
    sides: Vec<Fact>,
}

impl Part {
    fn divide(self, columns: &Columns, judged: &mut Vec<Judged>, splits: &mut Vec<Split>) {
        let Some(found) = best(columns, &self.hosts, &self.samples) else {
            judged.push(Judged::of(self));
            return;
        };
        let split = self.split(columns, &found, splits.len());
        let [with, without] = [true, false].map(|side| self.side(&found, &split, side));
        splits.push(split);
        with.divide(columns, judged, splits);
        without.divide(columns, judged, splits);
    }

    fn split(&self, columns: &Columns, found: &Found, number: usize) -> Split {
        let fact = |column: &crate::columns::Column, value| {
            let place = columns.columns.iter().position(|own| own.id == column.id);
            (place.unwrap_or_default(), value)
        };
        let side = |wanted: bool| {
            let all = self.hosts.iter().zip(&found.has);
            all.filter(|(_, has)| **has == wanted).map(|(host, _)| *host).collect()
        };
        let rows = found.rows.iter().map(|row| {
            let sample = &self.samples[row.sample];
            Between {
                row: sample.row,
                unit: sample.unit,
                estimate: row.with,
                middle: row.without,
                reach: row.error * -Normal::standard().inverse_cdf(row.least_p() / 2.0),
                p: row.p,
                is_clear: row.is_clear(),
            }
        });
        Split {
            number,
            fact: fact(found.fact.0, found.fact.1),
            alike: found.alike.iter().map(|(column, value)| fact(column, *value)).collect(),
            with: side(true),
            without: side(false),
            rows: rows.collect(),
        }
    }

    fn side(&self, found: &Found, split: &Split, wanted: bool) -> Part {
        let mut next = 0;
        let new_place: Vec<Option<u32>> = found
            .has
            .iter()
            .map(|has| {
                (*has == wanted).then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        let mut path = self.path.clone();
        path.push((split.number, wanted));
        let mut sides = self.sides.clone();
        sides.push(split.fact);
        Part {
            hosts: if wanted { split.with.clone() } else { split.without.clone() },
            samples: self.samples.iter().map(|sample| sample.only(&new_place)).collect(),
            facts: self.facts.clone(),
            path,
            sides,
        }
    }
}

impl Judged {
    fn of(part: Part) -> Judged {
        Judged {
            far: Far::of(&part.samples, part.hosts.len()),
            hosts: part.hosts,
            facts: part.facts,
            path: part.path,
            sides: part.sides,
            samples: part.samples,
            odd: BTreeMap::new(),
            mode: Vec::new(),
            odd_by: BTreeMap::new(),
            all: 0,
        }
    }

    pub fn told(&self, place: usize, fleet: &Fleet, hosts: &[Host], columns: &Columns) -> Cohort {
        let fact = |fact: &Fact| columns.fact(&columns.columns[fact.0], fact.1);
        let sides = self.path.iter().zip(&self.sides);
        Cohort {
            id: id(place),
            facts: self.facts.iter().map(fact).collect(),
            split_by: sides.map(|((_, has_it), of)| SplitSide { fact: fact(of), has_it: *has_it }).collect(),
            hosts: self.hosts.iter().map(|host| hosts[*host as usize].name.clone()).collect(),
            has_verdict: self.far.tail_freedom.is_some(),
            odd: self.odd.len(),
            tail_freedom: self.far.tail_freedom,
            rows: (0..self.samples.len()).filter_map(|sample| self.row(fleet, sample)).collect(),
        }
    }

    fn row(&self, fleet: &Fleet, place: usize) -> Option<CohortRow> {
        let sample = &self.samples[place];
        let (median, spread) = middle_and_spread(&sample.values)?;
        let mut order: Vec<usize> = (0..sample.values.len()).collect();
        order.sort_unstable_by(|a, b| sample.values[*a].total_cmp(&sample.values[*b]));
        let ends = |sign: f64| {
            let end = |place: &usize| {
                let reach = TWO_SIDED * sample.variances[*place].sqrt();
                sample.is_known[*place].then_some(rounded(sample.values[*place] + sign * reach))
            };
            order.iter().map(end).collect::<Vec<Option<f64>>>()
        };
        let odd = self.odd_by.get(&place).into_iter().flatten().copied();
        Some(CohortRow {
            name: fleet.rows[sample.row as usize].clone(),
            unit: sample.unit,
            median: rounded(median),
            spread: rounded(spread),
            detectable_percent: self.detectable(place, median, spread),
            host: order.iter().map(|place| sample.hosts[*place]).collect(),
            estimate: order.iter().map(|place| rounded(sample.values[*place])).collect(),
            low: ends(-1.0),
            high: ends(1.0),
            odd: odd.collect(),
        })
    }

    fn detectable(&self, place: usize, median: f64, spread: f64) -> Option<f64> {
        let sample = &self.samples[place];
        let usual = usual_variance(sample);
        let error = error(spread, sample.finest(), usual, usual, sample.values.len());
        let rows = self.far.distances.iter().filter(|distances| !distances.is_empty()).count();
        let reach =
            self.far.distribution(place)?.reach(FALSE_ODD / self.all.max(1) as f64 / rows.max(1) as f64);
        (median > 0.0).then(|| rounded(100.0 * reach * error / median))
    }
}

//! A row over the hosts of a cohort: an estimate of each, with its error.

use crate::fleet::{Figure, Fleet, Run};
use crate::hosts::Host;
use crate::judgement::Unit;
use crate::median::{finest, median, middle_and_spread};
use crate::words::Word;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::collections::{BTreeMap, BTreeSet};

/// So many hosts with several boots tell how much a boot adds.
const KNOWN_BY: usize = 5;

/// A row over hosts, in order of their places.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    /// Place of the row in [`Fleet::rows`].
    pub row: u32,
    pub unit: Unit,
    /// Places of the hosts among those that were asked for.
    pub hosts: Vec<u32>,
    pub values: Vec<f64>,
    /// The variance of each value's error; where nobody knows, that of a host in the middle.
    pub variances: Vec<f64>,
    /// Whether that is known.
    pub is_known: Vec<bool>,
    /// Of logarithms, the standard deviation that they are told to at best; none of costs, whose median says it.
    pub finest: Option<f64>,
}

/// What a host's runs say of a row, boot by boot.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfHost {
    /// Mean over the runs of each boot, with the variance of its error.
    pub boots: Vec<Figure>,
}

impl OfHost {
    /// The mean over boots.
    pub fn mean(&self) -> Option<f64> {
        let count = self.boots.len() as f64;
        (count > 0.0).then(|| self.boots.iter().map(|boot| boot.estimate).sum::<f64>() / count)
    }

    /// The same of the estimates' logarithms; none where one is not above zero.
    pub fn logarithms(&self) -> Option<OfHost> {
        let logarithm = |boot: &Figure| {
            (boot.estimate > 0.0).then(|| Figure {
                estimate: boot.estimate.ln(),
                variance: boot.variance.map(|variance| variance / boot.estimate.powi(2)),
            })
        };
        Some(OfHost { boots: self.boots.iter().map(logarithm).collect::<Option<Vec<Figure>>>()? })
    }

    /// The variance of a boot by how far several of them lie apart.
    pub fn between(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.boots.len() > 1)?;
        let squares = self.boots.iter().map(|boot| (boot.estimate - mean).powi(2)).sum::<f64>();
        Some(squares / (self.boots.len() as f64 - 1.0))
    }

    /// The mean, whose error is the greatest of what its intervals, its own boots and those of all hosts say.
    pub fn figure(&self, of_all: Option<f64>) -> Option<Figure> {
        let count = self.boots.len() as f64;
        let by_intervals: Option<f64> = self.boots.iter().map(|boot| boot.variance).sum();
        let by_boots = [self.between(), of_all].into_iter().flatten().map(|variance| variance / count);
        let variance = by_intervals.map(|sum| sum / (count * count)).into_iter().chain(by_boots);
        Some(Figure { estimate: self.mean()?, variance: variance.reduce(f64::max) })
    }
}

/// How much boots of one host differ, with the error of what was measured in each, a variance: by all hosts that have several. None where
/// too few have.
pub(crate) fn boots_add<'a>(hosts: impl Iterator<Item = &'a OfHost>) -> Option<f64> {
    let of_host = |host: &OfHost| Some(host.between()? / middle_of_variance(host.boots.len())?);
    let mut between: Vec<f64> = hosts.filter_map(of_host).collect();
    let enough = between.len() >= KNOWN_BY;
    median(&mut between).filter(|_| enough)
}

/// What the variance of so many normal values is in the middle, as a part of the true one: 0.4549 of two, 0.69 of three.
fn middle_of_variance(values: usize) -> Option<f64> {
    let freedom = values as f64 - 1.0;
    ChiSquared::new(freedom).ok().map(|squares| squares.inverse_cdf(0.5) / freedom)
}

/// What each of these hosts says of each row in its unit, rows by their places.
pub(crate) fn rows_of_hosts(
    fleet: &Fleet,
    hosts: &[&Host],
    unit_of: impl Fn(u32) -> Unit,
) -> BTreeMap<u32, Vec<(u32, OfHost)>> {
    let mut rows: BTreeMap<u32, Vec<(u32, OfHost)>> = BTreeMap::new();
    for (place, host) in (0_u32..).zip(hosts) {
        let mut of_host: BTreeMap<u32, BTreeMap<Boot, Vec<Figure>>> = BTreeMap::new();
        for number in &host.runs {
            let run = &fleet.runs[*number as usize];
            for row in &run.rows {
                if let Some(figure) = row.figure(unit_of(row.name)) {
                    of_host.entry(row.name).or_default().entry(boot(*number, run)).or_default().push(figure);
                }
            }
        }
        for (row, boots) in of_host {
            let boots = boots.values().map(|figures| mean_of_runs(figures)).collect();
            rows.entry(row).or_default().push((place, OfHost { boots }));
        }
    }
    rows
}

/// Hosts that know a row in each unit, by their places, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    cycles: Vec<u32>,
    nanoseconds: Vec<u32>,
}

/// What is said of hosts that do not know the unit of a row.
pub(crate) const OTHER_UNIT: &str = "Each row is in the unit that most hosts know. These hosts know rows in the other one only, and these rows leave                                      them out.";

impl Known {
    /// Those that know it in any unit.
    pub fn hosts(&self) -> BTreeSet<u32> {
        self.cycles.iter().chain(&self.nanoseconds).copied().collect()
    }

    /// Core cycles where most of them know those: a few that know no others leave out no majority.
    pub fn unit(&self) -> Unit {
        if 2 * self.cycles.len() > self.hosts().len() { Unit::CoreCycles } else { Unit::Nanoseconds }
    }

    /// Those that know it, but not in this unit.
    pub fn left_out(&self, unit: Unit) -> BTreeSet<u32> {
        let (own, other) = match unit {
            Unit::CoreCycles => (&self.cycles, &self.nanoseconds),
            Unit::Nanoseconds => (&self.nanoseconds, &self.cycles),
        };
        other.iter().filter(|place| own.binary_search(place).is_err()).copied().collect()
    }

    /// Those that know it on this side and on another in one unit.
    pub fn on_both(&self, other: &Known) -> Known {
        let both = |own: &[u32], other: &[u32]| {
            own.iter().filter(|place| other.binary_search(place).is_ok()).copied().collect()
        };
        Known {
            cycles: both(&self.cycles, &other.cycles),
            nanoseconds: both(&self.nanoseconds, &other.nanoseconds),
        }
    }
}

/// Which of these hosts know which row, by its place, in which unit.
pub(crate) fn known(fleet: &Fleet, hosts: &[&Host]) -> BTreeMap<u32, Known> {
    let mut all: BTreeMap<u32, Known> = BTreeMap::new();
    for (place, host) in (0_u32..).zip(hosts) {
        for row in host.runs.iter().flat_map(|run| fleet.runs[*run as usize].rows.iter()) {
            let known = all.entry(row.name).or_default();
            for (unit, places) in
                [(Unit::CoreCycles, &mut known.cycles), (Unit::Nanoseconds, &mut known.nanoseconds)]
            {
                if row.figure(unit).is_some() && places.last() != Some(&place) {
                    places.push(place);
                }
            }
        }
    }
    all
}

/// A run whose boot nobody knows is of one of its own.
type Boot = (Option<Word>, Option<u32>);

fn boot(number: u32, run: &Run) -> Boot {
    (run.boot, run.boot.is_none().then_some(number))
}

fn mean_of_runs(figures: &[Figure]) -> Figure {
    let count = figures.len() as f64;
    let variance: Option<f64> = figures.iter().map(|figure| figure.variance).sum();
    Figure {
        estimate: figures.iter().map(|figure| figure.estimate).sum::<f64>() / count,
        variance: variance.map(|sum| sum / (count * count)),
    }
}

/// The rows of a cohort in the unit that most of its hosts know, in the order in which runs have them.
pub(crate) fn samples(fleet: &Fleet, hosts: &[&Host]) -> Vec<Sample> {
    let units: BTreeMap<u32, Unit> =
        known(fleet, hosts).into_iter().map(|(row, known)| (row, known.unit())).collect();
    let unit_of = |row| units.get(&row).copied().unwrap_or(Unit::Nanoseconds);
    let rows = rows_of_hosts(fleet, hosts, unit_of);
    rows.into_iter().map(|(row, of_hosts)| sample(row, unit_of(row), &of_hosts)).collect()
}

fn sample(row: u32, unit: Unit, of_hosts: &[(u32, OfHost)]) -> Sample {
    let of_boots = boots_add(of_hosts.iter().map(|(_, host)| host));
    let figures: Vec<(u32, Figure)> =
        of_hosts.iter().filter_map(|(place, host)| Some((*place, host.figure(of_boots)?))).collect();
    Sample::of(row, unit, &figures, None)
}

impl Sample {
    /// Of hosts by their places, in order.
    pub fn of(row: u32, unit: Unit, figures: &[(u32, Figure)], finest: Option<f64>) -> Sample {
        let mut known: Vec<f64> = figures.iter().filter_map(|(_, figure)| figure.variance).collect();
        let usual = median(&mut known).unwrap_or(0.0);
        Sample {
            row,
            unit,
            hosts: figures.iter().map(|(place, _)| *place).collect(),
            values: figures.iter().map(|(_, figure)| figure.estimate).collect(),
            variances: figures.iter().map(|(_, figure)| figure.variance.unwrap_or(usual)).collect(),
            is_known: figures.iter().map(|(_, figure)| figure.variance.is_some()).collect(),
            finest,
        }
    }

    /// The least standard deviation that hosts are told to. Where most of them have the very same value, the clock is coarse: a step of it,
    /// which is how far the nearest other value is.
    pub fn finest(&self) -> f64 {
        let Some((middle, spread)) = middle_and_spread(&self.values) else { return 0.0 };
        let finest = self.finest.unwrap_or_else(|| finest(middle));
        let others = self.values.iter().map(|value| (value - middle).abs()).filter(|step| *step > 0.0);
        let step = others.reduce(f64::min).filter(|_| spread == 0.0);
        finest.max(step.unwrap_or(0.0))
    }

    /// The same of these hosts alone, by their new places.
    pub fn only(&self, new_place: &[Option<u32>]) -> Sample {
        let kept: Vec<(usize, u32)> = self
            .hosts
            .iter()
            .enumerate()
            .filter_map(|(place, host)| Some((place, new_place[*host as usize]?)))
            .collect();
        Sample {
            row: self.row,
            unit: self.unit,
            hosts: kept.iter().map(|(_, host)| *host).collect(),
            values: kept.iter().map(|(place, _)| self.values[*place]).collect(),
            variances: kept.iter().map(|(place, _)| self.variances[*place]).collect(),
            is_known: kept.iter().map(|(place, _)| self.is_known[*place]).collect(),
            finest: self.finest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::LN_2;

    /// Five hosts with boots at these places of a standard normal value.
    fn hosts(boots: &[f64]) -> Vec<OfHost> {
        let boot = |estimate: &f64| Figure { estimate: *estimate, variance: None };
        vec![OfHost { boots: boots.iter().map(boot).collect() }; KNOWN_BY]
    }

    #[test]
    fn three_boots_and_more_do_not_count_as_two() {
        for (values, part) in [(2, 0.4549), (3, LN_2), (11, 0.9342)] {
            let found = middle_of_variance(values).unwrap();
            assert!((found - part).abs() < 1e-4, "{found} of {values}");
        }
        assert!((boots_add(hosts(&[-1.0, 0.0, 1.0]).iter()).unwrap() - 1.0 / LN_2).abs() < 1e-3);
        assert!((boots_add(hosts(&[0.0, 1.0]).iter()).unwrap() - 0.5 / 0.4549).abs() < 1e-3);
        assert_eq!(boots_add(hosts(&[1.0]).iter()), None);
    }
}

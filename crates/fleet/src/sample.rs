//! A row over the hosts of a cohort: an estimate of each, with its error.

use crate::fleet::{Figure, Fleet, Run};
use crate::hosts::Host;
use crate::judgement::Unit;
use crate::median::median;
use crate::words::Word;
use std::collections::{BTreeMap, BTreeSet};

/// So many hosts with several boots tell how much a boot adds.
const KNOWN_BY: usize = 5;

/// The median of a squared normal value: what a variance by two boots is in the middle, as a part of the true one.
const MEDIAN_OF_SQUARE: f64 = 0.4549;

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

    /// The same of the estimates' logarithms, without their errors; none where one is not above zero.
    pub fn logarithms(&self) -> Option<OfHost> {
        let logarithm = |boot: &Figure| {
            (boot.estimate > 0.0).then(|| Figure { estimate: boot.estimate.ln(), variance: None })
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
    fn figure(&self, of_all: Option<f64>) -> Option<Figure> {
        let count = self.boots.len() as f64;
        let by_intervals: Option<f64> = self.boots.iter().map(|boot| boot.variance).sum();
        let by_boots = [self.between(), of_all].into_iter().flatten().map(|variance| variance / count);
        let variance = by_intervals.map(|sum| sum / (count * count)).into_iter().chain(by_boots);
        Some(Figure { estimate: self.mean()?, variance: variance.reduce(f64::max) })
    }
}

/// How much a boot adds, a variance: by all hosts that have several. None where too few have.
pub(crate) fn boots_add<'a>(hosts: impl Iterator<Item = &'a OfHost>) -> Option<f64> {
    let mut between: Vec<f64> = hosts.filter_map(OfHost::between).collect();
    let enough = between.len() >= KNOWN_BY;
    median(&mut between).filter(|_| enough).map(|middle| middle / MEDIAN_OF_SQUARE)
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

/// Rows whose core cycles any of these hosts knows.
pub(crate) fn in_cycles(fleet: &Fleet, hosts: &[&Host]) -> BTreeSet<u32> {
    let runs = hosts.iter().flat_map(|host| &host.runs).map(|number| &fleet.runs[*number as usize]);
    let rows = runs.flat_map(|run| run.rows.iter());
    rows.filter(|row| row.figure(Unit::CoreCycles).is_some()).map(|row| row.name).collect()
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

/// The rows of a cohort, in core cycles where any host knows them, in the order in which runs have them.
pub(crate) fn samples(fleet: &Fleet, hosts: &[&Host]) -> Vec<Sample> {
    let in_cycles = in_cycles(fleet, hosts);
    let unit_of = |row| if in_cycles.contains(&row) { Unit::CoreCycles } else { Unit::Nanoseconds };
    let rows = rows_of_hosts(fleet, hosts, unit_of);
    rows.into_iter().map(|(row, of_hosts)| sample(row, unit_of(row), &of_hosts)).collect()
}

fn sample(row: u32, unit: Unit, of_hosts: &[(u32, OfHost)]) -> Sample {
    let of_boots = boots_add(of_hosts.iter().map(|(_, host)| host));
    let figures: Vec<(u32, Figure)> =
        of_hosts.iter().filter_map(|(place, host)| Some((*place, host.figure(of_boots)?))).collect();
    let mut known: Vec<f64> = figures.iter().filter_map(|(_, figure)| figure.variance).collect();
    let usual = median(&mut known).unwrap_or(0.0);
    Sample {
        row,
        unit,
        hosts: figures.iter().map(|(place, _)| *place).collect(),
        values: figures.iter().map(|(_, figure)| figure.estimate).collect(),
        variances: figures.iter().map(|(_, figure)| figure.variance.unwrap_or(usual)).collect(),
        is_known: figures.iter().map(|(_, figure)| figure.variance.is_some()).collect(),
    }
}

impl Sample {
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
        }
    }
}

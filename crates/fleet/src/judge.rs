//! From runs to a judgement: hosts, cohorts, splits, odd hosts.

use crate::cohort::{Judged, cohorts};
use crate::columns::Columns;
use crate::corrected::{FALSE_ODD, benjamini_hochberg};
use crate::explain::Facts;
use crate::fleet::Fleet;
use crate::hosts::{Host, KIND, remark};
use crate::judgement::{Cohort, Judgement, OddHost, Remark, SCHEMA, Split};
use crate::sample::{OTHER_UNIT, Sample, known};
use crate::{LEAST_HOSTS, Settings, UnknownFact, modes, odd, tables};
use std::collections::{BTreeMap, BTreeSet};

/// Of a cohort, no more are odd: more are a mode, and nobody knows which one is as it should be.
const MOST_ODD: f64 = 0.25;

impl Fleet {
    /// Ids of the facts that [`Settings::by`] may have: those of [`summary::FACTS`], and the mitigations that runs have.
    pub fn fact_ids(&self) -> Vec<String> {
        let columns = Columns::of(self, &[]).columns.into_iter();
        columns.map(|column| column.id).filter(|id| !id.starts_with("finding:")).collect()
    }

    /// Whether all facts that split cohorts further are known.
    pub(crate) fn check(&self, settings: &Settings) -> Result<(), UnknownFact> {
        let known = self.fact_ids();
        let unknown = settings.by.iter().find(|id| !known.contains(id));
        unknown.map_or(Ok(()), |id| Err(UnknownFact { id: id.clone(), known: known.join(", ") }))
    }

    /// Which hosts are odd.
    pub fn judge(&self, settings: &Settings) -> Result<Judgement, UnknownFact> {
        self.check(settings)?;
        let shared = self.shared_ids();
        let hosts = self.hosts(&shared.ids, &KIND);
        let columns = Columns::of(self, &hosts);
        let (mut judged, splits) = cohorts(self, &hosts, &columns, &settings.by);
        let odd = name_odd(&mut judged, &hosts, &columns, self);
        let told: Vec<Cohort> = judged
            .iter()
            .enumerate()
            .map(|(place, cohort)| cohort.told(place, self, &hosts, &columns))
            .collect();
        let mut remarks = shared.remarks;
        remarks.extend(self.remarks(&hosts, &told));
        remarks.extend(self.remarks_of_cohorts(&judged, &hosts));
        Ok(Judgement {
            schema: SCHEMA.to_owned(),
            kind: "hosts".to_owned(),
            false_odd: FALSE_ODD,
            by: settings.by.clone(),
            hosts: hosts.len(),
            judged: judged.iter().map(|cohort| cohort.far.p.len()).sum(),
            runs: self.runs.len(),
            splits: splits.iter().map(|split| told_split(split, &judged, self, &columns)).collect(),
            cohorts: told,
            odd,
            closed: tables::closed(self, &hosts),
            findings: tables::findings(self, &hosts),
            mitigations: tables::mitigations(&columns, &hosts),
            remarks,
        })
    }

    fn remarks(&self, hosts: &[Host], cohorts: &[Cohort]) -> Vec<Remark> {
        let small = cohorts.iter().filter(|cohort| cohort.hosts.len() < LEAST_HOSTS);
        let has_figure = |host: &&Host| {
            let runs = host.runs.iter().map(|run| &self.runs[*run as usize]);
            runs.flat_map(|run| run.rows.iter()).any(crate::fleet::Row::has_figure)
        };
        let without = hosts.iter().filter(|host| !has_figure(host)).map(|host| host.name.clone());
        let again = self.again.iter().map(|label| self.words.text(*label).to_owned());
        let small = small.flat_map(|cohort| cohort.hosts.iter().cloned());
        let found = [
            remark(
                "small-cohort",
                "These hosts are not judged: fewer than five are alike in processor, hypervisor and product.",
                small,
            ),
            remark(
                "no-figures",
                "No row of these hosts has a figure: kentry doctor on one of them says why.",
                without,
            ),
            remark(
                "same-run",
                "These were given more than once, and count once: the run's id is the same.",
                again,
            ),
        ];
        found.into_iter().flatten().collect()
    }
}

impl Fleet {
    fn remarks_of_cohorts(&self, judged: &[Judged], hosts: &[Host]) -> Vec<Remark> {
        let named = |of: &dyn Fn(&Judged) -> BTreeSet<u32>| {
            let places =
                judged.iter().flat_map(|cohort| of(cohort).into_iter().map(|at| cohort.hosts[at as usize]));
            places.map(|host| hosts[host as usize].name.clone()).collect::<Vec<String>>()
        };
        let apart =
            |cohort: &Judged| cohort.mode.iter().copied().chain(modes::smaller_mode(cohort)).collect();
        let found = [
            remark(
                "unexplained-mode",
                "These hosts lie together, far from their cohort's others, and are too many to be odd: a mode of its own. No fact that \
                 enough hosts have separates them; --by splits cohorts further.",
                named(&apart),
            ),
            remark(
                "agreeing-hosts",
                "Three or more of these odd hosts are equally far off by one row: rather a state that few hosts share, or a step of \
                 a coarse clock, than a fault of each.",
                named(&modes::agreeing),
            ),
            remark(
                "no-intervals",
                "Rows of these hosts have no interval, and most others' have: their error is taken to be the others' usual one.",
                named(&without_intervals),
            ),
            remark("other-unit", OTHER_UNIT, named(&|cohort| self.left_out(cohort, hosts))),
        ];
        found.into_iter().flatten().collect()
    }

    /// Hosts of a cohort that any row leaves out for its unit.
    fn left_out(&self, cohort: &Judged, hosts: &[Host]) -> BTreeSet<u32> {
        let own: Vec<&Host> = cohort.hosts.iter().map(|host| &hosts[*host as usize]).collect();
        let known = known(self, &own);
        let of_row = |sample: &Sample| known.get(&sample.row).map(|known| known.left_out(sample.unit));
        cohort.samples.iter().filter_map(of_row).flatten().collect()
    }
}

/// Hosts without an interval on any row where most have one.
fn without_intervals(cohort: &Judged) -> BTreeSet<u32> {
    let most = |sample: &&Sample| {
        2 * sample.is_known.iter().filter(|is_known| **is_known).count() > sample.is_known.len()
    };
    let hosts =
        cohort.samples.iter().filter(most).flat_map(|sample| sample.hosts.iter().zip(&sample.is_known));
    hosts.filter(|(_, is_known)| !**is_known).map(|(host, _)| *host).collect()
}

/// Corrects for the number of all hosts, whatever their cohort, and says of the odd ones what differs.
fn name_odd(judged: &mut [Judged], hosts: &[Host], columns: &Columns, fleet: &Fleet) -> Vec<OddHost> {
    let p: Vec<f64> = judged.iter().flat_map(|cohort| cohort.far.p.values().copied()).collect();
    let mut corrected = benjamini_hochberg(&p).into_iter();
    let all = p.len();
    for cohort in judged.iter_mut() {
        let of_cohort = cohort.far.p.keys().copied().zip(corrected.by_ref());
        cohort.odd = of_cohort.filter(|(_, q)| *q <= FALSE_ODD).collect();
        if cohort.odd.len() as f64 > MOST_ODD * cohort.hosts.len() as f64 {
            cohort.mode = std::mem::take(&mut cohort.odd).into_keys().collect();
        }
    }
    // The part of all hosts that is named is the part of the error that each named one may have (Benjamini and Bogomolov 2014).
    let named: usize = judged.iter().map(|cohort| cohort.odd.len()).sum();
    let part = named.max(1) as f64 / all.max(1) as f64;
    let mut told = Vec::new();
    for (number, cohort) in judged.iter_mut().enumerate() {
        cohort.all = all;
        let of_cohort: BTreeMap<u32, f64> = cohort.odd.clone();
        let facts = Facts::of(columns, cohort);
        for (host, q) in of_cohort {
            told.push(odd::host(cohort, number, (host, q), part, &facts, (hosts, fleet)));
        }
    }
    told.sort_by(|a, b| a.q.total_cmp(&b.q).then(a.p.total_cmp(&b.p)).then_with(|| a.host.cmp(&b.host)));
    told
}

fn told_split(split: &crate::cohort::Split, judged: &[Judged], fleet: &Fleet, columns: &Columns) -> Split {
    let cohorts = |wanted: bool| {
        let side = judged
            .iter()
            .enumerate()
            .filter(move |(_, cohort)| cohort.path.contains(&(split.number, wanted)));
        side.map(|(number, _)| crate::cohort::id(number)).collect()
    };
    let (column, value) = (&columns.columns[split.fact.0], split.fact.1);
    let alike = split.alike.iter().map(|(column, value)| columns.fact(&columns.columns[*column], *value));
    Split {
        fact: columns.fact(column, value),
        others: columns.counts(column, split.without.iter().copied()),
        alike: alike.collect(),
        cohorts_with: cohorts(true),
        cohorts_without: cohorts(false),
        hosts_with: split.with.len(),
        hosts_without: split.without.len(),
        rows: split.rows.iter().map(|row| row.told(fleet)).collect(),
    }
}

//! What is counted over all hosts: rows that do not work, findings, mitigations.

use crate::columns::{Columns, Kind};
use crate::fleet::{Fleet, Row};
use crate::hosts::Host;
use crate::judgement::{Closed, FindingCount, Mitigation, MitigationValue, Named};
use crate::words::Word;
use document::{Level, Outcome};
use std::collections::{BTreeMap, BTreeSet};

/// Runs of a host.
fn rows<'a>(fleet: &'a Fleet, host: &'a Host) -> impl Iterator<Item = &'a Row> {
    host.runs.iter().flat_map(|run| fleet.runs[*run as usize].rows.iter())
}

fn named(hosts: &[Host], places: impl IntoIterator<Item = usize>) -> Named {
    Named::of(places.into_iter().map(|place| hosts[place].name.clone()))
}

#[derive(Default)]
struct Ended {
    hosts: BTreeSet<usize>,
    reasons: BTreeMap<Word, usize>,
}

/// Rows that do not work somewhere, by how they end there.
pub(crate) fn closed(fleet: &Fleet, hosts: &[Host]) -> Vec<Closed> {
    let mut ended: BTreeMap<(u32, Outcome), Ended> = BTreeMap::new();
    for (place, host) in hosts.iter().enumerate() {
        for row in rows(fleet, host) {
            let here = ended.entry((row.name, row.outcome)).or_default();
            here.hosts.insert(place);
            if let Some(reason) = row.reason {
                *here.reasons.entry(reason).or_default() += 1;
            }
        }
    }
    let tried = |row: u32| {
        let all = ended.iter().filter(|((name, _), _)| *name == row);
        all.flat_map(|(_, ended)| ended.hosts.iter()).collect::<BTreeSet<_>>().len()
    };
    let works = |row: u32| ended.get(&(row, Outcome::Ok)).map_or(0, |ended| ended.hosts.len());
    let not_ok = ended.iter().filter(|((_, outcome), _)| *outcome != Outcome::Ok);
    let mut closed: Vec<Closed> = not_ok
        .map(|((row, outcome), here)| Closed {
            name: fleet.rows[*row as usize].clone(),
            outcome: *outcome,
            reason: here
                .reasons
                .iter()
                .max_by_key(|(_, count)| **count)
                .map(|(reason, _)| fleet.words.text(*reason).to_owned()),
            hosts: named(hosts, here.hosts.iter().copied()),
            works: works(*row),
            of: tried(*row),
        })
        .collect();
    closed.sort_by_key(|closed| (closed.works == 0, closed.hosts.count));
    closed
}

/// Findings, the worst first.
pub(crate) fn findings(fleet: &Fleet, hosts: &[Host]) -> Vec<FindingCount> {
    let mut found: BTreeMap<(Word, Level), BTreeSet<usize>> = BTreeMap::new();
    for (place, host) in hosts.iter().enumerate() {
        for run in &host.runs {
            for finding in &fleet.runs[*run as usize].findings {
                found.entry(*finding).or_default().insert(place);
            }
        }
    }
    let told = |((id, level), places): ((Word, Level), BTreeSet<usize>)| FindingCount {
        id: fleet.words.text(id).to_owned(),
        level,
        hosts: named(hosts, places),
        of: hosts.len(),
    };
    let mut findings: Vec<FindingCount> = found.into_iter().map(told).collect();
    findings.sort_by(|a, b| {
        let rank = |finding: &FindingCount| (finding.level.rank(), finding.hosts.count);
        rank(b).cmp(&rank(a)).then_with(|| a.id.cmp(&b.id))
    });
    findings
}

/// Mitigations; those that differ between hosts first.
pub(crate) fn mitigations(columns: &Columns, hosts: &[Host]) -> Vec<Mitigation> {
    let of_kind = columns.columns.iter().filter(|column| column.kind == Kind::Mitigation);
    let mut told: Vec<Mitigation> = of_kind
        .map(|column| {
            let mut by_value: BTreeMap<Option<Word>, Vec<usize>> = BTreeMap::new();
            for (place, value) in column.values.iter().enumerate() {
                by_value.entry(*value).or_default().push(place);
            }
            let mut values: Vec<MitigationValue> = by_value
                .into_iter()
                .map(|(value, places)| MitigationValue {
                    value: columns.text(value),
                    hosts: named(hosts, places),
                })
                .collect();
            values.sort_by(|a, b| b.hosts.count.cmp(&a.hosts.count).then_with(|| a.value.cmp(&b.value)));
            Mitigation { name: column.id.trim_start_matches("mitigation:").to_owned(), values }
        })
        .collect();
    told.sort_by_key(|mitigation| mitigation.values.len() == 1);
    told
}

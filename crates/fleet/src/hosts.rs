//! Which runs are of which host.

use crate::fleet::{Fleet, PLACE, Run};
use crate::judgement::{Named, Remark};
use crate::words::Word;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use summary::FACTS;

/// Facts that no host of a cohort differs in: what machines of one kind have in common for years. Everything else is a reason that a user
/// wants to be told.
pub(crate) const KIND: [&str; 6] =
    ["cpu-model", "core-type", "hypervisor", "product", "machine", "kernel-kind"];

/// As `KIND` without `product`: firmware updates rename products.
pub(crate) const GENERATION: [&str; 5] = ["cpu-model", "core-type", "hypervisor", "machine", "kernel-kind"];

/// Those that one machine does not change. A run may be on another kind of core, or of another kernel.
const FIXED: [&str; 3] = ["cpu-model", "hypervisor", "product"];

/// No machine ends a run, starts again and begins another run in so few seconds.
const QUICKEST_BOOT: f64 = 10.0;

/// A machine that differs after so many seconds may have been changed.
const HOUR: f64 = 3600.0;

/// A host of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    /// What it is known by: the machine's id or a label.
    pub identity: String,
    pub name: String,
    /// Places of its runs in [`Fleet::runs`].
    pub runs: Vec<u32>,
}

/// The place of a fact in [`Run::facts`].
pub(crate) fn place_of(id: &str) -> Option<usize> {
    FACTS.iter().map(|fact| fact.id).chain(PLACE.map(|(id, _)| id)).position(|known| known == id)
}

fn values(run: &Run, ids: &[&str]) -> Vec<Option<Word>> {
    ids.iter().map(|id| place_of(id).and_then(|place| run.facts.get(place).copied().flatten())).collect()
}

/// Machine ids that several machines have, with why.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub ids: BTreeSet<String>,
    pub remarks: Vec<Remark>,
}

impl Fleet {
    /// Machine ids that several machines must have: images are copied with them.
    pub(crate) fn shared_ids(&self) -> Shared {
        let mut by_id: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
        for run in &self.runs {
            if let Some(id) = run.machine_id {
                by_id.entry(self.words.text(id)).or_default().push(run);
            }
        }
        let mut shared = Shared::default();
        let (mut cloned, mut changed, mut joined) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (id, runs) in by_id {
            let names = || runs.iter().map(|run| self.words.text(run.label).to_owned());
            match difference(&runs) {
                Some(Difference::OtherMachine) => {
                    shared.ids.insert(id.to_owned());
                    cloned.extend(names());
                }
                Some(Difference::Changed) => changed.extend(names()),
                None => {}
            }
            let labels: BTreeSet<String> = names().collect();
            if labels.len() > 1 && !shared.ids.contains(id) {
                joined.insert(labels.into_iter().collect::<Vec<String>>().join(" = "));
            }
        }
        shared.remarks.extend(remark(
            "shared-machine-id",
            "These runs have a machine's id in common with runs that cannot be of the same machine: at the same time in another boot, or \
             within the hour on another processor, hypervisor or product. Machines that were copied from one image may have one id \
             (/etc/machine-id). They are told apart by their labels.",
            cloned,
        ));
        shared.remarks.extend(remark(
            "joined-labels",
            "Each of these is one host under several names, by its machine's id. Machines that were copied from one image with its \
             /etc/machine-id are several: give each an id of its own.",
            joined,
        ));
        shared.remarks.extend(remark(
            "hardware-changed",
            "Processor, hypervisor or product of these machines changed between runs. Each is judged as a host of each kind.",
            changed,
        ));
        shared
    }

    /// The hosts of each kind, in order of their names; machines whose id is shared are known by their labels.
    pub(crate) fn hosts(&self, shared: &BTreeSet<String>, kind: &[&str]) -> Vec<Host> {
        let mut places: HashMap<(String, Vec<Option<Word>>), usize> = HashMap::new();
        let mut hosts: Vec<Host> = Vec::new();
        for (number, run) in (0_u32..).zip(&self.runs) {
            let identity = self.identity(run, shared);
            let place = *places.entry((identity.clone(), values(run, kind))).or_insert_with(|| {
                let name = self.words.text(run.label).to_owned();
                hosts.push(Host { identity, name, runs: Vec::new() });
                hosts.len() - 1
            });
            hosts[place].runs.push(number);
        }
        name_apart(&mut hosts);
        hosts.sort_by(|a, b| a.name.cmp(&b.name));
        hosts
    }

    fn identity(&self, run: &Run, shared: &BTreeSet<String>) -> String {
        let id = run.machine_id.map(|id| self.words.text(id)).filter(|id| !shared.contains(*id));
        id.map_or_else(|| format!("label {}", self.words.text(run.label)), |id| format!("machine {id}"))
    }
}

/// Different machines of one label get their ids behind it.
fn name_apart(hosts: &mut [Host]) {
    let mut identities: HashMap<String, BTreeSet<String>> = HashMap::new();
    for host in hosts.iter() {
        identities.entry(host.name.clone()).or_default().insert(host.identity.clone());
    }
    for host in hosts {
        if identities.get(&host.name).is_some_and(|all| all.len() > 1) {
            let id = host.identity.split(' ').next_back().unwrap_or_default();
            host.name = format!("{} ({})", host.name, id.chars().take(8).collect::<String>());
        }
    }
}

enum Difference {
    OtherMachine,
    Changed,
}

/// What shows that runs of one machine id are not of one machine as it is.
fn difference(runs: &[&Run]) -> Option<Difference> {
    let mut in_time: Vec<&Run> = runs.to_vec();
    in_time.sort_by(|a, b| a.time.map_or(0.0, |time| time.0).total_cmp(&b.time.map_or(0.0, |time| time.0)));
    let mut found = None;
    for pair in in_time.windows(2) {
        let [first, second] = pair else { continue };
        let gap = first.time.zip(second.time).map(|(first, second)| second.0 - first.1);
        let is_within = |seconds: f64| gap.is_some_and(|gap| gap < seconds);
        let other_boot = first.boot.zip(second.boot).is_some_and(|(first, second)| first != second);
        let other_label = first.label != second.label;
        let place = ["machine", "kernel-kind"];
        let other_fact = values(first, &place) == values(second, &place)
            && values(first, &FIXED) != values(second, &FIXED);
        if other_label && (other_boot && is_within(QUICKEST_BOOT) || other_fact && is_within(HOUR)) {
            return Some(Difference::OtherMachine);
        }
        if other_fact {
            found = Some(Difference::Changed);
        }
    }
    found
}

/// A remark about hosts; none where there are none.
pub(crate) fn remark(id: &str, text: &str, hosts: impl IntoIterator<Item = String>) -> Option<Remark> {
    let hosts = Named::of(hosts);
    (hosts.count > 0).then(|| Remark { id: id.to_owned(), text: text.to_owned(), hosts })
}

impl Named {
    /// Of names in any order; one that comes twice counts once.
    pub(crate) fn of(names: impl IntoIterator<Item = String>) -> Named {
        let names: BTreeSet<String> = names.into_iter().collect();
        Named { count: names.len(), first: names.into_iter().take(Named::MOST).collect() }
    }
}

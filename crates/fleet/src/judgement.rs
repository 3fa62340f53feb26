//! What is said of a fleet. Units are in the names or in [`Unit`]; null is unknown. Lists of hosts are bounded where a report would not
//! show all of them ([`Named`]); the arrays of a [`CohortRow`] have every host.

use document::{Level, Outcome};
use serde::{Deserialize, Serialize};

/// The schema that this version writes, of [`Judgement`] and of [`crate::Rollout`]; `kind` tells them apart.
pub const SCHEMA: &str = "kentry.fleet/1";

/// Which hosts of a fleet are odd, and what differs there. Ends of intervals are those of 95 % where nothing else is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// [`SCHEMA`].
    pub schema: String,
    /// `hosts`.
    pub kind: String,
    /// Of the hosts that are named odd, at most this part is not, in the mean over fleets: 0.01.
    pub false_odd: f64,
    /// Ids of facts that split cohorts besides those that always do.
    pub by: Vec<String>,
    /// Hosts that were given.
    pub hosts: usize,
    /// Hosts that could be named: those of cohorts with a verdict, with at least one figure there.
    pub judged: usize,
    /// Runs that were given.
    pub runs: usize,
    /// Hosts that are alike in what decides the cost of entries, the largest cohort first.
    pub cohorts: Vec<Cohort>,
    /// Modes of hosts that a fact explains, so that they are cohorts of their own.
    pub splits: Vec<Split>,
    /// The odd hosts, the clearest first.
    pub odd: Vec<OddHost>,
    /// Rows that do not work on every host, those closed on fewest first; those that work nowhere last.
    pub closed: Vec<Closed>,
    /// What runs found, the worst first; those of clocks among them.
    pub findings: Vec<FindingCount>,
    /// What kernels do about faults of processors, by name; those that differ between hosts first.
    pub mitigations: Vec<Mitigation>,
    /// What a reader must know besides.
    pub remarks: Vec<Remark>,
}

/// Hosts, the first of them by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// How many they are.
    pub count: usize,
    /// At most [`Named::MOST`] of their names, in order of the alphabet.
    pub first: Vec<String>,
}

impl Named {
    /// No more are named.
    pub const MOST: usize = 20;
}

/// A fact with a value. Ids are those of [`summary::FACTS`]; besides `machine` and `kernel-kind` (where the run was measured),
/// `mitigation:NAME` and `finding:ID`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactValue {
    /// Names the fact for programs.
    pub id: String,
    /// Names it for readers.
    pub what: String,
    /// Its value; null where nobody knows.
    pub value: Option<String>,
}

/// Hosts of one processor, hypervisor, product and kind of machine and kernel, and of one side of each split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cohort {
    /// Names it in this judgement, `c1`, `c2`, ...
    pub id: String,
    /// What its hosts have in common by definition.
    pub facts: Vec<FactValue>,
    /// What splits add to that, outermost first.
    pub split_by: Vec<SplitSide>,
    /// Its hosts, in order of the alphabet. Rows count places in it, from 0.
    pub hosts: Vec<String>,
    /// Whether its hosts were judged: there are at least [`crate::LEAST_HOSTS`] with a figure of one row.
    pub has_verdict: bool,
    /// How many of its hosts are odd.
    pub odd: usize,
    /// Degrees of freedom of the Student t that its hosts' distances were judged by, before the error of each row's scale: the lower, the
    /// more often hosts lie far off by chance. Null where there is no verdict.
    pub tail_freedom: Option<f64>,
    /// Its rows, in the order in which runs have them.
    pub rows: Vec<CohortRow>,
}

/// On which side of a split a cohort is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitSide {
    /// The fact, with the value that was split off.
    pub fact: FactValue,
    /// Whether hosts of this side have that value; the others have another, or none is known.
    pub has_it: bool,
}

/// A unit of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Cycles of the core.
    CoreCycles,
    /// Nanoseconds: no majority of the cohort's hosts with a figure knows the row's core cycles.
    Nanoseconds,
}

impl Unit {
    /// As JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Unit::CoreCycles => "core-cycles",
            Unit::Nanoseconds => "nanoseconds",
        }
    }
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RowName {
    /// Name of the entry.
    pub entry: String,
    /// Name of the operation.
    pub operation: String,
    /// Bitness of the process that used it.
    pub bits: u8,
    /// Its configuration, `pcid=off;pti=on`; null on a host otherwise.
    pub configuration: Option<String>,
}

/// A row over the hosts of a cohort. The four arrays have one place for each host with a figure, sorted by estimate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CohortRow {
    /// Which row it is.
    #[serde(flatten)]
    pub name: RowName,
    /// The unit of all of its figures.
    pub unit: Unit,
    /// Median of the hosts' estimates.
    pub median: f64,
    /// Median absolute deviation of the hosts' estimates, times 1.4826: their standard deviation, were they normal.
    pub spread: f64,
    /// How far off a host of a usual error had to be to be named by this row alone, were it the only odd one, percent of the median. Null
    /// where there is no verdict, or the median is not above zero.
    pub detectable_percent: Option<f64>,
    /// Places of the hosts in [`Cohort::hosts`].
    pub host: Vec<u32>,
    /// Their estimates.
    pub estimate: Vec<f64>,
    /// Lower ends of their own intervals, without what hosts differ by; null where unknown.
    pub low: Vec<Option<f64>>,
    /// Upper ends of them.
    pub high: Vec<Option<f64>>,
    /// Places in [`Cohort::hosts`] of the hosts that are odd by this row.
    pub odd: Vec<u32>,
}

/// A mode of hosts that a fact explains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// The fact that separates the hosts best, and the value that they have.
    pub fact: FactValue,
    /// What the others have, the most frequent first; null is unknown.
    pub others: Vec<ValueCount>,
    /// Other facts that separate just these hosts, so that nobody can tell which of them is the cause.
    pub alike: Vec<FactValue>,
    /// Ids of the cohorts whose hosts have the value; several where they were split again.
    pub cohorts_with: Vec<String>,
    /// Ids of those whose hosts have not.
    pub cohorts_without: Vec<String>,
    /// How many hosts have the value.
    pub hosts_with: usize,
    /// How many have not.
    pub hosts_without: usize,
    /// Rows that cost more or less there, the clearest first.
    pub rows: Vec<Difference>,
}

/// A value of a fact, and how many hosts have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueCount {
    /// The value; null where nobody knows.
    pub value: Option<String>,
    /// How many hosts have it.
    pub hosts: usize,
}

/// How much more a row costs than elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Which row it is.
    #[serde(flatten)]
    pub name: RowName,
    /// The unit of estimate, median and difference.
    pub unit: Unit,
    /// What it costs there.
    pub estimate: f64,
    /// What it costs elsewhere: the median of the other hosts.
    pub median: f64,
    /// Estimate less median.
    pub difference: f64,
    /// Lower end of the difference's interval, which reckons with the error of both, and with that rows and hosts were chosen for their
    /// difference.
    pub difference_low: f64,
    /// Upper end of it.
    pub difference_high: f64,
    /// The difference in percent of the median; null, with its ends, where that is not above zero.
    pub percent: Option<f64>,
    /// Lower end of it.
    pub percent_low: Option<f64>,
    /// Upper end of it.
    pub percent_high: Option<f64>,
    /// How likely a distance as great is of a host like the others, 0 to 1, two-sided, of this row alone.
    pub p: f64,
    /// Whether the row is told by itself, with a correction for the number of rows and hosts. Where no row of an odd host is, all of them
    /// together say that it is odd.
    pub is_clear: bool,
}

/// A host that is not like its cohort's others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OddHost {
    /// Its name.
    pub host: String,
    /// Id of its cohort.
    pub cohort: String,
    /// How many runs it is judged by.
    pub runs: usize,
    /// How likely a host as odd is one like the others, 0 to 1, of this host alone.
    pub p: f64,
    /// The same, corrected for the number of hosts (Benjamini and Hochberg): among the hosts whose `q` is at most this, this part is false.
    pub q: f64,
    /// Its rows, the clearest first.
    pub rows: Vec<Difference>,
    /// How much all of its rows move together, percent: the median of its rows' differences. Null where fewer than three rows have one.
    pub common_percent: Option<f64>,
    /// Whether at least nine of ten rows lie on the side of `common_percent`, within half and twice of it: as if the clock, and no entry,
    /// was off.
    pub moves_together: bool,
    /// What differs there, what separates odd hosts from others best first. Empty where nothing does that runs tell.
    pub differs: Vec<Differs>,
}

/// A fact of an odd host that few of the others share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Differs {
    /// The fact and its value here. Findings that are here and not elsewhere have their level as value, and those that lack here `absent`.
    pub fact: FactValue,
    /// The most frequent value among the cohort's hosts that are not odd.
    pub usual: Option<String>,
    /// How many of these have the usual value.
    pub with_usual: usize,
    /// How many of these have the value that it has here.
    pub with_same: usize,
    /// How many of these there are, of which the fact is known.
    pub of: usize,
    /// How many of the cohort's odd hosts have the value that it has here, itself among them.
    pub odd_with_same: usize,
    /// How well the value separates odd hosts from the others: what knowing it tells of whether a host is odd, bits.
    pub gain: f64,
}

/// A row that does not work on some hosts, or on none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Closed {
    /// Which row it is.
    #[serde(flatten)]
    pub name: RowName,
    /// How it ended.
    pub outcome: Outcome,
    /// Why, in words; the reason of most of these hosts.
    pub reason: Option<String>,
    /// Where it ended so.
    pub hosts: Named,
    /// On how many it works.
    pub works: usize,
    /// How many tried.
    pub of: usize,
}

/// A finding, and where it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingCount {
    /// The finding's id.
    pub id: String,
    /// Its level; one with several levels is listed for each.
    pub level: Level,
    /// Where it is.
    pub hosts: Named,
    /// How many hosts there are.
    pub of: usize,
}

/// A mitigation by its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mitigation {
    /// As the kernel's folder of vulnerabilities names it.
    pub name: String,
    /// What kernels say of it, the most frequent first.
    pub values: Vec<MitigationValue>,
}

/// What hosts' kernels say of a mitigation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MitigationValue {
    /// In the kernel's words; null where it says nothing.
    pub value: Option<String>,
    /// Whose kernels say so.
    pub hosts: Named,
}

/// What a reader must know besides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// Names it for programs: `shared-machine-id`, `joined-labels`, `hardware-changed`, `small-cohort`, `unexplained-mode`, `agreeing-hosts`,
    /// `no-figures`, `no-intervals`, `other-unit`, `same-run`; of roll-outs also `one-boot`, `several-boots`, `other-probes`, `run-on-both-sides`,
    /// `generation-changed`, `more-changes`.
    pub id: String,
    /// One or two sentences.
    pub text: String,
    /// The hosts that it is about.
    pub hosts: Named,
}

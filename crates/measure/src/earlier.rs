//! What earlier runs of this machine found: of its cores, and of how costs change from time to time.
//!
//! A run that had company from beginning to end makes its own reference; where the company was mild, only earlier runs tell that the core
//! was faster before. And a run of some seconds does not see what changes over minutes.

use crate::probes::Probes;
use document::{Document, EarlierRuns, Machine, Place};
use environment::{CoreType, Environment};
use runs::Head;
use std::collections::BTreeMap;
use table::Kernel;

/// Nots in a core cycle when a core of this kind was alone.
pub type Alone = BTreeMap<CoreType, f64>;

/// What earlier runs of this machine found.
#[derive(Debug, Clone, Default)]
pub struct Earlier {
    /// Of its cores.
    pub alone: Alone,
    /// Of how costs change from time to time, since it booted.
    pub runs: EarlierRuns,
}

/// So many runs count, the newest.
const MOST: usize = 16;

/// So many are read to find them; each takes some 15 ms.
const MOST_READ: usize = 24;

/// Of fewer runs, one that misjudged its clock could be the middle one.
const FEWEST: usize = 3;

/// A run tells how fast its cores are if so many of its canaries found the core alone.
const QUIET: f64 = 0.5;

impl Earlier {
    /// What these kept runs found, the newest first. `read` reads a document; none of one that cannot be read.
    pub fn of(
        heads: &[Head],
        environment: &Environment,
        read: &dyn Fn(&Head) -> Option<Document>,
    ) -> Earlier {
        let heads: Vec<&Head> = heads.iter().filter(|head| is_of_this_machine(head, environment)).collect();
        Earlier { alone: alone(&heads), runs: runs(&heads, environment, read) }
    }
}

/// A copy of a machine's disk has the same machine id, and may run on another processor: its model must be the same, too.
fn is_of_this_machine(head: &Head, environment: &Environment) -> bool {
    let is_same = head.machine_id == environment.machine_id && head.cpu == environment.cpu.brand;
    is_same && head.machine_id.is_some() && head.place == Place::new(Machine::Host, Kernel::Linux)
}

/// Their median for each kind of core; nothing where there are too few.
fn alone(heads: &[&Head]) -> Alone {
    let quiet = heads.iter().filter(|head| head.quiet_share.is_some_and(|share| share >= QUIET));
    let newest: Vec<&Head> = quiet.copied().take(MOST).collect();
    let of_kind = |kind: CoreType| {
        let rates: Vec<f64> =
            newest.iter().filter_map(|head| head.canary.get(kind.name()).copied()).collect();
        let middle = stats::quantile_of(rates.iter().copied(), 0.5)?;
        (rates.len() >= FEWEST).then_some((kind, middle))
    };
    CoreType::ALL.into_iter().filter_map(of_kind).collect()
}

/// What whole runs since the machine booted say, if the same probes measured them, under no command, and as filtered and traced as now. Another boot
/// may have another kernel, with its code elsewhere.
fn runs(heads: &[&Head], environment: &Environment, read: &dyn Fn(&Head) -> Option<Document>) -> EarlierRuns {
    let is_of_this_boot =
        |run: &Document| run.environment.boot_id.is_some() && run.environment.boot_id == environment.boot_id;
    let probes = Probes::embedded().hashes;
    let is_like_this = |run: &Document| {
        let is_alone = run.measurement.command.is_none() && run.measurement.probes == probes;
        is_alone && filtered(&run.environment) == filtered(environment)
    };
    let whole = heads.iter().filter(|head| !head.partial && head.release == environment.kernel.release);
    let mut earlier = EarlierRuns::default();
    let (mut taken, mut read_so_far) = (0, 0);
    for head in whole {
        if taken == MOST || read_so_far == MOST_READ {
            break;
        }
        if !earlier.is_apart(&head.started) {
            continue;
        }
        read_so_far += 1;
        match read(head) {
            Some(run) if !is_of_this_boot(&run) => break,
            Some(run) if is_like_this(&run) => taken += usize::from(earlier.add(&run)),
            _ => (),
        }
    }
    earlier
}

/// What makes every system call of a process dearer than those of others.
fn filtered(environment: &Environment) -> (Option<u32>, bool) {
    let limits = &environment.limits;
    (limits.seccomp_filters, limits.tracer_pid.is_some_and(|pid| pid > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(rate: f64) -> Head {
        Head {
            head: 1,
            id: "0".repeat(32),
            name: None,
            tags: BTreeMap::new(),
            started: String::new(),
            arm: None,
            command: None,
            place: Place::new(Machine::Host, Kernel::Linux),
            machine_id: Some("here".into()),
            cpu: Some("a CPU".into()),
            release: None,
            covers: None,
            ok: 1,
            figures: 1,
            quiet_share: Some(0.9),
            canary: BTreeMap::from([("uniform".to_string(), rate)]),
            partial: false,
        }
    }

    fn here() -> Environment {
        let mut environment = Environment { machine_id: Some("here".into()), ..Environment::default() };
        environment.cpu.brand = Some("a CPU".into());
        environment
    }

    #[test]
    fn the_middle_of_the_newest_quiet_runs_of_this_machine_counts() {
        let known =
            |heads: &[Head]| Earlier::of(heads, &here(), &|_| None).alone.get(&CoreType::Uniform).copied();
        assert_eq!(known(&[head(4.5), head(4.6)]), None, "too few");
        assert_eq!(known(&[head(4.5), head(9.0), head(4.6)]), Some(4.6), "one misjudged its clock");
        let others = [
            Head { machine_id: Some("there".into()), ..head(5.0) },
            Head { cpu: Some("another CPU".into()), ..head(5.0) },
            Head { quiet_share: Some(0.1), ..head(5.0) },
            Head { place: Place::new(Machine::QemuKvm, Kernel::Lab), ..head(5.0) },
        ];
        let own = [head(4.4), head(4.5), head(4.6)];
        assert_eq!(known(&[others.to_vec(), own.to_vec()].concat()), Some(4.5));
        let old = vec![head(4.0); 20];
        assert_eq!(known(&[vec![head(4.5); MOST], old].concat()), Some(4.5));
    }

    #[test]
    fn machines_without_an_id_are_not_all_the_same() {
        let unnamed = vec![Head { machine_id: None, ..head(4.5) }; 4];
        let environment = Environment { machine_id: None, ..here() };
        assert!(Earlier::of(&unnamed, &environment, &|_| None).alone.is_empty());
    }
}

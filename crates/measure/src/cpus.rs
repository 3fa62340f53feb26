//! Which CPU the next round is taken on: the one that was quiet last.

use crate::plan::CpuChoice;
use environment::CoreType;
use std::collections::BTreeMap;
use std::time::Duration;

/// How often another CPU is tried.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A CPU is left for one whose quiet share is greater by this.
const WORTH_A_MOVE: f64 = 0.2;

/// The weight of the latest round in what is known of a CPU.
const WEIGHT: f64 = 0.25;

/// On a CPU of which at least this share of the blocks is kept, rounds are so many times as long.
const LONGER: [(f64, u64); 3] = [(0.3, 1), (0.1, 2), (0.0, 4)];

/// At most this many CPUs are used.
const MOST: usize = 16;

/// A CPU, and what its last rounds showed; none before the first.
#[derive(Debug, Clone, Copy)]
struct Known {
    core: CoreType,
    /// Share of the canaries that were quiet, 0 to 1.
    quiet: Option<f64>,
    /// Share of the blocks that will probably be kept, 0 to 1.
    kept: Option<f64>,
}

/// The CPUs that may be measured on.
#[derive(Debug, Clone)]
pub struct Cpus {
    known: BTreeMap<usize, Known>,
    now: usize,
    looked: Duration,
    turn: usize,
}

impl Cpus {
    /// Chooses among these CPUs; `None` if there are none. It begins on the last, since most interrupts go to the first.
    /// If there are very many, it uses some, evenly spaced.
    pub fn new(cpus: &BTreeMap<usize, CoreType>) -> Option<Cpus> {
        let stride = cpus.len().div_ceil(MOST).max(1);
        let some = cpus.iter().rev().step_by(stride);
        let known: BTreeMap<_, _> =
            some.map(|(cpu, core)| (*cpu, Known { core: *core, quiet: None, kept: None })).collect();
        let now = *known.keys().last()?;
        Some(Cpus { known, now, looked: Duration::ZERO, turn: 0 })
    }

    /// The CPU for the next round of a row.
    pub fn now(&self) -> usize {
        self.now
    }

    /// The kind of a CPU.
    pub fn core(&self, cpu: usize) -> CoreType {
        self.known.get(&cpu).map_or(CoreType::Uniform, |known| known.core)
    }

    /// Every CPU.
    pub fn all(&self) -> impl Iterator<Item = usize> {
        self.known.keys().copied()
    }

    /// Another CPU to try now, if it is time for that.
    pub fn next_to_try(&mut self, now: Duration) -> Option<usize> {
        let others: Vec<usize> = self.all().filter(|cpu| *cpu != self.now).collect();
        // While the present CPU is quiet there is nothing to gain.
        let is_quiet = self.share(self.now) > 1.0 - WORTH_A_MOVE;
        if others.is_empty() || is_quiet || now < self.looked + LOOK_EVERY {
            return None;
        }
        self.looked = now;
        self.turn += 1;
        others.get(self.turn % others.len()).copied()
    }

    /// Takes the quiet share that a round on a CPU showed, and moves to another where that is worth it.
    pub fn take(&mut self, cpu: usize, quiet: f64) {
        if let Some(known) = self.known.get_mut(&cpu) {
            known.quiet = averaged(known.quiet, quiet);
        }
        let quiet = |known: &Known| known.quiet.unwrap_or(0.0);
        let best = self.known.iter().max_by(|(_, a), (_, b)| quiet(a).total_cmp(&quiet(b)));
        if let Some((best, known)) = best
            && quiet(known) > self.share(self.now) + WORTH_A_MOVE
        {
            self.now = *best;
        }
    }

    /// Takes the share of a round's blocks that will probably be kept.
    pub fn take_kept(&mut self, cpu: usize, kept: f64) {
        if let Some(known) = self.known.get_mut(&cpu) {
            known.kept = averaged(known.kept, kept);
        }
    }

    /// The quiet share of a CPU's last rounds, 0 to 1; 0 before the first.
    pub fn share(&self, cpu: usize) -> f64 {
        self.known.get(&cpu).and_then(|known| known.quiet).unwrap_or(0.0)
    }

    /// How many times as long as on a quiet CPU the next round on this one is to be. Where quiet stretches are rare, one is more
    /// likely to lie in a long round, and less of the time goes into starting processes.
    pub fn longer(&self, cpu: usize) -> u64 {
        let kept = self.known.get(&cpu).and_then(|known| known.kept).unwrap_or(1.0);
        LONGER.into_iter().find(|(least, _)| kept >= *least).map_or(1, |(_, longer)| longer)
    }
}

fn averaged(before: Option<f64>, latest: f64) -> Option<f64> {
    Some(before.map_or(latest, |before| before + WEIGHT * (latest - before)))
}

/// The CPUs of each kind that is measured.
pub(crate) fn groups(choice: CpuChoice, cpus: &BTreeMap<usize, CoreType>) -> Vec<BTreeMap<usize, CoreType>> {
    let of = |wanted: &dyn Fn(usize, CoreType) -> bool| -> BTreeMap<usize, CoreType> {
        let chosen = cpus.iter().map(|(cpu, core)| (*cpu, *core));
        chosen.filter(|(cpu, core)| wanted(*cpu, *core)).collect()
    };
    let kinds = [CoreType::Performance, CoreType::Uniform, CoreType::Efficient];
    let by_kind = kinds.map(|kind| of(&|_, core| core == kind));
    let mut by_kind = by_kind.into_iter().filter(|group| !group.is_empty());
    match choice {
        CpuChoice::Only(cpu) => vec![of(&|other, _| other == cpu)],
        CpuChoice::Quiet => by_kind.next().into_iter().collect(),
        CpuChoice::EveryKind => by_kind.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(count: usize) -> Cpus {
        Cpus::new(&(0..count).map(|cpu| (cpu, CoreType::Uniform)).collect()).unwrap()
    }

    #[test]
    fn it_begins_on_the_last_and_moves_to_the_quieter() {
        let mut cpus = cpus(3);
        assert_eq!(cpus.now(), 2);
        cpus.take(2, 0.1);
        cpus.take(0, 0.25);
        assert_eq!(cpus.now(), 2, "not worth it");
        cpus.take(1, 0.9);
        assert_eq!(cpus.now(), 1);
        (0..20).for_each(|_| cpus.take(1, 0.0));
        assert_eq!(cpus.now(), 0, "what was quiet need not stay so");
    }

    #[test]
    fn others_are_looked_at_in_turn_and_only_when_it_is_noisy_here() {
        let mut cpus = cpus(3);
        cpus.take(2, 1.0);
        assert_eq!(cpus.next_to_try(Duration::from_secs(1)), None);
        (0..20).for_each(|_| cpus.take(2, 0.0));
        let looks: Vec<_> = (1..200)
            .filter_map(|ms| cpus.next_to_try(Duration::from_secs(1) + Duration::from_millis(ms)))
            .collect();
        assert_eq!(looks, [1, 0, 1, 0]);
    }

    #[test]
    fn rounds_are_longer_where_little_is_kept() {
        let mut cpus = cpus(2);
        assert_eq!(cpus.longer(1), 1, "before anything is known");
        let lengths: Vec<u64> = (0..20)
            .map(|_| {
                cpus.take_kept(1, 0.0);
                cpus.longer(1)
            })
            .collect();
        assert_eq!((lengths[0], lengths[19]), (4, 4));
        cpus.take_kept(1, 0.8);
        assert_eq!((cpus.longer(1), cpus.longer(0)), (2, 1));
        cpus.take_kept(1, 0.8);
        assert_eq!(cpus.longer(1), 1);
    }

    #[test]
    fn one_cpu_has_no_choice_and_a_thousand_are_too_many() {
        let mut one = cpus(1);
        one.take(0, 0.0);
        assert_eq!((one.now(), one.next_to_try(Duration::from_secs(1))), (0, None));
        assert!(cpus(1000).all().count() <= MOST);
        assert!(Cpus::new(&BTreeMap::new()).is_none());
    }
}

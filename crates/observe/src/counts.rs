//! What was counted.

use crate::call::{Call, Way};
use crate::proc;
use crate::record::{Record, Registers};
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

/// The calls of one process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfProcess {
    /// The name of the program that it executes; empty where nobody knows.
    pub name: String,
    /// How often it made each call.
    pub calls: BTreeMap<Call, u64>,
}

/// The calls of all processes.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// Each with the program that it executes now.
    now: HashMap<u32, Running>,
    /// Those that have gone on to another program since.
    before: Vec<(u32, Running)>,
    /// Records that found no room in a ring.
    lost: u64,
    /// Threads and processes that were made.
    forks: u64,
    /// Whether FRED delivers system calls here, which leaves rcx alone.
    has_fred: bool,
}

/// A process while it executes a program. This is asked millions of times in a second.
#[derive(Debug, Clone, Default)]
struct Running {
    name: String,
    calls: HashMap<Call, u64>,
    /// Where the vDSO of a 32-bit program is; none before it was asked for, or where it is not known.
    vdso: Option<Option<RangeInclusive<u64>>>,
}

impl Counts {
    /// Nothing yet, on this machine.
    pub(crate) fn new(has_fred: bool) -> Counts {
        Counts { has_fred, ..Counts::default() }
    }

    /// Counts a record.
    pub(crate) fn add(&mut self, record: Record) {
        if matches!(record, Record::Forked { .. }) {
            self.forks = self.forks.saturating_add(1);
        }
        match record {
            Record::Call { pid, number, first, registers, .. } => {
                let has_fred = self.has_fred;
                let running = self.running(pid);
                let way = running.way(pid, number, registers, has_fred);
                running.count(Call::new(way, number, first));
            }
            Record::Lost(count) => self.lost = self.lost.saturating_add(count),
            Record::Named { pid, tid, name, executed } => {
                if executed {
                    self.forget(pid);
                }
                // Threads have names of their own, which are not the program's.
                if pid == tid {
                    self.now.entry(pid).or_default().name = name;
                }
            }
            Record::Forked { pid, parent } if pid != parent => {
                self.forget(pid);
                if let Some(Running { name, vdso, .. }) = self.now.get(&parent) {
                    let child = Running { name: name.clone(), vdso: vdso.clone(), ..Running::default() };
                    self.now.insert(pid, child);
                }
            }
            Record::Vdso { pid, first, length } => {
                let range = first..=first.saturating_add(length).saturating_sub(1);
                self.now.entry(pid).or_default().vdso = Some(Some(range));
            }
            Record::Forked { .. } | Record::Other => {}
        }
    }

    /// Counts a call of a process.
    pub fn count(&mut self, pid: u32, call: Call) {
        self.running(pid).count(call);
    }

    fn running(&mut self, pid: u32) -> &mut Running {
        let new = || Running { name: proc::name(pid).unwrap_or_default(), ..Running::default() };
        self.now.entry(pid).or_insert_with(new)
    }

    /// A process executes another program: its name is asked for again.
    pub(crate) fn forget(&mut self, pid: u32) {
        self.before.extend(
            self.now.remove(&pid).filter(|running| !running.calls.is_empty()).map(|running| (pid, running)),
        );
    }

    /// How many calls were seen.
    pub fn seen(&self) -> u64 {
        self.all().flat_map(|(_, running)| running.calls.values()).sum()
    }

    /// How many found no room to be seen, by the rings' own words.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// How many threads and processes were made meanwhile.
    pub fn forks(&self) -> u64 {
        self.forks
    }

    fn all(&self) -> impl Iterator<Item = (u32, &Running)> {
        let before = self.before.iter().map(|(pid, running)| (*pid, running));
        before.chain(self.now.iter().map(|(pid, running)| (*pid, running)))
    }

    /// By process, and of each by the program that it executed.
    pub fn processes(&self) -> BTreeMap<u32, Vec<OfProcess>> {
        let mut all: BTreeMap<u32, BTreeMap<&str, BTreeMap<Call, u64>>> = BTreeMap::new();
        for (pid, running) in self.all().filter(|(_, running)| !running.calls.is_empty()) {
            let of = all.entry(pid).or_default().entry(&running.name).or_default();
            running.calls.iter().for_each(|(call, count)| *of.entry(*call).or_default() += count);
        }
        all.values_mut().for_each(name_the_nameless);
        let named = |(name, calls): (&str, BTreeMap<Call, u64>)| OfProcess { name: name.to_owned(), calls };
        all.into_iter().map(|(pid, programs)| (pid, programs.into_iter().map(named).collect())).collect()
    }

    /// Of all processes together.
    pub fn calls(&self) -> BTreeMap<Call, u64> {
        let mut all = BTreeMap::new();
        for (call, count) in self.all().flat_map(|(_, running)| &running.calls) {
            *all.entry(*call).or_default() += count;
        }
        all
    }
}

/// Rings are read one behind the other, so that a process's calls on one CPU may be seen before its name on another; and when it has ended,
/// nobody else tells. Then it is the program that made the most calls.
fn name_the_nameless(programs: &mut BTreeMap<&str, BTreeMap<Call, u64>>) {
    let Some(calls) = programs.remove("") else { return };
    let most = programs.iter().max_by_key(|(_, calls)| calls.values().sum::<u64>()).map(|(name, _)| *name);
    let of = programs.entry(most.unwrap_or_default()).or_default();
    calls.into_iter().for_each(|(call, count)| *of.entry(call).or_default() += count);
}

impl Running {
    fn count(&mut self, call: Call) {
        *self.calls.entry(call).or_default() += 1;
    }

    /// `syscall` leaves in rcx where the program goes on (SDM vol. 2, SYSCALL), so that the two are the same in the registers that the
    /// kernel saved; `int $0x80` does not. With FRED nothing tells, and 64-bit code is taken to use `syscall`.
    fn way(&mut self, pid: u32, number: u32, registers: Option<Registers>, has_fred: bool) -> Way {
        let Some(Registers { is_64, counter, instruction }) = registers else {
            return Way::of_syscall(number);
        };
        if is_64 {
            let by_syscall = has_fred || counter == instruction;
            return if by_syscall { Way::of_syscall(number) } else { Way::Int80In64 };
        }
        match self.vdso.get_or_insert_with(|| proc::vdso(pid)) {
            Some(vdso) if vdso.contains(&instruction) => Way::Gateway,
            Some(_) => Way::Int80,
            None => Way::Code32,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    /// A process that is not there: nothing is read of it.
    const NOBODY: u32 = u32::MAX;

    fn call(number: u32, registers: Option<Registers>) -> Record {
        Record::Call { pid: NOBODY, tid: NOBODY, number, first: 0, registers }
    }

    fn registers(is_64: bool, counter: u64) -> Option<Registers> {
        Some(Registers { is_64, counter, instruction: 0x40_1002 })
    }

    fn ways(has_fred: bool) -> Vec<Way> {
        let mut counts = Counts::new(has_fred);
        counts.add(call(1, registers(true, 0x40_1002)));
        counts.add(call(2, registers(true, 3)));
        counts.add(call(3, registers(false, 3)));
        counts.add(call(4, None));
        let mut calls: Vec<Call> = counts.calls().into_keys().collect();
        calls.sort_by_key(|call| call.number);
        calls.into_iter().map(|call| call.way).collect()
    }

    #[test]
    fn registers_tell_the_way() {
        assert_eq!(ways(false), [Way::Syscall, Way::Int80In64, Way::Code32, Way::Syscall]);
        assert_eq!(ways(true), [Way::Syscall, Way::Syscall, Way::Code32, Way::Syscall]);
    }

    #[test]
    fn a_process_has_the_name_of_the_program_that_it_executes() {
        let mut counts = Counts::new(false);
        let named = |pid, tid, name: &str, executed| Record::Named { pid, tid, name: name.into(), executed };
        counts.add(named(NOBODY - 1, NOBODY - 1, "sh", true));
        counts.add(Record::Forked { pid: NOBODY, parent: NOBODY - 1 });
        counts.add(call(1, None));
        counts.add(named(NOBODY, NOBODY, "true", true));
        counts.add(call(1, None));
        counts.add(named(NOBODY, 5, "a thread", false));
        counts.add(call(1, None));
        counts.add(Record::Lost(3));
        let processes = counts.processes();
        let of: Vec<(&str, u64)> =
            processes[&NOBODY].iter().map(|of| (of.name.as_str(), of.calls.values().sum())).collect();
        assert_eq!(of, [("sh", 1), ("true", 2)]);
        assert_eq!((counts.seen(), counts.lost(), counts.forks()), (3, 3, 1));
    }

    #[test]
    fn calls_that_were_seen_before_the_name_are_the_programs() {
        let mut counts = Counts::new(false);
        let named = Record::Named { pid: NOBODY, tid: NOBODY, name: "calls".into(), executed: true };
        [call(1, None), named, call(1, None), call(2, None)]
            .into_iter()
            .for_each(|record| counts.add(record));
        let processes = counts.processes();
        let [program] = processes[&NOBODY].as_slice() else { panic!("{processes:?}") };
        assert_eq!((program.name.as_str(), program.calls.values().sum::<u64>()), ("calls", 3));
    }
}

//! Looks at CPUs: short runs of a cheap row tell how quiet each is now. By that a CPU is chosen for a guest before it is
//! started, and for the next round on a host.

use crate::cpus::{Cpus, groups};
use crate::earlier::Alone;
use crate::live::Live;
use crate::plan::{CpuChoice, HostPlan};
use crate::row::TableRow;
use crate::width;
use environment::{CoreType, Environment};
use places::host::Executor;
use record::Request;
use stats::{Round, Vouch};
use std::collections::BTreeMap;
use table::{Kernel, Table, special};

/// Samples of a block, few, since only the canaries around it count.
const SAMPLES: u64 = 8;

/// What is known of CPUs by looking at them, and what a look takes.
pub(crate) struct Lookout {
    pub cpus: Cpus,
    pub live: Live,
    /// The row that is run: a call of a function that does nothing.
    row: TableRow<'static>,
    /// What getppid answers in the probe.
    parent: u64,
}

impl Lookout {
    /// Over these CPUs of one kind; `None` if there are none.
    pub fn new(
        group: &BTreeMap<usize, CoreType>,
        environment: &Environment,
        alone: &Alone,
        parent: u64,
    ) -> Option<Lookout> {
        let vouches: BTreeMap<CoreType, Vouch> =
            group.values().map(|core| (*core, width::vouch(environment, *core))).collect();
        let live = Live::new(vouches, alone.clone());
        Some(Lookout { cpus: Cpus::new(group)?, live, row: call()?, parent })
    }

    /// Looks at every CPU, if there is a choice.
    pub fn survey(&mut self, executor: &mut dyn Executor) {
        // The present one first: it is left only for one that is quieter.
        let now = self.cpus.now();
        let others: Vec<usize> = self.cpus.all().filter(|cpu| *cpu != now).collect();
        if !others.is_empty() {
            std::iter::once(now).chain(others).for_each(|cpu| self.look_at(executor, cpu));
        }
    }

    /// A short run on a CPU.
    pub fn look_at(&mut self, executor: &mut dyn Executor, cpu: usize) {
        let (entry, _) = self.row;
        let request = Request {
            bursts: 1,
            parent: self.parent,
            cpu: cpu as u64,
            samples: SAMPLES,
            ..HostPlan::request(self.row, self.cpus.longer(cpu))
        };
        // A CPU on which no probe runs is not chosen: it shows no quiet canary.
        let records = executor.measure(entry.probe, cpu, &request).unwrap_or_default();
        let quiet = Round::reduce(&records, 0.0)
            .map(|mut round| self.live.take(entry.probe.bits(), self.cpus.core(cpu), &mut round).quiet);
        self.cpus.take(cpu, quiet.unwrap_or(0.0));
    }
}

/// A call of a function that does nothing.
fn call() -> Option<TableRow<'static>> {
    Table::get().rows(Kernel::Linux).find(|(entry, operation)| special::CALL.is(&entry.name, &operation.name))
}

/// Chooses a CPU for a guest by the same rule as for a probe: the one that was quiet last, of the fastest kind.
pub struct Scout {
    executor: Box<dyn Executor>,
    lookout: Lookout,
}

impl Scout {
    /// Chooses among these CPUs, by runs of this executor; `None` if there are none. `parent` is what getppid answers in
    /// its probes.
    pub fn new(
        executor: Box<dyn Executor>,
        cpus: &BTreeMap<usize, CoreType>,
        environment: &Environment,
        parent: u64,
    ) -> Option<Scout> {
        let group = groups(CpuChoice::Quiet, cpus).into_iter().next()?;
        Some(Scout { executor, lookout: Lookout::new(&group, environment, &Alone::new(), parent)? })
    }

    /// The CPU that is quiet now, or quieter than the others. Where there is one CPU, nothing is run.
    pub fn choose(&mut self) -> usize {
        self.lookout.survey(self.executor.as_mut());
        self.lookout.cpus.now()
    }

    /// The kind of a CPU.
    pub fn core(&self, cpu: usize) -> CoreType {
        self.lookout.cpus.core(cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Failure, Record};
    use simulator::{Company, Cpu, Machine, Model, Neighbour, Subject};
    use table::Probe;

    /// Probes on a simulated machine.
    struct Simulated(Machine);

    impl Executor for Simulated {
        fn run(&mut self, _: Probe, _: usize, _: &[String]) -> Result<Vec<Record>, Failure> {
            Err(Failure::Silent)
        }

        fn measure(&mut self, _: Probe, cpu: usize, request: &Request) -> Result<Vec<Record>, Failure> {
            Ok(self.0.run(cpu as u64, &Subject::from(8.0), request))
        }
    }

    /// Runs no probe.
    struct Refusing;

    impl Executor for Refusing {
        fn run(&mut self, _: Probe, _: usize, _: &[String]) -> Result<Vec<Record>, Failure> {
            Err(Failure::Silent)
        }
    }

    /// Five instructions wide, as is the simulated core.
    fn environment() -> Environment {
        let mut environment = Environment::default();
        environment.cpu.vendor = Some("GenuineIntel".into());
        (environment.cpu.family, environment.cpu.model) = (Some(6), Some(0x8f));
        environment
    }

    /// The choice among cores with these neighbours, three times.
    fn chosen(neighbours: &[Company]) -> [usize; 3] {
        let cpu = |company: &Company| Cpu { neighbour: Neighbour::new(*company), ..Cpu::default() };
        let model = Model { cpus: neighbours.iter().map(cpu).collect(), ..Model::default() };
        let cpus = (0..neighbours.len()).map(|cpu| (cpu, CoreType::Uniform)).collect();
        let executor = Box::new(Simulated(Machine::new(1, model)));
        let mut scout = Scout::new(executor, &cpus, &environment(), 1).unwrap();
        [0; 3].map(|_| scout.choose())
    }

    #[test]
    fn the_quiet_cpu_is_chosen_wherever_it_is() {
        let (quiet, noisy) = (Company::QUIET, Company::NOISY);
        assert_eq!(chosen(&[quiet, noisy, noisy]), [0; 3]);
        assert_eq!(chosen(&[noisy, quiet, noisy]), [1; 3]);
        assert_eq!(chosen(&[quiet, quiet]), [1; 3], "the last, since most interrupts go to the first");
        assert_eq!(chosen(&[noisy]), [0; 3]);
    }

    #[test]
    fn a_cpu_on_which_probes_ceased_to_run_was_still_quiet() {
        let cpus: BTreeMap<_, _> = (0..2).map(|cpu| (cpu, CoreType::Uniform)).collect();
        let mut lookout = Lookout::new(&cpus, &environment(), &Alone::new(), 1).unwrap();
        let mut machine =
            Simulated(Machine::new(1, Model { cpus: vec![Cpu::default(); 2], ..Model::default() }));
        lookout.survey(&mut machine);
        // The last, since most interrupts go to the first; Linux was once measured on the first that was quiet.
        assert_eq!((lookout.cpus.now(), lookout.cpus.share(1) > 0.9), (1, true));
        (0..8).for_each(|_| lookout.look_at(&mut Refusing, 1));
        assert_eq!(lookout.cpus.now(), 0, "{}", lookout.cpus.share(1));
    }

    #[test]
    fn where_no_probe_runs_there_is_a_choice_all_the_same() {
        let cpus = [(2, CoreType::Performance), (3, CoreType::Performance), (4, CoreType::Efficient)].into();
        let mut scout = Scout::new(Box::new(Refusing), &cpus, &Environment::default(), 1).unwrap();
        assert_eq!((scout.choose(), scout.core(3)), (3, CoreType::Performance));
        assert!(Scout::new(Box::new(Refusing), &BTreeMap::new(), &Environment::default(), 1).is_none());
    }
}

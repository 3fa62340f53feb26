//! Measurements on simulated machines, whose true costs are known: without a real probe, and without a clock. Shared by tests.

use document::Document;
use environment::{CoreType, Environment};
use measure::{CpuChoice, Earlier, Here, HostPlan, Setup, measure, select};
use places::host::{Executor, Interrupt};
use record::{Failure, Footprint, Record};
use simulator::{Company, Cpu, Machine, Model, Neighbour, Subject};
use std::time::Duration;
use table::{Kernel, Probe, Table};

/// Ids of an entry and an operation.
pub type Ids = (u16, u16);

/// One run of a probe: which row, on which CPU, and how often that row was asked before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    pub row: Ids,
    pub cpu: usize,
    pub before: usize,
}

pub type Change = dyn FnMut(Asked, Vec<Record>) -> Result<Vec<Record>, Failure>;

/// Runs probes on a simulated machine.
pub struct Simulated {
    pub machine: Machine,
    pub cost: Box<dyn Fn(Ids) -> Subject>,
    /// What becomes of the records on the way.
    pub change: Box<Change>,
    pub asked: Vec<Asked>,
}

impl Executor for Simulated {
    fn run(&mut self, _probe: Probe, cpu: usize, arguments: &[String]) -> Result<Vec<Record>, Failure> {
        let Some(request) = simulator::parse_request(arguments) else { return Err(Failure::Silent) };
        assert_eq!(request.cpu, cpu as u64, "the CPU that getcpu must answer is the one it is pinned to");
        let row = (request.entry, request.operation);
        let before = self.asked.iter().filter(|asked| asked.row == row).count();
        let asked = Asked { row, cpu, before };
        self.asked.push(asked);
        let records = self.machine.run(request.cpu, &(self.cost)(row), &request);
        (self.change)(asked, records)
    }

    fn now(&self) -> Duration {
        self.machine.now()
    }
}

/// What a test measures, on what.
pub struct Case {
    pub machine: Machine,
    pub cost: Box<dyn Fn(Ids) -> Subject>,
    pub change: Box<Change>,
    pub entries: Vec<String>,
    pub operations: Vec<String>,
    pub footprints: Vec<Footprint>,
    pub cpus: CpuChoice,
    pub cores: Vec<CoreType>,
    pub budget: f64,
    pub strict: bool,
    pub seed: u64,
    pub environment: Environment,
    pub interrupt: Interrupt,
    pub earlier: Earlier,
}

impl Case {
    /// All rows on this machine, whose processor is known to kentry, and whose CPUs are of one kind.
    pub fn on(machine: Machine) -> Case {
        let cores = vec![CoreType::Uniform; machine.model().cpus.len()];
        Case {
            machine,
            cost: Box::new(|row| Subject::from(cost(row))),
            change: Box::new(|_, records| Ok(records)),
            entries: Vec::new(),
            operations: Vec::new(),
            footprints: Vec::new(),
            cpus: CpuChoice::Quiet,
            cores,
            budget: 2.0,
            strict: false,
            seed: 1,
            environment: known_processor(0x8f),
            interrupt: Interrupt::default(),
            earlier: Earlier::default(),
        }
    }

    /// A few rows, for one second.
    pub fn few(machine: Machine) -> Case {
        let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
        let entries = words(&["call", "rdtsc", "syscall-x86_64"]);
        Case { entries, operations: words(&["none"]), budget: 1.0, ..Case::on(machine) }
    }

    pub fn costing(self, cost: impl Fn(Ids) -> Subject + 'static) -> Case {
        Case { cost: Box::new(cost), ..self }
    }

    pub fn changing(
        self,
        change: impl FnMut(Asked, Vec<Record>) -> Result<Vec<Record>, Failure> + 'static,
    ) -> Case {
        Case { change: Box::new(change), ..self }
    }

    pub fn run(self) -> (Document, Simulated) {
        let rows = select::rows(Table::get(), Kernel::Linux, &self.entries, &self.operations).unwrap();
        let plan = HostPlan {
            rows,
            footprints: self.footprints,
            cpus: self.cpus,
            budget: Duration::from_secs_f64(self.budget),
            strict_budget: self.strict,
            seed: self.seed,
            realtime: false,
        };
        let Case { machine, cost, change, .. } = self;
        let mut executor = Simulated { machine, cost, change, asked: Vec::new() };
        let setup = Setup {
            executor: &mut executor,
            parent: 1,
            here: Here {
                cpus: self.cores.iter().copied().enumerate().collect(),
                realtime_refused: None,
                interrupt: self.interrupt,
                environment: self.environment,
                earlier: self.earlier,
            },
        };
        let document = measure(&plan, setup, &mut |_| {}).unwrap();
        (document, executor)
    }

    pub fn document(self) -> Document {
        self.run().0
    }
}

/// An Intel processor of this model: 0x8f is five instructions wide, as is the simulated core.
pub fn known_processor(model: u32) -> Environment {
    let mut environment = Environment::default();
    environment.cpu.vendor = Some("GenuineIntel".into());
    (environment.cpu.family, environment.cpu.model) = (Some(6), Some(model));
    environment
}

/// Cores with these neighbours, one each.
pub fn machine(seed: u64, neighbours: &[Company]) -> Machine {
    let cpu = |company: &Company| Cpu { neighbour: Neighbour::new(*company), ..Cpu::default() };
    Machine::new(seed, Model { cpus: neighbours.iter().map(cpu).collect(), ..Model::default() })
}

/// One quiet core.
pub fn quiet(seed: u64) -> Machine {
    machine(seed, &[Company::QUIET])
}

pub fn ids(entry: &str, operation: &str) -> Ids {
    (Table::get().entry(entry).unwrap().id, Table::get().operation(operation).unwrap().id)
}

/// What a row truly costs, in core cycles: each something else, from a call's 8 to 24,000.
pub fn cost(row: Ids) -> f64 {
    if row == ids("call", "none") {
        return 8.0;
    }
    let place =
        Table::get().rows(Kernel::Linux).position(|(entry, operation)| (entry.id, operation.id) == row);
    12.0 * 1.06f64.powi(place.unwrap() as i32 % 130)
}

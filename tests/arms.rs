//! Arms that are measured in turns, on simulated machines, whose true costs are known.

use document::{Document, Identity, Outcome, Timing};
use environment::{CoreType, Environment};
use measure::arms::{Arm, Arms, NEEDED, PairedRounds, Setup, measure};
use measure::{CpuChoice, Earlier, Here, HostPlan, Probes, select};
use places::host::{Executor, Interrupt};
use record::{Failure, Payload, Record, abi};
use simulator::{Clock, Company, Cpu, Machine, Model, Neighbour, Subject};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use table::{Kernel, Probe, Table};

/// What was asked of an arm: the arm, the CPU, and the request's arguments.
type Asked = (usize, usize, Vec<String>);

/// A machine that all arms run on.
struct Shared {
    machine: Machine,
    asked: Vec<Asked>,
}

/// What becomes of a round's records on the way, by the CPU that was asked for.
type Change = Box<dyn FnMut(Vec<Record>) -> Result<Vec<Record>, Failure>>;

/// One arm on a simulated machine.
struct Simulated {
    number: usize,
    shared: Rc<RefCell<Shared>>,
    /// The cost of every row, in core cycles, so many seconds after the machine's start.
    cost: Box<dyn Fn(f64) -> f64>,
    /// The CPU it runs on, whatever is asked.
    strays_to: Option<usize>,
    /// How long its command takes to start a probe that describes itself.
    start_up: Duration,
    change: Change,
}

impl Executor for Simulated {
    fn run(&mut self, _: Probe, cpu: usize, arguments: &[String]) -> Result<Vec<Record>, Failure> {
        let shared = &mut *self.shared.borrow_mut();
        let Some(request) = simulator::parse_request(arguments) else {
            // It is to describe itself.
            shared.machine.pause(self.start_up);
            return Err(Failure::Silent);
        };
        shared.asked.push((self.number, cpu, arguments.to_vec()));
        let cost = (self.cost)(shared.machine.now().as_secs_f64());
        let on = self.strays_to.unwrap_or(cpu) as u64;
        (self.change)(shared.machine.run(on, &Subject::from(cost), &request))
    }

    fn now(&self) -> Duration {
        self.shared.borrow().machine.now()
    }
}

/// A measurement of two arms.
struct Case {
    machine: Machine,
    arms: [Simulated; 2],
    cpus: [Option<usize>; 2],
    entries: Vec<&'static str>,
    budget: f64,
    seed: u64,
    interrupt: Interrupt,
}

/// Two cores with such neighbours, whose clock wanders.
fn machine(seed: u64, company: Company) -> Machine {
    let clock = Clock::Wander { between: (3.2, 4.0), step: 0.002, every: Duration::from_millis(1) };
    let cpu = Cpu { neighbour: Neighbour::new(company), clock, ..Cpu::default() };
    Machine::new(seed, Model { cpus: vec![cpu; 2], ..Model::default() })
}

impl Case {
    /// Arms that cost so much, at every moment.
    fn of(seed: u64, costs: [fn(f64) -> f64; 2]) -> Case {
        let shared = Rc::new(RefCell::new(Shared { machine: Machine::quiet(1), asked: Vec::new() }));
        let arm = |number: usize| Simulated {
            number,
            shared: shared.clone(),
            cost: Box::new(costs[number]),
            strays_to: None,
            start_up: Duration::ZERO,
            change: Box::new(Ok),
        };
        Case {
            machine: machine(seed, Company::QUIET),
            arms: [arm(0), arm(1)],
            cpus: [None; 2],
            entries: vec!["syscall-x86_64", "rdtsc", "call"],
            budget: 1.0,
            seed,
            interrupt: Interrupt::default(),
        }
    }

    fn run(self) -> (Arms, Vec<Asked>) {
        let entries: Vec<String> = self.entries.iter().map(|entry| entry.to_string()).collect();
        let rows = select::rows(Table::get(), Kernel::Linux, &entries, &["none".into()]).unwrap();
        let plan = HostPlan {
            rows,
            footprints: Vec::new(),
            cpus: CpuChoice::Quiet,
            budget: Duration::from_secs_f64(self.budget),
            strict_budget: false,
            seed: self.seed,
            realtime: false,
        };
        let shared = self.arms[0].shared.clone();
        shared.borrow_mut().machine = self.machine;
        let mut scout = Simulated {
            number: 9,
            shared: shared.clone(),
            cost: Box::new(|_| 8.0),
            strays_to: None,
            start_up: Duration::ZERO,
            change: Box::new(Ok),
        };
        let mut environment = Environment::default();
        environment.cpu.vendor = Some("GenuineIntel".into());
        (environment.cpu.family, environment.cpu.model) = (Some(6), Some(0x8f));
        let [mut first, mut second] = self.arms;
        let arm = |executor, place: usize| Arm {
            executor,
            cpu: self.cpus[place],
            command: (place == 1).then(|| "strace -f".to_string()),
            probes: Probes::embedded(),
        };
        let setup = Setup {
            arms: vec![arm(&mut first, 0), arm(&mut second, 1)],
            scout: &mut scout,
            here: Here {
                cpus: [(0, CoreType::Uniform), (1, CoreType::Uniform)].into(),
                realtime_refused: None,
                interrupt: self.interrupt,
                environment,
                earlier: Earlier::default(),
            },
        };
        let arms = measure(&plan, setup, &mut |_| {}).unwrap();
        let asked = shared.borrow().asked.iter().filter(|asked| asked.0 < 2).cloned().collect();
        (arms, asked)
    }
}

fn row<'d>(document: &'d Document, turns: &PairedRounds) -> &'d document::Row {
    document.row_alone(Table::get(), &turns.row).unwrap()
}

/// The row of an entry and no operation.
fn alone(entry: &str) -> Identity {
    let table = Table::get();
    Identity::of((table.entry(entry).unwrap(), table.operation("none").unwrap()))
}

/// A cost that drifts by 6 % in half a second, and back.
fn drifting(seconds: f64) -> f64 {
    300.0 * (1.0 + 0.03 * (seconds * 6.3).sin())
}

#[test]
fn a_difference_of_one_percent_is_found_beneath_a_drift_of_six() {
    let (arms, _) = Case::of(1, [drifting, |seconds| 1.01 * drifting(seconds)]).run();
    for turns in &arms.turns {
        let found = stats::paired(&arms.pairs(turns, 0, 1), 0.95).unwrap();
        assert!(found.pairs >= NEEDED && found.p < 0.001, "{:?}: {found:?}", turns.row);
        assert!(found.low < 3.3 && found.high > 2.7 && found.high - found.low < 2.0, "{found:?}");
    }
}

#[test]
fn arms_that_are_the_same_are_seldom_told_apart() {
    let (mut rows, mut told_apart) = (0, 0);
    for seed in 10..30 {
        let company = if seed % 2 == 0 { Company::QUIET } else { Company::MIXED };
        let case = Case { machine: machine(seed, company), ..Case::of(seed, [drifting, drifting]) };
        let (arms, _) = case.run();
        for turns in &arms.turns {
            let Some(found) = stats::paired(&arms.pairs(turns, 0, 1), 0.95) else { continue };
            rows += 1;
            told_apart += usize::from(found.p < 0.05);
        }
    }
    // 3 of 60 are due.
    assert!(rows >= 50 && told_apart <= 8, "{told_apart} of {rows}");
}

#[test]
fn a_turn_has_a_round_of_each_arm_back_to_back_in_either_order() {
    let (arms, asked) = Case::of(2, [|_| 300.0, |_| 900.0]).run();
    let turns = &arms.turns[0];
    let lines: Vec<_> = arms.documents.iter().map(|document| &row(document, turns).rounds).collect();
    let mut orders = [0, 0];
    for places in &turns.places {
        let [Some(first), Some(second)] = places[..] else { continue };
        let apart = lines[1].at_ms[second] - lines[0].at_ms[first];
        assert!(apart != 0.0 && apart.abs() < 20.0, "{apart} ms apart");
        orders[usize::from(apart > 0.0)] += 1;
    }
    assert!(orders.iter().all(|count| *count >= NEEDED / 5), "{orders:?}");
    let paired = turns.places.iter().filter(|places| places.iter().all(Option::is_some)).count();
    assert_eq!((paired, paired), (lines[0].len(), lines[1].len()), "each round is in one turn");
    // The requests of a turn are the same, and leave to the probe what only it can know.
    for turn in asked.chunks(2) {
        assert_eq!(turn[0].2, turn[1].2);
        let request = simulator::parse_request(&turn[0].2).unwrap();
        assert_eq!((request.cpu, request.parent), (abi::REQUEST_ASK, abi::REQUEST_ASK));
    }
}

#[test]
fn each_arm_has_a_whole_document_of_its_own() {
    let (arms, _) = Case::of(3, [|_| 300.0, |_| 330.0]).run();
    let commands: Vec<_> =
        arms.documents.iter().map(|document| document.measurement.command.as_deref()).collect();
    assert_eq!(commands, [None, Some("strace -f")]);
    assert_ne!(arms.documents[0].id, arms.documents[1].id);
    for (document, truth) in arms.documents.iter().zip([300.0, 330.0]) {
        assert_eq!(document.results.len(), 3);
        for row in &document.results {
            let cycles = row.core_cycles.unwrap().estimate.0;
            assert!((cycles - truth).abs() < 0.005 * truth, "{}: {cycles} instead of {truth}", row.entry);
        }
        let text = serde_json::to_string(document).unwrap();
        assert_eq!(&document::load(&text).unwrap(), document);
        assert_eq!(&measure::recompute(document).unwrap().results, &document.results);
    }
    assert_eq!(arms.remarks, [Vec::<String>::new(), Vec::new()]);
}

#[test]
fn a_row_that_is_closed_in_one_arm_goes_on_in_the_other() {
    let mut case = Case::of(4, [|_| 300.0, |_| 300.0]);
    let mut rounds = 0;
    case.arms[1].change = Box::new(move |records| {
        rounds += 1;
        let closed = records[0].entry == Table::get().entry("syscall-x86_64").unwrap().id && rounds > 6;
        if closed { Err(Failure::Killed(31)) } else { Ok(records) }
    });
    let (arms, _) = case.run();
    let syscall = alone("syscall-x86_64");
    let turns = arms.turns.iter().find(|turns| turns.row == syscall).unwrap();
    let [open, closed] = [0, 1].map(|arm| row(&arms.documents[arm], turns));
    assert_eq!((open.outcome, closed.outcome), (Outcome::Ok, Outcome::Refused));
    assert!(open.core_cycles.is_some() && closed.core_cycles.is_none());
    assert!(open.rounds.len() > closed.rounds.len() + 6, "{} rounds", open.rounds.len());
    assert!(turns.places.iter().any(|places| places[0].is_some() && places[1].is_none()));
    let others = arms.turns.iter().filter(|turns| turns.row != syscall);
    others.for_each(|turns| assert!(arms.pairs(turns, 0, 1).len() >= NEEDED));
}

/// As in an emulator, where one instruction takes about as long as another.
fn emulated(mut records: Vec<Record>) -> Vec<Record> {
    for record in &mut records {
        if let Payload::Canary(canary) = &mut record.payload {
            let chain = canary.stamps[2] - canary.stamps[1];
            let nots = canary.stamps[4] - canary.stamps[3];
            canary.stamps[3] = canary.stamps[2] + 3 * chain;
            canary.stamps[4] = canary.stamps[3] + nots;
        }
    }
    records
}

#[test]
fn an_arm_in_an_emulator_does_not_spoil_the_other() {
    let mut case = Case::of(5, [|_| 300.0, |_| 300.0]);
    case.arms[1].change = Box::new(|records| Ok(emulated(records)));
    let (arms, _) = case.run();
    for turns in &arms.turns {
        let [real, emulated] = [0, 1].map(|arm| row(&arms.documents[arm], turns));
        assert_eq!((real.timing, emulated.timing), (Timing::Hardware, Timing::Emulated));
        assert!((real.core_cycles.unwrap().estimate.0 - 300.0).abs() < 1.5, "{}", real.entry);
        assert!(emulated.core_cycles.is_none() && arms.pairs(turns, 0, 1).is_empty());
    }
}

#[test]
fn arms_have_their_own_cpus_and_a_command_that_chooses_another_is_named() {
    let case = Case { cpus: [Some(0), Some(1)], ..Case::of(6, [|_| 300.0, |_| 300.0]) };
    let (arms, asked) = case.run();
    assert!(asked.iter().all(|(arm, cpu, _)| arm == cpu));
    for (cpu, document) in arms.documents.iter().enumerate() {
        assert!(document.results.iter().all(|row| row.cpu == Some(cpu)));
    }
    let mut case = Case { cpus: [Some(1), Some(1)], ..Case::of(7, [|_| 300.0, |_| 300.0]) };
    case.arms[1].strays_to = Some(0);
    let (arms, _) = case.run();
    assert_eq!(arms.remarks[0], Vec::<String>::new());
    assert_eq!(
        arms.remarks[1],
        ["its probes ran on CPU 0 when they were to run on CPU 1: the command chooses the CPU"]
    );
    assert!(
        arms.turns.iter().all(|turns| arms.pairs(turns, 0, 1).len() >= NEEDED),
        "they are compared all the same"
    );
}

#[test]
fn the_time_before_the_first_round_counted_twice() {
    let mut case = Case { budget: 0.6, ..Case::of(9, [|_| 300.0, |_| 300.0]) };
    // Two probes describe themselves in each arm: 1.2 s of the 1.8 s that the measurement may take.
    case.arms.iter_mut().for_each(|arm| arm.start_up = Duration::from_millis(300));
    let (arms, _) = case.run();
    assert!(arms.turns.iter().all(|turns| arms.pairs(turns, 0, 1).len() >= NEEDED));
    assert!(arms.documents[0].measurement.seconds < 1.9);
}

#[test]
fn an_interrupt_in_the_middle_of_a_turn_leaves_what_there_is() {
    let mut case = Case::of(8, [|_| 300.0, |_| 300.0]);
    let interrupt = case.interrupt.clone();
    let mut rounds = 0;
    case.arms[0].change = Box::new(move |records| {
        rounds += 1;
        interrupt.store(rounds >= 40, Ordering::Relaxed);
        if rounds >= 40 { Err(Failure::Killed(2)) } else { Ok(records) }
    });
    let (arms, _) = case.run();
    assert!(arms.documents.iter().all(|document| document.measurement.partial));
    for document in &arms.documents {
        assert!(document.results.iter().all(|row| row.outcome == Outcome::Ok), "the interrupt is no outcome");
    }
    let pairs: usize = arms.turns.iter().map(|turns| arms.pairs(turns, 0, 1).len()).sum();
    assert!((20..=39).contains(&pairs), "{pairs}");
}

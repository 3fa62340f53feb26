//! The statistics against machines whose costs are known: every rule is held here, over many runs.
//!
//! A run is what `kentry` does with one row: rounds in processes of their own, some time apart. What it prints must be true:
//! within 0.5 % or half a cycle, with an interval that covers the truth in 95 of 100 runs, or nothing at all.

use simulator::{Clock, Company, Cost, Counter, Interrupts, Machine, Model, Neighbour, Subject};
use stats::{Counts, Figures, Interrupts as Seen, Lines, Reference, Round, Scale, Vouch, figures, tabulate};
use std::time::Duration;

/// The width of the simulated core: its canary misses it by a tenth, as that of the real one does.
const WIDTH: Vouch = Vouch::Width(5.0);

/// Runs of a case.
const RUNS: u64 = 200;

/// Time between two rounds of a row: the other rows have their turn.
const SWEEP: Duration = Duration::from_millis(120);

struct Case {
    name: &'static str,
    model: Model,
    subject: Subject,
    rounds: usize,
    runs: u64,
}

impl Default for Case {
    fn default() -> Case {
        let model = Model::with_neighbours(&Neighbour::new(Company::QUIET));
        Case { name: "", model, subject: Subject::from(305.0), rounds: 22, runs: RUNS }
    }
}

/// One run of a row; and for how long.
fn run(case: &Case, seed: u64, vouch: Vouch) -> (Figures, Lines, Counts, Duration) {
    let mut machine = Machine::new(seed, case.model.clone());
    let request = record::Request { samples: 16, ..simulator::request(16, 4) };
    let mut rounds = Vec::new();
    for _ in 0..case.rounds {
        let at = machine.now().as_secs_f64();
        let records = machine.run(0, &case.subject, &request);
        rounds.push(Round::reduce(&records, at).unwrap());
        machine.pause(SWEEP);
    }
    let all: Vec<&Round> = rounds.iter().collect();
    let reference = Reference::of(&all, vouch).unwrap();
    let clock = 3.0 * 256.0 / (rounds[0].marks[0].imul - reference.nothing);
    let interrupts = Seen::of(rounds.iter(), clock);
    let tabulated = tabulate(&rounds, |_| Some(&reference), interrupts.as_ref());
    let scale = Scale { nanos_per_tick: Some(0.5), cycles: reference.chain_holds(), step: reference.step };
    let figures = figures(&tabulated.lines, &tabulated.cycles, &tabulated.ticks, &scale);
    (figures, tabulated.lines, tabulated.counts, machine.now())
}

/// What many runs showed.
#[derive(Debug, Default)]
struct Shown {
    estimates: u64,
    covered: u64,
    /// The worst, as a part of what is allowed (0.5 % or half a cycle).
    worst: f64,
    /// Mean error in cycles.
    bias: f64,
    runs: u64,
}

fn show(case: &Case) -> Shown {
    let halves = std::thread::scope(|scope| {
        let half = |odd: u64| {
            let mut shown = Shown::default();
            for seed in (0..case.runs).filter(|seed| seed % 2 == odd) {
                let (figures, _, _, lasted) = run(case, seed, WIDTH);
                shown.take(&figures, case.subject.truth_during(0, Duration::ZERO, lasted));
            }
            shown
        };
        let other = scope.spawn(move || half(1));
        [half(0), other.join().unwrap()]
    });
    let [a, b] = halves;
    let estimates = a.estimates + b.estimates;
    let shown = Shown {
        estimates,
        covered: a.covered + b.covered,
        worst: a.worst.max(b.worst),
        bias: (a.bias + b.bias) / estimates.max(1) as f64,
        runs: a.runs + b.runs,
    };
    let coverage = 100.0 * shown.covered as f64 / estimates.max(1) as f64;
    println!(
        "{:40} {:5} of {:5} runs have an estimate, covers {coverage:5.1} %, bias {:+.3} cycles, worst {:.2} of what is allowed",
        case.name, shown.estimates, shown.runs, shown.bias, shown.worst
    );
    shown
}

impl Shown {
    fn take(&mut self, figures: &Figures, truth: f64) {
        self.runs += 1;
        let Some(cost) = figures.core_cycles else { return };
        let error = cost.estimate.0 - truth;
        self.estimates += 1;
        self.bias += error;
        self.worst = self.worst.max(error.abs() / (truth.abs() * 0.005).max(0.5));
        let (low, high) = (cost.ci_low.unwrap().0, cost.ci_high.unwrap().0);
        self.covered += u64::from((low..=high).contains(&truth));
    }
}

fn cases() -> Vec<Case> {
    let with = |name, change: &dyn Fn(&mut Case)| {
        let mut case = Case { name, ..Case::default() };
        change(&mut case);
        case
    };
    let company = |company| Model::with_neighbours(&Neighbour::new(company));
    let clock = |clock: Clock| {
        let mut model = company(Company::QUIET);
        model.cpus.iter_mut().for_each(|cpu| cpu.clock = clock.clone());
        model
    };
    let counter = |frequency, nanos, hertz: f64| {
        let mut model = clock(Clock::Constant(hertz));
        model.counter = Counter::with_step(frequency, nanos);
        model
    };
    vec![
        with("quiet, 305 cycles", &|_| {}),
        with("quiet, 8 rounds", &|case| case.rounds = 8),
        with("quiet, 60 rounds", &|case| (case.rounds, case.runs) = (60, RUNS / 3)),
        with("quiet, 3 cycles", &|case| case.subject = 3.0.into()),
        with("quiet, -1.5 cycles", &|case| case.subject = (-1.5).into()),
        with("quiet, 24000 cycles", &|case| (case.subject, case.runs) = (24_000.0.into(), RUNS / 4)),
        with("mixed", &|case| case.model = company(Company::MIXED)),
        with("noisy", &|case| case.model = company(Company::NOISY)),
        with("a clock that wanders", &|case| {
            let every = Duration::from_micros(300);
            case.model = clock(Clock::Wander { between: (3.0, 4.0), step: 0.002, every });
        }),
        with("a clock that jumps", &|case| {
            let every = Duration::from_millis(2);
            case.model = clock(Clock::Jumps { among: vec![1.2, 2.4, 4.4], every });
        }),
        with("a 1 GHz core, 2 ns steps", &|case| case.model = counter(2e9, 2.0, 1.0)),
        with("10 ns steps, 4.4 GHz, 200 cycles", &|case| {
            (case.model, case.subject) = (counter(3.8e9, 10.0, 4.4), 200.0.into());
        }),
        with("10 ns steps, 4.6 GHz, 200 cycles", &|case| {
            (case.model, case.subject) = (counter(3.8e9, 10.0, 4.6), 200.0.into());
        }),
        with("10 ns steps, 6 GHz, 70 cycles", &|case| {
            (case.model, case.subject) = (counter(3.8e9, 10.0, 6.0), 70.0.into());
        }),
        with("10 ns steps, mixed", &|case| {
            case.model = company(Company::MIXED);
            case.model.counter = Counter::with_step(3.8e9, 10.0);
        }),
        with("1 ns steps, 5 GHz", &|case| case.model = counter(1e9, 1.0, 5.0)),
        with("every sixth call is dear", &|case| case.subject = Cost::periodic(125.0, 300.0, 6).into_subject()),
        with("two costs of a call", &|case| case.subject = Cost::mixture(&[(0.8, 300.0), (0.2, 340.0)]).into_subject()),
        with("1000 interrupts a second", &|case| {
            let interrupts = Interrupts { per_second: 1000.0, cycles: 12_000.0, spread: 0.5 };
            case.model.cpus.iter_mut().for_each(|cpu| cpu.interrupts = interrupts.clone());
        }),
        with("a cost that drifts", &|case| {
            case.subject = Cost::drift(305.0, 1.0, Duration::from_secs(1)).into_subject();
        }),
    ]
}

trait IntoSubject {
    fn into_subject(self) -> Subject;
}

impl IntoSubject for Cost {
    fn into_subject(self) -> Subject {
        Subject::new(self)
    }
}

#[test]
fn what_is_printed_is_true() {
    for case in cases() {
        let _ = show(&case);
    }
}

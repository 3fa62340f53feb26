//! The statistics against machines whose costs are known: every rule is held here, over many runs.
//!
//! A run is what `kentry` does with one row: rounds in processes of their own, some time apart. What it prints must be true:
//! within 0.5 % or half a cycle, with an interval that covers the truth in 95 of 100 runs, or nothing at all.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulator::{Clock, Company, Cost, Counter, Durations, Interrupts, Machine, Model, Neighbour, Subject};
use stats::{
    Counts, Distribution, Excluded, Figures, Interrupts as Seen, Levels, Lines, NoiseKind, Reference, Round,
    Scale, Vouch, figures, tabulate,
};
use std::time::Duration;

/// The width of the simulated core: its canary misses it by a tenth, as that of the real one does.
const WIDTH: Vouch = Vouch::Width(5.0);

/// Runs of a case in the inner loop.
const LEAST: u64 = 16;

/// Runs of a case; where more than usual are asked for, a tenth of them of all cases but the first.
fn runs(of_first: bool) -> u64 {
    let runs = simulator::runs(LEAST);
    if of_first { runs } else { (runs / 10).max(LEAST) }
}

/// Time between two rounds of a row: the other rows have their turn.
const SWEEP: Duration = Duration::from_millis(120);

/// Blocks in a round.
const BLOCKS: u64 = 32;

/// Rounds of other rows to each round of the one that is looked at: what a round is judged by comes from all of them.
const OTHERS: u32 = 8;

struct Case {
    name: &'static str,
    model: Model,
    subject: Subject,
    rounds: usize,
    /// How many times as many blocks a round has as on a quiet core: four where less than a tenth of the blocks is kept.
    longer: u64,
    /// Samples in a block.
    samples: u64,
    runs: u64,
    /// Samples in each block of the other rows' rounds, of which there are [`OTHERS`] to each round of this row.
    others: u64,
    /// The share of runs that has an estimate, at least; 0: none has, or hardly any.
    printed: f64,
    /// Where none need have one, the share that may: a noisy minute now and then has six quiet stretches. What is printed is true.
    at_most: f64,
    /// Whether the interval covers. An entry with a rhythm of its own has the same part of it in every round, a fraction of
    /// a beat more or less than on average.
    covers: bool,
    /// How much slower the core's clock is when a process starts, while its chains in a row are timed.
    start: f64,
    /// Uses in a sample.
    uses: u64,
}

impl Default for Case {
    fn default() -> Case {
        let model = Model::with_neighbours(&Neighbour::new(Company::QUIET));
        Case {
            name: "",
            model,
            subject: Subject::from(305.0),
            rounds: 22,
            longer: 1,
            samples: 24,
            runs: runs(false),
            others: 1,
            printed: 0.9,
            at_most: 0.0,
            covers: true,
            start: 1.0,
            uses: 1,
        }
    }
}

/// One run of a row; and for how long.
fn run(case: &Case, seed: u64, vouch: Vouch) -> (Figures, Lines, Counts, Duration) {
    let mut machine = Machine::new(seed, case.model.clone());
    let mut round = |subject: &Subject, samples: u64, uses: u64, pause: Duration| {
        let at = machine.now().as_secs_f64();
        let request = record::Request { samples, uses, ..simulator::request(BLOCKS * case.longer, 4) };
        let mut round = Round::reduce(&machine.run(0, subject, &request), at).unwrap();
        machine.pause(pause);
        let slower = |ticks: f64| ticks * case.start;
        round.order = round.order.map(|order| stats::Order {
            nothing: slower(order.nothing),
            one: slower(order.one),
            many: slower(order.many),
        });
        round
    };
    let (mut rounds, mut others) = (Vec::new(), Vec::new());
    for number in 0..case.rounds as u64 {
        // As the command does: not the same number each time, so that an entry's own rhythm does not keep step with blocks.
        let samples = case.samples - number % 4;
        rounds.push(round(&case.subject, samples, case.uses, Duration::ZERO));
        others.extend((0..OTHERS).map(|_| round(&Subject::from(305.0), case.others, 1, SWEEP / OTHERS)));
    }
    let all: Vec<&Round> = rounds.iter().chain(&others).collect();
    let reference = Reference::of(&all, vouch).unwrap();
    let clock = reference.cycles_per_tick(rounds[0].marks[0].imul);
    let interrupts = Seen::of(all.iter().copied(), clock);
    let tabulated = tabulate(&rounds, |_| Some(&reference), interrupts.as_ref());
    let scale = Scale {
        nanos_per_tick: Some(0.5),
        cycles: reference.chain_holds(),
        step: reference.step,
        clock_error: reference.chain_error,
    };
    let figures = figures(&tabulated.lines, &tabulated.cycles, &tabulated.ticks, &scale, &Levels::NONE);
    (figures, tabulated.lines, tabulated.counts, machine.now())
}

/// What many runs showed.
#[derive(Debug, Default)]
struct Shown {
    estimates: u64,
    covered: u64,
    /// The worst, as a part of what is allowed (0.5 % or half a cycle).
    worst: f64,
    /// Runs whose estimate is off by more than is allowed.
    beyond: u64,
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
        beyond: a.beyond + b.beyond,
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
        let (low, high) = (cost.ci_low.unwrap().0, cost.ci_high.unwrap().0);
        let part = error.abs() / (truth.abs() * 0.005).max(0.5);
        self.worst = self.worst.max(part);
        self.beyond += u64::from(part > 1.0);
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
    // Company that takes little of a canary makes entries as dear as company that takes much.
    let mild = |company| {
        Model::with_neighbours(&Neighbour {
            canary: (1.1, 1.15),
            entry: (1.18, 1.18),
            ..Neighbour::new(company)
        })
    };
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
        with("quiet, 305 cycles", &|case| case.runs = runs(true)),
        with("quiet, 8 rounds", &|case| case.rounds = 8),
        with("quiet, 60 rounds", &|case| case.rounds = 60),
        with("quiet, 3 cycles", &|case| case.subject = 3.0.into()),
        with("quiet, -1.5 cycles", &|case| case.subject = (-1.5).into()),
        with("quiet, 24000 cycles", &|case| {
            (case.subject, case.samples, case.others) = (24_000.0.into(), 5, 24);
        }),
        with("mixed", &|case| case.model = company(Company::MIXED)),
        with("noisy", &|case| case.model = company(Company::NOISY)),
        with("mild company, quiet for 100 µs at a time, a fifth of the time", &|case| {
            case.model = mild(stretches(100.0, 0.2));
        }),
        with("mild company, quiet for 60 µs at a time, a tenth of the time", &|case| {
            case.model = mild(stretches(60.0, 0.1));
            // A bias of a twentieth of a percent is wider than the interval of so many samples.
            (case.rounds, case.longer, case.covers) = (40, 4, false);
        }),
        with("quiet for 50 µs at a time, a twentieth of the time", &|case| {
            case.model = company(stretches(50.0, 0.05));
            // A bias of a twentieth of a percent is wider than the interval of so many samples.
            (case.rounds, case.longer, case.covers) = (40, 4, false);
        }),
        with("10 ns steps, quiet for 100 µs at a time, a fifth of the time", &|case| {
            case.model = company(stretches(100.0, 0.2));
            case.model.counter = Counter::with_step(2.6e9, 10.0);
            (case.rounds, case.longer, case.covers) = (100, 4, false);
        }),
        with("shared throughout", &|case| (case.model, case.printed) = (company(Company::Always), 0.0)),
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
            case.rounds = 60;
        }),
        with("10 ns steps, 4.6 GHz, 200 cycles", &|case| {
            (case.model, case.subject) = (counter(3.8e9, 10.0, 4.6), 200.0.into());
            case.rounds = 60;
        }),
        with("10 ns steps, mixed", &|case| {
            case.rounds = 80;
            case.model = company(Company::MIXED);
            case.model.counter = Counter::with_step(3.8e9, 10.0);
        }),
        with("10 ns steps, a process starts 2 % slower", &|case| {
            (case.model, case.subject, case.start) = (counter(3.8e9, 10.0, 3.0), 200.0.into(), 1.02);
            case.rounds = 60;
        }),
        with("10 ns steps, 6 GHz, 70 cycles, sixteen uses", &|case| {
            (case.model, case.subject, case.uses) = (counter(3.8e9, 10.0, 6.0), 70.0.into(), 16);
        }),
        with("1 ns steps, 5 GHz", &|case| case.model = counter(1e9, 1.0, 5.0)),
        with("10 ns steps, set anew now and then", &|case| {
            case.model = counter(2.6e9, 10.0, 4.1);
            case.model.counter.rebases = 30.0;
            case.rounds = 60;
        }),
        with("26 ns steps, set anew now and then", &|case| {
            case.model = counter(1e9, 26.0, 3.0);
            case.model.counter.rebases = 30.0;
            case.rounds = 120;
        }),
        with("steps of 38.4 ns, 76.8 ticks", &|case| {
            case.model = counter(2e9, 38.4, 3.0);
            case.model.counter.step = 76.8;
            case.rounds = 60;
        }),
        with("every sixth call is dear", &|case| {
            (case.subject, case.covers) = (Cost::periodic(125.0, 300.0, 6).into_subject(), false);
        }),
        with("every sixth call is dear, sixteen uses", &|case| {
            (case.subject, case.covers) = (Cost::periodic(125.0, 300.0, 6).into_subject(), false);
            (case.samples, case.uses) = (40, 16);
        }),
        with("two costs of a call", &|case| {
            case.subject = Cost::mixture(&[(0.8, 300.0), (0.2, 340.0)]).into_subject()
        }),
        with("1000 interrupts a second", &|case| {
            let interrupts = Interrupts { per_second: 1000.0, cycles: 12_000.0, spread: 0.5 };
            case.model.cpus.iter_mut().for_each(|cpu| cpu.interrupts = interrupts.clone());
        }),
        with("1000 interrupts a second, sixteen uses", &|case| {
            let interrupts = Interrupts { per_second: 1000.0, cycles: 12_000.0, spread: 0.5 };
            case.model.cpus.iter_mut().for_each(|cpu| cpu.interrupts = interrupts.clone());
            (case.subject, case.samples, case.uses) = (70.0.into(), 24, 16);
            case.rounds = 60;
        }),
        with("a cost that drifts", &|case| {
            case.subject = Cost::drift(305.0, 1.0, Duration::from_secs(1)).into_subject();
        }),
    ]
}

/// Alone for so many microseconds at a time, and for such a part of the time.
fn stretches(alone: f64, part: f64) -> Company {
    let micros = |micros: f64| Duration::from_secs_f64(micros / 1e6);
    let shared = Durations::Exponential(micros(alone * (1.0 / part - 1.0)));
    Company::Stretches { alone: Durations::LogNormal(micros(alone), 0.3), shared }
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
    let only = std::env::var("CASE").unwrap_or_default();
    for case in cases().into_iter().filter(|case| case.name.contains(&only)) {
        let shown = show(&case);
        let name = case.name;
        if case.printed == 0.0 {
            let is_rare = shown.estimates as f64 <= case.at_most * shown.runs as f64;
            assert!(is_rare, "{name}: nothing may be printed: {shown:?}");
            assert_eq!((shown.beyond, shown.covered), (0, shown.estimates), "{name}: {shown:?}");
            continue;
        }
        assert!(shown.estimates as f64 >= case.printed * shown.runs as f64, "{name}: {shown:?}");
        // Where a step of the counter is as long as the entry, one run in some hundreds may be off by more.
        assert!(shown.worst <= 2.0 && shown.beyond * 100 <= shown.runs, "{name}: {shown:?}");
        let (count, covered) = (shown.estimates as f64, shown.covered as f64);
        // Three standard deviations of what 93 of 100 would show.
        let least = 0.93 * count - 3.0 * (0.93 * 0.07 * count).sqrt();
        assert!(covered >= least || !case.covers, "{name}: {shown:?}");
    }
}

/// Company that comes and goes: alone for 50 µs to 10 ms at a time, for 5 to 90 % of the time. Left out is what the rule cannot see,
/// and docs/adr/0008 says so: company that comes back within 200 µs, much of it gone before the canary behind its block.
#[test]
fn quiet_stretches_of_any_length_are_found() {
    let short = [(50.0, 0.05), (50.0, 0.1), (60.0, 0.1), (100.0, 0.1), (100.0, 0.3), (100.0, 0.5)];
    let long = [(300.0, 0.05), (300.0, 0.5), (300.0, 0.9), (1000.0, 0.1), (1000.0, 0.9), (10_000.0, 0.3)];
    for (alone, part) in short.into_iter().chain(long) {
        let model = Model::with_neighbours(&Neighbour::new(stretches(alone, part)));
        let name = format!("alone for {alone} µs, {} % of the time", 100.0 * part);
        // Where little is quiet, the command takes more and longer rounds.
        let (rounds, longer) = if part < 0.3 { (60, 4) } else { (40, 1) };
        let case =
            Case { name: name.leak(), model, rounds, longer, runs: runs(false) / 2, ..Case::default() };
        let shown = show(&case);
        assert_eq!(shown.estimates, shown.runs, "{}: {shown:?}", case.name);
        // One in fifty runs may be off by more than half a percent, and none by more than one.
        assert!(shown.beyond * 50 <= shown.runs && shown.worst <= 2.0, "{}: {shown:?}", case.name);
    }
}

/// A row of so many rounds on one CPU, whose costs these are.
fn lines(costs: &[f64]) -> Lines {
    let count = costs.len();
    Lines {
        at_ms: (0..count).map(|round| round as f64 * 150.0).collect(),
        cpu: vec![0; count],
        cost: costs.to_vec(),
        control: vec![40.0; count],
        cycles_per_tick: vec![1.0; count],
        canary: vec![4.4; count],
        least: costs.to_vec(),
        greatest: costs.to_vec(),
        throughput: vec![None; count],
        kept: vec![16; count],
        lost: vec![0; count],
        excluded: vec![None; count],
    }
}

#[test]
fn five_rounds_have_no_range_that_looks_like_a_figure() {
    let scale = Scale { nanos_per_tick: None, cycles: true, step: 1.0, clock_error: 0.0 };
    let seen = |lines: &Lines| {
        let singles = Distribution::default();
        figures(lines, &singles, &singles, &scale, &Levels::NONE)
            .noise
            .map(|noise| (noise.kind, noise.low, noise.high))
    };
    let mut rounds = lines(&[303.0, 305.0, 304.0, 303.0, 305.0]);
    assert_eq!(seen(&rounds), Some((NoiseKind::TooFew, None, None)));
    rounds = lines(&[303.0, 305.0, 304.0, 303.0, 390.0, 410.0, 380.0, 400.0, 380.0]);
    rounds.excluded[4..].fill(Some(Excluded::Shared));
    assert_eq!(seen(&rounds), Some((NoiseKind::Shared, Some(380.0), Some(410.0))));
}

/// The counter's step is longer in cycles at a higher clock; one round at another clock than the others says nothing about it.
#[test]
fn the_first_rounds_clock_hid_the_modes_of_all() {
    let scale = Scale { nanos_per_tick: None, cycles: true, step: 10.0, clock_error: 0.0 };
    let mut rounds = lines(&[300.0; 8]);
    let mut singles = Distribution::default();
    (0..1000).for_each(|number| singles.record(if number % 4 == 0 { 700.0 } else { 300.0 }));
    let modes = |rounds: &Lines| figures(rounds, &singles, &singles, &scale, &Levels::NONE).modes.len();
    assert_eq!(modes(&rounds), 2);
    rounds.cycles_per_tick[0] = 100.0;
    assert_eq!(modes(&rounds), 2);
}

/// How often the interval covers the median, in percent.
fn coverage(count: usize, mut draw: impl FnMut(&mut StdRng) -> Vec<f64>, median: f64) -> f64 {
    let mut random = StdRng::seed_from_u64(count as u64);
    let scale = Scale { nanos_per_tick: None, cycles: true, step: 1.0, clock_error: 0.0 };
    let mut singles = Distribution::default();
    singles.record(1.0);
    let covered = (0..4000).filter(|_| {
        let cost = figures(&lines(&draw(&mut random)), &singles, &singles, &scale, &Levels::NONE)
            .core_cycles
            .unwrap();
        (cost.ci_low.unwrap().0..=cost.ci_high.unwrap().0).contains(&median)
    });
    covered.count() as f64 / 40.0
}

/// Whatever the rounds' distribution, the interval covers in 95 of 100 runs: not in less than 93, and not in more than 97
/// unless there are few rounds, where order statistics are coarse.
#[test]
fn intervals_cover_what_they_say() {
    let normal = |random: &mut StdRng| {
        let (a, b): (f64, f64) = (random.random(), random.random());
        (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    };
    for count in [6, 8, 12, 16, 22, 40, 100] {
        let independent =
            coverage(count, |random| (0..count).map(|_| 305.0 + normal(random)).collect(), 305.0);
        let skewed = coverage(count, |random| (0..count).map(|_| normal(random).exp()).collect(), 1.0);
        let follow = |random: &mut StdRng, part: f64| {
            let mut last = normal(random);
            let next = |_| {
                last = part * last + (1.0 - part * part).sqrt() * normal(random);
                last
            };
            (0..count).map(next).collect::<Vec<f64>>()
        };
        let correlated = coverage(count, |random| follow(random, 0.5), 0.0);
        println!(
            "{count:4} rounds: independent {independent:.1} %, skewed {skewed:.1} %, correlated {correlated:.1} %"
        );
        let most = if count < 12 { 100.0 } else { 97.0 };
        for covers in [independent, skewed] {
            assert!((93.0..=most).contains(&covers), "{count} rounds: {covers} %");
        }
        // By chance 4000 runs show half a percent less.
        assert!(correlated >= 92.5, "{count} rounds: {correlated} %");
    }
}

#[test]
fn an_lfence_that_does_not_order_is_recognized() {
    let mut model = Model::default();
    model.counter.ordered = false;
    let mut machine = Machine::new(7, model);
    let records = machine.run(0, &Subject::from(305.0), &simulator::request(16, 4));
    let round = Round::reduce(&records, 0.0).unwrap();
    assert!((round.order.unwrap().part(8) - 1.0).abs() > stats::ORDER_TOLERANCE, "{:?}", round.order);
}

#[test]
fn nothing_vouches_for_a_core_that_is_not_known() {
    let case = Case { model: Model::default(), ..Case::default() };
    let (unknown, lines, ..) = run(&case, 1, Vouch::Nothing);
    assert_eq!((unknown.ticks, unknown.noise.unwrap().kind), (None, NoiseKind::Shared));
    assert!(lines.excluded.iter().all(|excluded| *excluded == Some(Excluded::Shared)));
    assert!(run(&case, 1, Vouch::NoSibling).0.ticks.is_some());
}

/// A step of 10 ns is 41 cycles: 256 cycles are read as 237 and as 275, which is no property of the machine.
#[test]
fn two_peaks_a_step_apart_were_two_modes() {
    for cycles in [220.0, 237.0, 256.0, 700.0] {
        let counter = Counter { rebases: 30.0, ..Counter::with_step(2.6e9, 10.0) };
        let mut model = Model { counter, ..Model::default() };
        model.cpus[0].clock = Clock::Constant(4.1);
        let case = Case { model, subject: Subject::from(cycles), ..Case::default() };
        let (figures, ..) = run(&case, 5, WIDTH);
        assert_eq!(figures.modes, [], "{cycles} cycles");
    }
}

/// Modes are told by their shares; a cost that changes once in a run has two costs, whose shares say when it was measured.
#[test]
fn a_cost_that_changed_in_the_middle_had_two_modes() {
    let subject = Cost::steps(300.0, &[(Duration::from_millis(1600), 500.0)]).into_subject();
    let case = Case { model: Model::default(), subject, ..Case::default() };
    let (figures, ..) = run(&case, 3, WIDTH);
    assert_eq!(figures.modes, []);
}

#[test]
fn sixteen_uses_leave_a_third_of_what_steps_do() {
    const RUNS: u64 = 40;
    let width = |uses: u64| {
        let mut model = Model::default();
        model.cpus.iter_mut().for_each(|cpu| cpu.clock = Clock::Constant(4.4));
        model.counter = Counter::with_step(3.8e9, 10.0);
        let case = Case { model, subject: 70.0.into(), uses, samples: 40, ..Case::default() };
        let widths = (0..RUNS).map(|seed| {
            let cost = run(&case, seed, WIDTH).0.ticks.unwrap();
            cost.ci_high.unwrap().0 - cost.ci_low.unwrap().0
        });
        widths.sum::<f64>() / RUNS as f64
    };
    let (one, sixteen) = (width(1), width(16));
    println!("intervals of {sixteen} ticks instead of {one}");
    assert!(sixteen < one / 3.0, "intervals of {sixteen} ticks instead of {one}");
}

#[test]
fn of_sixteen_uses_the_mean_is_known_and_single_ones_are_not() {
    // As getrandom in the vDSO, which fills its buffer with every sixth call: means of sixteen hold two of these, or three.
    let subject = Subject { jitter: 2.0, ..Cost::periodic(121.0, 700.0, 6).into_subject() };
    let case = Case { model: Model::default(), subject, samples: 40, uses: 16, ..Case::default() };
    let cost = run(&case, 3, WIDTH).0.core_cycles.unwrap();
    assert!((cost.estimate.0 - (5.0 * 121.0 + 700.0) / 6.0).abs() < 2.0, "{cost:?}");
    // Neither the cheap calls show nor the dear ones.
    assert!(cost.min.0 > 180.0 && cost.p99.unwrap().0 < 250.0, "{cost:?}");
}

#[test]
fn the_modes_of_a_cost_are_told() {
    let subject = Subject { jitter: 2.0, ..Cost::periodic(121.0, 700.0, 6).into_subject() };
    let case = Case { model: Model::default(), subject, ..Case::default() };
    let (figures, ..) = run(&case, 3, WIDTH);
    let modes: Vec<(i64, i64)> = figures
        .modes
        .iter()
        .map(|mode| ((mode.share * 100.0).round() as i64, (mode.cost / 10.0).round() as i64 * 10))
        .collect();
    assert_eq!(modes, [(83, 120), (17, 700)]);
}

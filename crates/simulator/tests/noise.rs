//! What happens on a core happens as often, as long and as strongly as its model says.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

mod common;

use common::{canaries, mean, preemptions, samples, slowdown};
use record::Record;
use simulator::{
    BUSY, Clock, Company, Cost, Cpu, Durations, Interrupts, Machine, Model, Neighbour, Preemptions, Subject,
};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// So many runs on CPU 0, with pauses between them.
fn runs(machine: &mut Machine, count: usize, pause: Duration) -> Vec<Vec<Record>> {
    let mut run = || {
        machine.pause(pause);
        machine.run(0, &Subject::new(300.0), &simulator::request(16, 0))
    };
    (0..count).map(|_| run()).collect()
}

/// How much slower each canary is than alone. One that an interrupt fell into is left out.
fn slowdowns(machine: &mut Machine, count: usize, pause: Duration) -> Vec<f64> {
    let runs = runs(machine, count, pause);
    let all = runs.iter().flat_map(|records| canaries(records));
    all.map(|canary| slowdown(&canary, machine.model()))
        .filter(|slowdown| (0.8..3.0).contains(slowdown))
        .collect()
}

fn share(values: &[f64], range: std::ops::Range<f64>) -> f64 {
    values.iter().filter(|value| range.contains(value)).count() as f64 / values.len() as f64
}

#[test]
fn canaries_are_alone_or_shared_and_hardly_anything_between() {
    let scenarios = [
        (Machine::quiet(1), Company::QUIET),
        (Machine::mixed(2), Company::MIXED),
        (Machine::noisy(3), Company::NOISY),
        (Machine::always_shared(4), Company::Always),
    ];
    for (mut machine, company) in scenarios {
        let seen = slowdowns(&mut machine, 600, 20 * MS);
        let (alone, shared) = (share(&seen, 0.9..1.1), share(&seen, 1.45..2.7));
        let expected = company.shared_share();
        assert!((shared - expected).abs() < 0.04, "{shared} of the time is shared, not {expected}");
        assert!(alone + shared > 0.97, "{alone} alone and {shared} shared");
    }
    assert!(Company::QUIET.shared_share() < 0.05);
    assert!((0.3..0.5).contains(&Company::MIXED.shared_share()));
    assert!((0.7..0.8).contains(&Company::NOISY.shared_share()));
}

#[test]
fn quiet_stretches_are_short_in_noisy_minutes_and_long_in_others() {
    // The share of pairs of canaries in a row, about 30 µs apart, of which the first is quiet and the second is not.
    let ends = |mut machine: Machine| {
        let runs = runs(&mut machine, 300, MS);
        let quiet = |canary| slowdown(&canary, machine.model()) < 1.2;
        let pairs = runs.iter().flat_map(|records| {
            canaries(records).windows(2).map(|pair| (quiet(pair[0]), quiet(pair[1]))).collect::<Vec<_>>()
        });
        let first: Vec<bool> = pairs.filter(|(first, _)| *first).map(|(_, second)| !second).collect();
        first.iter().filter(|ended| **ended).count() as f64 / first.len() as f64
    };
    let (mixed, noisy) = (ends(Machine::mixed(1)), ends(Machine::noisy(1)));
    assert!(mixed < 0.03, "{mixed}");
    assert!(noisy > 0.3, "{noisy}");
}

/// A core with this company, and nothing else that disturbs it.
fn only(company: Company) -> Model {
    let cpu = Cpu {
        neighbour: Neighbour::new(company),
        interrupts: Interrupts { per_second: 0.0, ..Interrupts::default() },
        preemptions: Preemptions { per_second: 0.0, ..Preemptions::default() },
        ..Cpu::default()
    };
    Model { cpus: vec![cpu; 2], ..Model::default() }
}

/// Cycles of the entry less the control, of every sample.
fn costs(records: &[Record]) -> Vec<f64> {
    samples(records).iter().map(|s| (s.interval(2) as f64 - s.interval(1) as f64) * 2.0).collect()
}

#[test]
fn company_makes_entries_dearer_and_leaves_chains_as_they_are() {
    let mut machine = Machine::new(1, only(Company::Always));
    let runs = runs(&mut machine, 300, 5 * MS);
    let (cost, _) = mean(runs.iter().flat_map(|records| costs(records)));
    assert!((300.0 * 1.2..300.0 * 1.33).contains(&cost), "{cost}");
    let rounds: Vec<f64> = runs.iter().map(|records| mean(costs(records)).0).collect();
    let (least, most) = rounds.iter().fold((f64::MAX, 0.0_f64), |(a, b), cost| (a.min(*cost), b.max(*cost)));
    assert!(least > 300.0 * 1.11 && most < 300.0 * 1.42, "{least} to {most}");
    assert!(least < 300.0 * 1.2 && most > 300.0 * 1.33, "{least} to {most}");
    let (chain, _) = mean(runs.iter().flat_map(|r| samples(r)).map(|s| s.interval(0) as f64 * 2.0));
    assert!((chain - 820.0).abs() < 0.1, "{chain}");
}

#[test]
fn isolated_quiet_samples_are_false() {
    // Company goes away when the machine is just a few microseconds into the blocks of the first run.
    let mut model = only(Company::Never);
    let leaves = Duration::from_micros(900);
    for cpu in &mut model.cpus {
        cpu.neighbour =
            Neighbour::changing(vec![(Duration::ZERO, Company::Always), (leaves, Company::Never)]);
    }
    let mut machine = Machine::new(1, model.clone());
    let records = machine.run(0, &Subject::new(300.0), &simulator::request(16, 0));
    let (canaries, costs) = (canaries(&records), costs(&records));
    let quiet = canaries.iter().position(|canary| slowdown(canary, &model) < 1.1).unwrap();
    let last_shared = costs.iter().rposition(|cost| *cost > 300.0 * 1.11).unwrap();
    let after: Vec<f64> = costs[last_shared + 1..last_shared + 33].to_vec();
    assert!(quiet > 0 && (315.0..324.5).contains(&mean(after.clone()).0), "{after:?}");
    let (end, _) = mean(costs[costs.len() - 128..].iter().copied());
    assert!((end - 300.0).abs() < 1.0, "{end}");
}

#[test]
fn cpus_have_company_independently_of_one_another() {
    let mut machine = Machine::mixed(1);
    let looks: Vec<(bool, bool)> = (0..4000)
        .map(|_| {
            machine.pause(10 * MS);
            (machine.is_shared(0), machine.is_shared(1))
        })
        .collect();
    let part = |of: fn(&(bool, bool)) -> bool| looks.iter().filter(|look| of(look)).count() as f64 / 4000.0;
    let (first, second, both) = (part(|look| look.0), part(|look| look.1), part(|look| look.0 && look.1));
    assert!((both - first * second).abs() < 0.03, "{first}, {second}, {both}");
    assert!((first - Company::MIXED.shared_share()).abs() < 0.04, "{first}");
}

#[test]
fn what_a_core_goes_through_does_not_depend_on_what_runs_there() {
    let company = |cost: f64| {
        let mut machine = Machine::noisy(9);
        let look = |_| {
            machine.run(0, &Subject::new(Cost::Constant(cost)), &simulator::request(2, 0));
            machine.run(1, &Subject::new(10.0), &simulator::request(1, 0));
            machine.now()
        };
        let last = (0..20).map(look).last().unwrap();
        machine.pause(Duration::from_millis(200) - last);
        machine
    };
    let (mut short, mut long) = (company(10.0), company(600.0));
    let mut agree = 0;
    for _ in 0..400 {
        short.pause(MS / 100);
        long.pause(MS / 100);
        agree += usize::from(short.is_shared(0) == long.is_shared(0));
    }
    assert_eq!(agree, 400);
}

#[test]
fn busy_cores_become_quiet() {
    let mut machine = Machine::busy_then_quiet(1);
    let busy = slowdowns(&mut machine, 200, MS);
    assert!(share(&busy, 0.9..1.1) < 0.5);
    machine.pause(BUSY);
    let quiet = slowdowns(&mut machine, 200, MS);
    assert!(share(&quiet, 0.9..1.1) > 0.9);
}

#[test]
fn interrupts_come_at_their_rate_and_fall_into_whatever_is_open() {
    let mut model = only(Company::Never);
    model.cpus[0].interrupts = Interrupts { per_second: 2000.0, cycles: 8000.0, spread: 0.5 };
    let mut machine = Machine::new(1, model);
    let runs = runs(&mut machine, 2000, Duration::ZERO);
    let due = machine.now().as_secs_f64() * 2000.0;
    let seen = machine.interrupts() as f64;
    assert!((seen - due).abs() < 4.0 * due.sqrt(), "{seen} interrupts, not {due}");
    let usual = [410, 28, 178]; // ticks: 820, 56 and 356 cycles
    let hit = [0, 1, 2].map(|part| {
        let is_long = |s: &record::Sample| s.interval(part) > usual[part] + 500;
        runs.iter().flat_map(|records| samples(records)).filter(is_long).count() as f64
    });
    // As often as time is spent there: 2000 × 1024 samples of 820, 56 and 356 cycles at 4 GHz.
    for (hit, cycles) in hit.into_iter().zip([820.0, 56.0, 356.0]) {
        let due = 2000.0 * 1024.0 * cycles / 4e9 * 2000.0;
        assert!((hit - due).abs() < 5.0 * due.sqrt(), "{hit} hits, not {due}");
    }
}

#[test]
fn preemptions_are_counted_and_migrate_where_they_may() {
    let mut model = only(Company::Never);
    for cpu in &mut model.cpus {
        let duration = Durations::Exponential(3 * MS);
        cpu.preemptions = Preemptions { per_second: 200.0, duration, migrate: true };
    }
    let mut machine = Machine::new(1, model.clone());
    let many = runs(&mut machine, 1000, MS);
    let counted: u64 = many.iter().map(|records| preemptions(records)).sum();
    assert!((50..200).contains(&counted), "{counted}");
    let moved = |records: &&Vec<Record>| canaries(records).windows(2).any(|pair| pair[0].cpu != pair[1].cpu);
    for records in &many {
        let canaries = canaries(records);
        let (first, last) = (canaries[0].preemptions, canaries[canaries.len() - 1].preemptions);
        assert!(canaries.is_sorted_by_key(|canary| canary.preemptions));
        assert!(last - first <= preemptions(records));
        assert!(!moved(&records) || last > first);
    }
    assert!(many.iter().filter(moved).count() > 10);
    model.cpus.iter_mut().for_each(|cpu| cpu.preemptions.migrate = false);
    assert_eq!(runs(&mut Machine::new(1, model), 300, MS).iter().filter(moved).count(), 0);
}

/// The clock in GHz, by the chains of each run.
fn clocks(clock: Clock) -> Vec<f64> {
    let mut model = only(Company::Never);
    model.cpus[0].clock = clock;
    let runs = runs(&mut Machine::new(1, model), 200, MS);
    let chain = |records: &Vec<Record>| {
        let all = samples(records);
        let ticks = mean(all.iter().map(|s| s.interval(0) as f64)).0;
        820.0 / ticks * 2.0
    };
    runs.iter().map(chain).collect()
}

#[test]
fn clocks_step_jump_and_wander() {
    let changes = vec![(Duration::from_millis(100), 3.0), (Duration::from_millis(200), 4.6)];
    let stepping = clocks(Clock::Steps { first: 1.0, changes });
    for ghz in [1.0, 3.0, 4.6] {
        assert!(share(&stepping, ghz * 0.999..ghz * 1.001) > 0.1, "{stepping:?}");
    }
    let jumping = clocks(Clock::Jumps { among: vec![2.0, 5.0], every: 10 * MS });
    assert!((0.2..0.8).contains(&share(&jumping, 1.99..2.01)), "{jumping:?}");
    assert!((0.2..0.8).contains(&share(&jumping, 4.98..5.02)), "{jumping:?}");
    let wander = Clock::Wander { between: (3.0, 4.0), step: 0.002, every: Duration::from_micros(100) };
    let wandering = clocks(wander);
    assert_eq!(share(&wandering, 2.99..4.01), 1.0);
    let steps = wandering.windows(2).map(|pair| (pair[1] / pair[0] - 1.0).abs());
    assert!(mean(steps.clone()).0 > 0.001 && steps.fold(0.0, f64::max) < 0.06, "{wandering:?}");
}

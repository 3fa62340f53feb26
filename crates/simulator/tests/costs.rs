//! What is measured on a core that is alone is the truth.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

mod common;

use common::{assert_true, bursts, interval, mean, order, samples};
use simulator::{
    Clock, Company, Cost, Counter, Cpu, Interrupts, LENGTHS, Levels, Machine, Model, Neighbour, Preemptions,
    Subject,
};
use std::time::Duration;

/// Two CPUs on which nothing happens.
fn still(counter: Counter, ghz: f64) -> Model {
    let cpu = Cpu {
        clock: Clock::Constant(ghz),
        neighbour: Neighbour::new(Company::Never),
        interrupts: Interrupts { per_second: 0.0, ..Interrupts::default() },
        preemptions: Preemptions { per_second: 0.0, ..Preemptions::default() },
        levels: Levels::default(),
    };
    Model { counter, cpus: vec![cpu; 2], ..Model::default() }
}

/// Entry less control in cycles, of every sample in so many runs.
fn costs(machine: &mut Machine, cpu: u64, subject: &Subject, runs: usize, ghz: f64) -> Vec<f64> {
    let cycles_per_tick = ghz * 1e9 / machine.model().counter.frequency;
    let mut all = Vec::new();
    for _ in 0..runs {
        let samples = samples(&machine.run(cpu, subject, &simulator::request(16, 8)));
        let cost = |s: &record::Sample| (s.interval(2) as f64 - s.interval(1) as f64) * cycles_per_tick;
        all.extend(samples.iter().map(cost));
    }
    all
}

#[test]
fn constant_costs_are_read_on_every_counter_and_clock() {
    let counters =
        [Counter { step: 1.0, ..Counter::default() }, Counter::default(), Counter::with_step(3e9, 10.0)];
    for counter in counters {
        for (seed, ghz) in [1.0, 2.7, 4.4, 6.0].into_iter().enumerate() {
            for cost in [-1.0, 0.5, 4.0, 305.0, 24_000.0] {
                let mut machine = Machine::new(seed as u64, still(counter.clone(), ghz));
                let subject = Subject::new(cost);
                assert_true(mean(costs(&mut machine, 0, &subject, 20, ghz)), subject.truth(), 0.5);
            }
        }
    }
}

#[test]
fn the_chain_takes_three_cycles_an_imul_and_the_xors_one() {
    let mut machine = Machine::new(1, still(Counter::default(), 5.0));
    let records = machine.run(0, &Subject::new(10.0), &simulator::request(64, 0));
    let canaries = common::canaries(&records);
    let cycles = |part| mean(canaries.iter().map(|c| (interval(c, part) - interval(c, 0)) * 2.5));
    assert_true(cycles(1), 768.0, 1.0);
    assert_true(cycles(2), 768.0, 1.0);
    // The canary itself varies by a hundredth of its length, 1888 cycles.
    assert_true(cycles(3), LENGTHS.nots as f64 / 4.45, 4.0);
    let chains = samples(&records);
    assert_true(mean(chains.iter().map(|s| s.interval(0) as f64 * 2.5)), 768.0 + 52.0, 0.1);
}

#[test]
fn mixtures_and_periods_have_their_mean_and_their_modes() {
    let mixture = Subject { jitter: 0.0, ..Subject::new(Cost::mixture(&[(0.9, 300.0), (0.1, 500.0)])) };
    assert_eq!(mixture.truth(), 320.0);
    let mut machine = Machine::new(2, still(Counter::default(), 4.0));
    let seen = costs(&mut machine, 0, &mixture, 20, 4.0);
    assert_true(mean(seen.iter().copied()), 320.0, 1.0);
    assert_true(mean(seen.iter().map(|cost| f64::from(u8::from(*cost > 400.0)))), 0.1, 0.01);

    let periodic = Subject::new(Cost::periodic(120.0, 330.0, 6));
    assert!((periodic.truth() - 155.0).abs() < 1e-9);
    let seen = costs(&mut machine, 0, &periodic, 20, 4.0);
    assert_true(mean(seen.iter().copied()), 155.0, 1.0);
    let rare: Vec<usize> = (0..60).filter(|i| seen[*i] > 220.0).collect();
    assert_eq!(rare.len(), 10);
    assert!(rare.windows(2).all(|pair| pair[1] - pair[0] == 6), "{rare:?}");
}

#[test]
fn a_process_keeps_its_layout_and_a_cpu_its_cost() {
    let layouts = Subject::new(Cost::per_process(&[(0.7, 300.0), (0.3, 310.0)]));
    assert!((layouts.truth() - 303.0).abs() < 1e-9);
    let mut machine = Machine::new(3, still(Counter::default(), 4.0));
    let run = |_| mean(costs(&mut machine, 0, &layouts, 1, 4.0)).0;
    let rounds: Vec<f64> = (0..400).map(run).collect();
    assert!(rounds.iter().all(|cost| (cost - 300.0).abs() < 1.0 || (cost - 310.0).abs() < 1.0));
    assert_true(mean(rounds), 303.0, 0.5);

    let cpus = Subject::new(Cost::per_cpu(&[1285.0, 1330.0]));
    for cpu in [0, 1] {
        let truth = cpus.truth_on(cpu);
        assert_true(mean(costs(&mut machine, cpu, &cpus, 5, 4.0)), truth, 0.5);
    }
    assert_eq!((cpus.truth_on(0), cpus.truth_on(1)), (1285.0, 1330.0));
}

#[test]
fn a_cost_changes_in_the_middle_of_a_run() {
    let mut machine = Machine::new(4, still(Counter::default(), 4.0));
    let subject = Subject::new(Cost::steps(305.0, &[(Duration::from_millis(1), 9417.0)]));
    let seen = costs(&mut machine, 0, &subject, 1, 4.0);
    let after = seen.iter().position(|cost| *cost > 5000.0).unwrap();
    assert!(after > 0 && after < seen.len() - 1, "{after}");
    assert_true(mean(seen[..after].iter().copied()), 305.0, 1.0);
    assert_true(mean(seen[after..].iter().copied()), 9417.0, 1.0);
}

#[test]
fn the_truth_of_a_time_is_the_mean_over_it() {
    let (ms, second) = (Duration::from_millis, Duration::from_secs(1));
    let steps = Subject::new(Cost::steps(100.0, &[(ms(250), 200.0), (ms(500), 300.0)]));
    assert!((steps.truth_during(0, Duration::ZERO, second) - 225.0).abs() < 1e-9);
    assert!((steps.truth_during(0, ms(300), ms(400)) - 200.0).abs() < 1e-9);
    assert_eq!((steps.truth(), steps.truth_during(0, ms(500), ms(500))), (100.0, 300.0));
    let drift = Subject::new(Cost::drift(100.0, 10.0, second));
    assert!((drift.truth_during(0, Duration::ZERO, second) - 100.0).abs() < 1e-9);
    assert!((drift.truth_during(0, ms(250), ms(250)) - 110.0).abs() < 1e-9);
    let half = 100.0 + 20.0 / std::f64::consts::PI;
    assert!((drift.truth_during(0, Duration::ZERO, ms(500)) - half).abs() < 1e-9);
}

#[test]
fn a_cost_drifts_slowly() {
    let mut machine = Machine::new(5, still(Counter::default(), 4.0));
    let subject = Subject::new(Cost::drift(300.0, 30.0, Duration::from_secs(1)));
    for _ in 0..4 {
        let from = machine.now();
        let seen = mean(costs(&mut machine, 0, &subject, 1, 4.0));
        assert!((seen.0 - subject.truth_during(0, from, machine.now())).abs() < 1.0, "{seen:?}");
        machine.pause(Duration::from_millis(249));
    }
}

#[test]
fn bursts_have_a_cost_of_their_own() {
    let mut subject = Subject::new(300.0);
    for truth in [300.0, 270.0] {
        let mut machine = Machine::new(6, still(Counter::default(), 4.0));
        let bursts = bursts(&machine.run(0, &subject, &simulator::request(1, 64)));
        let calls = LENGTHS.burst as f64;
        let cost = |s: &record::Sample| (s.interval(2) as f64 - s.interval(0) as f64) * 2.0 / calls;
        assert_true(mean(bursts.iter().map(cost)), truth, 0.3);
        assert_eq!(subject.truth_of_burst(), truth);
        subject.burst = Some(Cost::Constant(270.0));
    }
}

/// Cycles of eight chains, and of one, as the test of the order sees them.
fn chains(ordered: bool) -> (f64, f64) {
    let counter = Counter { ordered, step: 1.0, ..Counter::default() };
    let records =
        Machine::new(7, still(counter, 4.0)).run(0, &Subject::new(300.0), &simulator::request(1, 0));
    let order = order(&records);
    assert_eq!(order.len(), 32);
    let cycles = |part| {
        let less = |s: &record::Sample| (s.interval(part) as f64 - s.interval(0) as f64) * 2.0;
        mean(order.iter().map(less)).0
    };
    (cycles(2), cycles(1))
}

#[test]
fn chains_read_short_where_stamps_are_not_in_order() {
    let (eight, one) = chains(true);
    assert!((eight / one - 8.0).abs() < 0.05, "{eight} and {one} cycles");
    let (eight, one) = chains(false);
    assert!(one < 768.0 / 4.0 && eight > 2000.0, "{eight} and {one} cycles");
}

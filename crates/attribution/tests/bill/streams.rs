//! Bills of simulated streams: what probes write on a core whose clock wanders and whose neighbours come and go, round by round, through
//! the statistics into the bill.

use crate::common::{Sweep, cost, empty, plan, row, sweeps};
use attribution::bill::{Bill, Plan};
use document::Row;
use environment::LabLayout;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use simulator::{Clock, Company, Machine, Model, Neighbour, Subject};
use stats::{Interrupts, Reference, Round, Vouch, tabulate};
use std::time::Duration;

/// Streams: a tenth of what others take, because each is many rounds.
fn many() -> u64 {
    simulator::runs(120) / 10
}

/// What bare costs, and what each step adds, in core cycles; one adds nothing.
const BARE: f64 = 160.0;
const STEPS: [(&str, f64); 3] = [("pti=on", 180.0), ("stack=frame", 9.0), ("smap=on", 0.0)];

/// The deviation of what a layout adds to one configuration.
const LAYOUT: f64 = 3.0;

/// The width of the simulated core.
const WIDTH: Vouch = Vouch::Width(5.0);

/// A round of every configuration in every sweep, in random order.
fn rounds(plan: &Plan, seed: u64, model: &Model) -> (Vec<Vec<Round>>, Vec<f64>) {
    let random = &mut StdRng::seed_from_u64(seed);
    let configurations = &plan.configurations;
    let of_layout: Vec<Vec<f64>> = (configurations.iter())
        .map(|_| (0..8).map(|_| LAYOUT * random.random_range(-1.7..1.7)).collect())
        .collect();
    let mut machine = Machine::new(seed, model.clone());
    let mut rounds = vec![Vec::new(); configurations.len()];
    let mut begun = Vec::new();
    for Sweep { layout, .. } in sweeps() {
        machine.pause(Duration::from_millis(60));
        begun.push(machine.now().as_secs_f64());
        let mut order: Vec<usize> = (0..configurations.len()).collect();
        order.shuffle(random);
        for place in order {
            let steps = configurations[place].steps.iter().map(|step| STEPS[*step].1);
            let subject = Subject::from(BARE + steps.sum::<f64>() + of_layout[place][layout]);
            let at = machine.now().as_secs_f64();
            let request = simulator::request(16, 16);
            rounds[place].push(Round::reduce(&machine.run(0, &subject, &request), at).unwrap());
            machine.pause(Duration::from_millis(2));
        }
    }
    (rounds, begun)
}

fn bill(plan: &Plan, seed: u64, model: &Model) -> Bill {
    let (rounds, begun) = rounds(plan, seed, model);
    let all: Vec<&Round> = rounds.iter().flatten().collect();
    let reference = Reference::of(&all, WIDTH).unwrap();
    let clock = reference.cycles_per_tick(rounds[0][0].marks[0].imul);
    let interrupts = Interrupts::of(all.iter().copied(), clock);
    let layouts = begun.iter().zip(sweeps());
    let layouts = layouts.map(|(at, sweep)| LabLayout { at_ms: at * 1e3, number: sweep.layout as u64 + 1 });
    let mut document = empty(document::Machine::QemuKvm, layouts.collect());
    for (configuration, rounds) in plan.configurations.iter().zip(&rounds) {
        let tabulated = tabulate(rounds, |_| Some(&reference), interrupts.as_ref());
        let (rounds, core_cycles) = (tabulated.lines, Some(cost(0.0)));
        document.results.push(Row { rounds, core_cycles, ..row(&plan.question, configuration) });
    }
    plan.bill(&document, None)
}

#[test]
fn streams_with_noise_drift_and_layouts_give_what_steps_cost() {
    let plan = plan(&STEPS.map(|(name, _)| name), 0);
    // Quiet for most of the time, and then a core has company for a while.
    for (name, company) in [("alone", Company::QUIET), ("now and then in company", Company::MIXED)] {
        let mut model = Model::with_neighbours(&Neighbour::new(company));
        let clock = Clock::Wander { between: (3.2, 4.0), step: 0.002, every: Duration::from_millis(5) };
        model.cpus.iter_mut().for_each(|cpu| cpu.clock = clock.clone());
        let (mut billed, mut held, mut figures, mut missing) = (0.0, 0.0, 0.0, 0.0);
        for seed in 0..many() {
            let bill = bill(&plan, seed, &model);
            for (line, (_, truth)) in bill.lines.iter().zip(STEPS) {
                for figure in [line.alone, line.in_company] {
                    let Some(figure) = figure else {
                        missing += 1.0;
                        continue;
                    };
                    let is_in = figure.low.unwrap() <= truth && truth <= figure.high.unwrap();
                    figures += 1.0;
                    held += f64::from(u8::from(is_in));
                    billed += f64::from(u8::from(truth == 0.0 && !is_in));
                    // 1.3 cycles is the deviation of a mean over layouts of so much.
                    assert!((figure.estimate - truth).abs() < 10.0, "{name}, {seed}: {line:?}");
                }
            }
        }
        let of_nothing = figures / STEPS.len() as f64;
        println!(
            "{name}: billed {}, held {}, missing {missing} of {}",
            billed / of_nothing,
            held / figures,
            missing + figures
        );
        let slack = |rate: f64, of: f64| 3.0 * (rate * (1.0 - rate) / of).sqrt();
        assert!(
            billed / of_nothing <= 0.05 + slack(0.05, of_nothing),
            "{name}: billed {}",
            billed / of_nothing
        );
        assert!(held / figures >= 0.93 - slack(0.07, figures), "{name}: held {}", held / figures);
        assert!(missing < figures, "{name}: {missing} are missing");
    }
}

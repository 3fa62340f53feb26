//! Documents of the lab whose rounds are given.
#![allow(dead_code)] // each test file uses its part

use attribution::bill::{Configuration, Plan, Processor, Question};
use document::{Document, Machine, Measurement, Place, Row, Timing};
use environment::{Environment, Lab, LabLayout};
use stats::{Cost, Lines};
use table::{Kernel, Profile, Setting, Table};

/// One sweep over all configurations.
#[derive(Debug, Clone, Copy)]
pub struct Sweep {
    /// Its boot's number.
    pub boot: usize,
    /// Its layout's number.
    pub layout: usize,
}

/// As the lab has them: eight boots with two layouts each, each layout in two of them, three apart.
pub fn sweeps() -> Vec<Sweep> {
    (0..8).flat_map(|boot| [0, 1].map(|round| Sweep { boot, layout: (boot + 3 * round) % 8 })).collect()
}

/// What is asked of the system call getppid.
pub fn question(steps: &[&str], orders: usize) -> Question {
    let steps = steps.iter().map(|text| Setting::try_from(text.to_string()).unwrap()).collect();
    Question {
        entry: "syscall-x86_64".into(),
        operation: "getppid".into(),
        profile: Profile { name: "test".into(), steps, ..Profile::default() },
        orders,
        seed: 5,
    }
}

/// A processor that has everything.
pub fn processor(counts: bool) -> Processor {
    let needs = Table::get().switches.iter().flat_map(|switch| &switch.requires);
    let features = needs.filter_map(|need| need.feature.clone()).collect();
    Processor { features, counts, forgives: false }
}

/// The plan for a processor that has everything, where time is measured.
pub fn plan(steps: &[&str], orders: usize) -> Plan {
    Plan::new(Table::get(), question(steps, orders), processor(false)).unwrap()
}

/// Milliseconds of a sweep.
pub const SWEEP: f64 = 100.0;

pub fn empty(machine: Machine, layouts: Vec<LabLayout>) -> Document {
    let place = Place::new(machine, Kernel::Lab);
    Document {
        measurement: Measurement { place, ..Measurement::default() },
        environment: Environment { lab: Some(Lab { layouts, ..Lab::default() }), ..Environment::default() },
        ..Document::empty()
    }
}

pub fn row(question: &Question, configuration: &Configuration) -> Row {
    Row {
        configuration: configuration.values.clone(),
        ..Row::unmeasured(&question.entry, &configuration.operation, 64)
    }
}

/// A cost that says no more than its estimate.
pub fn cost<U: From<f64> + Copy>(estimate: f64) -> Cost<U> {
    Cost::single(U::from(estimate))
}

/// A measurement of time: the costs of each configuration, in core cycles, by sweep; none where the round was lost.
pub fn document(
    question: &Question,
    rows: &[(&Configuration, Vec<Option<f64>>)],
    sweeps: &[Sweep],
) -> Document {
    let at = |sweep: usize| SWEEP * sweep as f64;
    let layouts = sweeps
        .iter()
        .enumerate()
        .map(|(place, sweep)| LabLayout { at_ms: at(place), number: sweep.layout as u64 + 1 });
    let mut document = empty(Machine::QemuKvm, layouts.collect());
    for (configuration, costs) in rows {
        let kept: Vec<(usize, f64)> =
            costs.iter().enumerate().filter_map(|(place, cost)| Some((place, (*cost)?))).collect();
        let rounds = Lines {
            at_ms: kept.iter().map(|(place, _)| at(*place) + 1.0).collect(),
            cpu: vec![0; kept.len()],
            // Ticks of two cycles.
            cost: kept.iter().map(|(_, cost)| cost / 2.0).collect(),
            cycles_per_tick: vec![2.0; kept.len()],
            excluded: vec![None; kept.len()],
            ..Lines::default()
        };
        let core_cycles = kept.first().map(|(_, first)| cost(*first));
        let timing = Timing::Hardware;
        document.results.push(Row { rounds, core_cycles, timing, ..row(question, configuration) });
    }
    document
}

/// A count of each configuration.
pub fn counted(question: &Question, rows: &[(&Configuration, f64)]) -> Document {
    let mut document = empty(Machine::QemuTcg, Vec::new());
    for (configuration, count) in rows {
        let instructions = Some(cost(*count));
        let row = Row { instructions, timing: Timing::Emulated, ..row(question, configuration) };
        document.results.push(row);
    }
    document
}

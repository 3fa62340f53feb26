use super::*;
use crate::host::{Executor, Interrupt, Limits, Priority, allowed_cpus};
use record::Request;
use std::rc::Rc;
use std::time::Duration;
use table::{Profile, Table};

fn kernel() -> Rc<Kernel> {
    Rc::new(Kernel::embedded().unwrap())
}

fn asked(values: SwitchValues) -> Asked {
    Asked { path: "syscall_x86_64".into(), values, more: Vec::new() }
}

/// Bare, and every profile of the table with all of its steps.
fn configurations() -> Vec<(String, SwitchValues)> {
    let table = Table::get();
    let whole = |profile: &Profile| {
        let mut values = table.bare();
        let settled = profile.settled(table).unwrap();
        values.extend(settled.into_iter().map(|setting| (setting.name, setting.value)));
        (profile.name.clone(), values)
    };
    table.profiles.iter().map(whole).chain([("bare".to_owned(), table.bare())]).collect()
}

fn request() -> Request {
    let table = Table::get();
    Request {
        entry: table.entry("call").unwrap().id,
        operation: table.operation("none").unwrap().id,
        blocks: 4,
        ticks: 1_000_000,
        bursts: 1,
        parent: record::abi::REQUEST_ASK,
        cpu: record::abi::REQUEST_ASK,
        path: false,
        samples: 4,
        footprint: record::Footprint::NONE,
        uses: 16,
    }
}

#[test]
fn every_profile_is_called_and_answers() {
    let cpu = *allowed_cpus().unwrap().last().unwrap();
    let kernel = kernel();
    for (name, values) in configurations() {
        let limits = Limits {
            time: Duration::from_secs(20),
            output: record::MOST_OUTPUT,
            interrupt: Interrupt::default(),
        };
        let mut path =
            PathExecutor::new(kernel.clone(), asked(values), 0, Priority::Inherited, limits).unwrap();
        let records = path.measure(Probe::Probe64, cpu, &request()).unwrap();
        println!("{name}: {:?}", records.iter().take(6).collect::<Vec<_>>());
    }
}

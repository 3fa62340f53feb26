//! The real probe, asked by tests: on the last CPU that they may use, and by this process.

use places::host::{Host, Interrupt, Limits, Priority};
use record::{Payload, Record, Request, Verdict, abi};
use std::time::Duration;
use table::{Probe, Table};

pub fn host() -> Host {
    with_time(Duration::from_secs(60))
}

/// What ends a probe after so long.
pub fn with_time(time: Duration) -> Host {
    let limits = Limits { time, output: record::MOST_OUTPUT, interrupt: Interrupt::default() };
    Host::new(Priority::Inherited, limits).unwrap()
}

pub fn cpu() -> usize {
    *places::host::allowed_cpus().unwrap().last().unwrap()
}

/// The row, and a short request for it.
pub fn request(entry: &str, operation: &str) -> (Probe, Request) {
    let entry = Table::get().entry(entry).unwrap();
    let request = Request {
        entry: entry.id,
        operation: Table::get().operation(operation).unwrap().id,
        blocks: 2,
        ticks: 1_000_000,
        bursts: 1,
        parent: u64::from(std::process::id()),
        cpu: cpu() as u64,
        path: true,
        samples: abi::BLOCK_SAMPLES,
        footprint: record::Footprint::NONE,
        uses: 1,
    };
    (entry.probe, request)
}

/// The last verdict in an answer.
pub fn verdict(records: &[Record]) -> Verdict {
    let mut verdicts = records.iter().filter_map(|record| match record.payload {
        Payload::Outcome(verdict) => Some(verdict),
        _ => None,
    });
    verdicts.next_back().unwrap()
}

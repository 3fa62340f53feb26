//! Records probe runs on both kinds of minutes, to be played again by the tests of the statistics:
//!
//!     cargo run --release -p places --example record -- FILE RUNS SECONDS [BLOCKS]
//!
//! The rows of [`ROWS`] take turns on all CPUs that this process may use; the runs are spread evenly over the time.
#![allow(clippy::unwrap_used)] // a developer's tool: what fails, fails loudly

use places::host::{Executor, Host, Limits, Priority, allowed_cpus};
use record::{Payload, Record, Request};
use simulator::{Run, Tape};
use std::time::{Duration, Instant};
use table::{Kernel, Table};

const ROWS: [(&str, &str); 7] = [
    ("syscall-x86_64", "none"),
    ("sysenter-i386", "getppid"),
    ("int80-i386", "getppid"),
    ("vdso-x86_64", "clock_gettime-monotonic"),
    ("call", "none"),
    ("int80-x86_64", "getppid"),
    ("cpuid", "none"),
];

/// Ticks that a block should take, about; as `measure` has it.
const TICKS_OF_A_BLOCK: u64 = 30_000;

/// Samples of a block, at most; as `measure` has it.
const SAMPLES: u64 = 24;

/// Ticks of a sample besides the entry.
const TICKS_OF_A_SAMPLE: u64 = 1_100;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments.get(index).map(|text| text.parse::<u64>().unwrap());
    let (Some(file), Some(runs), Some(seconds)) = (arguments.first(), number(1), number(2)) else {
        eprintln!("usage: record FILE RUNS SECONDS [BLOCKS]");
        std::process::exit(2);
    };
    let runs = record(runs, Duration::from_secs(seconds), number(3).unwrap_or(64));
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let facts = cpu.lines().take_while(|line| !line.is_empty());
    let facts = facts.filter(|line| ["model", "cpu family"].iter().any(|key| line.starts_with(key)));
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let note = facts.map(|line| line.replace('\t', "") + "\n").collect::<String>() + "kernel: " + &kernel;
    std::fs::write(file, Tape { note, runs }.write().unwrap()).unwrap();
}

fn record(count: u64, time: Duration, blocks: u64) -> Vec<Run> {
    let limits = Limits {
        time: Duration::from_secs(10),
        output: record::MOST_OUTPUT,
        interrupt: places::host::Interrupt::default(),
    };
    let mut host = Host::new(Priority::Inherited, limits).unwrap();
    let (cpus, start) = (allowed_cpus().unwrap(), Instant::now());
    let find = |name: (&str, &str)| {
        let rows = &mut Table::get().rows(Kernel::Linux);
        rows.find(|(entry, operation)| (entry.name.as_str(), operation.name.as_str()) == name).unwrap()
    };
    let rows = ROWS.map(find);
    let mut samples = [4; ROWS.len()];
    let mut runs = Vec::new();
    for number in 0..count {
        let row = (number / cpus.len() as u64) as usize % rows.len();
        let cpu = cpus[number as usize % cpus.len()];
        let (entry, operation) = rows[row];
        let request = Request {
            entry: entry.id,
            operation: operation.id,
            blocks,
            ticks: 100_000_000,
            bursts: 4,
            parent: u64::from(std::process::id()),
            cpu: cpu as u64,
            path: false,
            samples: samples[row],
            footprint: record::Footprint::NONE,
            uses: 1,
        };
        let at = start.elapsed();
        let records = host.measure(entry.probe, cpu, &request).unwrap();
        samples[row] = fitting(&records).unwrap_or(samples[row]);
        let (entry, operation) = (entry.id, operation.id);
        runs.push(Run { entry, operation, cpu: u16::try_from(cpu).unwrap(), at, records });
        let due = time.mul_f64((number + 1) as f64 / count as f64);
        std::thread::sleep(due.saturating_sub(start.elapsed()));
    }
    runs
}

/// Samples of a block, so that it takes about as long whatever the entry costs.
fn fitting(records: &[Record]) -> Option<u64> {
    let costs = records.iter().filter_map(|record| match &record.payload {
        Payload::Samples(samples) => samples.iter().map(|sample| sample.interval(2)).min(),
        _ => None,
    });
    let cost = 2 * costs.min()?;
    Some((TICKS_OF_A_BLOCK / (TICKS_OF_A_SAMPLE + cost)).clamp(4, SAMPLES))
}

//! What guests write, made by tests: a program in QEMU's place plays it.

use crate::bytes::{configuration, defaults, record, words};
use crate::executable;
use places::lab::{Interrupt, Limits};
use record::{Payload, Record, Request, abi};
use simulator::{Machine, Subject};
use std::path::PathBuf;
use std::time::Duration;
use table::SwitchValues;
use tempfile::TempDir;

/// What a kernel finds on a processor that runs ring 0 natively under KVM: 64 writes of CR3, cpuids, interrupts and invalid
/// instructions take 200, 1200, 700 and 2500 core cycles each, by a counter of two thirds of the core's clock; and what follows what a
/// processor may take.
pub const BOOT: [u64; abi::LAB_BOOT_WORDS as usize] = [
    abi::LAB_VERSION,
    80_000,
    80_000,
    1,
    0,
    0,
    0,
    1,
    1 << 20,
    abi::VENDOR_INTEL,
    abi::TSC_FROM_PLAN,
    0,
    0,
    1,
    ticks(200),
    ticks(1200),
    ticks(700),
    ticks(2500),
    1 << abi::SIGN_HYPERVISOR,
    u64::from_le_bytes(*b"KVMKVMKV"),
    u64::from_le_bytes(*b"M\0\0\0\0\0\0\0"),
    0x2b00_0643,
    ticks(300),
    ticks(250),
    ticks(4000),
    ticks(1500),
    ticks(200),
    ticks(150),
    1,
];

/// The ticks for as many of something as the kernel times, of so many core cycles each.
pub const fn ticks(cycles: u64) -> u64 {
    cycles * abi::RING_TIMES * 2 / 3
}

/// A guest's stream in the making.
#[derive(Default)]
pub struct Tape {
    pub bytes: Vec<u8>,
    pub sequence: u32,
    now: SwitchValues,
    /// What it was configured as before anything was set.
    defaults: SwitchValues,
}

impl Tape {
    pub fn booted() -> Tape {
        Tape::found(&BOOT)
    }

    /// Of a kernel that has found this.
    pub fn found(boot: &[u64]) -> Tape {
        let mut tape = Tape::default();
        tape.push(abi::RECORD_LAB_BOOT, &words(boot));
        tape.configure(defaults(boot[abi::LAB_BOOT_FEATURES as usize]));
        tape.defaults = tape.now.clone();
        tape
    }

    /// What the kernel says that it is configured as.
    pub fn configure(&mut self, values: SwitchValues) {
        self.push(abi::RECORD_LAB_CONFIGURED, &configuration(&values));
        self.now = values;
    }

    /// What it says when a line of the plan sets something, `set pti=on smap=default`; nothing when it is another line.
    pub fn obey(&mut self, line: &str) {
        let Some(settings) = line.strip_prefix("set ") else { return };
        let pairs = settings.split(' ').filter_map(|setting| setting.split_once('='));
        let mut values = self.now.clone();
        let meant = |(name, value): (&str, &str)| match value {
            places::lab::DEFAULT => self.defaults[name].clone(),
            value => value.to_string(),
        };
        values.extend(pairs.map(|pair| (pair.0.to_string(), meant(pair))));
        self.configure(values);
    }

    pub fn push(&mut self, kind: u64, payload: &[u8]) {
        self.bytes.extend(record(self.sequence, kind, (0, 0), payload));
        self.sequence += 1;
    }

    /// A program that writes its output in two pieces.
    pub fn program(&mut self, number: u64, output: &[u8], how: u64, detail: [u64; 4]) {
        self.counted(number, output, &[], how, detail);
    }

    /// The same, with what the processor counted: `COUNTER_*` and the count.
    pub fn counted(&mut self, number: u64, output: &[u8], counts: &[(u64, u64)], how: u64, detail: [u64; 4]) {
        self.push(abi::RECORD_LAB_BEGIN, &words(&[number]));
        let (first, second) = output.split_at(output.len() / 2);
        for piece in [first, second] {
            self.push(abi::RECORD_LAB_OUTPUT, &[&words(&[1])[..], piece].concat());
        }
        if !counts.is_empty() {
            let mut payload = [0; abi::LAB_COUNTERS_WORDS as usize];
            payload[abi::LAB_COUNTERS_NUMBER as usize] = number;
            for (counter, count) in counts {
                payload[abi::LAB_COUNTERS_PRESENT as usize] |= 1 << counter;
                payload[(abi::LAB_COUNTERS_FIRST + counter) as usize] = *count;
            }
            self.push(abi::RECORD_LAB_COUNTERS, &words(&payload));
        }
        let [a, b, c, d] = detail;
        self.push(abi::RECORD_LAB_END, &words(&[number, how, a, b, c, d]));
    }

    pub fn done(mut self) -> Vec<u8> {
        self.push(abi::RECORD_LAB_DONE, &[]);
        self.bytes
    }
}

/// A program in QEMU's place that does what the script says; `$STREAM` is a file with these bytes.
pub fn guest(folder: &TempDir, script: &str, stream: &[u8]) -> PathBuf {
    let (program, tape) = (folder.path().join("qemu"), folder.path().join("stream"));
    std::fs::write(&tape, stream).unwrap();
    executable::write(&program, format!("#!/bin/sh\nSTREAM={}\n{script}\n", tape.display()).as_bytes());
    program
}

pub fn limits(time: Duration) -> Limits {
    Limits { time, output: 4 << 20, interrupt: Interrupt::default() }
}

pub const LONG: Duration = Duration::from_secs(60);

/// What a probe on a simulated core writes when it is asked so.
pub fn simulated(machine: &mut Machine, request: &Request, cost: f64) -> Vec<u8> {
    let records = machine.run(request.cpu, &Subject::from(cost), request);
    records.iter().zip(0..).flat_map(|(said, sequence)| written(sequence, said)).collect()
}

pub fn written(sequence: u32, said: &Record) -> Vec<u8> {
    let samples = |samples: &[record::Sample]| samples.iter().flat_map(|sample| sample.stamps).collect();
    let (kind, payload): (u64, Vec<u64>) = match &said.payload {
        Payload::Begin(lengths) => {
            let record::Lengths { bits, imuls, xors, nots, burst, chains } = *lengths;
            (abi::RECORD_BEGIN, vec![bits, imuls, xors, nots, burst, chains])
        }
        Payload::Outcome(verdict) => {
            (abi::RECORD_OUTCOME, [&[verdict.outcome, verdict.cause], &verdict.detail[..]].concat())
        }
        Payload::Canary(canary) => {
            (abi::RECORD_CANARY, [&canary.stamps[..], &[canary.cpu, canary.preemptions]].concat())
        }
        Payload::Samples(taken) => (abi::RECORD_SAMPLES, samples(taken)),
        Payload::Bursts(taken) => (abi::RECORD_BURSTS, samples(taken)),
        Payload::Order(taken) => (abi::RECORD_ORDER, samples(taken)),
        Payload::End { preemptions, minor_faults } => (abi::RECORD_END, vec![*preemptions, *minor_faults]),
        other => panic!("the simulator says no {other:?}"),
    };
    record(sequence, kind, (said.entry, said.operation), &words(&payload))
}

/// The request in a line of the plan: `run FILE MODE ENTRY ...`.
pub fn request(line: &str) -> Request {
    let number = |place: u64| line.split(' ').nth(place as usize + 1).unwrap().parse::<u64>().unwrap();
    Request {
        entry: number(abi::REQUEST_ENTRY) as u16,
        operation: number(abi::REQUEST_OPERATION) as u16,
        blocks: number(abi::REQUEST_BLOCKS),
        ticks: number(abi::REQUEST_TICKS),
        bursts: number(abi::REQUEST_BURSTS),
        parent: number(abi::REQUEST_PARENT),
        cpu: number(abi::REQUEST_CPU),
        path: number(abi::REQUEST_PATH) == 1,
        samples: number(abi::REQUEST_SAMPLES),
        footprint: record::Footprint { pages: number(abi::REQUEST_PAGES), lines: number(abi::REQUEST_LINES) },
        uses: number(abi::REQUEST_USES),
    }
}

/// Plays the next boot's stream.
pub const NEXT_BOOT: &str = "BOOT=$(cat $STREAM); echo $((BOOT + 1)) >$STREAM; cat $STREAM.$BOOT";

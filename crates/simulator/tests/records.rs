//! The records of a run are those of a probe.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

mod common;

use common::{bursts, canaries, samples};
use record::{Payload, Record, Request, abi};
use simulator::{Clock, Counter, Cpu, LENGTHS, Machine, Model, Subject};
use std::time::Duration;

fn kinds(records: &[Record]) -> String {
    let kind = |record: &Record| match record.payload {
        Payload::Begin(_) => 'b',
        Payload::Outcome(_) => 'o',
        Payload::Order(_) => 'r',
        Payload::Canary(_) => 'c',
        Payload::Samples(_) => 's',
        Payload::Bursts(_) => 'u',
        Payload::End { .. } => 'e',
        Payload::Loops(_) | Payload::Fact { .. } | Payload::Export { .. } | Payload::Lab(_) => '?',
    };
    records.iter().map(kind).collect()
}

#[test]
fn a_run_says_what_a_probe_says_in_its_order() {
    let request = Request { entry: 7, operation: 9, samples: 5, ..simulator::request(3, 4) };
    let records = Machine::quiet(1).run(1, &Subject::new(300.0), &request);
    assert_eq!(kinds(&records), "borcscscscuce");
    assert_eq!((samples(&records).len(), bursts(&records).len()), (15, 4));
    assert!(records.iter().all(|record| (record.entry, record.operation) == (7, 9)));
    assert!(canaries(&records).iter().all(|canary| canary.cpu == 1));
}

#[test]
fn ticks_end_a_run_but_not_before_one_block_and_one_burst() {
    let machine = || Machine::new(1, Model::default());
    let mut request = Request { ticks: 0, ..simulator::request(16, 8) };
    let records = machine().run(0, &Subject::new(300.0), &request);
    assert_eq!(kinds(&records), "borcscuce");
    assert_eq!(bursts(&records).len(), 1);
    request.ticks = 200_000;
    let some = canaries(&machine().run(0, &Subject::new(300.0), &request)).len() - 2;
    let slow = canaries(&machine().run(0, &Subject::new(24_000.0), &request)).len() - 2;
    assert!((2..16).contains(&some), "{some} blocks");
    assert_eq!(slow, 1);
}

/// The bytes of a record, as a probe writes them.
fn bytes(sequence: usize, record: &Record) -> Vec<u8> {
    let words = |samples: &[record::Sample]| samples.iter().flat_map(|sample| sample.stamps).collect();
    let (kind, payload): (u64, Vec<u64>) = match &record.payload {
        Payload::Begin(l) => (abi::RECORD_BEGIN, vec![l.bits, l.imuls, l.xors, l.nots, l.burst, l.chains]),
        Payload::Outcome(verdict) => {
            (abi::RECORD_OUTCOME, [&[verdict.outcome, verdict.cause], &verdict.detail[..]].concat())
        }
        Payload::Canary(canary) => {
            (abi::RECORD_CANARY, [&canary.stamps[..], &[canary.cpu, canary.preemptions]].concat())
        }
        Payload::Samples(samples) => (abi::RECORD_SAMPLES, words(samples)),
        Payload::Bursts(samples) => (abi::RECORD_BURSTS, words(samples)),
        Payload::Order(samples) => (abi::RECORD_ORDER, words(samples)),
        Payload::End { preemptions, minor_faults } => (abi::RECORD_END, vec![*preemptions, *minor_faults]),
        other => panic!("a probe that measures does not say {other:?}"),
    };
    let mut bytes = Vec::new();
    bytes.extend((abi::RECORD_MAGIC as u32).to_le_bytes());
    bytes.extend((abi::RECORD_VERSION as u16).to_le_bytes());
    bytes.extend((kind as u16).to_le_bytes());
    bytes.extend((sequence as u32).to_le_bytes());
    bytes.extend(record.entry.to_le_bytes());
    bytes.extend(record.operation.to_le_bytes());
    bytes.extend((payload.len() as u32 * 8).to_le_bytes());
    let payload: Vec<u8> = payload.iter().flat_map(|word| word.to_le_bytes()).collect();
    let checksum = crc32(bytes.iter().chain(&[0; 4]).chain(&payload));
    bytes.extend(checksum.to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// CRC-32 (IEEE 802.3).
fn crc32<'a>(bytes: impl Iterator<Item = &'a u8>) -> u32 {
    let of_bit = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), of_bit))
}

#[test]
fn what_a_run_says_can_be_written_and_read() {
    let records = Machine::noisy(3).run(0, &Subject::new(300.0), &simulator::request(16, 8));
    let written: Vec<u8> = records.iter().enumerate().flat_map(|(i, record)| bytes(i, record)).collect();
    assert_eq!(record::parse(&written).unwrap(), records);
    assert!(matches!(&records[0].payload, Payload::Begin(lengths) if *lengths == LENGTHS));
}

/// Every stamp of a run, in the order in which they were taken.
fn stamps(records: &[Record]) -> Vec<u64> {
    let of = |record: &Record| -> Vec<u64> {
        match &record.payload {
            Payload::Canary(canary) => canary.stamps.to_vec(),
            Payload::Samples(samples) | Payload::Bursts(samples) | Payload::Order(samples) => {
                samples.iter().flat_map(|sample| sample.stamps).collect()
            }
            _ => Vec::new(),
        }
    };
    records.iter().flat_map(of).collect()
}

/// Counters with steps of one tick, of two, and of 10 ns.
fn counters() -> [Counter; 4] {
    let unordered = Counter { ordered: false, ..Counter::default() };
    [
        Counter { step: 1.0, ..Counter::default() },
        Counter::with_step(3e9, 10.0),
        Counter::default(),
        unordered,
    ]
}

#[test]
fn every_stamp_is_a_multiple_of_the_step_and_none_is_before_the_one_before() {
    for counter in counters() {
        let step = counter.step;
        let mut machine = Machine::new(4, Model { counter, ..Machine::noisy(0).model().clone() });
        let mut before = 0;
        for cpu in [0, 1, 0] {
            for stamp in stamps(&machine.run(cpu, &Subject::new(-1.0), &simulator::request(16, 8))) {
                assert_eq!(stamp as f64 % step, 0.0);
                assert!(stamp >= before, "{stamp} after {before}");
                before = stamp;
            }
        }
    }
    assert_eq!(counters().map(|counter| counter.step), [1.0, 30.0, 2.0, 2.0]);
}

#[test]
fn odd_steps_are_seen_too() {
    let counter = Counter { step: 1.0, ..Counter::default() };
    let mut machine = Machine::new(4, Model { counter, ..Model::default() });
    let stamps = stamps(&machine.run(0, &Subject::new(10.0), &simulator::request(16, 8)));
    let odd = stamps.iter().filter(|stamp| *stamp % 2 == 1).count() as f64 / stamps.len() as f64;
    assert!((0.45..0.55).contains(&odd), "{odd} of all stamps are odd");
}

#[test]
fn the_seed_alone_decides() {
    let runs = |seed| {
        let mut machine = Machine::mixed(seed);
        let mut run = |cpu| machine.run(cpu, &Subject::new(300.0), &simulator::request(4, 2));
        [run(0), run(1), run(0)]
    };
    assert_eq!(runs(5), runs(5));
    assert_ne!(runs(5), runs(6));
    assert_ne!(runs(5)[0], runs(5)[2]);
}

#[test]
fn time_goes_on_by_all_that_is_executed_by_pauses_and_by_the_start() {
    let cpu = Cpu { clock: Clock::Constant(2.0), ..Cpu::default() };
    let model = Model { cpus: vec![cpu], startup: Duration::from_millis(3), ..Model::default() };
    let mut machine = Machine::new(1, model);
    machine.pause(Duration::from_secs(2));
    assert_eq!(machine.now(), Duration::from_secs(2));
    let records = machine.run(0, &Subject::new(24_000.0), &simulator::request(8, 0));
    let stamps = stamps(&records);
    let seen = Duration::from_nanos((stamps[stamps.len() - 1] - stamps[0]) / 2);
    let took = machine.now() - Duration::from_secs(2);
    // 64 uses for the caches, then 68 for each of 8 blocks, 12 µs each.
    assert!(seen > Duration::from_micros((64 + 8 * 68) * 12), "{seen:?}");
    assert!(took > seen + Duration::from_millis(3), "{took:?}");
}

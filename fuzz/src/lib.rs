//! What more than one target needs: records as a probe writes them, and what must hold of anything that parses.

use arbitrary::Arbitrary;
use record::{Canary, Lengths, Payload, Record, Sample, Verdict, abi};
use stats::{Cost, Reference, Round, Rounds, Scale, summarize};

/// A distance between two readings of the counter: mostly such as are seen, and any.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Step {
    /// An ordinary one.
    Short(u8),
    /// A long one.
    Long(u16),
    /// Any, backwards as well.
    Any(u64),
}

impl Step {
    fn ticks(self) -> u64 {
        match self {
            Step::Short(ticks) => ticks.into(),
            Step::Long(ticks) => ticks.into(),
            Step::Any(ticks) => ticks,
        }
    }
}

/// Consecutive readings of the counter: the first, and the distance to each other one.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub struct Stamps<const N: usize> {
    start: Step,
    steps: [Step; N],
}

impl<const N: usize> Stamps<N> {
    /// The readings; `M` is `N` + 1.
    fn readings<const M: usize>(&self) -> [u64; M] {
        let mut now = self.start.ticks();
        let mut rest = self.steps.iter();
        std::array::from_fn(|index| {
            if index > 0 {
                now = now.wrapping_add(rest.next().map_or(0, |step| step.ticks()));
            }
            now
        })
    }
}

/// One record's content.
#[derive(Debug, Clone, Arbitrary)]
pub enum Piece {
    Begin([Step; 5]),
    Outcome(u8, u8, [u64; 4]),
    Fact(u8, u64),
    Canary(Stamps<4>, bool),
    Samples(Vec<Stamps<3>>),
    /// One sample many times, as a quiet machine has them.
    Quiet(Stamps<3>, u8),
    Bursts(Vec<Stamps<3>>),
    Export(String, String),
    End(u64, u64),
}

impl Piece {
    fn payload(&self) -> Payload {
        let samples = |all: &[Stamps<3>]| all.iter().map(sample).collect();
        match self {
            Piece::Begin(lengths) => {
                let [bits, imuls, xors, nots, burst] = lengths.map(Step::ticks);
                Payload::Begin(Lengths {
                    bits,
                    imuls,
                    xors,
                    nots,
                    burst,
                })
            }
            Piece::Outcome(outcome, cause, detail) => Payload::Outcome(Verdict {
                outcome: (*outcome).into(),
                cause: (*cause).into(),
                detail: *detail,
            }),
            Piece::Fact(fact, value) => Payload::Fact {
                fact: (*fact).into(),
                value: *value,
            },
            Piece::Canary(stamps, cpu) => Payload::Canary(Canary {
                stamps: stamps.readings(),
                cpu: (*cpu).into(),
            }),
            Piece::Samples(all) => Payload::Samples(samples(all)),
            Piece::Quiet(stamps, times) => Payload::Samples(vec![sample(stamps); (*times).into()]),
            Piece::Bursts(all) => Payload::Bursts(samples(all)),
            Piece::Export(name, version) => Payload::Export {
                name: name.replace('\0', ""),
                version: version.replace('\0', ""),
            },
            Piece::End(preemptions, minor_faults) => Payload::End {
                preemptions: *preemptions,
                minor_faults: *minor_faults,
            },
        }
    }
}

fn sample(stamps: &Stamps<3>) -> Sample {
    Sample {
        stamps: stamps.readings(),
    }
}

/// What a probe might say in one run.
#[derive(Debug, Clone, Arbitrary)]
pub struct Said {
    entry: u8,
    operation: u8,
    pieces: Vec<Piece>,
    /// Of a kind and with bytes that no probe writes, but with a right checksum.
    garbage: Option<(u16, Vec<u8>)>,
    times: u8,
}

impl Said {
    /// The records that it consists of, without the garbage.
    pub fn records(&self) -> Vec<Record> {
        let record = |piece: &Piece| Record {
            entry: self.entry.into(),
            operation: self.operation.into(),
            payload: piece.payload(),
        };
        self.pieces.iter().map(record).collect()
    }

    /// How many rounds said just this: an interval needs six.
    pub fn times(&self) -> usize {
        usize::from(self.times % 8)
    }

    /// As it comes from the probe, the garbage last; whether there is any.
    pub fn stream(&self) -> (Vec<u8>, bool) {
        let mut out = Vec::new();
        let records = self.records();
        for (record, sequence) in records.iter().zip(0..) {
            let (kind, payload) = encoded(&record.payload);
            self.write(&mut out, sequence, kind as u16, &payload);
        }
        if let Some((kind, payload)) = &self.garbage {
            self.write(&mut out, records.len() as u32, *kind, payload);
        }
        (out, self.garbage.is_some())
    }

    /// A record's bytes, as `abi/record.h` has them.
    fn write(&self, out: &mut Vec<u8>, sequence: u32, kind: u16, payload: &[u8]) {
        let mut header = Vec::new();
        header.extend((abi::RECORD_MAGIC as u32).to_le_bytes());
        header.extend((abi::RECORD_VERSION as u16).to_le_bytes());
        header.extend(kind.to_le_bytes());
        header.extend(sequence.to_le_bytes());
        header.extend(u16::from(self.entry).to_le_bytes());
        header.extend(u16::from(self.operation).to_le_bytes());
        header.extend((payload.len() as u32).to_le_bytes());
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&header);
        hasher.update(&[0; 4]);
        hasher.update(payload);
        out.extend(header);
        out.extend(hasher.finalize().to_le_bytes());
        out.extend(payload);
    }
}

/// Kind and bytes of a payload.
fn encoded(payload: &Payload) -> (u64, Vec<u8>) {
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let samples = |all: &[Sample]| words(&all.iter().flat_map(|sample| sample.stamps).collect::<Vec<_>>());
    match payload {
        Payload::Begin(l) => (
            abi::RECORD_BEGIN,
            words(&[l.bits, l.imuls, l.xors, l.nots, l.burst]),
        ),
        Payload::Outcome(verdict) => {
            let [a, b, c, d] = verdict.detail;
            (
                abi::RECORD_OUTCOME,
                words(&[verdict.outcome, verdict.cause, a, b, c, d]),
            )
        }
        Payload::Fact { fact, value } => (abi::RECORD_FACT, words(&[*fact, *value])),
        Payload::Canary(canary) => {
            let [a, b, c, d, e] = canary.stamps;
            (abi::RECORD_CANARY, words(&[a, b, c, d, e, canary.cpu]))
        }
        Payload::Samples(all) => (abi::RECORD_SAMPLES, samples(all)),
        Payload::Bursts(all) => (abi::RECORD_BURSTS, samples(all)),
        Payload::Export { name, version } => {
            (abi::RECORD_EXPORT, format!("{name}\0{version}\0").into_bytes())
        }
        Payload::End {
            preemptions,
            minor_faults,
        } => (abi::RECORD_END, words(&[*preemptions, *minor_faults])),
    }
}

/// Reduces runs as the command does, as the rounds of one row, and judges their verdicts: nothing panics, and what
/// is given as a number is one.
pub fn reduce(runs: &[Vec<Record>]) {
    let mut rounds = Rounds::default();
    for records in runs {
        records.iter().for_each(judge);
        if let Ok(round) = Round::reduce(records) {
            rounds.push(round);
        }
    }
    let cycles_per_tick = stats::quantile_of(rounds.all().iter().map(|round| round.cycles_per_tick), 0.5);
    finite("cycles in a tick", &[cycles_per_tick]);
    let Some(reference) = Reference::of(rounds.all().iter()) else {
        return;
    };
    finite(
        "the reference",
        &[Some(reference.canary), Some(reference.chain_ratio)],
    );
    let scale = Scale {
        nanos_per_tick: Some(0.4),
        cycles: true,
    };
    let summary = summarize(rounds.all(), &reference, &scale);
    check("core cycles", summary.core_cycles);
    check("ticks", summary.ticks);
    check("ns", summary.ns);
    check("throughput", summary.throughput);
    assert!(summary.excluded <= summary.rounds && summary.disturbed <= summary.samples);
}

fn judge(record: &Record) {
    if let Payload::Outcome(verdict) = &record.payload {
        for entry in &table::Table::get().entries {
            let (_, why) = run::judge(entry, verdict);
            assert!(!why.is_empty(), "a verdict without words");
        }
    }
}

fn check<U: Into<f64>>(what: &str, cost: Option<Cost<U>>) {
    let Some(cost) = cost else { return };
    let cost = Cost {
        estimate: cost.estimate.into(),
        ci_low: cost.ci_low.map(Into::into),
        ci_high: cost.ci_high.map(Into::into),
        min: cost.min.into(),
        p50: cost.p50.into(),
        p99: cost.p99.into(),
        p999: cost.p999.into(),
        max: cost.max.into(),
    };
    let one = [cost.estimate, cost.min, cost.p50, cost.p99, cost.p999, cost.max].map(Some);
    finite(what, &one);
    finite(what, &[cost.ci_low, cost.ci_high]);
    assert!(
        cost.p50 <= cost.p99 && cost.p99 <= cost.p999,
        "{what}: percentiles out of order: {cost:?}"
    );
}

fn finite(what: &str, numbers: &[Option<f64>]) {
    assert!(
        numbers.iter().flatten().all(|number| number.is_finite()),
        "{what}: {numbers:?}"
    );
}

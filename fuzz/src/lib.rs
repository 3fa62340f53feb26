//! What must hold of anything that comes from outside, whatever it is. [`targets`] has what is tried; here is what more than one of them needs:
//! records as a probe writes them, and what must hold of those that parse.

pub mod targets;

use arbitrary::Arbitrary;
use places::lab::{Collected, Reader, Trouble};
use record::{Canary, Lengths, Payload, Record, Sample, Verdict, abi};
use stats::{Assumed, Cost, Figures, Interrupts, OfEntry, Reference, Round, Scale, Vouch, figures, tabulate};
use table::Table;

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
    Begin([Step; 6]),
    Outcome(u8, u8, [u64; 4]),
    Fact(u8, u64),
    Canary(Stamps<4>, bool, u8),
    Samples(Vec<Stamps<3>>),
    /// One sample many times, as a quiet machine has them.
    Quiet(Stamps<3>, u8),
    Bursts(Vec<Stamps<3>>),
    Order(Vec<Stamps<3>>),
    Export(String, String),
    End(u64, u64),
}

impl Piece {
    fn payload(&self) -> Payload {
        let samples = |all: &[Stamps<3>]| all.iter().map(sample).collect();
        match self {
            Piece::Begin(lengths) => {
                let [bits, imuls, xors, nots, burst, chains] = lengths.map(Step::ticks);
                Payload::Begin(Lengths { bits, imuls, xors, nots, burst, chains })
            }
            Piece::Outcome(outcome, cause, detail) => Payload::Outcome(Verdict {
                outcome: (*outcome).into(),
                cause: (*cause).into(),
                detail: *detail,
            }),
            Piece::Fact(fact, value) => Payload::Fact { fact: (*fact).into(), value: *value },
            Piece::Canary(stamps, cpu, preemptions) => Payload::Canary(Canary {
                stamps: stamps.readings(),
                cpu: (*cpu).into(),
                preemptions: (*preemptions).into(),
            }),
            Piece::Samples(all) => Payload::Samples(samples(all)),
            Piece::Quiet(stamps, times) => Payload::Samples(vec![sample(stamps); (*times).into()]),
            Piece::Bursts(all) => Payload::Bursts(samples(all)),
            Piece::Order(all) => Payload::Order(samples(all)),
            Piece::Export(name, version) => {
                Payload::Export { name: name.replace('\0', ""), version: version.replace('\0', "") }
            }
            Piece::End(preemptions, minor_faults) => {
                Payload::End { preemptions: *preemptions, minor_faults: *minor_faults }
            }
        }
    }
}

fn sample(stamps: &Stamps<3>) -> Sample {
    Sample { stamps: stamps.readings() }
}

/// What a lab kernel might say next.
#[derive(Debug, Clone, Arbitrary)]
pub enum Word {
    Boot(Box<[Step; abi::LAB_BOOT_WORDS as usize]>),
    /// A configuration: the defaults, but for these switches.
    Configured(Vec<(u8, Step)>),
    Begin(u8),
    Output(u8, Vec<u8>),
    /// What a probe says, whole.
    Answer(Said),
    Counters(u8, [u64; 9]),
    End(u8, u8, [u64; 4]),
    /// A step of a path that is listed.
    Listed(u8, Vec<u8>),
    Log(Vec<u8>),
    Stray(u8, Step),
    Done,
    /// A record that is none of the kernel's.
    Foreign(Piece),
}

impl Word {
    fn encoded(&self) -> (u64, Vec<u8>) {
        let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let written =
            |descriptor: u8, bytes: &[u8]| [&u64::from(descriptor).to_le_bytes()[..], bytes].concat();
        match self {
            Word::Boot(figures) => {
                let mut figures = figures.map(Step::ticks);
                // Another version ends it all, and is seldom of interest.
                if figures[1] % 8 != 0 {
                    figures[0] = abi::LAB_VERSION;
                }
                (abi::RECORD_LAB_BOOT, words(&figures))
            }
            Word::Configured(changes) => {
                let mut values = configuration();
                for (id, value) in changes {
                    // Beyond the last id, another length.
                    match values.get_mut(usize::from(*id)) {
                        Some(slot) => *slot = value.ticks(),
                        None => values.push(value.ticks()),
                    }
                }
                (abi::RECORD_LAB_CONFIGURED, words(&values))
            }
            Word::Begin(number) => (abi::RECORD_LAB_BEGIN, words(&[(*number).into()])),
            Word::Output(descriptor, bytes) => (abi::RECORD_LAB_OUTPUT, written(*descriptor, bytes)),
            Word::Answer(said) => (abi::RECORD_LAB_OUTPUT, written(1, &said.stream().0)),
            Word::Counters(number, counts) => {
                let payload: Vec<u64> = std::iter::once(u64::from(*number)).chain(*counts).collect();
                (abi::RECORD_LAB_COUNTERS, words(&payload))
            }
            Word::End(number, how, [a, b, c, d]) => {
                let figures = [(*number).into(), (*how).into(), *a, *b, *c, *d];
                (abi::RECORD_LAB_END, words(&figures))
            }
            Word::Listed(count, bytes) => {
                let head = words(&[0, 0, (*count).into()]);
                (abi::RECORD_LAB_STEP, [&head[..], bytes].concat())
            }
            Word::Log(bytes) => (abi::RECORD_LAB_LOG, bytes.clone()),
            Word::Stray(vector, count) => (abi::RECORD_LAB_STRAY, words(&[(*vector).into(), count.ticks()])),
            Word::Done => (abi::RECORD_LAB_DONE, Vec::new()),
            Word::Foreign(piece) => encoded(&piece.payload()),
        }
    }
}

/// The default of every switch, by its id.
fn configuration() -> Vec<u64> {
    let mut values = Vec::new();
    for switch in &Table::get().switches {
        let id = usize::from(switch.id);
        values.resize(values.len().max(id + 1), 0);
        values[id] = switch.value(&switch.default).map_or(0, u64::from);
    }
    values
}

/// The stream of a kernel that says this. Without a configuration no program could begin, so that one follows each boot.
pub fn guest_stream(words: &[Word]) -> Vec<u8> {
    let mut out = Vec::new();
    let defaults = Word::Configured(Vec::new());
    let mut all: Vec<&Word> = Vec::new();
    for word in words {
        all.push(word);
        all.extend(matches!(word, Word::Boot(_)).then_some(&defaults));
    }
    for (word, sequence) in all.into_iter().zip(0..) {
        let (kind, payload) = word.encoded();
        write(&mut out, sequence, kind as u16, (0, 0), &payload);
    }
    out
}

/// Reads a guest's stream, in pieces of at most this length, as the command does: it ends, what was collected is of the
/// plan, and its answers can be reduced. How it ended.
pub fn follow(stream: &[u8], programs: usize, piece: usize) -> (Collected, Option<Trouble>) {
    let (mut reader, mut collected) = (Reader::new(programs), Collected::default());
    for bytes in stream.chunks(piece.max(1)) {
        reader.push(bytes);
        loop {
            match reader.take() {
                Ok(Some(event)) => collected.take(event),
                Ok(None) => break,
                Err(trouble) => {
                    assert_eq!(reader.take().err(), Some(trouble.clone()), "it goes on after trouble");
                    return (checked(collected, programs), Some(trouble));
                }
            }
        }
    }
    (checked(collected, programs), None)
}

fn checked(collected: Collected, programs: usize) -> Collected {
    let numbers = collected.ran.keys().chain(&collected.running);
    assert!(numbers.into_iter().all(|number| *number < programs as u64), "a program that is not planned");
    let answers = collected.ran.values().filter_map(|ran| record::parse(ran.output.as_ref()?).ok());
    for records in answers {
        let samples: Vec<Sample> = records
            .iter()
            .filter_map(|record| match &record.payload {
                Payload::Samples(samples) => Some(samples.clone()),
                _ => None,
            })
            .flatten()
            .collect();
        check("instructions", stats::instructions(&samples));
        reduce(&[records]);
    }
    collected
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
        write(out, sequence, kind, (self.entry.into(), self.operation.into()), payload);
    }
}

fn write(out: &mut Vec<u8>, sequence: u32, kind: u16, (entry, operation): (u16, u16), payload: &[u8]) {
    let mut header = Vec::new();
    header.extend((abi::RECORD_MAGIC as u32).to_le_bytes());
    header.extend((abi::RECORD_VERSION as u16).to_le_bytes());
    header.extend(kind.to_le_bytes());
    header.extend(sequence.to_le_bytes());
    header.extend(entry.to_le_bytes());
    header.extend(operation.to_le_bytes());
    header.extend((payload.len() as u32).to_le_bytes());
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header);
    hasher.update(&[0; 4]);
    hasher.update(payload);
    out.extend(header);
    out.extend(hasher.finalize().to_le_bytes());
    out.extend(payload);
}

/// Kind and bytes of a payload.
fn encoded(payload: &Payload) -> (u64, Vec<u8>) {
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let samples = |all: &[Sample]| words(&all.iter().flat_map(|sample| sample.stamps).collect::<Vec<_>>());
    match payload {
        Payload::Begin(l) => {
            (abi::RECORD_BEGIN, words(&[l.bits, l.imuls, l.xors, l.nots, l.burst, l.chains]))
        }
        Payload::Outcome(verdict) => {
            let [a, b, c, d] = verdict.detail;
            (abi::RECORD_OUTCOME, words(&[verdict.outcome, verdict.cause, a, b, c, d]))
        }
        Payload::Fact { fact, value } => (abi::RECORD_FACT, words(&[*fact, *value])),
        Payload::Canary(canary) => {
            let [a, b, c, d, e] = canary.stamps;
            (abi::RECORD_CANARY, words(&[a, b, c, d, e, canary.cpu, canary.preemptions]))
        }
        Payload::Samples(all) => (abi::RECORD_SAMPLES, samples(all)),
        Payload::Bursts(all) => (abi::RECORD_BURSTS, samples(all)),
        Payload::Order(all) => (abi::RECORD_ORDER, samples(all)),
        Payload::Loops(all) => {
            let readings: Vec<u64> = all.iter().flatten().copied().collect();
            (abi::RECORD_LOOPS, words(&readings))
        }
        Payload::Export { name, version } => {
            (abi::RECORD_EXPORT, format!("{name}\0{version}\0").into_bytes())
        }
        Payload::End { preemptions, minor_faults } => {
            (abi::RECORD_END, words(&[*preemptions, *minor_faults]))
        }
        // No piece is one; `Word` writes those.
        Payload::Lab(_) => (0, Vec::new()),
    }
}

/// Reduces runs as the command does, as the rounds of one row, and judges their verdicts: nothing panics, and what
/// is given as a number is one.
pub fn reduce(runs: &[Vec<Record>]) {
    runs.iter().flatten().for_each(judge);
    let rounds: Vec<Round> = runs
        .iter()
        .zip(0..)
        .filter_map(|(records, second)| Round::reduce(records, f64::from(second)).ok())
        .collect();
    for vouch in [Vouch::Width(5.0), Vouch::NoSibling, Vouch::Nothing] {
        tabulated(&rounds, vouch);
    }
}

fn tabulated(rounds: &[Round], vouch: Vouch) {
    let all: Vec<&Round> = rounds.iter().collect();
    let Some(reference) = Reference::of(&all, vouch) else {
        return;
    };
    finite(
        "the reference",
        &[Some(reference.alone), reference.chain_ratio, reference.clock_ratio, reference.order],
    );
    let interrupts = Interrupts::of(rounds.iter(), 2.0);
    let tabulated = tabulate(rounds, |_| Some(&reference), interrupts.as_ref());
    assert!(tabulated.lines.is_whole(), "columns of different lengths");
    let scale = Scale {
        nanos_per_tick: Some(0.4),
        cycles: reference.chain_holds(),
        step: reference.step,
        clock_error: 0.001,
    };
    let levels =
        OfEntry::of(std::iter::once(&tabulated.lines), Assumed::OF_A_KERNEL).of_row(&tabulated.lines, None);
    let Figures { core_cycles, ticks, ns, throughput, noise, .. } =
        figures(&tabulated.lines, &tabulated.cycles, &tabulated.ticks, &scale, &levels);
    assert_eq!(ticks.is_none(), noise.is_some(), "figures or noise, never both");
    check("core cycles", core_cycles);
    check("ticks", ticks);
    check("ns", ns);
    check("throughput", throughput);
    let counts = tabulated.counts;
    assert!(counts.kept_rounds <= counts.rounds && counts.kept_blocks <= counts.blocks);
    assert!(counts.kept_samples <= counts.samples);
}

fn judge(record: &Record) {
    if let Payload::Outcome(verdict) = &record.payload {
        for entry in &table::Table::get().entries {
            let (_, why) = document::judge(entry, verdict);
            assert!(!why.is_empty(), "a verdict without words");
        }
    }
}

fn check<U: Into<f64>>(what: &str, cost: Option<Cost<U>>) {
    let Some(cost) = cost else { return };
    let in_order = [Some(cost.p50.into()), cost.p99.map(Into::into), cost.p999.map(Into::into)];
    let interval = [cost.ci_low.map(Into::into), Some(cost.estimate.into()), cost.ci_high.map(Into::into)];
    finite(what, &[Some(cost.min.into()), Some(cost.max.into())]);
    for ascending in [in_order, interval] {
        finite(what, &ascending);
        let there: Vec<f64> = ascending.into_iter().flatten().collect();
        assert!(there.is_sorted(), "{what}: out of order: {there:?}");
    }
}

fn finite(what: &str, numbers: &[Option<f64>]) {
    assert!(numbers.iter().flatten().all(|number| number.is_finite()), "{what}: {numbers:?}");
}

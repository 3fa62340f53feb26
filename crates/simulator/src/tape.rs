//! Probe runs as they came, on a tape: a minute of a real machine that can be played again.
//!
//! A tape is eight bytes that name it, and a zlib stream of numbers (LEB128; signed ones in zigzag): a note, and then the
//! runs. Stamps are told by their distance from the one before. Those of a block stand in columns, in steps of the counter and less
//! the column's median, because what varies little packs well: a stamp takes about five bits.
//!
//! A tape is hostile until it is read: every length is bounded before anything is allocated for it.

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use record::{Canary, Lengths, Payload, Record, Sample, Verdict, abi};
use std::io::{Read, Write};
use std::time::Duration;

const MAGIC: &[u8; 8] = b"kentape1";

/// Bytes of a tape once it is unpacked, at most.
const MOST_BYTES: u64 = 64 << 20;

/// Bytes of the note, at most.
const MOST_NOTE: u64 = 4096;

/// Runs on a tape, at most.
const MOST_RUNS: u64 = 65_536;

/// Records of a run, at most: a canary and samples for each block, and what is around them.
const MOST_RECORDS: u64 = 2 * abi::MAX_BLOCKS + 16;

/// Samples in one record, at most.
const MOST_SAMPLES: u64 = abi::RECORD_MAX_PAYLOAD / 32;

/// What was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tape {
    /// Where and how, in words.
    pub note: String,
    /// In the order of time.
    pub runs: Vec<Run>,
}

/// One probe run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Id of the entry.
    pub entry: u16,
    /// Id of the operation.
    pub operation: u16,
    /// The CPU that it was started on.
    pub cpu: u16,
    /// When, since the tape began; to the microsecond.
    pub at: Duration,
    /// What the probe wrote.
    pub records: Vec<Record>,
}

/// Why a tape cannot be read, or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It begins otherwise.
    #[error("this is no tape: its first bytes are others")]
    Magic,
    /// The zlib stream is damaged, cut, or longer than a tape may be.
    #[error("the tape is damaged or cut: {0}")]
    Stream(#[from] std::io::Error),
    /// A number is greater than it may be there.
    #[error("the tape holds {0} {1}, which is too many")]
    TooMany(u64, &'static str),
    /// A number that means nothing there.
    #[error("the tape holds an unknown {0}")]
    Unknown(&'static str),
    /// Something follows the last run.
    #[error("the tape goes on after its last run")]
    Longer,
    /// A describing run, or one of the lab.
    #[error("only measuring runs can be taped")]
    NotMeasuring,
}

impl Tape {
    /// As bytes.
    ///
    /// # Errors
    /// [`Error::NotMeasuring`] when there is a record that no measuring run has.
    pub fn write(&self) -> Result<Vec<u8>, Error> {
        let mut out = Writer(ZlibEncoder::new(MAGIC.to_vec(), Compression::best()));
        out.number(self.note.len() as u64)?;
        out.0.write_all(self.note.as_bytes())?;
        out.number(self.runs.len() as u64)?;
        for run in &self.runs {
            out.run(run)?;
        }
        Ok(out.0.finish()?)
    }

    /// From bytes.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn read(bytes: &[u8]) -> Result<Tape, Error> {
        let packed = bytes.strip_prefix(MAGIC).ok_or(Error::Magic)?;
        let mut tape = Reader(std::io::BufReader::new(ZlibDecoder::new(packed).take(MOST_BYTES)));
        let mut note = vec![0; tape.at_most(MOST_NOTE, "bytes of a note")? as usize];
        tape.0.read_exact(&mut note)?;
        let note = String::from_utf8(note).map_err(|_| Error::Unknown("letter"))?;
        let count = tape.at_most(MOST_RUNS, "runs")?;
        let runs = (0..count).map(|_| tape.run()).collect::<Result<_, _>>()?;
        // The checksum is compared at the end of the stream alone.
        if tape.0.read_to_end(&mut Vec::new())? > 0 { Err(Error::Longer) } else { Ok(Tape { note, runs }) }
    }
}

/// The columns of a block: the pause before each sample, and its three intervals.
const COLUMNS: usize = 4;

struct Writer<W: Write>(W);

impl<W: Write> Writer<W> {
    fn number(&mut self, mut value: u64) -> Result<(), Error> {
        while value >= 0x80 {
            self.0.write_all(&[value as u8 | 0x80])?;
            value >>= 7;
        }
        Ok(self.0.write_all(&[value as u8])?)
    }

    fn numbers(&mut self, values: &[u64]) -> Result<(), Error> {
        values.iter().try_for_each(|value| self.number(*value))
    }

    fn signed(&mut self, value: i64) -> Result<(), Error> {
        self.number(((value << 1) ^ (value >> 63)) as u64)
    }

    fn run(&mut self, run: &Run) -> Result<(), Error> {
        let at = run.at.as_micros() as u64;
        let ids = [run.entry, run.operation, run.cpu].map(u64::from);
        self.numbers(&ids)?;
        self.numbers(&[at, run.records.len() as u64])?;
        let mut last = 0;
        run.records.iter().try_for_each(|record| self.record(&record.payload, &mut last))
    }

    fn record(&mut self, payload: &Payload, last: &mut u64) -> Result<(), Error> {
        match payload {
            Payload::Begin(l) => {
                self.numbers(&[abi::RECORD_BEGIN, l.bits, l.imuls, l.xors, l.nots, l.burst, l.chains])
            }
            Payload::Outcome(verdict) => {
                self.numbers(&[abi::RECORD_OUTCOME, verdict.outcome, verdict.cause])?;
                self.numbers(&verdict.detail)
            }
            Payload::Fact { fact, value } => self.numbers(&[abi::RECORD_FACT, *fact, *value]),
            Payload::Canary(canary) => {
                self.numbers(&[abi::RECORD_CANARY, canary.cpu, canary.preemptions])?;
                canary.stamps.iter().try_for_each(|stamp| self.stamp(*stamp, last))
            }
            Payload::Samples(samples) => self.samples(abi::RECORD_SAMPLES, samples, last),
            Payload::Bursts(samples) => self.samples(abi::RECORD_BURSTS, samples, last),
            Payload::Order(samples) => self.samples(abi::RECORD_ORDER, samples, last),
            Payload::End { preemptions, minor_faults } => {
                self.numbers(&[abi::RECORD_END, *preemptions, *minor_faults])
            }
            Payload::Loops(_) | Payload::Export { .. } | Payload::Lab(_) => Err(Error::NotMeasuring),
        }
    }

    fn stamp(&mut self, stamp: u64, last: &mut u64) -> Result<(), Error> {
        let distance = stamp.wrapping_sub(*last) as i64;
        *last = stamp;
        self.signed(distance)
    }

    fn samples(&mut self, kind: u64, samples: &[Sample], last: &mut u64) -> Result<(), Error> {
        self.numbers(&[kind, samples.len() as u64])?;
        let Some(first) = samples.first() else { return Ok(()) };
        self.stamp(first.stamps[0], last)?;
        // From here on every stamp lies whole steps from the one before.
        let mut columns: [Vec<i64>; COLUMNS] = Default::default();
        for sample in samples {
            for (column, stamp) in columns.iter_mut().zip(sample.stamps) {
                column.push(stamp.wrapping_sub(*last) as i64);
                *last = stamp;
            }
        }
        let step = columns.iter().flatten().fold(0, |step, ticks| common_divisor(step, ticks.unsigned_abs()));
        let step = step.max(1) as i64;
        self.number(step as u64)?;
        for column in &columns {
            let mut sorted = column.clone();
            sorted.sort_unstable();
            let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0) / step;
            self.signed(median)?;
            column.iter().try_for_each(|ticks| self.signed((ticks / step).wrapping_sub(median)))?;
        }
        Ok(())
    }
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

struct Reader<R: Read>(R);

impl<R: Read> Reader<R> {
    fn number(&mut self) -> Result<u64, Error> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.0.read_exact(&mut byte)?;
            value |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Error::Unknown("number of more than 64 bits"))
    }

    fn at_most(&mut self, most: u64, what: &'static str) -> Result<u64, Error> {
        let value = self.number()?;
        if value <= most { Ok(value) } else { Err(Error::TooMany(value, what)) }
    }

    fn signed(&mut self) -> Result<i64, Error> {
        let value = self.number()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn array<const N: usize>(&mut self) -> Result<[u64; N], Error> {
        let mut values = [0; N];
        values.iter_mut().try_for_each(|value| self.number().map(|read| *value = read))?;
        Ok(values)
    }

    fn id(&mut self, what: &'static str) -> Result<u16, Error> {
        u16::try_from(self.number()?).map_err(|_| Error::Unknown(what))
    }

    fn run(&mut self) -> Result<Run, Error> {
        let (entry, operation, cpu) = (self.id("entry")?, self.id("operation")?, self.id("CPU")?);
        let at = Duration::from_micros(self.number()?);
        let count = self.at_most(MOST_RECORDS, "records in a run")?;
        let mut last = 0;
        let record = |_| Ok(Record { entry, operation, payload: self.payload(&mut last)? });
        let records = (0..count).map(record).collect::<Result<_, Error>>()?;
        Ok(Run { entry, operation, cpu, at, records })
    }

    fn payload(&mut self, last: &mut u64) -> Result<Payload, Error> {
        Ok(match self.number()? {
            abi::RECORD_BEGIN => {
                let [bits, imuls, xors, nots, burst, chains] = self.array()?;
                Payload::Begin(Lengths { bits, imuls, xors, nots, burst, chains })
            }
            abi::RECORD_OUTCOME => {
                let [outcome, cause] = self.array()?;
                Payload::Outcome(Verdict { outcome, cause, detail: self.array()? })
            }
            abi::RECORD_FACT => {
                let [fact, value] = self.array()?;
                Payload::Fact { fact, value }
            }
            abi::RECORD_CANARY => {
                let [cpu, preemptions] = self.array()?;
                let mut stamps = [0; 5];
                stamps.iter_mut().try_for_each(|stamp| self.stamp(last).map(|read| *stamp = read))?;
                Payload::Canary(Canary { stamps, cpu, preemptions })
            }
            abi::RECORD_SAMPLES => Payload::Samples(self.samples(last)?),
            abi::RECORD_BURSTS => Payload::Bursts(self.samples(last)?),
            abi::RECORD_ORDER => Payload::Order(self.samples(last)?),
            abi::RECORD_END => {
                let [preemptions, minor_faults] = self.array()?;
                Payload::End { preemptions, minor_faults }
            }
            _ => return Err(Error::Unknown("kind of record")),
        })
    }

    fn stamp(&mut self, last: &mut u64) -> Result<u64, Error> {
        *last = last.wrapping_add(self.signed()? as u64);
        Ok(*last)
    }

    fn samples(&mut self, last: &mut u64) -> Result<Vec<Sample>, Error> {
        let count = self.at_most(MOST_SAMPLES, "samples in a record")? as usize;
        let mut samples = vec![Sample { stamps: [0; 4] }; count];
        if samples.is_empty() {
            return Ok(samples);
        }
        self.stamp(last)?;
        let step = self.number()?;
        for column in 0..COLUMNS {
            let median = self.signed()?;
            for sample in &mut samples {
                let steps = median.wrapping_add(self.signed()?);
                sample.stamps[column] = (steps as u64).wrapping_mul(step);
            }
        }
        // The columns are distances until here.
        for stamp in samples.iter_mut().flat_map(|sample| &mut sample.stamps) {
            *last = last.wrapping_add(*stamp);
            *stamp = *last;
        }
        Ok(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, Model, Subject, request};

    fn tape() -> Tape {
        let mut machine = Machine::new(1, Model::default());
        let run = |number: u64| Run {
            entry: 2,
            operation: 2,
            cpu: 1,
            at: Duration::from_micros(number * 1000),
            records: machine.run(0, &Subject::from(305.0), &request(4, 2)),
        };
        Tape { note: "a machine that is not one".into(), runs: (0..3).map(run).collect() }
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let mut tape = tape();
        let ids = |record: &Record| (record.entry, record.operation);
        let (entry, operation) = ids(&tape.runs[0].records[0]);
        tape.runs.iter_mut().for_each(|run| (run.entry, run.operation) = (entry, operation));
        // Whatever a stamp is, backwards and wrapped around too.
        let Some(Payload::Samples(samples)) = tape.runs[0]
            .records
            .iter_mut()
            .find_map(|record| matches!(record.payload, Payload::Samples(_)).then_some(&mut record.payload))
        else {
            panic!()
        };
        samples[0].stamps = [u64::MAX, 0, u64::MAX / 2, 1];
        samples[1].stamps = [7, 7, 3, u64::MAX / 3];
        let bytes = tape.write().unwrap();
        assert_eq!(Tape::read(&bytes).unwrap(), tape);
        assert_eq!(Tape::read(&Tape::default().write().unwrap()).unwrap(), Tape::default());
    }

    #[test]
    fn whatever_is_damaged_or_cut_is_an_error_or_another_tape_and_never_a_panic() {
        let bytes = tape().write().unwrap();
        for end in 0..bytes.len() {
            assert!(Tape::read(&bytes[..end]).is_err(), "{end}");
        }
        let refused = (0..bytes.len() * 8).filter(|bit| {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            Tape::read(&bytes).is_err()
        });
        // Not all: a bit of a stamp makes another stamp.
        assert!(refused.count() > bytes.len(), "most damage is noticed");
    }

    #[test]
    fn lengths_are_bounded_before_anything_is_allocated() {
        let packed = |numbers: &[u64]| {
            let mut out = Writer(ZlibEncoder::new(MAGIC.to_vec(), Compression::best()));
            out.numbers(numbers).unwrap();
            Tape::read(&out.0.finish().unwrap()).unwrap_err().to_string()
        };
        assert!(packed(&[MOST_NOTE + 1]).contains("bytes of a note"));
        assert!(packed(&[0, u64::MAX]).contains("runs, which is too many"));
        assert!(packed(&[0, 1, 2, 2, 1, 0, u64::MAX]).contains("records in a run"));
        assert!(
            packed(&[0, 1, 2, 2, 1, 0, 1, abi::RECORD_SAMPLES, u64::MAX]).contains("samples in a record")
        );
        assert!(packed(&[0, 1, 2, 2, 1, 0, 1, 99]).contains("unknown kind of record"));
        assert!(packed(&[0, 1, 70_000]).contains("unknown entry"));
        assert!(packed(&[0, 0, 1]).contains("after its last run"));
        assert!(Tape::read(b"kentape2").unwrap_err().to_string().contains("no tape"));
    }
}

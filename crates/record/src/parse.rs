use crate::damage::{BAD_LENGTH, Damage, Error, Wrong};
use crate::packed::unpack;
use crate::words::words;
use crate::{Canary, Lengths, Payload, Record, Sample, Verdict, abi, lab};

const HEADER: usize = 24;
const CRC_AT: usize = 20;
const PACKED: u16 = abi::RECORD_PACKED as u16;

/// Parses a whole stream. If there is an error, the caller gets no records at all: a stream that is damaged in one place
/// is not trusted in others.
///
/// # Errors
/// The first place that is damaged.
pub fn parse(stream: &[u8]) -> Result<Vec<Record>, Error> {
    let (mut records, mut offset) = (Vec::new(), 0);
    while offset < stream.len() {
        let at = |(damage, within)| Error { record: records.len(), offset: offset + within, damage };
        let rest = stream.get(offset..).unwrap_or_default();
        let (record, length) = parse_one(rest, records.len()).map_err(at)?;
        records.push(record);
        offset += length;
    }
    Ok(records)
}

/// The record at the beginning of `bytes`, which must be the one of this index, and its length.
pub(crate) fn parse_one(bytes: &[u8], index: usize) -> Result<(Record, usize), Wrong> {
    let truncated = (Damage::Truncated, bytes.len());
    let header: &[u8; HEADER] = bytes.first_chunk().ok_or(truncated)?;
    if u64::from(word32(header, 0)) != abi::RECORD_MAGIC {
        return Err((Damage::Magic, 0));
    }
    let version = word16(header, 4);
    if u64::from(version) != abi::RECORD_VERSION {
        return Err((Damage::Version(version), 4));
    }
    let length = word32(header, 16);
    if u64::from(length) > abi::RECORD_MAX_PAYLOAD {
        return Err((Damage::Length, 16));
    }
    let end = HEADER + length as usize;
    let payload = bytes.get(HEADER..end).ok_or(truncated)?;
    if checksum(header, payload) != word32(header, CRC_AT) {
        return Err((Damage::Checksum, CRC_AT));
    }
    let sequence = word32(header, 8);
    if sequence as usize != index {
        return Err((Damage::Sequence(sequence), 8));
    }
    let kind = word16(header, 6);
    let payload = match kind & PACKED {
        0 => parse_payload(kind, payload)?,
        _ => parse_payload(kind & !PACKED, &unpack(payload)?)?,
    };
    Ok((Record { entry: word16(header, 12), operation: word16(header, 14), payload }, end))
}

fn checksum(header: &[u8; HEADER], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[..CRC_AT]);
    hasher.update(&[0; HEADER - CRC_AT]);
    hasher.update(payload);
    hasher.finalize()
}

fn parse_payload(kind: u16, bytes: &[u8]) -> Result<Payload, Wrong> {
    let payload = match u64::from(kind) {
        abi::RECORD_BEGIN => {
            let [bits, imuls, xors, nots, burst, chains] = words(bytes)?;
            Payload::Begin(Lengths { bits, imuls, xors, nots, burst, chains })
        }
        abi::RECORD_OUTCOME => {
            let [outcome, cause, detail @ ..] = words::<6>(bytes)?;
            Payload::Outcome(Verdict { outcome, cause, detail })
        }
        abi::RECORD_FACT => {
            let [fact, value] = words(bytes)?;
            Payload::Fact { fact, value }
        }
        abi::RECORD_CANARY => {
            let [stamps @ .., cpu, preemptions] = words::<7>(bytes)?;
            Payload::Canary(Canary { stamps, cpu, preemptions })
        }
        abi::RECORD_SAMPLES => Payload::Samples(samples(bytes)?),
        abi::RECORD_BURSTS => Payload::Bursts(samples(bytes)?),
        abi::RECORD_ORDER => Payload::Order(samples(bytes)?),
        abi::RECORD_LOOPS => Payload::Loops(loops(bytes)?),
        abi::RECORD_EXPORT => export(bytes)?,
        abi::RECORD_END => {
            let [preemptions, minor_faults] = words(bytes)?;
            Payload::End { preemptions, minor_faults }
        }
        other => Payload::Lab(lab::parse(other, bytes)?.ok_or((Damage::Kind(kind), 6))?),
    };
    Ok(payload)
}

fn samples(bytes: &[u8]) -> Result<Vec<Sample>, Wrong> {
    let (chunks, rest) = bytes.as_chunks::<32>();
    if !rest.is_empty() {
        return Err(BAD_LENGTH);
    }
    chunks.iter().map(|chunk| Ok(Sample { stamps: words(chunk)? })).collect()
}

fn loops(bytes: &[u8]) -> Result<Vec<[u64; 2]>, Wrong> {
    let (chunks, rest) = bytes.as_chunks::<16>();
    if !rest.is_empty() {
        return Err(BAD_LENGTH);
    }
    chunks.iter().map(|chunk| words(chunk)).collect()
}

fn export(bytes: &[u8]) -> Result<Payload, Wrong> {
    let text = bytes.strip_suffix(&[0]).ok_or(BAD_LENGTH)?;
    let mut parts = text.split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into_owned());
    match (parts.next(), parts.next(), parts.next()) {
        (Some(name), Some(version), None) => Ok(Payload::Export { name, version }),
        _ => Err(BAD_LENGTH),
    }
}

fn word16(header: &[u8; HEADER], at: usize) -> u16 {
    u16::from_le_bytes([header[at], header[at + 1]])
}

fn word32(header: &[u8; HEADER], at: usize) -> u32 {
    u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn record(sequence: u32, kind: u64, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend((abi::RECORD_MAGIC as u32).to_le_bytes());
        bytes.extend((abi::RECORD_VERSION as u16).to_le_bytes());
        bytes.extend((kind as u16).to_le_bytes());
        bytes.extend(sequence.to_le_bytes());
        bytes.extend(2u16.to_le_bytes());
        bytes.extend(3u16.to_le_bytes());
        bytes.extend((payload.len() as u32).to_le_bytes());
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes);
        hasher.update(&[0; 4]);
        hasher.update(payload);
        bytes.extend(hasher.finalize().to_le_bytes());
        bytes.extend(payload);
        bytes
    }

    pub fn u64s(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    pub fn stream() -> Vec<u8> {
        let mut bytes = record(0, abi::RECORD_BEGIN, &u64s(&[64, 256, 768, 2100, 16, 8]));
        bytes.extend(record(1, abi::RECORD_SAMPLES, &u64s(&[10, 20, 25, 40])));
        bytes.extend(record(2, abi::RECORD_EXPORT, b"__vdso_time\0LINUX_2.6\0"));
        bytes.extend(record(3, abi::RECORD_END, &u64s(&[1, 2])));
        bytes
    }

    #[test]
    fn a_good_stream_is_read_whole() {
        let records = parse(&stream()).unwrap();
        assert_eq!(records.len(), 4);
        assert_eq!((records[0].entry, records[0].operation), (2, 3));
        let Payload::Samples(samples) = &records[1].payload else { panic!("{:?}", records[1]) };
        assert_eq!([0, 1, 2].map(|part| samples[0].interval(part)), [10, 5, 15]);
        let Payload::Begin(lengths) = &records[0].payload else { panic!("{:?}", records[0]) };
        assert_eq!((lengths.bits, lengths.burst, lengths.chains), (64, 16, 8));
        let expected = Payload::Export { name: "__vdso_time".into(), version: "LINUX_2.6".into() };
        assert_eq!(records[2].payload, expected);
    }

    #[test]
    fn every_cut_is_an_error_but_those_between_records() {
        let whole = stream();
        let ends: Vec<usize> = (0..=whole.len()).filter(|end| parse(&whole[..*end]).is_ok()).collect();
        assert_eq!(ends, [0, 72, 128, 174, 214]);
        assert_eq!(parse(&whole[..100]).unwrap_err().to_string(), "record 1 is truncated at byte 100");
    }

    #[test]
    fn every_flipped_bit_is_an_error() {
        let whole = stream();
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(parse(&bytes).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_doubled_record_is_out_of_order() {
        let mut bytes = stream();
        bytes.extend(record(3, abi::RECORD_END, &u64s(&[1, 2])));
        assert_eq!(parse(&bytes).unwrap_err().damage, Damage::Sequence(3));
    }

    #[test]
    fn a_packed_record_is_read_as_the_plain_one() {
        let packed = record(0, abi::RECORD_FACT | abi::RECORD_PACKED, &[2, 0xc6, 1]);
        assert_eq!(parse(&packed).unwrap()[0].payload, Payload::Fact { fact: 1, value: 100 });
        let cut = record(0, abi::RECORD_FACT | abi::RECORD_PACKED, &[2, 0xc6]);
        assert_eq!(parse(&cut).unwrap_err().to_string(), "record 0 is packed wrongly at byte 6");
        let short = record(0, abi::RECORD_FACT | abi::RECORD_PACKED, &[2]);
        assert_eq!(parse(&short).unwrap_err().damage, Damage::Length);
    }

    #[test]
    fn a_payload_of_the_wrong_length_is_named() {
        let bytes = record(0, abi::RECORD_FACT, &[0; 15]);
        assert_eq!(parse(&bytes).unwrap_err().to_string(), "record 0 has an impossible length at byte 16");
        let bytes = record(0, 99, &[]);
        assert_eq!(parse(&bytes).unwrap_err().to_string(), "record 0 is of unknown kind 99 at byte 6");
    }

    #[test]
    fn a_canary_and_the_order_of_stamps_are_read() {
        let mut bytes = record(0, abi::RECORD_CANARY, &u64s(&[1, 2, 3, 4, 5, 6, 7]));
        bytes.extend(record(1, abi::RECORD_ORDER, &u64s(&[10, 20, 120, 900, 11, 21, 121, 901])));
        let payloads: Vec<Payload> =
            parse(&bytes).unwrap().into_iter().map(|record| record.payload).collect();
        let order = [[10, 20, 120, 900], [11, 21, 121, 901]].map(|stamps| Sample { stamps });
        let canary = Canary { stamps: [1, 2, 3, 4, 5], cpu: 6, preemptions: 7 };
        assert_eq!(payloads, [Payload::Canary(canary), Payload::Order(order.into())]);
        let short = record(0, abi::RECORD_CANARY, &u64s(&[1, 2, 3, 4, 5, 6]));
        assert_eq!(parse(&short).unwrap_err().damage, Damage::Length);
    }

    #[test]
    fn loops_are_read_in_pairs() {
        let bytes = record(0, abi::RECORD_LOOPS, &u64s(&[10, 20, 30, 50]));
        assert_eq!(parse(&bytes).unwrap()[0].payload, Payload::Loops(vec![[10, 20], [30, 50]]));
        let half = record(0, abi::RECORD_LOOPS, &u64s(&[10, 20, 30]));
        assert_eq!(parse(&half).unwrap_err().damage, Damage::Length);
    }

    #[test]
    fn a_record_of_the_version_before_is_named() {
        let mut bytes = record(0, abi::RECORD_END, &u64s(&[1, 2]));
        bytes[4] -= 1;
        assert_eq!(parse(&bytes).unwrap_err().to_string(), "record 0 is of version 1, not 2 at byte 4");
    }

    #[test]
    fn an_interval_that_runs_backwards_is_the_longest() {
        assert_eq!(Sample { stamps: [10, 5, 6, 7] }.interval(0), u64::MAX);
    }
}

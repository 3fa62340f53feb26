//! Records as bytes, for tests that play a probe or a guest.

use record::abi;

/// A record, as `abi/record.h` has it; the row is 0, 0 in a kernel's.
pub fn record(sequence: u32, kind: u64, (entry, operation): (u16, u16), payload: &[u8]) -> Vec<u8> {
    let mut header = Vec::new();
    header.extend((abi::RECORD_MAGIC as u32).to_le_bytes());
    header.extend((abi::RECORD_VERSION as u16).to_le_bytes());
    header.extend((kind as u16).to_le_bytes());
    header.extend(sequence.to_le_bytes());
    header.extend(entry.to_le_bytes());
    header.extend(operation.to_le_bytes());
    header.extend((payload.len() as u32).to_le_bytes());
    let mut hasher = crc32fast::Hasher::new();
    [&header[..], &[0; 4], payload].iter().for_each(|part| hasher.update(part));
    [&header[..], &hasher.finalize().to_le_bytes(), payload].concat()
}

/// A payload of words.
pub fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

//! Records as bytes, for tests that play a probe or a guest.

use record::abi;
use table::{SwitchValues, Table};

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

/// The payload of a kernel's configuration.
pub fn configuration(values: &SwitchValues) -> Vec<u8> {
    let switches = &Table::get().switches;
    let highest = switches.iter().map(|switch| usize::from(switch.id)).max().unwrap_or(0);
    let mut numbers = vec![0; highest + 1];
    for switch in switches {
        let value = values.get(&switch.name).and_then(|value| switch.value(value));
        numbers[usize::from(switch.id)] = value.unwrap_or_else(|| panic!("{}", switch.name)).into();
    }
    words(&numbers)
}

/// The defaults of a kernel whose processor has these features, a bit for each.
pub fn defaults(features: u64) -> SwitchValues {
    let there = abi::FEATURES.iter().filter(|(bit, _)| features >> bit & 1 == 1);
    let there: Vec<String> = there.map(|(_, name)| name.to_string()).collect();
    let value = |switch: &table::Switch| {
        let mut needed =
            switch.requirements(&switch.default).into_iter().filter_map(|need| need.feature.as_ref());
        if needed.all(|feature| there.contains(feature)) { switch.default.clone() } else { switch.first() }
    };
    Table::get().switches.iter().map(|switch| (switch.name.clone(), value(switch))).collect()
}

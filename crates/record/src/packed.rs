//! Payloads that are packed (`RECORD_PACKED` in `abi/record.h`).

use crate::abi;
use crate::damage::{BAD_LENGTH, Damage, Wrong};

/// Where the kind stands in a record, and the payload begins.
const KIND_AT: usize = 6;
const PAYLOAD_AT: usize = 24;

/// The last byte of a word of 64 bits holds its highest bit alone.
const LAST_SHIFT: u32 = 63;

/// The payload that these bytes stand for, of at most `RECORD_MAX_PAYLOAD` bytes.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Vec<u8>, Wrong> {
    let (mut payload, mut word) = (Vec::new(), 0_u64);
    let (mut difference, mut shift) = (0_u64, 0);
    for (index, byte) in bytes.iter().enumerate() {
        let bits = u64::from(byte & 0x7f);
        if shift > LAST_SHIFT || shift == LAST_SHIFT && bits > 1 {
            return Err((Damage::Packed, PAYLOAD_AT + index));
        }
        difference |= bits << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            word = word.wrapping_add((difference >> 1) ^ (difference & 1).wrapping_neg());
            payload.extend(word.to_le_bytes());
            (difference, shift) = (0, 0);
        }
        if payload.len() as u64 > abi::RECORD_MAX_PAYLOAD {
            return Err(BAD_LENGTH);
        }
    }
    if shift == 0 { Ok(payload) } else { Err((Damage::Packed, KIND_AT)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `lab/serial/records.c` does it.
    fn pack(words: &[u64]) -> Vec<u8> {
        let (mut bytes, mut before) = (Vec::new(), 0_u64);
        for word in words {
            let difference = word.wrapping_sub(before).cast_signed();
            let mut rest = (difference << 1 ^ difference >> 63).cast_unsigned();
            before = *word;
            while rest > 0x7f {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
        }
        bytes
    }

    fn plain(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn words_of_every_size_come_back() {
        let powers = (0..64).map(|bit| 1_u64 << bit);
        let words: Vec<u64> = powers.flat_map(|power| [power - 1, power, power.wrapping_neg(), 0]).collect();
        assert_eq!(unpack(&pack(&words)), Ok(plain(&words)));
        assert_eq!(unpack(&pack(&[1000, 999, 1001, u64::MAX])), Ok(plain(&[1000, 999, 1001, u64::MAX])));
        assert_eq!(unpack(&[]), Ok(Vec::new()));
    }

    #[test]
    fn near_words_take_a_byte_each() {
        assert_eq!(pack(&[3, 4, 4, 2, 66]), [6, 2, 0, 3, 0x80, 1]);
        assert_eq!(unpack(&[6, 2, 0, 3, 0x80, 1]), Ok(plain(&[3, 4, 4, 2, 66])));
    }

    #[test]
    fn what_is_no_word_is_damage() {
        assert_eq!(unpack(&[0x80]), Err((Damage::Packed, 6)));
        let (whole, long) = ([&[0xff; 9][..], &[1]].concat(), [&[0xff; 9][..], &[2]].concat());
        assert_eq!(unpack(&whole), Ok(plain(&[1 << 63])));
        assert_eq!(unpack(&long), Err((Damage::Packed, 33)));
        assert_eq!(unpack(&[0x80; 11]), Err((Damage::Packed, 34)));
    }

    #[test]
    fn no_more_is_unpacked_than_a_payload_may_have() {
        let words = (abi::RECORD_MAX_PAYLOAD / 8) as usize;
        assert_eq!(unpack(&vec![0; words]).map(|payload| payload.len()), Ok(words * 8));
        assert_eq!(unpack(&vec![0; words + 1]), Err(BAD_LENGTH));
    }
}

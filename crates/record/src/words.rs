//! Payloads that are words of 64 bits, little-endian.

use crate::damage::{BAD_LENGTH, Wrong};

/// Exactly so many words.
pub(crate) fn words<const N: usize>(bytes: &[u8]) -> Result<[u64; N], Wrong> {
    let (chunks, rest) = bytes.as_chunks::<8>();
    let chunks: &[[u8; 8]; N] = chunks.try_into().map_err(|_| BAD_LENGTH)?;
    if rest.is_empty() { Ok(chunks.map(u64::from_le_bytes)) } else { Err(BAD_LENGTH) }
}

//! What can be wrong with a stream, and where.

use crate::abi;

/// Where a stream is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("record {record} {damage} at byte {offset}")]
pub struct Error {
    /// Index of the record, from 0.
    pub record: usize,
    /// Offset of the offending place in the stream, in bytes.
    pub offset: usize,
    /// What is wrong there.
    pub damage: Damage,
}

/// What can be wrong with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The stream ends within it.
    #[error("is truncated")]
    Truncated,
    /// It does not begin like a record.
    #[error("does not begin with the magic number")]
    Magic,
    /// It is of another version of the protocol.
    #[error("is of version {0}, not {version}", version = abi::RECORD_VERSION)]
    Version(u16),
    /// Its checksum does not match.
    #[error("does not match its checksum")]
    Checksum,
    /// Its number is out of order.
    #[error("has sequence number {0}, out of order")]
    Sequence(u32),
    /// No such kind.
    #[error("is of unknown kind {0}")]
    Kind(u16),
    /// Its payload is packed, and has a word of more than 64 bits, or ends within one.
    #[error("is packed wrongly")]
    Packed,
    /// Its payload cannot be of that length.
    #[error("has an impossible length")]
    Length,
}

/// What is wrong with a record, and at which of its bytes.
pub(crate) type Wrong = (Damage, usize);

/// A payload cannot be of the length that stands in its header.
pub(crate) const BAD_LENGTH: Wrong = (Damage::Length, 16);

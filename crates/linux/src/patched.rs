//! What boot patches in a kernel's code: alternatives.

use crate::elf::{Elf, Section};

/// An alternative: code of so many bytes that boot replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternative {
    /// The address of the code, as linked.
    pub address: u64,
    /// Its bytes.
    pub length: usize,
    /// The feature, by number as in `arch/x86/include/asm/cpufeatures.h`: 32 × word + bit.
    pub feature: u16,
    /// Whether it is replaced where the processor lacks the feature.
    pub when_absent: bool,
    /// Whether the code is a call through a pointer, which becomes a call of what that points to; the replacement only stands
    /// for it.
    pub direct_call: bool,
    /// What replaces it, before nops fill it up.
    pub replacement: Vec<u8>,
}

/// How an entry of `.altinstructions` is laid out, by its length (`struct alt_instr` in
/// `arch/x86/include/asm/alternative.h`). All begin with two distances of four bytes, to the code and to what replaces it, each
/// from its own place, and all are packed.
#[derive(Debug, Clone, Copy)]
enum Layout {
    /// From Linux 6.3 on: feature and flags of 16 bits, then the two lengths.
    Flags,
    /// Linux 4.0 to 5.12: feature, the two lengths, and how much of the code is padding.
    Padded,
    /// Linux 5.13 to 6.2: feature, then the two lengths.
    Plain,
}

impl Layout {
    fn size(self) -> usize {
        match self {
            Layout::Flags => 14,
            Layout::Padded => 13,
            Layout::Plain => 12,
        }
    }
}

/// In a feature of 16 bits: the code is replaced where the processor lacks it (`ALTINSTR_FLAG_INV`, Linux 5.13 to 6.2).
const FEATURE_INVERTED: u16 = 1 << 15;
/// The same as a flag (`ALT_FLAG_NOT`, from 6.3 on).
const FLAG_NOT: u16 = 1 << 0;
/// A call through a pointer becomes a call of what it points to (`ALT_FLAG_DIRECT_CALL`, from 6.8 on).
const FLAG_DIRECT_CALL: u16 = 1 << 1;
/// Features are numbered 32 × word + bit; Linux 6.18 has 22 words.
const MOST_FEATURES: u16 = 32 * 64;

/// The table of alternatives; empty where there is none, or where it is laid out in no way that makes sense of all of it.
///
/// Which layout a kernel has is not said anywhere. But a wrong one makes nonsense of most entries: code outside of code, and
/// replacements outside of theirs.
pub(crate) fn alternatives(elf: &Elf) -> Vec<Alternative> {
    let (Some(table), Some(replacements)) =
        (elf.table(".altinstructions"), elf.section(".altinstr_replacement"))
    else {
        return Vec::new();
    };
    [Layout::Flags, Layout::Plain, Layout::Padded]
        .into_iter()
        .find_map(|layout| read_all(elf, table, replacements, layout))
        .unwrap_or_default()
}

fn read_all(elf: &Elf, table: &Section, replacements: &Section, layout: Layout) -> Option<Vec<Alternative>> {
    let entries = table.bytes.chunks_exact(layout.size());
    if !entries.remainder().is_empty() {
        return None;
    }
    let places = places(table, layout.size());
    let read = |(entry, place)| alternative(entry, place, replacements, layout);
    entries.zip(places).map(read).map(|found| found.filter(|found| elf.has_code_at(found.address))).collect()
}

/// One entry, or none where it makes no sense.
fn alternative(entry: &[u8], place: u64, replacements: &Section, layout: Layout) -> Option<Alternative> {
    let address = place.wrapping_add_signed(i32_at(entry, 0)?.into());
    let origin = place.wrapping_add(4).wrapping_add_signed(i32_at(entry, 4)?.into());
    let feature = u16::from_le_bytes(*entry.get(8..)?.first_chunk()?);
    let (feature, flags, lengths) = match layout {
        Layout::Flags => (feature, u16::from_le_bytes(*entry.get(10..)?.first_chunk()?), 12),
        Layout::Plain | Layout::Padded => {
            (feature & !FEATURE_INVERTED, if feature & FEATURE_INVERTED == 0 { 0 } else { FLAG_NOT }, 10)
        }
    };
    let (length, replaced) = (usize::from(*entry.get(lengths)?), usize::from(*entry.get(lengths + 1)?));
    let padding = if matches!(layout, Layout::Padded) { usize::from(*entry.get(12)?) } else { 0 };
    let start = usize::try_from(origin.checked_sub(replacements.address)?).ok()?;
    let replacement = replacements.bytes.get(start..)?.get(..replaced)?;
    let makes_sense = feature < MOST_FEATURES
        && flags & !(FLAG_NOT | FLAG_DIRECT_CALL) == 0
        && length > 0
        && replaced.max(padding) <= length;
    makes_sense.then(|| Alternative {
        address,
        length,
        feature,
        when_absent: flags & FLAG_NOT != 0,
        direct_call: flags & FLAG_DIRECT_CALL != 0,
        replacement: replacement.to_vec(),
    })
}

/// The addresses of a table's entries, wherever it claims to be.
fn places(table: &Section, size: usize) -> impl Iterator<Item = u64> + use<> {
    let start = table.address;
    (0u64..).map(move |index| start.wrapping_add(index.wrapping_mul(size as u64)))
}

/// A distance, where an entry has one.
pub(crate) fn i32_at(bytes: &[u8], at: usize) -> Option<i32> {
    bytes.get(at..)?.first_chunk().map(|field| i32::from_le_bytes(*field))
}

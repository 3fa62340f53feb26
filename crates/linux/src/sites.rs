//! Tables that a kernel has of places in its code, besides that of alternatives. Where they are, a boot's symbols say or a section's name.

use crate::elf::Elf;
use crate::patched::i32_at;
use std::ops::Range;

/// The branch of a static key: a nop, or a jump that boot or a tracer writes in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Branch {
    /// The address of the nop or the jump, as linked.
    pub address: u64,
    /// Where the jump leads.
    pub target: u64,
    /// The address of the key.
    pub key: u64,
    /// Whether it jumps while the key is off, instead of while it is on.
    pub jumps_when_off: bool,
}

/// Code that a guest of Xen executes as a call, and that boot replaces elsewhere by an instruction and nops: a place of
/// `.parainstructions`, which kernels before 6.8 have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paravirt {
    /// The address of the code, as linked.
    pub address: u64,
    /// Its bytes.
    pub length: u64,
}

/// The most places that are read of a table: Debian's kernels have some thousand branches and some ten thousand traced functions.
const MOST: usize = 1 << 20;

/// An entry of `__jump_table`: two distances of four bytes, to the code and to where the jump leads, and one of eight to the key, each
/// from its own place (`struct jump_entry` in `include/linux/jump_label.h`).
const BRANCH: usize = 16;

/// In the distance to the key: the branch is likely, and jumps where the key is off.
const IS_LIKELY: u64 = 1;

/// What the lowest two bits of a key's address say.
const FLAGS: u64 = 3;

/// An entry of `.parainstructions`: the address, a kind and the length of a byte each, and padding (`struct paravirt_patch_site`).
const PARAVIRT: usize = 16;

/// The branches of static keys in this range; what makes no sense is left out.
pub(crate) fn branches(elf: &Elf, range: Range<u64>) -> Vec<Branch> {
    let Some(bytes) = elf.bytes_at(range.clone()) else { return Vec::new() };
    let places = (0..).map(|index: u64| range.start.wrapping_add(index.wrapping_mul(BRANCH as u64)));
    let entries = bytes.chunks_exact(BRANCH).zip(places).take(MOST);
    entries
        .filter_map(|(entry, place)| branch(entry, place))
        .filter(|branch| elf.has_code_at(branch.address) && elf.has_code_at(branch.target))
        .collect()
}

fn branch(entry: &[u8], place: u64) -> Option<Branch> {
    let far = i64::from_le_bytes(*entry.get(8..)?.first_chunk()?);
    let key = place.wrapping_add(8).wrapping_add_signed(far);
    Some(Branch {
        address: place.wrapping_add_signed(i32_at(entry, 0)?.into()),
        target: place.wrapping_add(4).wrapping_add_signed(i32_at(entry, 4)?.into()),
        key: key & !FLAGS,
        jumps_when_off: key & IS_LIKELY != 0,
    })
}

/// The places in this range of `__mcount_loc`: where functions call the tracer, or have a nop for it.
pub(crate) fn traced(elf: &Elf, range: Range<u64>) -> Vec<u64> {
    let Some(bytes) = elf.bytes_at(range) else { return Vec::new() };
    let addresses = bytes.as_chunks().0.iter().map(|address| u64::from_le_bytes(*address)).take(MOST);
    addresses.filter(|address| elf.has_code_at(*address)).collect()
}

/// The places of `.parainstructions`; none where the kernel has no such section.
pub(crate) fn paravirt(elf: &Elf) -> Vec<Paravirt> {
    let Some(table) = elf.table(".parainstructions") else { return Vec::new() };
    let read = |entry: &[u8]| {
        let address = u64::from_le_bytes(*entry.first_chunk()?);
        let length = u64::from(*entry.get(9)?);
        Some(Paravirt { address, length })
    };
    let places = table.bytes.chunks_exact(PARAVIRT).take(MOST).filter_map(read);
    places.filter(|place| elf.has_code_at(place.address)).collect()
}

//! A disk for an emulator that cannot load a kernel itself: a boot sector of the lab's own (`lab/sector`), which enters the kernel as QEMU's
//! `-kernel` does. A boot loader for real machines executes tens of millions of instructions, more than the rest of the boot.

use crate::emulator::Trouble as OfProgram;
use crate::lab::{Mode, Trouble};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};

/// The boot sector, for an address that every BIOS knows.
const SECTOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sector.bin"));

/// Bytes in a sector.
const BYTES: usize = 512;

/// The geometry that Bochs is told.
pub(crate) const HEADS: usize = 16;
/// Of a track.
pub(crate) const SECTORS: usize = 63;

/// Bochs takes whole cylinders alone.
const CYLINDER: usize = HEADS * SECTORS * BYTES;

/// Where the kernel finds what is said of its boot: in the second sector, from `START` on (`lab/sector/sector.S`).
const START: u32 = 0x7e00;
const MAGIC: u32 = 0x336e_c578;
const VERSION: u32 = 1;
const MODULES: u32 = START + 64;
const MEMORY: u32 = 0x8000;

/// Parts that the second sector has room for.
const MOST_PARTS: usize = (BYTES - 96) / 16;

/// `XEN_ELFNOTE_PHYS32_ENTRY`, of the name `Xen`.
const ENTRY_NOTE: u32 = 18;

/// No part of memory begins at an odd page.
const PAGE: u32 = 4096;

/// What stands in memory when the kernel is entered.
struct Part<'a> {
    address: u32,
    bytes: &'a [u8],
    /// Bytes in memory; behind those of the file there are zeroes.
    in_memory: u32,
}

/// A disk with a kernel and an archive.
///
/// # Errors
/// When the kernel is no ELF file with an entry for PVH, or has too many parts.
pub(crate) fn disk(kernel: &[u8], archive: &[u8]) -> Result<Vec<u8>, Trouble> {
    let read = match Mode::of_kernel(kernel) {
        Mode::Protected => laid_out::<elf::FileHeader32<Endianness>>(kernel, archive),
        Mode::Long => laid_out::<elf::FileHeader64<Endianness>>(kernel, archive),
    };
    read.ok_or_else(|| OfProgram::Files("the kernel is no ELF file that a disk can be made of".into()).into())
}

fn laid_out<Elf: FileHeader<Endian = Endianness>>(kernel: &[u8], archive: &[u8]) -> Option<Vec<u8>> {
    let (mut parts, entry) = parts::<Elf>(kernel)?;
    let end = parts.iter().map(|part| part.address.checked_add(part.in_memory)).max()??;
    let module = end.checked_next_multiple_of(PAGE)?;
    let length = u32::try_from(archive.len()).ok()?;
    if length > 0 {
        parts.push(Part { address: module, bytes: archive, in_memory: length });
    }
    if parts.len() > MOST_PARTS {
        return None;
    }
    let mut said: Vec<u8> = start(entry, parts.len() as u32, (module, length));
    let mut behind: Vec<u8> = Vec::new();
    for part in &parts {
        let first = 2 + behind.len() / BYTES;
        behind.extend_from_slice(part.bytes);
        behind.resize(behind.len().next_multiple_of(BYTES), 0);
        let sectors = part.bytes.len().div_ceil(BYTES);
        let zeroes = u64::from(part.in_memory).saturating_sub((sectors * BYTES) as u64).div_ceil(4);
        let words = [first as u32, sectors as u32, part.address, zeroes as u32];
        said.extend(words.into_iter().flat_map(u32::to_le_bytes));
    }
    said.resize(BYTES, 0);
    let mut disk = [SECTOR, &said, &behind].concat();
    disk.resize(disk.len().next_multiple_of(CYLINDER), 0);
    Some(disk)
}

/// `struct hvm_start_info`, the kernel's entry and the number of parts for the boot sector, and the list of one module.
fn start(entry: u32, parts: u32, (module, length): (u32, u32)) -> Vec<u8> {
    let command_line = [0, 0];
    let root_pointer = [0, 0];
    let memory_map = [MEMORY, 0, 0, 0];
    let head = [MAGIC, VERSION, 0, 1, MODULES, 0];
    let module = [module, 0, length, 0, 0, 0, 0, 0];
    let words = head.into_iter().chain(command_line).chain(root_pointer).chain(memory_map);
    words.chain([entry, parts]).chain(module).flat_map(u32::to_le_bytes).collect()
}

/// The parts of a kernel, and where it is entered.
fn parts<Elf: FileHeader<Endian = Endianness>>(kernel: &[u8]) -> Option<(Vec<Part<'_>>, u32)> {
    let header = Elf::parse(kernel).ok()?;
    let endian = header.endian().ok()?;
    let (mut parts, mut entry) = (Vec::new(), None);
    for program in header.program_headers(endian, kernel).ok()? {
        let bytes = program.data(endian, kernel).ok()?;
        if program.p_type(endian) == elf::PT_LOAD && !bytes.is_empty() {
            let address = u32::try_from(program.p_paddr(endian).into()).ok()?;
            let in_memory = u32::try_from(program.p_memsz(endian).into()).ok()?;
            parts.push(Part { address, bytes, in_memory });
        }
        let mut notes = program.notes(endian, kernel).ok()?;
        while let Some(note) = notes.as_mut().and_then(|notes| notes.next().ok().flatten()) {
            if note.name() == b"Xen" && note.n_type(endian).0 == ENTRY_NOTE {
                entry = note.desc().first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
            }
        }
    }
    Some((parts, entry?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::kernel;

    fn word(disk: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(*disk[at..].first_chunk().unwrap())
    }

    #[test]
    fn a_disk_has_each_part_of_the_kernel_and_the_archive_where_the_second_sector_says() {
        for mode in [Mode::Long, Mode::Protected] {
            let disk = disk(kernel(mode), b"archive").unwrap();
            assert_eq!((disk.len() % CYLINDER, &disk[510..512]), (0, &[0x55, 0xaa][..]));
            let (count, entry) = (word(&disk, BYTES + 60) as usize, word(&disk, BYTES + 56));
            let parts: Vec<[u32; 4]> = (0..count)
                .map(|part| [0, 4, 8, 12].map(|at| word(&disk, BYTES + 96 + part * 16 + at)))
                .collect();
            let is_entered = |[_, sectors, address, _]: &[u32; 4]| {
                (*address..*address + sectors * BYTES as u32).contains(&entry)
            };
            assert!(parts.iter().any(is_entered), "{parts:x?} {entry:x}");
            let [sector, sectors, address, zeroes] = parts[count - 1];
            let archive = sector as usize * BYTES;
            assert_eq!((&disk[archive..archive + 7], sectors, zeroes), (&b"archive"[..], 1, 0));
            assert_eq!([word(&disk, BYTES + 64), word(&disk, BYTES + 72)], [address, 7]);
            assert!(
                parts[..count - 1].iter().all(|[_, sectors, from, zeroes]| {
                    from + sectors * BYTES as u32 + zeroes * 4 <= address
                })
            );
        }
    }

    #[test]
    fn what_is_no_kernel_is_refused() {
        let why = disk(b"\x7fELF\x02", b"").unwrap_err().to_string();
        assert!(why.ends_with("the kernel is no ELF file that a disk can be made of"), "{why}");
        assert!(disk(b"", b"").is_err());
    }
}

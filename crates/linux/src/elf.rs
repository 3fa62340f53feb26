//! The ELF file of a kernel: what of it the other modules look at.

use crate::Why;
use object::LittleEndian as LE;
use object::elf::{
    EM_386, EM_AARCH64, EM_X86_64, FileHeader64, Machine, NoteType, ProgramHeader64, SHF_EXECINSTR,
    SHT_NOBITS,
};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use std::ops::Range;

/// The type of the Xen note with the address that PVH enters (`xen/include/public/elfnote.h`).
const PHYS32_ENTRY: NoteType = NoteType(18);

/// The most bytes of a table. Those of Debian's kernels have at most a few hundred KB.
const TABLE_LIMIT: usize = 16 << 20;

/// A section that is in memory.
#[derive(Debug, Clone)]
pub(crate) struct Section<'a> {
    pub name: &'a [u8],
    pub address: u64,
    pub bytes: &'a [u8],
    is_code: bool,
}

impl Section<'_> {
    /// The addresses in it.
    pub fn range(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.bytes.len() as u64)
    }
}

/// A kernel's ELF file.
#[derive(Debug)]
pub(crate) struct Elf<'a> {
    sections: Vec<Section<'a>>,
    /// The addresses of code, ascending and apart.
    code: Vec<Range<u64>>,
    /// Whether a hypervisor can enter it as PVH does, without what stands before a compressed kernel.
    pub has_pvh_entry: bool,
}

/// Whether these are the bytes of an ELF file.
pub(crate) fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF")
}

impl<'a> Elf<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Why> {
        let damaged = |error: object::Error| Why::Damaged(format!("its ELF file is not whole ({error})"));
        if let Some(why) = foreign(bytes) {
            return Err(Why::Unsuitable(why.into()));
        }
        let header = FileHeader64::<LE>::parse(bytes).map_err(damaged)?;
        let table = header.sections(LE, bytes).map_err(damaged)?;
        let mut sections = Vec::new();
        for section in
            table.iter().filter(|section| section.sh_addr(LE) != 0 && section.sh_type(LE) != SHT_NOBITS)
        {
            sections.push(Section {
                name: table.section_name(LE, section).map_err(damaged)?,
                address: section.sh_addr(LE),
                bytes: section.data(LE, bytes).map_err(damaged)?,
                is_code: section.sh_flags(LE).contains(SHF_EXECINSTR),
            });
        }
        let segments = header.program_headers(LE, bytes).map_err(damaged)?;
        let has_pvh_entry = segments.iter().any(|segment| has_pvh_entry(segment, bytes));
        Ok(Self { code: code(&sections), sections, has_pvh_entry })
    }

    /// The section of this name, if it is a table of a length that a kernel can have.
    pub fn table(&self, name: &str) -> Option<&Section<'a>> {
        self.section(name).filter(|section| section.bytes.len() <= TABLE_LIMIT)
    }

    /// The section of this name.
    pub fn section(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| section.name == name.as_bytes())
    }

    /// The code from this address to the end of its section.
    pub fn code_at(&self, address: u64) -> Option<&'a [u8]> {
        let section =
            self.sections.iter().find(|section| section.is_code && section.range().contains(&address))?;
        section.bytes.get(usize::try_from(address - section.address).ok()?..)
    }

    /// The bytes that the file has for these addresses; none where they are not all of one section, or too many for a table.
    pub fn bytes_at(&self, range: Range<u64>) -> Option<&'a [u8]> {
        let section = self.sections.iter().find(|section| section.range().contains(&range.start))?;
        let length = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        let bytes = section.bytes.get(usize::try_from(range.start - section.address).ok()?..)?;
        bytes.get(..length).filter(|bytes| bytes.len() <= TABLE_LIMIT)
    }

    /// Whether code is at this address.
    pub fn has_code_at(&self, address: u64) -> bool {
        let before = self.code.partition_point(|range| range.end <= address);
        self.code.get(before).is_some_and(|range| range.contains(&address))
    }
}

/// Where code is, in ranges that neither meet nor overlap.
fn code(sections: &[Section]) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> =
        sections.iter().filter(|section| section.is_code).map(Section::range).collect();
    ranges.sort_by_key(|range| range.start);
    ranges.dedup_by(|next, range| {
        let joins = next.start <= range.end;
        if joins {
            range.end = range.end.max(next.end);
        }
        joins
    });
    ranges
}

/// Why an ELF file is for another processor.
fn foreign(bytes: &[u8]) -> Option<&'static str> {
    let machine = Machine(u16::from_le_bytes(*bytes.get(18..)?.first_chunk()?));
    let is_long = bytes.get(4) == Some(&2);
    match machine {
        EM_X86_64 if is_long => None,
        EM_386 | EM_X86_64 => Some("it is a 32-bit kernel; name one for x86-64 (Debian's amd64)"),
        EM_AARCH64 => Some("it is a kernel for arm64; name one for x86-64 (Debian's amd64)"),
        _ => Some("it is for another processor; name a kernel for x86-64 (Debian's amd64)"),
    }
}

fn has_pvh_entry(segment: &ProgramHeader64<LE>, bytes: &[u8]) -> bool {
    let Ok(Some(mut notes)) = segment.notes(LE, bytes) else { return false };
    while let Ok(Some(note)) = notes.next() {
        if note.name() == b"Xen" && note.n_type(LE) == PHYS32_ENTRY {
            return true;
        }
    }
    false
}

//! A program of a probe and of the memory that a path needs: the probe's file, with that memory as further segments, and with the
//! address of the path in the variable by which the row `call` finds its function.

use super::Error;
use super::memory::Segment;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, elf};

/// What the probe calls, and what it must answer (`probe/x86_64/start.S`).
const TARGET: &str = "call_target";
const ANSWER: &str = "call_answer";

const PAGE: usize = 4096;

/// Of an ELF file of 64 bits: where its header says where the program headers are, and how many (System V ABI, 4.2).
const HEADERS_AT: usize = 32;
const HEADERS_COUNT: usize = 56;

/// The probe with these segments, whose row `call` calls `target` and expects `answer`.
pub(super) fn program(
    probe: &[u8],
    segments: &[Segment],
    target: u64,
    answer: u64,
) -> Result<Vec<u8>, Error> {
    let damaged = |_| Error::Probe("its file is damaged");
    let header = elf::FileHeader64::<Endianness>::parse(probe).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    let own = header.program_headers(endian, probe).map_err(damaged)?;
    let mut headers: Vec<[u8; 56]> = Vec::new();
    let first = usize::try_from(header.e_phoff.get(endian)).unwrap_or(usize::MAX);
    for place in 0..own.len() {
        let start = first.saturating_add(place * 56);
        let bytes = probe.get(start..start.saturating_add(56)).and_then(|bytes| bytes.try_into().ok());
        headers.push(bytes.ok_or(Error::Probe("its file is damaged"))?);
    }
    let mut file = probe.to_vec();
    for (symbol, value) in [(TARGET, target), (ANSWER, answer)] {
        let at = offset_of(probe, own, endian, symbol)?;
        let place = file.get_mut(at..at + 8).ok_or(Error::Probe("its file is damaged"))?;
        place.copy_from_slice(&value.to_le_bytes());
    }
    let mut sorted: Vec<&Segment> = segments.iter().collect();
    sorted.sort_by_key(|segment| segment.address);
    for segment in sorted {
        // Offsets and addresses agree in their place in a page.
        let within = usize::try_from(segment.address).unwrap_or(0) % PAGE;
        file.resize(file.len().next_multiple_of(PAGE) + within, 0);
        headers.push(load(segment, file.len() as u64));
        file.extend(&segment.bytes);
    }
    file.resize(file.len().next_multiple_of(8), 0);
    let at = file.len() as u64;
    headers.iter().for_each(|header| file.extend(header));
    let count = u16::try_from(headers.len()).map_err(|_| Error::Probe("it has too many parts"))?;
    write(&mut file, HEADERS_AT, &at.to_le_bytes())?;
    write(&mut file, HEADERS_COUNT, &count.to_le_bytes())?;
    Ok(file)
}

fn write(file: &mut [u8], at: usize, bytes: &[u8]) -> Result<(), Error> {
    let place = file.get_mut(at..at + bytes.len()).ok_or(Error::Probe("its file is damaged"))?;
    place.copy_from_slice(bytes);
    Ok(())
}

/// Elf64_Phdr of a segment whose bytes are at this offset.
fn load(segment: &Segment, offset: u64) -> [u8; 56] {
    let flags = elf::PF_R | if segment.executable { elf::PF_X } else { elf::PF_W };
    let mut out = [0; 56];
    let words = [
        u64::from(elf::PT_LOAD.0) | u64::from(flags.0) << 32,
        offset,
        segment.address,
        segment.address,
        segment.bytes.len() as u64,
        segment.length,
        PAGE as u64,
    ];
    for (place, word) in out.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    out
}

/// Where in the file a variable of the probe is.
fn offset_of(
    probe: &[u8],
    parts: &[elf::ProgramHeader64<Endianness>],
    endian: Endianness,
    symbol: &str,
) -> Result<usize, Error> {
    let file = object::File::parse(probe).map_err(|_| Error::Probe("its file is damaged"))?;
    let found = file.symbols().find(|known| known.name() == Ok(symbol)).map(|known| known.address());
    let address = found.ok_or(Error::Probe("it has no variable for a path"))?;
    let offset = parts.iter().find_map(|part| {
        let from = address.checked_sub(part.p_vaddr(endian))?;
        (part.p_type(endian) == elf::PT_LOAD && from + 8 <= part.p_filesz(endian))
            .then(|| part.p_offset(endian) + from)
    });
    offset.and_then(|offset| usize::try_from(offset).ok()).ok_or(Error::Probe("its variable has no bytes"))
}

//! A program without what only debuggers and linkers read.

use object::elf::{FileHeader32, FileHeader64, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind};

/// The bytes of an executable ELF file without what is not loaded: symbols, debugging information and the table of sections.
/// Bytes that are no such file come back as they are. A program that reads its own file, as an archive appended to it, does
/// not find that any more.
pub fn stripped(bytes: &[u8]) -> Vec<u8> {
    let cut = match FileKind::parse(bytes) {
        // Where e_shoff, and e_shnum with e_shstrndx, are.
        Ok(FileKind::Elf64) => loaded_end::<FileHeader64<Endianness>>(bytes).map(|end| (end, 40..48, 60..64)),
        Ok(FileKind::Elf32) => loaded_end::<FileHeader32<Endianness>>(bytes).map(|end| (end, 32..36, 48..52)),
        _ => None,
    };
    let Some((end, table, counts)) = cut else { return bytes.to_vec() };
    let mut out = bytes[..end].to_vec();
    out[table].fill(0);
    out[counts].fill(0);
    out
}

/// The end of what is loaded, in bytes from the file's beginning; none where that is not in the file.
fn loaded_end<Elf: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Option<usize> {
    let header = Elf::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, bytes).ok()?;
    let table = header.e_phoff(endian).into() + size_of_val(segments) as u64;
    let loaded = segments.iter().filter(|segment| segment.p_type(endian) == PT_LOAD);
    let ends =
        loaded.map(|segment| segment.p_offset(endian).into().checked_add(segment.p_filesz(endian).into()));
    let end = usize::try_from(ends.collect::<Option<Vec<u64>>>()?.into_iter().max()?.max(table)).ok()?;
    (end <= bytes.len()).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    #[test]
    fn a_program_still_runs() {
        let own = std::fs::read("/proc/self/exe").unwrap();
        let short = stripped(&own);
        assert!(short.len() < own.len() / 2, "{} of {} bytes", short.len(), own.len());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        std::fs::write(&file, &short).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let output = Command::new(&file).arg("--list").output().unwrap();
        assert!(output.status.success());
        assert!(String::from_utf8(output.stdout).unwrap().contains("a_program_still_runs: test"));
        assert_eq!(stripped(&short), short);
    }

    #[test]
    fn what_is_no_program_stays_as_it_is() {
        let own = std::fs::read("/proc/self/exe").unwrap();
        for bytes in [&b""[..], b"#!/bin/sh", &own[..3], &own[..64], &own[..4096]] {
            assert_eq!(stripped(bytes), bytes);
        }
        for at in 0..64 {
            let mut changed = own[..1 << 16].to_vec();
            changed[at] ^= 0xff;
            stripped(&changed);
        }
    }
}

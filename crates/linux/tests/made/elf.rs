//! The ELF file of a made-up kernel.
#![allow(dead_code)] // each test uses a part of it

/// Where the sections of a made-up kernel are.
pub const TEXT: u64 = 0xffff_ffff_8100_0000;
pub const RODATA: u64 = 0xffff_ffff_8200_0000;
pub const TABLE: u64 = 0xffff_ffff_8300_0000;
pub const REPLACEMENTS: u64 = 0xffff_ffff_8300_8000;

pub const BANNER: &str = "Linux version 6.1.0-1-made (nobody@nowhere) (cc 12) #1 SMP 2026-01-01";

/// A section's name, address, bytes, and whether it is code.
pub type Section = (&'static str, u64, Vec<u8>, bool);

/// The sections that every kernel has.
pub fn sections() -> Vec<Section> {
    let early = "Linux version 6.1.0-1-made (nobody@nowhere) (cc 12) # ";
    let rodata = format!("\0Linux version %s\n\0{early}\n\0{BANNER}\n\0");
    vec![(".text", TEXT, vec![0x90; 64], true), (".rodata", RODATA, rodata.into_bytes(), false)]
}

/// An ELF file with these sections, and with the note of PVH's entry if it is wanted.
pub fn elf(sections: &[Section], pvh: bool) -> Vec<u8> {
    let (kind, name) = (if pvh { 18u32 } else { 17 }, b"Xen\0");
    let note = [&4u32.to_le_bytes()[..], &8u32.to_le_bytes(), &kind.to_le_bytes(), name, &[0; 8]].concat();
    let mut out = vec![0; 64 + 56];
    let note_at = out.len();
    out.extend_from_slice(&note);
    let mut names = vec![0u8];
    let mut headers = vec![[0; 64]];
    let add = |out: &mut Vec<u8>,
               names: &mut Vec<u8>,
               (name, address, bytes, is_code): &Section,
               kind: u32| {
        let header =
            section_header(names.len(), kind, u64::from(*is_code) << 2 | 2, *address, out.len(), bytes.len());
        names.extend_from_slice(name.as_bytes());
        names.push(0);
        out.extend_from_slice(bytes);
        header
    };
    for section in sections {
        headers.push(add(&mut out, &mut names, section, 1));
    }
    let strings = [&names[..], b".shstrtab\0"].concat();
    headers.push(add(&mut out, &mut names, &(".shstrtab", 0, strings, false), 3));
    let table_at = out.len();
    headers.iter().for_each(|header| out.extend_from_slice(header));
    let count = headers.len() as u16;
    put(&mut out, 0, b"\x7fELF\x02\x01\x01");
    put(&mut out, 16, &2u16.to_le_bytes());
    put(&mut out, 18, &62u16.to_le_bytes());
    put(&mut out, 20, &1u32.to_le_bytes());
    put(&mut out, 32, &64u64.to_le_bytes());
    put(&mut out, 40, &(table_at as u64).to_le_bytes());
    for (at, value) in [(52, 64), (54, 56), (56, 1), (58, 64), (60, count), (62, count - 1)] {
        put(&mut out, at, &u16::to_le_bytes(value));
    }
    put(&mut out, 64, &4u32.to_le_bytes());
    for (at, value) in [(72, note_at), (96, note.len()), (104, note.len()), (112, 4)] {
        put(&mut out, at, &(value as u64).to_le_bytes());
    }
    out
}

fn section_header(name: usize, kind: u32, flags: u64, address: u64, at: usize, length: usize) -> [u8; 64] {
    let mut header = [0; 64];
    put(&mut header, 0, &(name as u32).to_le_bytes());
    put(&mut header, 4, &kind.to_le_bytes());
    for (place, value) in [(8, flags), (16, address), (24, at as u64), (32, length as u64), (48, 1)] {
        put(&mut header, place, &value.to_le_bytes());
    }
    header
}

/// Replaces bytes.
pub fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    out[at..at + bytes.len()].copy_from_slice(bytes);
}

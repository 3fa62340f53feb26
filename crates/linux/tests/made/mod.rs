//! Kernels of a few hundred bytes: no program, but files as a kernel's build makes them.
#![allow(dead_code)] // each test uses a part of it

use std::io::Write;

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

/// A bzImage of protocol 2.15 around a payload, whose last four bytes are what its build put there.
pub fn bzimage(payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 1024 + 16];
    out[0x1f1] = 1;
    put(&mut out, 0x1fe, &[0x55, 0xaa]);
    put(&mut out, 0x202, b"HdrS");
    put(&mut out, 0x206, &0x20fu16.to_le_bytes());
    put(&mut out, 0x20e, &0x180u16.to_le_bytes());
    put(&mut out, 0x236, &0x7fu16.to_le_bytes());
    put(&mut out, 0x248, &16u32.to_le_bytes());
    put(&mut out, 0x24c, &(payload.len() as u32).to_le_bytes());
    put(&mut out, 0x380, b"6.1.0-1-made (nobody@nowhere) #1 SMP 2026-01-01\0");
    out.extend_from_slice(payload);
    out
}

/// The payload as a kernel's build makes it: packed, with the unpacked length behind (gzip has that already).
pub fn payload(packer: &str, image: &[u8]) -> Vec<u8> {
    let mut packed = pack(packer, image);
    if packer != "gzip" {
        packed.extend_from_slice(&(image.len() as u32).to_le_bytes());
    }
    packed
}

/// The ways to compress that are supported.
pub const PACKERS: [&str; 6] = ["gzip", "xz", "zstd", "lz4", "bzip2", "lzma"];

/// Packs bytes.
pub fn pack(packer: &str, bytes: &[u8]) -> Vec<u8> {
    match packer {
        "gzip" => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        }
        "xz" => {
            let mut options = lzma_rust2::XzOptions::with_preset(6);
            options.set_check_sum_type(lzma_rust2::CheckType::Crc32);
            options.prepend_pre_filter(lzma_rust2::FilterType::BcjX86, 0);
            let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        }
        "zstd" => ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest),
        "lz4" => {
            let mut out = b"\x02\x21\x4c\x18".to_vec();
            for block in bytes.chunks(8 << 20) {
                let packed = lz4_flex::block::compress(block);
                out.extend_from_slice(&(packed.len() as u32).to_le_bytes());
                out.extend_from_slice(&packed);
            }
            out
        }
        "bzip2" => {
            let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        }
        "lzma" => {
            let options = lzma_rust2::LzmaOptions::with_preset(6);
            let mut writer = lzma_rust2::LzmaWriter::new_use_header(Vec::new(), &options, None).unwrap();
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        }
        other => panic!("no packer {other}"),
    }
}

/// A Debian package with these files.
pub fn package(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, path, *bytes).unwrap();
    }
    let data = pack("xz", &archive.into_inner().unwrap());
    let mut out = b"!<arch>\n".to_vec();
    for (name, bytes) in
        [("debian-binary", &b"2.0\n"[..]), ("control.tar.xz", b"odd"), ("data.tar.xz", &data)]
    {
        writeln!(out, "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`", 0, 0, 0, 100_644, bytes.len()).unwrap();
        out.extend_from_slice(bytes);
        out.resize(out.len().next_multiple_of(2), b'\n');
    }
    out
}

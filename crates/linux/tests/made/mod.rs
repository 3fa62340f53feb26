//! Kernels of a few hundred bytes: no program, but files as a kernel's build makes them.
#![allow(dead_code)] // each test uses a part of it

mod elf;

pub use elf::*;
use std::io::{Read, Write};

/// Where the payload of a bzImage begins.
pub const PAYLOAD: usize = 1024 + 16;

/// A bzImage of protocol 2.15 around a payload, whose last four bytes are what its build put there.
pub fn bzimage(payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0; PAYLOAD];
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
    summed(out)
}

/// The bzImage with its checksum at its end, and with its length in its header.
fn summed(mut file: Vec<u8>) -> Vec<u8> {
    file.resize(file.len().next_multiple_of(16) + 12, 0);
    let paragraphs = (file.len() + 4 - 1024) as u32 / 16;
    put(&mut file, 0x1f4, &paragraphs.to_le_bytes());
    let mut sum = flate2::Crc::new();
    sum.update(&file);
    // What is behind its own remainder leaves none.
    file.extend_from_slice(&(!sum.sum()).to_le_bytes());
    file
}

/// The same bzImage, signed: with a signature behind it, and an EFI header that says where that is.
pub fn signed(payload: &[u8]) -> Vec<u8> {
    const EFI: usize = 0x40;
    let mut file = bzimage(payload);
    file.truncate(PAYLOAD + payload.len());
    put(&mut file, 0x3c, &(EFI as u32).to_le_bytes());
    put(&mut file, EFI, b"PE\0\0");
    let mut file = summed(file);
    let (place, signature) = (file.len() as u32, [0x5a; 24]);
    put(&mut file, EFI + 24 + 64, &0x1234u32.to_le_bytes());
    put(&mut file, EFI + 24 + 144, &place.to_le_bytes());
    put(&mut file, EFI + 24 + 148, &(signature.len() as u32).to_le_bytes());
    file.extend_from_slice(&signature);
    file
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
    debian(&[("data.tar.xz", &pack("xz", &archive.into_inner().unwrap()))])
}

/// The same behind a file of so many zeros, which take little room.
pub fn package_behind(zeros: u64, files: &[(&str, &[u8])]) -> Vec<u8> {
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(gzip);
    let mut add = |path: &str, length: u64, bytes: &mut dyn Read| {
        let mut header = tar::Header::new_gnu();
        header.set_size(length);
        header.set_mode(0o644);
        archive.append_data(&mut header, path, bytes).unwrap();
    };
    add("boot/a", zeros, &mut std::io::repeat(0).take(zeros));
    files.iter().for_each(|(path, bytes)| add(path, bytes.len() as u64, &mut &bytes[..]));
    debian(&[("data.tar.gz", &archive.into_inner().unwrap().finish().unwrap())])
}

/// A package with these members behind those that every package has.
fn debian(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    let usual = [("debian-binary", &b"2.0\n"[..]), ("control.tar.xz", b"odd")];
    for (name, bytes) in usual.iter().chain(members) {
        writeln!(out, "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`", 0, 0, 0, 100_644, bytes.len()).unwrap();
        out.extend_from_slice(bytes);
        out.resize(out.len().next_multiple_of(2), b'\n');
    }
    out
}

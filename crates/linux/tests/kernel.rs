//! Kernels by their files, which are made up here, whole and not.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

mod made;

use linux::{Alternative, Kernel, Load, Why, automatic};
use made::{
    BANNER, PACKERS, PAYLOAD, REPLACEMENTS, RODATA, TABLE, TEXT, bzimage, elf, pack, payload, put, sections,
    signed,
};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn parse(bytes: Vec<u8>) -> Result<Kernel, Why> {
    Kernel::parse(bytes, &AtomicBool::new(false))
}

fn read(file: &Path) -> Result<Kernel, linux::Error> {
    Kernel::read(file, &AtomicBool::new(false))
}

fn whole() -> Vec<u8> {
    elf(&sections(), true)
}

/// Why these bytes are no kernel.
fn refused(bytes: Vec<u8>) -> String {
    parse(bytes).unwrap_err().to_string()
}

#[test]
fn every_way_to_compress_gives_the_same_kernel() {
    for packer in PACKERS {
        let kernel =
            parse(bzimage(&payload(packer, &whole()))).unwrap_or_else(|why| panic!("{packer}: {why}"));
        assert_eq!(kernel.release, "6.1.0-1-made", "{packer}");
        assert_eq!(kernel.banner, BANNER, "{packer}");
        assert_eq!(kernel.load, Load::Direct, "{packer}");
        assert_eq!(kernel.text, Some(TEXT), "{packer}");
        assert_eq!(kernel.bytes, whole(), "{packer}");
    }
}

#[test]
fn a_bzimage_that_is_cut_in_its_header_was_called_an_efi_program() {
    let mut file = bzimage(&payload("gzip", &whole()));
    file[..2].copy_from_slice(b"MZ");
    for length in [2, 300, 0x205, 0x24f] {
        let why = refused(file[..length].to_vec());
        assert!(why.starts_with("it is damaged: ") && !why.contains("EFI"), "{length}: {why}");
    }
}

#[test]
fn auto_passes_over_a_kernel_that_is_damaged_and_says_so() {
    let root = tempfile::tempdir().unwrap();
    let boot = root.path().join("boot");
    std::fs::create_dir(&boot).unwrap();
    let file = bzimage(&payload("gzip", &whole()));
    std::fs::write(boot.join("vmlinuz-6.1"), &file).unwrap();
    std::fs::write(boot.join("vmlinuz-6.12"), &file[..file.len() / 2]).unwrap();
    let mut said = Vec::new();
    let kernel =
        automatic(root.path(), &AtomicBool::new(false), &mut |error| said.push(error.to_string())).unwrap();
    assert_eq!((kernel.file, said.len()), (boot.join("vmlinuz-6.1"), 1));
    assert!(said[0].contains("vmlinuz-6.12: it is damaged: "), "{said:?}");
}

/// Whatever is wrong with a kernel's file, it is one sentence, and never another kernel.
#[test]
fn a_byte_that_changed_anywhere_is_damage_or_nothing_that_matters() {
    let file = bzimage(&payload("xz", &whole()));
    for place in 0..200 {
        let mut changed = file.clone();
        changed[place * (file.len() - 1) / 199] ^= 0x41;
        match parse(changed) {
            Ok(kernel) => assert!(kernel.bytes == whole() || kernel.load == Load::Compressed, "{place}"),
            Err(why) => assert_eq!(why.to_string().lines().count(), 1, "{place}: {why}"),
        }
    }
}

/// A kernel of this release.
fn of_release(release: &str) -> Vec<u8> {
    let mut sections = sections();
    sections[1].2 = BANNER.replace("6.1.0-1-made", release).into_bytes();
    elf(&sections, true)
}

#[test]
fn a_bit_that_changed_in_a_kernel_packed_with_lz4_was_not_noticed() {
    for packer in ["lz4", "lzma"] {
        let later = of_release("6.15.0-1-made");
        let mut of_later = bzimage(&payload(packer, &later));
        put(&mut of_later, 0x380, b"6.15.0-1-made ");
        assert_eq!(parse(of_later).unwrap().bytes, later, "it may have no checksum");
        let file = bzimage(&payload(packer, &whole()));
        for at in [0x1e0, file.len() - 30] {
            let mut changed = file.clone();
            changed[at] ^= 4;
            let why = refused(changed);
            assert!(why.starts_with("it is damaged: "), "{packer} {at:#x}: {why}");
        }
    }
}

#[test]
fn a_changed_header_gave_a_kernel_another_release() {
    for packer in PACKERS {
        let mut file = bzimage(&payload(packer, &whole()));
        put(&mut file, 0x380, b"9.99.666 ");
        let expected = "it is damaged: its header names the release 9.99.666, and the kernel in it is 6.1.0-1-made; copy or \
                        download it again";
        assert_eq!(refused(file), expected, "{packer}");
    }
}

#[test]
fn a_header_without_a_release_leaves_that_of_the_kernel() {
    let mut file = bzimage(&payload("zstd", &whole()));
    put(&mut file, 0x380, b"\x01");
    assert_eq!(parse(file).unwrap().release, "6.1.0-1-made");
}

#[test]
fn a_file_without_its_last_byte_was_taken_for_whole() {
    for packer in PACKERS {
        let file = bzimage(&payload(packer, &whole()));
        let why = refused(file[..file.len() - 1].to_vec());
        assert_eq!(why, "it is damaged: its end is missing; copy or download it again", "{packer}");
    }
}

#[test]
fn a_signature_may_follow_the_kernel_but_not_a_part_of_one() {
    for packer in PACKERS {
        let file = signed(&payload(packer, &whole()));
        assert_eq!(parse(file.clone()).unwrap().bytes, whole(), "{packer}");
        for length in [file.len() - 1, file.len() - 24] {
            assert!(refused(file[..length].to_vec()).contains("its end is missing"), "{packer} {length}");
        }
        // Who copies a kernel from a disk copies whole blocks.
        let padded = [&file[..], &[0; 512]].concat();
        assert_eq!(parse(padded).unwrap().bytes, whole(), "{packer}");
    }
}

#[test]
fn a_kernel_that_ends_before_what_is_in_it_is_damaged() {
    let mut file = bzimage(&payload("lz4", &whole()));
    put(&mut file, 0x1f4, &1u32.to_le_bytes());
    assert!(refused(file).contains("its header says that it ends before the kernel in it does"));
}

#[test]
fn a_vmlinux_may_be_compressed_or_not() {
    let plain = parse(whole()).unwrap();
    assert_eq!((plain.release.as_str(), plain.load), ("6.1.0-1-made", Load::Direct));
    for packer in PACKERS {
        assert_eq!(parse(pack(packer, &whole())).unwrap(), plain, "{packer}");
    }
}

#[test]
fn a_kernel_that_was_packed_can_unpack_itself() {
    let file = bzimage(&payload("gzip", &whole()));
    let kernel = parse(file.clone()).unwrap().compressed().unwrap();
    assert_eq!((kernel.load, &kernel.bytes, kernel.text), (Load::Compressed, &file, Some(TEXT)));
    assert_eq!(kernel.compressed(), Some(kernel));
    assert_eq!(parse(whole()).unwrap().compressed(), None);
}

#[test]
fn a_kernel_of_more_than_one_block_of_lz4_is_whole() {
    let mut sections = sections();
    let noise: Vec<u8> = (0..9u32 << 20).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    sections.push((".data", 0xffff_ffff_8400_0000, noise, false));
    let image = elf(&sections, true);
    let kernel = parse(bzimage(&payload("lz4", &image))).unwrap();
    assert!(kernel.bytes == image);
}

#[test]
fn a_kernel_that_cannot_be_entered_directly_boots_as_the_file_that_it_is() {
    let file = bzimage(&payload("gzip", &elf(&sections(), false)));
    let kernel = parse(file.clone()).unwrap();
    assert_eq!(kernel.load, Load::Compressed);
    assert_eq!(kernel.bytes, file);
    let why = refused(elf(&sections(), false));
    assert!(why.contains("CONFIG_PVH") && !why.contains("  "), "{why}");
}

/// An entry of the table of alternatives that stands at this offset: code at the text's beginning, replaced by two bytes.
fn entry(layout: &str, offset: u64) -> Vec<u8> {
    let code = (TEXT + 8).wrapping_sub(TABLE + offset) as u32;
    let replacement = (REPLACEMENTS + 2).wrapping_sub(TABLE + offset + 4) as u32;
    let mut out = [code.to_le_bytes(), replacement.to_le_bytes()].concat();
    match layout {
        "flags" => out.extend_from_slice(&[0x6b, 1, 3, 0, 5, 2]),
        "plain" => out.extend_from_slice(&[0x6b, 0x81, 5, 2]),
        "padded" => out.extend_from_slice(&[0x6b, 0x81, 5, 2, 3]),
        other => panic!("no layout {other}"),
    }
    out
}

#[test]
fn alternatives_are_read_in_the_layout_that_makes_sense_of_all() {
    for (layout, size) in [("flags", 14), ("plain", 12), ("padded", 13)] {
        // So many that each length divides the table's.
        let count = 12 * 13 * 14;
        let table: Vec<u8> = (0..count).flat_map(|i| entry(layout, i * size)).collect();
        let mut sections = sections();
        sections.push((".altinstructions", TABLE, table, false));
        sections.push((".altinstr_replacement", REPLACEMENTS, vec![1, 2, 3, 4], true));
        let kernel = parse(elf(&sections, true)).unwrap();
        let expected = Alternative {
            address: TEXT + 8,
            length: 5,
            feature: 0x16b,
            when_absent: true,
            direct_call: layout == "flags",
            replacement: vec![3, 4],
        };
        assert_eq!(kernel.alternatives, vec![expected; count as usize], "{layout}");
    }
}

#[test]
fn code_is_found_by_its_address() {
    let mut sections = sections();
    sections.push((".init.text", 0xffff_ffff_8400_0000, vec![1, 2, 3, 4], true));
    let kernel = parse(elf(&sections, true)).unwrap();
    assert_eq!(kernel.code_at(TEXT + 60), Some(&[0x90; 4][..]));
    assert_eq!(kernel.code_at(0xffff_ffff_8400_0001), Some(&[2, 3, 4][..]));
    for address in [0, TEXT - 1, TEXT + 64, RODATA, 0xffff_ffff_8400_0004, u64::MAX] {
        assert_eq!(kernel.code_at(address), None, "{address:#x}");
    }
    let compressed = parse(bzimage(&payload("gzip", &elf(&sections, false)))).unwrap();
    assert_eq!(compressed.code_at(TEXT), None);
}

#[test]
fn a_table_of_alternatives_that_makes_no_sense_is_none() {
    let mut bad = entry("plain", 0);
    bad[9] = 0x7f; // no such feature
    for table in [bad, entry("plain", 0)[..11].to_vec(), entry("plain", 4)] {
        let mut sections = sections();
        sections.push((".altinstructions", TABLE, table, false));
        sections.push((".altinstr_replacement", REPLACEMENTS, vec![1, 2, 3], true));
        assert_eq!(parse(elf(&sections, true)).unwrap().alternatives, []);
    }
}

#[test]
fn a_table_at_the_end_of_all_addresses_makes_no_sense() {
    let mut sections = sections();
    sections.push((".altinstructions", u64::MAX - 7, vec![0; 12 * 13 * 14], false));
    sections.push((".altinstr_replacement", u64::MAX - 7, vec![0; 64], true));
    assert_eq!(parse(elf(&sections, true)).unwrap().alternatives, []);
}

#[test]
fn a_kernel_knows_the_file_that_it_is_from() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("any-name");
    std::fs::write(&file, whole()).unwrap();
    assert_eq!(read(&file).unwrap().file, file);
}

#[test]
fn a_release_that_is_no_file_name_is_none() {
    let mut sections = sections();
    sections[1].2 = b"Linux version 6/../../etc/passwd (x)\n".to_vec();
    assert_eq!(parse(elf(&sections, true)).unwrap().release, "");
}

#[test]
fn a_package_need_not_be_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("linux-image.deb");
    let kernel = bzimage(&payload("xz", &whole()));
    let files: [(&str, &[u8]); 3] = [
        ("boot/System.map-6.1.0-1-made", b"nothing"),
        ("boot/config-6.1.0-1-made", b"CONFIG_PVH=y\n"),
        ("boot/vmlinuz-6.1.0-1-made", &kernel),
    ];
    std::fs::write(&file, made::package(&files)).unwrap();
    assert_eq!(read(&file).unwrap().bytes, whole());

    std::fs::write(&file, made::package(&files[..2])).unwrap();
    assert!(read(&file).unwrap_err().to_string().contains("no kernel in this package"));
}

/// A package of a few MB with a file of many GB before the kernel kept kentry busy for a minute, and signals were not heard.
#[test]
fn a_package_is_unpacked_so_far_and_no_farther() {
    let kernel = bzimage(&payload("xz", &whole()));
    let kernel = ("boot/vmlinuz-6.1.0-1-made", kernel.as_slice());
    let refused = |blanks: u64, stop: bool| {
        let package = made::package_behind(blanks, &[kernel]);
        assert!(package.len() < 8 << 20, "{} bytes", package.len());
        Kernel::parse(package, &AtomicBool::new(stop)).map(drop).map_err(|why| why.to_string())
    };
    assert_eq!(refused(1 << 20, false), Ok(()));
    let large = "what it unpacks to is larger than 1024 MiB, which is the most that is read";
    assert_eq!(refused((1 << 30) + 1, false), Err(large.into()));
    assert_eq!(refused(1 << 20, true), Err("reading it was interrupted".into()));
}

/// Whoever stops while a file is passed over does not wait for its end.
#[test]
fn a_package_is_left_in_the_midst_of_a_file() {
    let stop = AtomicBool::new(false);
    let package = made::package_behind(1 << 30, &[("boot/config", b"")]);
    let why = std::thread::scope(|scope| {
        let reading = scope.spawn(|| Kernel::parse(package, &stop));
        std::thread::sleep(std::time::Duration::from_millis(20));
        stop.store(true, Ordering::Relaxed);
        reading.join().unwrap().unwrap_err()
    });
    assert!(matches!(why, Why::Stopped), "{why:?}");
}

#[test]
fn a_package_that_breaks_off_is_damaged_wherever_it_does() {
    let package = made::package(&[("boot/vmlinuz-6.1.0-1-made", &bzimage(&payload("xz", &whole())))]);
    let mut words = std::collections::BTreeSet::new();
    // Before its first file has a header, nobody knows that it was a package.
    for length in 9..package.len() - 1 {
        words.insert(refused(package[..length].to_vec()));
    }
    let expected = ["its end is missing", "the list of its files is not whole, or not as it was"]
        .map(|why| format!("it is damaged: {why}; copy or download it again"));
    assert_eq!(words, expected.into());
}

#[test]
fn no_changed_byte_of_a_package_makes_it_panic() {
    let kernel = bzimage(&payload("xz", &whole()));
    let package = made::package(&[("boot/vmlinuz-6.1.0-1-made", &kernel)]);
    for at in 8..package.len() {
        for flip in [0xff, 0x80, 0x10, 1] {
            let mut changed = package.clone();
            changed[at] ^= flip;
            let text = match parse(changed) {
                Ok(kernel) => {
                    assert_eq!(kernel.bytes, whole(), "byte {at}");
                    continue;
                }
                Err(why) => why.to_string(),
            };
            let is_foreign =
                ["rchive member", "terminator", "nvalid", "nknown"].iter().any(|word| text.contains(word));
            assert!(!is_foreign && !text.contains(char::is_control), "byte {at}: {text:?}");
        }
    }
}

#[test]
fn what_is_no_kernel_is_called_what_it_is() {
    let of_machine = |machine: u8| {
        let mut image = whole();
        image[18] = machine;
        image
    };
    let in_bzimage = |at: usize, bytes: &[u8]| {
        let mut file = bzimage(&payload("gzip", &whole()));
        put(&mut file, at, bytes);
        file
    };
    let program = elf(&[(".text", 0x40_0000, vec![0x90], true)], false);
    let cases: [(Vec<u8>, &str); 12] = [
        (Vec::new(), "empty"),
        (b"#!/bin/sh\n".to_vec(), "neither a bzImage"),
        ([b"MZ".as_slice(), &[0; 4096]].concat(), "unified kernel image"),
        (program, "Linux version"),
        (pack("xz", b"no kernel"), "not an ELF file"),
        (of_machine(3), "32-bit"),
        (of_machine(183), "arm64"),
        (in_bzimage(0x206, &[7, 2]), "2.07"),
        (in_bzimage(0x236, &[0, 0]), "32-bit"),
        (bzimage(&payload("gzip", b"no kernel")), "not an ELF file"),
        (bzimage(b"\x89LZO\0\r\n\x1a\n"), "LZO"),
        (bzimage(b"nothing of the kind"), "no way"),
    ];
    for (bytes, words) in cases {
        let why = refused(bytes);
        assert!(!why.contains("  "), "{why:?} has a gap");
        assert!(why.contains(words), "{why:?} lacks {words:?}");
    }
}

#[test]
fn a_payload_that_lies_about_its_length_is_refused() {
    for packer in PACKERS {
        for wrong in [-1, 1] {
            let mut payload = payload(packer, &whole());
            let end = payload.len();
            put(&mut payload, end - 4, &(whole().len() as u32).wrapping_add_signed(wrong).to_le_bytes());
            assert!(refused(bzimage(&payload)).contains("damaged"), "{packer} {wrong}");
        }
    }
}

#[test]
fn a_kernel_that_says_an_impossible_length_was_called_too_large() {
    let mut payload = payload("zstd", &whole());
    let end = payload.len();
    put(&mut payload, end - 4, &u32::MAX.to_le_bytes());
    let why = refused(bzimage(&payload));
    let expected = "it is damaged: it says that it unpacks to 4294967295 bytes, and no kernel is that large; copy or download it \
                    again";
    assert_eq!(why, expected);
    let mut file = bzimage(&payload);
    put(&mut file, 0x24c, &u32::MAX.to_le_bytes());
    assert_eq!(refused(file), "it is damaged: its end is missing; copy or download it again");
}

#[test]
fn a_file_that_breaks_off_is_damaged() {
    for packer in PACKERS {
        let file = bzimage(&payload(packer, &whole()));
        for length in 0..file.len() {
            assert!(parse(file[..length].to_vec()).is_err(), "{packer}, {length} bytes");
        }
    }
    // The last bytes are the table of sections.
    let image = whole();
    for length in 0..image.len() {
        let why = parse(image[..length].to_vec()).unwrap_err();
        assert!(matches!(why, Why::Foreign(_) | Why::Damaged(_)), "{length} bytes: {why}");
    }
}

#[test]
fn a_changed_byte_never_makes_another_kernel_where_there_is_a_checksum() {
    for packer in ["gzip", "xz", "zstd", "bzip2"] {
        let file = bzimage(&payload(packer, &whole()));
        let length = payload(packer, &whole()).len() - 4;
        for at in PAYLOAD..PAYLOAD + length {
            let mut changed = file.clone();
            changed[at] ^= 4;
            if let Ok(kernel) = parse(changed) {
                assert_eq!(kernel.bytes, whole(), "{packer}, byte {at}");
            }
        }
    }
}

#[test]
fn no_changed_byte_makes_it_panic() {
    let files = PACKERS.iter().map(|packer| bzimage(&payload(packer, &whole()))).chain([whole()]);
    for file in files {
        for at in 0..file.len() {
            for flip in [0xff, 0x80, 1] {
                let mut changed = file.clone();
                changed[at] ^= flip;
                match parse(changed) {
                    Ok(kernel) => assert!(!kernel.bytes.is_empty()),
                    Err(why) => assert!(!why.to_string().contains(char::is_control), "{why:?}"),
                }
            }
        }
    }
}

#[test]
fn a_file_that_is_no_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let cases = [
        (folder.path().to_path_buf(), "not a file"),
        (pipe, "not a file"),
        (folder.path().join("none"), "no such file"),
        ("/dev/zero".into(), "not a file"),
    ];
    for (file, words) in cases {
        let error = read(&file).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.file, file);
    }
}

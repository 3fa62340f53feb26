//! What the kernel makes of a boot loader's information, compiled for the host: maps that overlap, wrap, are in disorder or
//! damaged. Where it is not refused, what is found free is memory by the map, and belongs to nobody.

use crate::build::{OnHost, compile_once, fed, root};
use record::abi;
use std::path::PathBuf;
use std::process::Command;

/// Where the kernel is taken to lie.
const KERNEL: Range = (0x10_0000, 0x70_0000);
const FOUR_GIB: u64 = 1 << 32;
const MIB: u64 = 1 << 20;

/// Types of memory; only the first is usable.
const RAM: u32 = 1;
const RESERVED: u32 = 2;

/// First address, and the first behind the last.
type Range = (u64, u64);

/// The reader, as an executable file.
struct Reader(OnHost);

impl Reader {
    fn new() -> Reader {
        let lab = root().join("lab");
        let sources = ["boot", "pvh", "multiboot2", "acpi", "framebuffer", "ranges"]
            .map(|name| lab.join(format!("boot/{name}.c")));
        let files: Vec<PathBuf> =
            sources.into_iter().chain([root().join("tests/lab/boot_information.c")]).collect();
        let include = format!("-I{}", lab.display());
        let symbols = format!(
            "-Wl,--defsym=image_start={:#x},--defsym=kernel_end={:#x}",
            KERNEL.0,
            KERNEL.1 + 0xffff_ffff_8000_0000
        );
        let flags =
            ["-std=gnu11", "-O1", "-fPIC", "-no-pie", "-Wall", "-Wextra", "-Werror", &include, &symbols];
        Reader(OnHost::of(&compile_once("boot_information", &flags, &files).bytes))
    }

    fn read(&self, loader: u64, address: u64, memory: &[u8]) -> Found {
        let mut command = Command::new(self.0.program());
        command.arg(loader.to_string()).arg(format!("{address:x}"));
        let text = fed(&mut command, memory);
        if let Some(why) = text.strip_prefix("panic: ") {
            return Found::Panic(why.trim().into());
        }
        let number =
            |index: usize| u64::from_str_radix(text.split_whitespace().nth(index).unwrap(), 16).unwrap();
        let apics: Vec<u64> = (10..text.split_whitespace().count()).map(number).collect();
        assert_eq!(number(9), apics.len() as u64, "there is room for all");
        let (module, free) = ((number(1), number(2)), (number(4), number(5)));
        Found::Memory { module, free, timer: number(7), apics }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Found {
    Memory { module: Range, free: Range, timer: u64, apics: Vec<u64> },
    Panic(String),
}

fn panics(why: &str) -> Found {
    Found::Panic(why.into())
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// An entry of a memory map in both protocols: start, size, type.
type Entry = (u64, u64, u32);

fn entries(map: &[Entry]) -> Vec<u8> {
    map.iter().flat_map(|(start, size, kind)| bytes(&[*start, *size, u64::from(*kind)])).collect()
}

/// Where the information begins.
const START: u64 = 0x1000;
const MAGIC_AND_VERSION: u64 = 1 << 32 | 0x336e_c578;

/// PVH's information, as memory from 0 on.
fn pvh(module: Range, map: &[Entry]) -> Vec<u8> {
    const MODULES: u64 = 0x1100;
    const MAP: u64 = 0x2000;
    let mut memory = vec![0; MAP as usize];
    let start = bytes(&[MAGIC_AND_VERSION, 1 << 32, MODULES, 0, 0, MAP, map.len() as u64]);
    memory[START as usize..][..start.len()].copy_from_slice(&start);
    let list = bytes(&[module.0, module.1.wrapping_sub(module.0), 0, 0]);
    memory[MODULES as usize..][..list.len()].copy_from_slice(&list);
    memory.extend(entries(map));
    memory
}

fn tag(kind: u32, content: &[u8]) -> Vec<u8> {
    let mut tag = [kind.to_le_bytes(), (8 + content.len() as u32).to_le_bytes()].concat();
    tag.extend(content);
    tag.resize(tag.len().next_multiple_of(8), 0);
    tag
}

/// Multiboot2's information, as memory from 0 on.
fn multiboot2(tags: &[Vec<u8>]) -> Vec<u8> {
    let content = tags.concat();
    let mut memory = vec![0; START as usize];
    memory.extend((8 + content.len() as u32).to_le_bytes());
    memory.extend([0; 4]);
    memory.extend(content);
    memory
}

fn module_tag(module: Range) -> Vec<u8> {
    tag(3, &bytes(&[module.1 << 32 | module.0]))
}

fn map_tag(entry_bytes: u32, map: &[Entry]) -> Vec<u8> {
    tag(6, &[bytes(&[u64::from(entry_bytes)]), entries(map)].concat())
}

fn end_tag() -> Vec<u8> {
    tag(0, &[])
}

/// A PC with 128 MiB, and a module in the middle.
const MODULE: Range = (0x200_0123, 0x210_0001);
const MAP: &[Entry] = &[
    (0, 0x9_fc00, RAM),
    (0x9_fc00, 0x400, RESERVED),
    (0xf_0000, 0x1_0000, RESERVED),
    (MIB, 127 * MIB - 0x2_0123, RAM),
    (0xfffc_0000, 0x4_0000, RESERVED),
];
const PLAIN: Found = Found::Memory {
    module: (0x200_0000, 0x210_1000),
    free: (0x210_1000, 0x7fd_f000),
    timer: 0,
    apics: Vec::new(),
};

#[test]
fn both_protocols_tell_the_same() {
    let reader = Reader::new();
    assert_eq!(reader.read(abi::LOADER_PVH, START, &pvh(MODULE, MAP)), PLAIN);
    let tags = [tag(1, b"words\0"), module_tag(MODULE), map_tag(24, MAP), end_tag()];
    assert_eq!(reader.read(abi::LOADER_MULTIBOOT2, START, &multiboot2(&tags)), PLAIN);
    // The map before the module, and without the last tag.
    let tags = [map_tag(24, MAP), module_tag(MODULE)];
    assert_eq!(reader.read(abi::LOADER_MULTIBOOT2, START, &multiboot2(&tags)), PLAIN);
}

#[test]
fn maps_that_contradict_themselves() {
    let reader = Reader::new();
    let free = |map: &[Entry]| match reader.read(abi::LOADER_PVH, START, &pvh(MODULE, map)) {
        Found::Memory { free, .. } => free,
        Found::Panic(why) => panic!("{why}"),
    };
    let whole = (MIB, 127 * MIB, RAM);
    let with = |more: &[Entry]| free(&[more, &[whole]].concat());
    let plain = (0x210_1000, 128 * MIB);
    assert_eq!(with(&[]), plain);
    assert_eq!(with(&[(0x400_0000, 0, RESERVED), (0x500_0000, 0, RAM)]), plain, "empty ranges");
    assert_eq!(with(&[whole, (3 * MIB, 9 * MIB, RAM)]), plain, "ranges that overlap");
    assert_eq!(with(&[(128 * MIB, u64::MAX - 3, RAM)]), plain, "memory that wraps is not believed");
    assert_eq!(with(&[(0x600_0000, u64::MAX, RESERVED)]).1, 0x600_0000, "a device that wraps is");
    assert_eq!(with(&[(FOUR_GIB, 2 * FOUR_GIB, RAM)]), plain, "above 4 GiB there is more, but not used");
    assert_eq!(with(&[(0x600_0800, 1, RESERVED)]).1, 0x600_0000, "a byte in a page");
    assert_eq!(with(&[(0x7ff_f800, 0x1000, RESERVED)]).1, 0x7ff_f000, "a device across the end");
    assert_eq!(
        free(&[(MIB, 0x300_0800, RAM), (0x310_0800, 0x300_0000, RAM)]).1,
        0x610_0000,
        "halves of a page"
    );
    assert_eq!(free(&[(MIB, FOUR_GIB, RAM)]).1, 0xfec0_0000, "the APICs are no memory");
    let holes: Vec<Entry> = (0..4096).map(|at| (0x1000_0000 + at * 0x3000, 0x1000, RESERVED)).collect();
    assert_eq!(with(&holes), plain, "more ranges than there is room for");
    // Each second page is a device: there is room for 64 ranges, and what is left of them is no device.
    let map: Vec<Entry> = (0..2048).map(|at| (0x800_1000 + at * 0x2000, 0x1000, RESERVED)).collect();
    let large: &[Entry] = &[(0x800_0000, 256 * MIB, RAM), (MIB, 100 * MIB, RAM)];
    assert_eq!(free(&[large, &map].concat()), (0x900_0000, 0x1800_0000));
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let reader = Reader::new();
    let with = |module| reader.read(abi::LOADER_PVH, START, &pvh(module, MAP));
    assert_eq!(with((0x60_0000, 0x70_0001)), panics("the boot module and the kernel overlap"));
    assert_eq!(with((0x70_0000, FOUR_GIB + 1)), panics("the boot module is not below 4 GiB"));
    assert_eq!(with((0x70_0000, 0x60_0000)), panics("the boot module is not below 4 GiB"));
    let none = Found::Memory { module: (0, 0), free: (0x70_0000, 0x7fd_f000), timer: 0, apics: Vec::new() };
    assert_eq!(with((0x70_0000, 0x70_0000)), none, "an empty module is none");
    let little = "the boot loader's memory map names less than 1 MiB of free memory";
    for map in [&[][..], &[(MIB, 7 * MIB - 1, RAM)], &[(FOUR_GIB, FOUR_GIB, RAM)], &[(0, u64::MAX, RESERVED)]]
    {
        assert_eq!(reader.read(abi::LOADER_PVH, START, &pvh((0, 0), map)), panics(little), "{map:x?}");
    }

    let mut old = pvh(MODULE, MAP);
    old[START as usize + 4] = 0;
    assert_eq!(
        reader.read(abi::LOADER_PVH, START, &old),
        panics("the PVH start information has no memory map")
    );
    let magic = panics("the PVH start information has another magic number");
    assert_eq!(reader.read(abi::LOADER_PVH, START + 1, &old), magic);
    assert_eq!(reader.read(abi::LOADER_PVH, 0xffff_fff0, &old), magic);
    let cut = pvh(MODULE, MAP);
    let far = panics("the PVH memory map is too long, or not below 4 GiB");
    assert_eq!(reader.read(abi::LOADER_PVH, START, &cut[..cut.len() - 1]), far);

    let damaged = panics("the multiboot2 information is damaged");
    let read = |tags: &[Vec<u8>]| reader.read(abi::LOADER_MULTIBOOT2, START, &multiboot2(tags));
    assert_eq!(read(&[module_tag(MODULE), end_tag()]), damaged, "without a map");
    assert_eq!(read(&[map_tag(0, MAP), end_tag()]), damaged, "entries of no size");
    assert_eq!(read(&[bytes(&[9]), map_tag(24, MAP)]), damaged, "a tag of no size");
    assert_eq!(read(&[bytes(&[9 | 4096 << 32]), map_tag(24, MAP)]), damaged, "a tag beyond the end");
    assert_eq!(read(&[bytes(&[9 | 0xffff_fffc << 32])]), damaged, "a tag that would wrap");
    assert_eq!(reader.read(abi::LOADER_MULTIBOOT2, 0xffff_fffc, &[]), damaged);
}

/// What the kernel should find free, by a list of every 512 bytes below 64 MiB.
fn model(module: Range, map: &[Entry]) -> Vec<Range> {
    const GRAIN: u64 = 512;
    let mut free = vec![false; (64 * MIB / GRAIN) as usize];
    let mut mark = |(start, end): Range, value| {
        (start / GRAIN..end.min(64 * MIB).div_ceil(GRAIN)).for_each(|at| free[at as usize] = value);
    };
    map.iter()
        .filter(|(.., kind)| *kind == RAM)
        .for_each(|(start, size, _)| mark((*start, start + size), true));
    map.iter()
        .filter(|(.., kind)| *kind != RAM)
        .for_each(|(start, size, _)| mark((*start, start + size), false));
    mark((0, KERNEL.1), false);
    mark((module.0 & !0xfff, module.1.next_multiple_of(0x1000)), false);
    let pages: Vec<bool> =
        free.chunks(4096 / GRAIN as usize).map(|grains| grains.iter().all(|free| *free)).collect();
    let mut runs: Vec<Range> = Vec::new();
    for (at, _) in pages.iter().enumerate().filter(|(_, is_free)| **is_free) {
        let start = at as u64 * 4096;
        match runs.last_mut() {
            Some(last) if last.1 == start => last.1 += 4096,
            _ => runs.push((start, start + 4096)),
        }
    }
    let size = |(start, end): &Range| end - start;
    let most = runs.iter().map(size).max().unwrap_or(0);
    runs.into_iter().filter(|run| size(run) == most).collect()
}

#[test]
fn random_maps_leave_free_what_they_should() {
    let reader = Reader::new();
    let mut state = 1_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut found_memory = 0;
    for _ in 0..200 {
        let module = (KERNEL.1 + random(1 << 24), KERNEL.1 + (1 << 24) + random(1 << 16));
        let count = 1 + random(12);
        let map: Vec<Entry> = (0..count)
            .map(|_| {
                (
                    random(48 * 2048) * 512,
                    random(16 * 2048) * 512,
                    [RAM, RAM, RAM, RESERVED, 5][random(5) as usize],
                )
            })
            .collect();
        let expected = model(module, &map);
        match reader.read(abi::LOADER_PVH, START, &pvh(module, &map)) {
            Found::Memory { free, .. } => {
                assert!(
                    expected.contains(&free),
                    "{map:x?}, module {module:x?}: {free:x?}, not {expected:x?}"
                );
                found_memory += 1;
            }
            Found::Panic(_) => assert!(expected.iter().all(|(start, end)| end - start < MIB), "{map:x?}"),
        }
    }
    assert!(found_memory > 100, "{found_memory}");
}

/// Makes the bytes add up to 0 by one of them.
fn sealed(mut bytes: Vec<u8>, at: usize) -> Vec<u8> {
    bytes[at] = 0;
    bytes[at] = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_sub(*byte));
    bytes
}

/// A table of ACPI's: name, size, checksum at 9, and so on.
fn acpi_table(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let head = [&name[..], &(36 + content.len() as u32).to_le_bytes(), &[0; 28]].concat();
    sealed([&head, content].concat(), 9)
}

const ROOT: u64 = 0x3000;
const LIST: u64 = 0x4000;
const FADT: u64 = 0x5000;
const MADT: u64 = 0x6000;
const PORT: u16 = 0x608;

/// The root pointer, of revision 2 where the list is one of 64-bit addresses.
fn acpi_root(list: u64, is_wide: bool) -> Vec<u8> {
    let (rsdt, xsdt) = if is_wide { (0, list) } else { (list as u32, 0) };
    let first = [&b"RSD PTR \0KENTRY"[..], &[if is_wide { 2 } else { 0 }], &rsdt.to_le_bytes()].concat();
    [sealed(first, 8), 36_u32.to_le_bytes().to_vec(), bytes(&[xsdt]), vec![0; 4]].concat()
}

fn fadt(port: u32, length: u8, flags: u32) -> Vec<u8> {
    let mut content = vec![0; 116 - 36];
    content[76 - 36..][..4].copy_from_slice(&port.to_le_bytes());
    content[91 - 36] = length;
    content[112 - 36..].copy_from_slice(&flags.to_le_bytes());
    acpi_table(b"FACP", &content)
}

/// The port and the I/O APICs that are found in PVH's information with these tables.
fn of_acpi(reader: &Reader, root: &[u8], tables: &[(u64, &[u8])]) -> (u64, Vec<u64>) {
    let mut memory = pvh(MODULE, MAP);
    memory.resize(0x7000, 0);
    memory[START as usize + 32..][..8].copy_from_slice(&ROOT.to_le_bytes());
    for (at, bytes) in [(ROOT, root)].iter().chain(tables) {
        memory[*at as usize..][..bytes.len()].copy_from_slice(bytes);
    }
    match reader.read(abi::LOADER_PVH, START, &memory) {
        Found::Memory { timer, apics, .. } => (timer, apics),
        Found::Panic(why) => panic!("{why}"),
    }
}

/// The port with these tables.
fn timer(reader: &Reader, root: &[u8], list: &[u8], fadt: &[u8]) -> u64 {
    of_acpi(reader, root, &[(LIST, list), (FADT, fadt)]).0
}

/// An entry for an I/O APIC in the MADT.
fn io_apic(address: u32) -> Vec<u8> {
    [&[1, 12, 0, 0][..], &address.to_le_bytes(), &[0; 4]].concat()
}

#[test]
fn acpis_list_of_io_apics_is_read_as_far_as_it_can_be_believed() {
    let reader = Reader::new();
    let list = acpi_table(b"RSDT", &[(FADT as u32).to_le_bytes(), (MADT as u32).to_le_bytes()].concat());
    let with = |entries: &[Vec<u8>]| {
        let madt = acpi_table(b"APIC", &[vec![0; 8], entries.concat()].concat());
        let tables = [(LIST, &list[..]), (FADT, &fadt(PORT.into(), 4, 0)[..]), (MADT, &madt[..])];
        of_acpi(&reader, &acpi_root(LIST, false), &tables)
    };
    let (first, second) = (io_apic(0xfec0_0000), io_apic(0xfec0_1000));
    let local = [0, 8, 0, 0, 1, 0, 0, 0].to_vec();
    let both = vec![0xfec0_0000, 0xfec0_1000];
    assert_eq!(with(&[local.clone(), first.clone(), local, second.clone()]), (PORT.into(), both));
    assert_eq!(with(&[]).1, [0_u64; 0], "an empty list");
    let one = [0xfec0_0000];
    assert_eq!(with(&[first.clone(), vec![1, 0, 0, 0], second.clone()]).1, one, "an entry of no bytes");
    assert_eq!(with(&[first.clone(), second[..11].to_vec()]).1, one, "an entry that leaves the table");
    assert_eq!(with(&[first, io_apic(0)]).1, one, "an address that is none");
    assert_eq!(with(&[[&[1, 8][..], &second[2..8]].concat()]).1, [0_u64; 0], "an entry that is too short");
}

#[test]
fn acpi_tables_name_the_timer_or_are_not_believed() {
    let reader = Reader::new();
    let good = fadt(PORT.into(), 4, 0);
    let narrow = acpi_table(b"RSDT", &[0x2000_u32.to_le_bytes(), (FADT as u32).to_le_bytes()].concat());
    let wide = acpi_table(b"XSDT", &bytes(&[u64::MAX - 7, LIST, FADT]));
    assert_eq!(timer(&reader, &acpi_root(LIST, false), &narrow, &good), u64::from(PORT));
    assert_eq!(timer(&reader, &acpi_root(LIST, true), &wide, &good), u64::from(PORT));

    let with = |fadt: &[u8]| timer(&reader, &acpi_root(LIST, false), &narrow, fadt);
    assert_eq!(with(&fadt(PORT.into(), 4, 1 << 20)), 0, "a machine without ACPI's hardware");
    assert_eq!(with(&fadt(0x1_0000, 4, 0)), 0, "no port");
    assert_eq!(with(&fadt(PORT.into(), 0, 0)), 0, "no timer");
    assert_eq!(with(&acpi_table(b"FACP", &[0; 40])), 0, "a table that is too short");
    assert_eq!(with(&[&good[..9], &[good[9] ^ 1], &good[10..]].concat()), 0, "a wrong checksum");
    assert_eq!(with(&[&b"FACP"[..], &[0xff; 32]].concat()), 0, "a table that is too long");

    let with = |root: &[u8], list: &[u8]| timer(&reader, root, list, &good);
    assert_eq!(with(&acpi_root(LIST, false), &acpi_table(b"RSDT", &[])), 0, "an empty list");
    assert_eq!(with(&acpi_root(LIST, false), &acpi_table(b"RSDT", &[0, 0x50, 0])), 0, "half an address");
    assert_eq!(with(&acpi_root(u64::MAX, true), &wide), 0, "a list that is nowhere");
    assert_eq!(with(&[0; 36], &wide), 0, "no root");

    for (kind, bytes) in [(15, acpi_root(FADT, false)), (14, acpi_root(FADT, false)[..20].to_vec())] {
        let mut memory = multiboot2(&[tag(kind, &bytes), map_tag(24, MAP), end_tag()]);
        memory.resize(0x6000, 0);
        let list = acpi_table(b"RSDT", &(LIST as u32).to_le_bytes());
        memory[FADT as usize..][..list.len()].copy_from_slice(&list);
        memory[LIST as usize..][..good.len()].copy_from_slice(&good);
        let Found::Memory { timer, .. } = reader.read(abi::LOADER_MULTIBOOT2, START, &memory) else {
            panic!()
        };
        assert_eq!(timer, u64::from(PORT), "tag {kind}");
    }
}

//! What a kernel's own debug information says of an address: which functions the compiler has inlined there, and what its tables have.

use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type Slice = EndianSlice<'static, LittleEndian>;

/// A function with the place in it, as the compiler has it: `get_current`, `current.h`, 23.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub function: String,
    pub file: String,
    pub line: u32,
}

/// A kernel with symbols (`vmlinux` of a `-dbg` package).
pub struct Debug {
    context: Context<Slice>,
    /// The names of functions and data, by address.
    pub symbols: Vec<(u64, String)>,
    /// The branches of static keys, with the names of these.
    pub keys: BTreeMap<u64, String>,
    pub traced: BTreeSet<u64>,
    /// The lines of functions in which the stack's offset is taken or drawn, which is a macro: where its key's branches are.
    pub stack_offset: BTreeSet<(String, u32)>,
    /// Of code that boot may replace, by address: how long it is, and for which feature.
    pub alternatives: BTreeMap<u64, Vec<(u64, u16)>>,
    /// Of calls that guests of Xen make, by address: how long they are.
    paravirt: BTreeMap<u64, u64>,
}

impl Debug {
    /// Reads it, and keeps it until the test ends.
    pub fn read(file: &Path) -> Debug {
        let bytes: &'static [u8] = std::fs::read(file).unwrap().leak();
        let elf = ElfFile64::<object::LittleEndian>::parse(bytes).unwrap();
        let section = |id: SectionId| {
            let found = elf.section_by_name(id.name());
            let data = found.and_then(|section| section.data().ok()).unwrap_or_default();
            Ok::<_, ()>(EndianSlice::new(data, LittleEndian))
        };
        let context = Context::from_dwarf(Dwarf::load(section).unwrap()).unwrap();
        let mut symbols: Vec<(u64, String)> = elf
            .symbols()
            .filter(|symbol| !matches!(symbol.kind(), SymbolKind::File | SymbolKind::Section))
            .filter(|symbol| symbol.address() != 0)
            .map(|symbol| (symbol.address(), symbol.name().unwrap().to_string()))
            .filter(|(_, name)| !name.is_empty())
            .collect();
        symbols.sort();
        let address =
            |name: &str| symbols.iter().find(|(_, known)| known == name).map(|(address, _)| *address);
        let between = |start: &str, stop: &str| -> (u64, &'static [u8]) {
            let (Some(start), Some(stop)) = (address(start), address(stop)) else { return (0, &[]) };
            let found = elf
                .sections()
                .find(|section| (section.address()..section.address() + section.size()).contains(&start));
            let bytes = found.and_then(|section| section.data_range(start, stop - start).ok().flatten());
            (start, bytes.unwrap_or_default())
        };
        let (start, table) = between("__start___jump_table", "__stop___jump_table");
        let keys = table.chunks_exact(16).zip((start..).step_by(16)).map(|(entry, place)| {
            let code = i32::from_le_bytes(entry[..4].try_into().unwrap());
            let key = i64::from_le_bytes(entry[8..].try_into().unwrap());
            let key = (place + 8).wrapping_add_signed(key) & !3;
            let name = symbols.partition_point(|(address, _)| *address <= key);
            (place.wrapping_add_signed(code.into()), symbols[name - 1].1.clone())
        });
        let keys = keys.collect();
        let (_, table) = between("__start_mcount_loc", "__stop_mcount_loc");
        let traced =
            table.chunks_exact(8).map(|place| u64::from_le_bytes(place.try_into().unwrap())).collect();
        let alternatives = alternatives(&elf);
        let table =
            elf.section_by_name(".parainstructions").map_or(&[][..], |section| section.data().unwrap());
        let site = |entry: &[u8]| (u64::from_le_bytes(entry[..8].try_into().unwrap()), u64::from(entry[9]));
        let paravirt = table.chunks_exact(16).map(site).collect();
        let stack_offset = BTreeSet::new();
        let mut debug = Debug { context, symbols, keys, traced, stack_offset, alternatives, paravirt };
        let sites = debug.keys.iter().filter(|(_, key)| *key == "randomize_kstack_offset");
        let frames = sites.filter_map(|(address, _)| {
            debug.frames(*address).into_iter().find(|frame| !frame.function.starts_with("arch_static_branch"))
        });
        let lines = frames
            .map(|frame| (frame.function.split('.').next().unwrap_or_default().to_string(), frame.line));
        debug.stack_offset = lines.collect();
        debug
    }

    /// Whether boot has replaced the call of a guest of Xen there.
    pub fn is_paravirt(&self, address: u64) -> bool {
        let before = self.paravirt.range(..=address).next_back();
        before.is_some_and(|(start, length)| address - start < *length)
    }

    /// Whether a function, or another name, begins at an address.
    pub fn begins(&self, address: u64) -> bool {
        self.symbols.binary_search_by(|(known, _)| known.cmp(&address)).is_ok()
    }

    /// The functions at an address, the innermost first.
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        let mut frames = Vec::new();
        let Ok(mut found) = self.context.find_frames(address).skip_all_loads() else { return frames };
        while let Ok(Some(frame)) = found.next() {
            let function = frame.function.and_then(|name| name.raw_name().ok().map(|name| name.into_owned()));
            let (file, line) = match &frame.location {
                Some(location) => (location.file.unwrap_or_default().to_string(), location.line.unwrap_or(0)),
                None => (String::new(), 0),
            };
            frames.push(Frame { function: function.unwrap_or_default(), file, line });
        }
        frames
    }

    /// The name of the function that covers an address.
    pub fn function(&self, address: u64) -> &str {
        let behind = self.symbols.partition_point(|(known, _)| *known <= address);
        behind.checked_sub(1).map_or("", |at| &self.symbols[at].1)
    }

    /// The features for which boot may replace the code at an address.
    pub fn features(&self, address: u64) -> Vec<u16> {
        let near = self.alternatives.range(address.saturating_sub(256)..=address);
        let covers =
            near.flat_map(|(start, all)| all.iter().map(move |(length, feature)| (start + length, *feature)));
        covers.filter(|(end, _)| address < *end).map(|(_, feature)| feature).collect()
    }
}

/// `struct alt_instr`: 13 bytes until 5.12, 12 until 6.2, 14 since.
fn alternatives(elf: &ElfFile64<'static, object::LittleEndian>) -> BTreeMap<u64, Vec<(u64, u16)>> {
    let Some(section) = elf.section_by_name(".altinstructions") else { return BTreeMap::new() };
    let (table, base) = (section.data().unwrap(), section.address());
    let code = elf.section_by_name(".text").unwrap();
    let is_code = |address: u64| (code.address()..code.address() + (64 << 20)).contains(&address);
    for (size, lengths) in [(14, 12), (12, 10), (13, 10)] {
        let read = |(at, entry): (usize, &[u8])| {
            let place = base + (at * size) as u64;
            let address =
                place.wrapping_add_signed(i32::from_le_bytes(entry[..4].try_into().unwrap()).into());
            let feature = u16::from_le_bytes([entry[8], entry[9]]) & 0x7fff;
            (address, (u64::from(entry[lengths]), feature))
        };
        let all: Vec<_> = table.chunks_exact(size).enumerate().map(read).collect();
        if table.len() % size == 0 && all.iter().all(|(address, _)| is_code(*address)) {
            let mut by_address: BTreeMap<u64, Vec<(u64, u16)>> = BTreeMap::new();
            all.into_iter().for_each(|(address, one)| by_address.entry(address).or_default().push(one));
            return by_address;
        }
    }
    BTreeMap::new()
}

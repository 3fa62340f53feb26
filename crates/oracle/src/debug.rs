//! What a kernel's own debug information says of an address: which functions the compiler has inlined there, and what its tables have.

use crate::assembler::Sources;
use crate::frame::Frame;
use crate::tables::Tables;
use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;

type Slice = EndianSlice<'static, LittleEndian>;

/// A kernel with symbols (`vmlinux` of a `-dbg` package).
pub struct Debug {
    context: Context<Slice>,
    /// What was asked before: a path comes to most addresses again and again.
    known: RefCell<HashMap<u64, Rc<[Rc<Frame>]>>>,
    /// The names of functions and data, by address.
    pub symbols: Vec<(u64, String)>,
    /// The branches of static keys, with the names of these.
    pub(crate) keys: BTreeMap<u64, String>,
    /// The lines of functions in which the stack's offset is taken or drawn, which is a macro: where its key's branches are.
    pub(crate) stack_offset: BTreeSet<(String, u32)>,
    /// The tables of places in its code.
    pub tables: Tables,
    /// The lines of the assembler's sources, where they are there.
    pub sources: Sources,
}

impl Debug {
    /// Reads it, with the sources beside it, and keeps it until the test ends.
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
        let tables = Tables::read(bytes);
        let name = |key: &u64| symbols[symbols.partition_point(|(address, _)| address <= key) - 1].1.clone();
        let keys = tables.keys.iter().map(|(branch, key)| (*branch, name(key))).collect();
        let sources = Sources::read(file.parent().unwrap());
        let (known, stack_offset) = (RefCell::default(), BTreeSet::new());
        let mut debug = Debug { context, known, symbols, keys, stack_offset, tables, sources };
        debug.must_have_all_of_the_tables();
        let sites = debug.keys.iter().filter(|(_, key)| *key == "randomize_kstack_offset");
        let frames = sites.filter_map(|(address, _)| {
            let frames = debug.frames(*address);
            frames.iter().find(|frame| !frame.function.starts_with("arch_static_branch")).cloned()
        });
        let lines = frames
            .map(|frame| (frame.function.split('.').next().unwrap_or_default().to_string(), frame.line));
        debug.stack_offset = lines.collect();
        debug
    }

    /// The tables that are found by what their entries are: the symbols say how long they must be.
    fn must_have_all_of_the_tables(&self) {
        let address =
            |name: &str| self.symbols.iter().find(|(_, known)| known == name).map(|(place, _)| *place);
        for (name, size, found) in
            [("__jump_table", 16, self.tables.keys.len()), ("mcount_loc", 8, self.tables.traced.len())]
        {
            let (start, stop) = match name {
                "__jump_table" => ("__start___jump_table", "__stop___jump_table"),
                _ => ("__start_mcount_loc", "__stop_mcount_loc"),
            };
            if let (Some(start), Some(stop)) = (address(start), address(stop)) {
                let entries = ((stop - start) / size) as usize;
                assert!(100 * found >= 95 * entries, "{name}: {found} of {entries} were found");
            }
        }
    }

    /// Whether a function, or another name, begins at an address.
    pub fn begins(&self, address: u64) -> bool {
        self.symbols.binary_search_by(|(known, _)| known.cmp(&address)).is_ok()
    }

    /// The functions at an address, the innermost first.
    pub fn frames(&self, address: u64) -> Rc<[Rc<Frame>]> {
        let mut known = self.known.borrow_mut();
        known.entry(address).or_insert_with(|| self.find(address)).clone()
    }

    fn find(&self, address: u64) -> Rc<[Rc<Frame>]> {
        let mut frames = Vec::new();
        let Ok(mut found) = self.context.find_frames(address).skip_all_loads() else { return Rc::default() };
        while let Ok(Some(frame)) = found.next() {
            let function = frame.function.and_then(|name| name.raw_name().ok().map(|name| name.into_owned()));
            let (file, line) = match &frame.location {
                Some(location) => (location.file.unwrap_or_default().to_string(), location.line.unwrap_or(0)),
                None => (String::new(), 0),
            };
            frames.push(Rc::new(Frame::new(function.unwrap_or_default(), file, line)));
        }
        frames.into()
    }

    /// The name of the function that covers an address.
    pub fn function(&self, address: u64) -> &str {
        let behind = self.symbols.partition_point(|(known, _)| *known <= address);
        behind.checked_sub(1).map_or("", |at| &self.symbols[at].1)
    }
}

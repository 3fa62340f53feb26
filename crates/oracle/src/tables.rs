//! The tables that a kernel's file has of places in its code, and what may stand there: enough for kernels without debug information.

use crate::held::Held;
use attribution::anatomy::{Anatomy, Instruction, Part};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, SectionKind};
use std::collections::{BTreeMap, BTreeSet};

/// Parts that are no single places: what a function of the kernel may be for.
const OF_FUNCTIONS: &[Part] = &[
    Part::Frame,
    Part::CopyFrame,
    Part::StackOffset,
    Part::Handler,
    Part::ExternalCheck,
    Part::Dispatch,
    Part::Work,
    Part::Trace,
    Part::Filter,
    Part::Audit,
    Part::Service,
    Part::Signal,
    Part::Schedule,
    Part::ReturnChecks,
    Part::Divider,
    Part::Other,
];

/// What static keys may be for.
const OF_KEYS: &[Part] =
    &[Part::StaticKeys, Part::Work, Part::Trace, Part::StackOffset, Part::Verw, Part::Ibpb, Part::Paravirt];

/// `X86_FEATURE_…` by number, and what code is there for it (arch/x86/include/asm/cpufeatures.h).
const FEATURES: &[(u16, &[Part])] = &[
    (7 * 32 + 11, &[Part::Pti]),
    (9 * 32 + 20, &[Part::Smap]),
    (4 * 32 + 17, &[Part::Pcid]),
    (11 * 32 + 4, &[Part::Swapgs]),
    (11 * 32 + 5, &[Part::Swapgs]),
    (21 * 32 + 1, &[Part::Bhb]),
    (11 * 32 + 10, &[Part::Ibpb]),
];

/// No code that boot replaces is longer.
const LONGEST: u64 = 256;

/// A kernel is linked for, and moved by, multiples of this (CONFIG_PHYSICAL_ALIGN).
const ALIGNMENT: u64 = 2 << 20;

/// What stands at a branch of a static key: nops of five and two bytes, and jumps.
const BRANCHES: [&[u8]; 4] = [&[0x0f, 0x1f, 0x44, 0, 0], &[0x66, 0x90], &[0xe9], &[0xeb]];

/// No kernel is larger.
const FARTHEST: u64 = 256 << 20;

/// The fewest entries that make a table, where only what they are tells that they are one.
const FEWEST: usize = 500;

/// The tables of a kernel's file, by address of the code.
#[derive(Debug, Default)]
pub struct Tables {
    code: Vec<(u64, &'static [u8])>,
    /// The branches of static keys, with the addresses of these.
    pub(crate) keys: BTreeMap<u64, u64>,
    /// Where functions are traced.
    pub(crate) traced: BTreeSet<u64>,
    /// Of code that boot may replace: how long it is, and for which feature.
    alternatives: BTreeMap<u64, Vec<(u64, u16)>>,
    /// Of calls that guests of Xen make: how long they are.
    paravirt: BTreeMap<u64, u64>,
    returns: BTreeSet<u64>,
    indirect: BTreeSet<u64>,
    calls: BTreeSet<u64>,
    marks: BTreeSet<u64>,
}

/// What a path is in while it is held.
#[derive(Default)]
struct State {
    /// The thunk that was entered at a place of a table.
    thunk: Option<Part>,
    /// What the first branch of each key belonged to.
    keys: BTreeMap<u64, Part>,
}

impl Tables {
    /// Those of an ELF file, by its sections; the two that have none of their own are found by what their entries are.
    pub fn read(bytes: &'static [u8]) -> Tables {
        let elf = ElfFile64::<object::LittleEndian>::parse(bytes).unwrap();
        let sections = || elf.sections().filter(|section| section.kind() != SectionKind::UninitializedData);
        // Data is executable in the files of some kernels, but never at its place.
        let is_code = |name: &str| name.contains("text") || name.contains("altinstr");
        let code = sections()
            .filter(|section| section.kind() == SectionKind::Text && section.name().is_ok_and(is_code));
        let code = code.map(|section| (section.address(), section.data().unwrap())).collect();
        let mut tables = Tables { code, ..Tables::default() };
        let named = |name: &str| {
            elf.section_by_name(name).map(|section| (section.address(), section.data().unwrap()))
        };
        let distances = |name: &str| -> BTreeSet<u64> {
            let Some((start, table)) = named(name) else { return BTreeSet::new() };
            let entries = table.as_chunks().0.iter().zip((start..).step_by(4));
            entries.map(|(far, place)| place.wrapping_add_signed(i32::from_le_bytes(*far).into())).collect()
        };
        tables.returns = distances(".return_sites");
        tables.indirect = distances(".retpoline_sites");
        tables.calls = distances(".call_sites");
        tables.marks = distances(".ibt_endbr_seal");
        if let Some((start, table)) = named(".altinstructions") {
            tables.alternatives = tables.alternatives_of(start, table);
        }
        let site = |entry: &[u8]| (u64::from_le_bytes(entry[..8].try_into().unwrap()), u64::from(entry[9]));
        let paravirt = named(".parainstructions").map_or(&[][..], |(_, table)| table);
        tables.paravirt = paravirt.chunks_exact(16).map(site).collect();
        let in_memory = sections().filter(|section| section.address() != 0);
        let data = in_memory.map(|section| (section.address(), section.data().unwrap()));
        let data: Vec<_> = data.collect();
        let keys = data.iter().map(|(start, data)| tables.keys_in(*start, data)).max_by_key(Vec::len);
        let traced = data.iter().map(|(_, data)| tables.traced_in(data)).max_by_key(Vec::len);
        let keys = keys.filter(|keys| keys.len() > FEWEST).unwrap_or_default();
        let traced = traced.filter(|traced| traced.len() > FEWEST).unwrap_or_default();
        Tables { keys: keys.into_iter().collect(), traced: traced.into_iter().collect(), ..tables }
    }

    /// The bytes that the file has for an address of code.
    fn code_at(&self, address: u64) -> Option<&'static [u8]> {
        let within =
            |(start, data): &&(u64, &'static [u8])| (*start..*start + data.len() as u64).contains(&address);
        let (start, data) = self.code.iter().find(within)?;
        data.get((address - start) as usize..)
    }

    /// The longest run of entries of `__jump_table`: two distances of four bytes and one of eight, the first to a nop or a jump, the
    /// second to where that jump leads. Of each the branch's address and the key's.
    fn keys_in(&self, start: u64, data: &'static [u8]) -> Vec<(u64, u64)> {
        let entry = |(entry, place): (&[u8; 16], u64)| {
            let far = |at: usize| i32::from_le_bytes(entry[at..at + 4].try_into().unwrap());
            let (code, target) =
                (place.wrapping_add_signed(far(0).into()), (place + 4).wrapping_add_signed(far(4).into()));
            let bytes = self.code_at(code)?;
            let is_branch = BRANCHES.iter().any(|branch| bytes.starts_with(branch));
            let is_one = is_branch && self.code_at(target).is_some();
            let far = i64::from_le_bytes(entry[8..].try_into().unwrap());
            let key = (place + 8).wrapping_add_signed(far) & !3;
            let is_data = self.code_at(key).is_none() && key.abs_diff(place) < FARTHEST;
            (is_one && is_data).then_some((code, key))
        };
        let of_offset = |offset: usize| -> Vec<(u64, u64)> {
            let data = data.get(offset..).unwrap_or_default();
            let entries = data.as_chunks().0.iter().zip((start + offset as u64..).step_by(16));
            let all: Vec<_> = entries.map(entry).collect();
            let longest = all.split(Option::is_none).max_by_key(|run| run.len()).unwrap_or_default();
            longest.iter().flatten().copied().collect()
        };
        [of_offset(0), of_offset(8)].into_iter().max_by_key(Vec::len).unwrap_or_default()
    }

    /// The longest run of entries of `__mcount_loc`: addresses of nops of five bytes, or of calls.
    fn traced_in(&self, data: &'static [u8]) -> Vec<u64> {
        let is_one = |address: &u64| {
            let bytes = self.code_at(*address).unwrap_or_default();
            bytes.starts_with(BRANCHES[0]) || bytes.starts_with(&[0xe8])
        };
        let all: Vec<u64> = data.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let runs = all.split(|address| !is_one(address));
        runs.max_by_key(|run| run.len()).unwrap_or_default().to_vec()
    }

    /// `struct alt_instr`: 13 bytes until 5.12, 12 until 6.2, 14 since.
    fn alternatives_of(&self, start: u64, table: &[u8]) -> BTreeMap<u64, Vec<(u64, u16)>> {
        for (size, lengths) in [(14, 12), (12, 10), (13, 10)] {
            let read = |(at, entry): (usize, &[u8])| {
                let place = start + (at * size) as u64;
                let far = i32::from_le_bytes(entry[..4].try_into().unwrap());
                let feature = u16::from_le_bytes([entry[8], entry[9]]) & 0x7fff;
                (place.wrapping_add_signed(far.into()), (u64::from(entry[lengths]), feature))
            };
            let all: Vec<_> = table.chunks_exact(size).enumerate().map(read).collect();
            let first = self.code.iter().map(|(start, _)| *start).min().unwrap_or_default();
            let is_of_kernel = |address: u64| (first..first + FARTHEST).contains(&address);
            if table.len().is_multiple_of(size) && all.iter().all(|(address, _)| is_of_kernel(*address)) {
                let mut by_address: BTreeMap<u64, Vec<(u64, u16)>> = BTreeMap::new();
                all.into_iter().for_each(|(address, one)| by_address.entry(address).or_default().push(one));
                return by_address;
            }
        }
        BTreeMap::new()
    }

    /// The features for which boot may replace the code at an address.
    pub(crate) fn features(&self, address: u64) -> Vec<u16> {
        let near = self.alternatives.range(address.saturating_sub(LONGEST)..=address);
        let covers =
            near.flat_map(|(start, all)| all.iter().map(move |(length, feature)| (start + length, *feature)));
        covers.filter(|(end, _)| address < *end).map(|(_, feature)| feature).collect()
    }

    /// The parts of code that is there for a feature; none where the feature does not tell.
    pub(crate) fn of_features(&self, address: u64) -> Option<&'static [Part]> {
        let features = self.features(address);
        FEATURES.iter().find(|(feature, _)| features.contains(feature)).map(|(_, parts)| *parts)
    }

    /// Whether boot has replaced the call of a guest of Xen there.
    pub(crate) fn is_paravirt(&self, address: u64) -> bool {
        let before = self.paravirt.range(..=address).next_back();
        before.is_some_and(|(start, length)| address - start < *length)
    }

    /// How many places each table has.
    pub fn sizes(&self) -> [(&'static str, usize); 8] {
        [
            ("__jump_table", self.keys.len()),
            ("__mcount_loc", self.traced.len()),
            (".altinstructions", self.alternatives.len()),
            (".parainstructions", self.paravirt.len()),
            (".return_sites", self.returns.len()),
            (".retpoline_sites", self.indirect.len()),
            (".call_sites", self.calls.len()),
            (".ibt_endbr_seal", self.marks.len()),
        ]
    }

    /// Holds what of a path stands at a place of a table, or in a thunk that was entered there.
    pub fn hold(&self, anatomy: &Anatomy) -> Held {
        let (moved, mut state, mut held) = (self.moved(anatomy), State::default(), Held::default());
        for (place, one) in anatomy.instructions.iter().enumerate() {
            let next = anatomy.instructions.get(place + 1).map(|next| next.address.wrapping_sub(moved));
            let linked = Instruction { address: one.address.wrapping_sub(moved), ..one.clone() };
            held.hold(one.part, self.expected(&linked, next, &mut state), Vec::new);
        }
        held
    }

    /// How far boot has moved the kernel: so that the most of the path's instructions are as in the file.
    fn moved(&self, anatomy: &Anatomy) -> u64 {
        let kernel = || anatomy.instructions.iter().filter(|one| one.ring == 0).step_by(7).take(200);
        let fits = |moved: u64| {
            let is_there = |one: &&Instruction| {
                let code = self.code_at(one.address.wrapping_sub(moved));
                code.zip(one.code()).is_some_and(|(code, executed)| code.starts_with(&executed))
            };
            kernel().filter(is_there).count()
        };
        (0..512)
            .map(|step| step * ALIGNMENT)
            .max_by_key(|moved| (fits(*moved), u64::MAX - moved))
            .unwrap_or(0)
    }

    fn expected(&self, one: &Instruction, next: Option<u64>, state: &mut State) -> Option<Vec<Part>> {
        let (address, text) = (one.address, one.text.as_str());
        if one.ring == 3 {
            state.thunk = None;
            return None;
        }
        if let Some(part) = state.thunk {
            let returns_by_thunk = text.starts_with("jmp") && self.returns.contains(&address);
            state.thunk = match text {
                _ if text.starts_with("ret") || text.starts_with("jmp *") => None,
                _ if returns_by_thunk => Some(Part::Returns),
                _ => state.thunk,
            };
            return Some(vec![part]);
        }
        let is_nop = text.starts_with("nop") || text.starts_with("xchg %ax, %ax");
        let is_jump = text.starts_with("jmp");
        if is_nop && self.traced.contains(&address) {
            return Some(vec![Part::FunctionTrace]);
        }
        if let Some(key) = self.keys.get(&address).filter(|_| is_nop || is_jump) {
            // What one branch of a key is for, all are for.
            let before = state.keys.insert(*key, one.part).filter(|part| OF_KEYS.contains(part));
            return Some(before.map_or(OF_KEYS.to_vec(), |part| vec![part]));
        }
        if self.marks.contains(&address) && (is_nop || text.starts_with("endbr")) {
            return Some(vec![Part::Ibt]);
        }
        if let Some(parts) = self.of_features(address) {
            return Some(parts.to_vec());
        }
        if is_nop && self.is_paravirt(address) {
            return Some(vec![Part::Paravirt]);
        }
        let (returns, indirect) = (self.returns.contains(&address), self.indirect.contains(&address));
        let leads = (is_jump || text.starts_with("call")) && !text.contains('*');
        let follows = next == Some(address + one.bytes.len() as u64 / 2);
        if leads && !follows && (returns || indirect) {
            state.thunk = Some(if returns { Part::Returns } else { Part::Retpoline });
        }
        if returns && (is_jump || text.starts_with("ret")) {
            // Thunks return, too.
            return Some([OF_FUNCTIONS, &[Part::Retpoline, Part::Returns]].concat());
        }
        if self.calls.contains(&address) && text.starts_with("call") {
            return Some(OF_FUNCTIONS.to_vec());
        }
        (indirect && (is_jump || text.starts_with("call")))
            .then(|| [OF_FUNCTIONS, &[Part::Retpoline]].concat())
    }

    /// What a table alone says of an instruction as it was linked: nothing of thunks, whose names are known where there are symbols.
    pub(crate) fn at(&self, one: &Instruction) -> Option<Vec<Part>> {
        self.expected(one, None, &mut State::default())
    }
}

//! A model of the translations that a processor with PCID may keep. No emulator keeps them as a processor does, so that a
//! kernel that forgets a flush passes every other test. The model reads the kernel's log (lab/mm/tlb.h), and complains where a
//! program, or the kernel when a program enters it, could use a translation that the page tables no longer have.
//!
//! The rules, from Intel's manual (SDM vol. 3, section 4.10) and AMD's (APM vol. 2, section 5.5):
//!
//! - While an identifier (PCID) is the current one, the processor may keep each translation that its tables have, whether
//!   used or not, and what it read of tables on the way (4.10.2, 4.10.3). Of entries that are not present it keeps nothing.
//! - So a translation becomes *old* when its entry, or one on the way to it, was present and changes, for every identifier
//!   that was the current one since the translation was there. A change of the bits A and D does not count. A change that
//!   only adds rights does: all that can follow is a page fault without a cause (4.10.4.3), but this kernel ends a program
//!   that has one.
//! - While CR4.PGE is set, translations of pages with the bit G are *global*: they are used with every identifier, and a write to
//!   CR3 leaves them (4.10.2.4). So what is global in one address space must be the same in every other that becomes current:
//!   if not, a program could use a translation of the kernel's that its tables do not have.
//! - INVLPG makes the processor forget the translations of a page with the current identifier, and all that it has read of
//!   tables with that one; nothing with any other but the global translation (4.10.4.1).
//! - INVPCID of type 0 makes it forget the translation of a page with one identifier, of type 1 all with one, of type 3 all, of
//!   type 2 all and the global ones. Without identifiers there is but 0.
//! - A change of CR4.PGE makes it forget everything.
//! - A write to CR3 makes it forget what it keeps with the identifier that becomes current; with bit 63 set, nothing. While
//!   CR4.PCIDE is clear the identifier is 0, and bit 63 is #GP.
//! - CR4.PCIDE may be set only while the identifier is 0. Intel's processors forget everything when it is cleared; the model
//!   forgets nothing, since the kernel does not have to rely on that.
//! - No old translation may be left with the current identifier when a program runs, nor when the kernel is entered; nor of
//!   addresses of which a function of the kernel promises so at its end (`Settled`): what the kernel then reads and writes
//!   for a program is what the tables say. With other identifiers there may be some, until these become current.
//! - CR3 must not be written with bit 63 when what is kept with that identifier is from other tables, or was never flushed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

const PRESENT: u64 = 1;
const LARGE: u64 = 0x80;
const KEEP: u64 = 1 << 63;
const PCIDE: u64 = 1 << 17;
const PGE: u64 = 1 << 7;
const ACCESSED_DIRTY: u64 = 0x60;
const GLOBAL: u64 = 0x100;
const FRAME: u64 = 0x000f_ffff_ffff_f000;
const IDENTIFIER: u64 = 0xfff;
const PAGE: u64 = 4096;
const TOP_LEVEL: u32 = 3;
const LEVEL_BITS: u32 = 9;

/// What the log tells. Addresses of entries are physical.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// An entry of a page table was written.
    Store {
        entry: u64,
        value: u64,
    },
    /// Entries became 0.
    Clear {
        first: u64,
        bytes: u64,
    },
    /// Values that were written to these registers.
    Cr3(u64),
    Cr4(u64),
    /// INVLPG with an address.
    Invlpg(u64),
    Invpcid {
        kind: u64,
        identifier: u64,
        address: u64,
    },
    /// A program runs from here on.
    Run,
    /// The kernel relies on there being no old translation of these addresses with the current identifier.
    Settled {
        first: u64,
        bytes: u64,
    },
}

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// A translation could be used though it is old.
    Old { identifier: u64, address: u64, moment: Moment },
    /// Translations of other tables, or of nobody knows whom, are kept with the identifier.
    Kept { identifier: u64 },
    /// A global translation of other tables could be used, which the current ones do not have.
    Foreign { address: u64 },
    /// The processor raises #GP, or #UD.
    Fault,
}

/// When a translation could be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    ProgramRuns,
    KernelIsEntered,
    Promised,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Wrong::Old { identifier, address, moment } => {
                let moment = match moment {
                    Moment::ProgramRuns => "a program runs",
                    Moment::KernelIsEntered => "the kernel is entered",
                    Moment::Promised => "the kernel relies on its being forgotten",
                };
                write!(f, "the translation of {address:#x} with PCID {identifier} is old when {moment}")
            }
            Wrong::Kept { identifier } => {
                write!(f, "PCID {identifier} gets other page tables, and its translations are not flushed")
            }
            Wrong::Foreign { address } => {
                write!(f, "the global translation of {address:#x} is not what the current tables have")
            }
            Wrong::Fault => write!(f, "the processor raises an exception"),
        }
    }
}

/// An entry of a page table, and since when it has this value.
#[derive(Debug, Clone, Copy)]
struct Entry {
    value: u64,
    since: u64,
}

/// What the processor may still use: the translation of a page, or what it read of the tables of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Old {
    first: u64,
    bytes: u64,
    is_table: bool,
}

impl Old {
    fn overlaps(&self, first: u64, bytes: u64) -> bool {
        first < self.first.saturating_add(self.bytes) && self.first < first.saturating_add(bytes)
    }
}

/// What is kept with an identifier.
#[derive(Debug, Clone)]
struct Kept {
    /// Whose tables they are of; None: nothing is kept.
    root: Option<u64>,
    /// When it was the current one last.
    current_at: u64,
    old: BTreeSet<Old>,
}

/// The processor.
#[derive(Debug, Clone, Default)]
pub struct Processor {
    time: u64,
    entries: BTreeMap<u64, Entry>,
    kept: BTreeMap<u64, Kept>,
    has_identifiers: bool,
    /// None before the kernel's first write to CR3.
    cr3: Option<u64>,
    is_in_program: bool,
    has_globals: bool,
    old_globals: BTreeSet<Old>,
    /// Tables of which there may be global translations: when they were the current ones last.
    global_roots: BTreeMap<u64, u64>,
    /// Those that are known to agree with all global translations.
    agreeing: BTreeSet<u64>,
    /// Everything was forgotten once, so that an identifier of which nothing is known has nothing.
    is_clean: bool,
}

impl Processor {
    /// What the log tells next.
    pub fn take(&mut self, event: Event) -> Result<(), Wrong> {
        self.time += 1;
        let (now, current) = (self.time, self.current());
        if let Some(kept) = self.kept.get_mut(&current) {
            kept.current_at = now;
        }
        self.note_root();
        let was_in_program = std::mem::take(&mut self.is_in_program);
        match event {
            Event::Store { entry, value } => self.store(entry, value),
            Event::Clear { first, bytes } => {
                let entries: Vec<u64> = self.entries.range(first..first + bytes).map(|(at, _)| *at).collect();
                entries.into_iter().for_each(|entry| self.store(entry, 0));
            }
            Event::Cr3(value) => {
                self.write_cr3(value)?;
                if was_in_program {
                    self.check(0, u64::MAX, Moment::KernelIsEntered)?;
                }
            }
            Event::Cr4(value) => self.write_cr4(value)?,
            Event::Invlpg(address) => {
                if let Some(kept) = self.kept.get_mut(&current) {
                    kept.old.retain(|old| !old.is_table && !old.overlaps(address, 1));
                }
                self.old_globals.retain(|old| !old.overlaps(address, 1));
            }
            Event::Invpcid { kind, identifier, address } => self.invpcid(kind, identifier, address)?,
            Event::Run => {
                self.check(0, u64::MAX, Moment::ProgramRuns)?;
                self.is_in_program = true;
            }
            Event::Settled { first, bytes } => self.check(first, bytes, Moment::Promised)?,
        }
        Ok(())
    }

    fn current(&self) -> u64 {
        if self.has_identifiers { self.cr3.unwrap_or(0) & IDENTIFIER } else { 0 }
    }

    fn root(&self) -> Option<u64> {
        self.cr3.map(|value| value & FRAME)
    }

    /// The current tables are those of which there may be global translations.
    fn note_root(&mut self) {
        if let Some(root) = self.root().filter(|_| self.has_globals)
            && self.global_roots.insert(root, self.time).is_none()
        {
            self.agreeing.clear();
        }
    }

    fn check(&mut self, first: u64, bytes: u64, moment: Moment) -> Result<(), Wrong> {
        let identifier = self.current();
        let old = self.kept.get(&identifier).into_iter().flat_map(|kept| &kept.old);
        match old.chain(&self.old_globals).find(|old| old.overlaps(first, bytes)) {
            Some(old) => Err(Wrong::Old { identifier, address: old.first.max(first), moment }),
            None if moment == Moment::Promised => Ok(()),
            None => self.check_globals(),
        }
    }

    /// Whether the current tables have what is global.
    fn check_globals(&mut self) -> Result<(), Wrong> {
        let Some(root) = self.root().filter(|root| self.has_globals && !self.agreeing.contains(root)) else {
            return Ok(());
        };
        let mut globals = BTreeMap::new();
        for (root, not_since) in &self.global_roots {
            self.find_globals(*root, TOP_LEVEL, 0, *not_since, &mut globals);
        }
        for (address, value) in globals {
            if self.translation(root, address).map(|found| found & !GLOBAL) != Some(value & !GLOBAL) {
                return Err(Wrong::Foreign { address });
            }
        }
        self.agreeing.insert(root);
        Ok(())
    }

    /// The global translations of a table: the last entry of each, by address.
    fn find_globals(
        &self,
        table: u64,
        level: u32,
        base: u64,
        not_since: u64,
        found: &mut BTreeMap<u64, u64>,
    ) {
        for (at, entry) in self.entries.range(table..table + PAGE) {
            let first = canonical(base + (at - table) / 8 * (PAGE << (LEVEL_BITS * level)));
            if entry.value & PRESENT == 0 || entry.since > not_since {
                continue;
            }
            if level > 0 && entry.value & LARGE == 0 {
                self.find_globals(entry.value & FRAME, level - 1, first, not_since, found);
            } else if entry.value & GLOBAL != 0 {
                found.insert(first, entry.value & !ACCESSED_DIRTY);
            }
        }
    }

    /// The last entry on the way to an address.
    fn translation(&self, mut table: u64, address: u64) -> Option<u64> {
        for level in (0..=TOP_LEVEL).rev() {
            let slot = address >> (12 + LEVEL_BITS * level) & 0x1ff;
            let value = self.entries.get(&(table + 8 * slot))?.value & !ACCESSED_DIRTY;
            if value & PRESENT == 0 {
                return None;
            }
            if level == 0 || value & LARGE != 0 {
                return Some(value);
            }
            table = value & FRAME;
        }
        None
    }

    /// Nothing is kept any more.
    fn forget_all(&mut self, globals: bool) {
        self.kept.clear();
        self.is_clean = true;
        let kept = Kept { root: self.root(), current_at: self.time, old: BTreeSet::new() };
        self.kept.insert(self.current(), kept);
        if globals {
            self.old_globals.clear();
            self.global_roots.clear();
            self.agreeing.clear();
            self.note_root();
        }
    }

    fn invpcid(&mut self, kind: u64, identifier: u64, address: u64) -> Result<(), Wrong> {
        let is_current = identifier == self.current();
        if identifier > IDENTIFIER || kind > 3 || (kind < 2 && identifier != 0 && !self.has_identifiers) {
            return Err(Wrong::Fault);
        }
        match kind {
            0 => {
                if let Some(kept) = self.kept.get_mut(&identifier) {
                    kept.old.retain(|old| old.is_table || !old.overlaps(address, 1));
                }
            }
            1 => {
                let root = self.root().filter(|_| is_current);
                self.kept.insert(identifier, Kept { root, current_at: self.time, old: BTreeSet::new() });
            }
            // Without identifiers it is 0 alone that is forgotten.
            _ if !self.has_identifiers => {
                self.invpcid(1, 0, 0)?;
                if kind == 2 {
                    self.old_globals.clear();
                    self.global_roots.clear();
                    self.agreeing.clear();
                }
            }
            _ => self.forget_all(kind == 2),
        }
        Ok(())
    }

    fn write_cr3(&mut self, value: u64) -> Result<(), Wrong> {
        let is_kept = value & KEEP != 0;
        if is_kept && !self.has_identifiers {
            return Err(Wrong::Fault);
        }
        self.cr3 = Some(value & !KEEP);
        self.note_root();
        if is_kept {
            return self.keep();
        }
        let kept = Kept { root: self.root(), current_at: self.time, old: BTreeSet::new() };
        self.kept.insert(self.current(), kept);
        Ok(())
    }

    /// The current identifier changes, or its tables, and nothing is flushed.
    fn keep(&mut self) -> Result<(), Wrong> {
        let (identifier, now) = (self.current(), self.time);
        let root = self.root();
        match self.kept.get_mut(&identifier) {
            Some(kept) if kept.root.is_none() || kept.root == root => {
                (kept.root, kept.current_at) = (root, now);
            }
            None if self.is_clean => {
                self.kept.insert(identifier, Kept { root, current_at: now, old: BTreeSet::new() });
            }
            _ => return Err(Wrong::Kept { identifier }),
        }
        Ok(())
    }

    fn write_cr4(&mut self, value: u64) -> Result<(), Wrong> {
        let will_have = value & PCIDE != 0;
        let has_identifier = self.cr3.is_some_and(|value| value & IDENTIFIER != 0);
        let flips = (value & PGE != 0) != self.has_globals;
        if will_have && !self.has_identifiers && has_identifier {
            return Err(Wrong::Fault);
        }
        let changes = will_have != self.has_identifiers;
        self.has_identifiers = will_have;
        self.has_globals = value & PGE != 0;
        if self.cr3.is_some() && flips {
            self.forget_all(true);
        }
        if changes && self.cr3.is_some() { self.keep() } else { Ok(()) }
    }

    fn store(&mut self, at: u64, value: u64) {
        let before = self.entries.get(&at).copied();
        match before {
            Some(Entry { value: before, .. }) if (before ^ value) & !ACCESSED_DIRTY == 0 => return,
            Some(entry) if entry.value & PRESENT != 0 => self.grow_old(at),
            _ => {}
        }
        if (value | before.map_or(0, |entry| entry.value)) & GLOBAL != 0 {
            self.agreeing.clear();
        }
        self.entries.insert(at, Entry { value, since: self.time });
    }

    /// An entry is about to change: whatever it takes part in translating is old.
    fn grow_old(&mut self, changed: u64) {
        let (entries, has_globals, globals) = (&self.entries, self.has_globals, &mut self.old_globals);
        let kept =
            self.kept.values_mut().filter_map(|kept| Some((kept.root?, kept.current_at, &mut kept.old)));
        for (root, not_since, found) in kept {
            let mut walk = Walk { entries, changed, not_since, has_globals, found, globals };
            walk.table(root, TOP_LEVEL, 0, false);
        }
        for (root, not_since) in &self.global_roots {
            let found = &mut BTreeSet::new();
            let mut walk = Walk { entries, changed, not_since: *not_since, has_globals, found, globals };
            walk.table(*root, TOP_LEVEL, 0, false);
        }
    }
}

/// Goes through an identifier's tables for what an entry takes part in translating.
struct Walk<'a> {
    entries: &'a BTreeMap<u64, Entry>,
    changed: u64,
    /// What is newer was never kept.
    not_since: u64,
    has_globals: bool,
    found: &'a mut BTreeSet<Old>,
    globals: &'a mut BTreeSet<Old>,
}

impl Walk<'_> {
    /// A table of a level, whose first address is `base`. `is_below`: the entry leads to it.
    fn table(&mut self, table: u64, level: u32, base: u64, is_below: bool) {
        let bytes = PAGE << (LEVEL_BITS * level);
        if level == 0 && !is_below && !(table..table + PAGE).contains(&self.changed) {
            return;
        }
        for (at, entry) in self.entries.range(table..table + PAGE) {
            if entry.value & PRESENT == 0 || entry.since > self.not_since {
                continue;
            }
            let first = canonical(base + (at - table) / 8 * bytes);
            let is_old = is_below || *at == self.changed;
            let is_table = level > 0 && entry.value & LARGE == 0;
            let is_global = self.has_globals && !is_table && entry.value & GLOBAL != 0;
            if is_old {
                let found = if is_global { &mut *self.globals } else { &mut *self.found };
                found.insert(Old { first, bytes, is_table });
            }
            if is_table {
                self.table(entry.value & FRAME, level - 1, first, is_old);
            }
        }
    }
}

/// Bit 47 is repeated above.
fn canonical(address: u64) -> u64 {
    ((address << 16) as i64 >> 16) as u64
}

mod tests {
    use super::*;

    const TOP: u64 = 0x1000;
    const PROGRAMS_TOP: u64 = 0x2000;
    /// Of the levels below; both tops lead there.
    const TABLES: [u64; 3] = [0x3000, 0x4000, 0x5000];
    const LINK: u64 = PRESENT | 6;
    /// Translated by the fifth entry of the last table.
    const ADDRESS: u64 = 4 * PAGE;
    const ENTRY: u64 = TABLES[2] + 4 * 8;
    const KERNEL: u64 = TOP | 1;
    const PROGRAM: u64 = PROGRAMS_TOP | 2;
    const RUN: Event = Event::Run;

    fn store(entry: u64, value: u64) -> Event {
        Event::Store { entry, value }
    }

    fn settled(first: u64) -> Event {
        Event::Settled { first, bytes: PAGE }
    }

    fn cr3(value: u64) -> Event {
        Event::Cr3(value)
    }

    fn link() -> Vec<Event> {
        let ways =
            [(TOP, TABLES[0]), (PROGRAMS_TOP, TABLES[0]), (TABLES[0], TABLES[1]), (TABLES[1], TABLES[2])];
        ways.map(|(at, to)| store(at, to | LINK)).to_vec()
    }

    /// A page that is mapped, one set of identifiers, and a program that has run.
    fn with_identifiers() -> Vec<Event> {
        let begin = [cr3(TOP), Event::Cr4(PCIDE), cr3(PROGRAM), cr3(KERNEL), store(ENTRY, 0xa000 | LINK)];
        [link(), begin.to_vec(), round(KEEP)].concat()
    }

    /// A program runs, and enters the kernel.
    fn round(keep: u64) -> Vec<Event> {
        vec![cr3(PROGRAM | keep), RUN, cr3(KERNEL | keep)]
    }

    fn result(events: &[Event]) -> Result<(), (usize, Wrong)> {
        let mut processor = Processor::default();
        let mut numbered = events.iter().enumerate();
        numbered.try_for_each(|(at, event)| processor.take(*event).map_err(|wrong| (at, wrong)))
    }

    /// The log is right; without any one of the events that `needed` counts from the end of `before`, it is wrong.
    fn check(before: Vec<Event>, after: &[Event], needed: &[(usize, Wrong)]) {
        let whole = [before.clone(), after.to_vec()].concat();
        assert_eq!(result(&whole), Ok(()), "{after:x?}");
        for (left_out, expected) in needed {
            let mut events = whole.clone();
            events.remove(before.len() + left_out);
            let found = result(&events).map_err(|(_, wrong)| wrong);
            assert_eq!(found, Err(*expected), "without {:x?}: {after:x?}", after[*left_out]);
        }
    }

    fn old(identifier: u64, address: u64, moment: Moment) -> Wrong {
        Wrong::Old { identifier, address, moment }
    }

    fn in_program(identifier: u64) -> Wrong {
        old(identifier, ADDRESS, Moment::ProgramRuns)
    }

    #[test]
    fn a_change_of_a_present_entry_is_flushed_for_both_identifiers() {
        // Absent; another page; no longer writable; not executable; only more rights.
        for value in [0, 0xb000 | LINK, 0xa000 | PRESENT | 4, 0xa000 | LINK | 1 << 63, 0xa000 | LINK | 1 << 9]
        {
            let flushes = [
                store(ENTRY, value),
                cr3(PROGRAM),
                cr3(KERNEL),
                cr3(PROGRAM | KEEP),
                RUN,
                cr3(KERNEL | KEEP),
            ];
            let kernels = old(1, ADDRESS, Moment::KernelIsEntered);
            check(with_identifiers(), &flushes, &[(1, in_program(2)), (2, kernels)]);
        }
    }

    #[test]
    fn an_absent_entry_and_the_bits_that_the_processor_sets_need_no_flush() {
        let other = ENTRY + 8;
        let events = [
            vec![
                store(other, 0xb000 | LINK),
                store(ENTRY, 0xa000 | LINK | ACCESSED_DIRTY),
                store(ENTRY, 0xa000 | LINK),
            ],
            round(KEEP),
        ];
        assert_eq!(result(&[with_identifiers(), events.concat()].concat()), Ok(()));
        // Reserved: not present, but not 0.
        let reserved = [vec![store(other, 0xb000), store(other, 0xb000 | LINK)], round(KEEP)];
        assert_eq!(result(&[with_identifiers(), reserved.concat()].concat()), Ok(()));
    }

    #[test]
    fn invlpg_flushes_one_page_with_the_current_identifier() {
        let change =
            [store(ENTRY, 0), Event::Invlpg(ADDRESS + 5), settled(ADDRESS), cr3(PROGRAM), cr3(KERNEL | KEEP)];
        let rest = round(KEEP);
        let needed = [(1, old(1, ADDRESS, Moment::Promised)), (3, in_program(2))];
        check(with_identifiers(), &[&change[..], &rest].concat(), &needed);
        // Another page.
        let mut wrong = with_identifiers();
        wrong.extend([store(ENTRY, 0), Event::Invlpg(ADDRESS + PAGE), settled(ADDRESS)]);
        assert_eq!(result(&wrong).map_err(|(_, wrong)| wrong), Err(old(1, ADDRESS, Moment::Promised)));
        // A promise is about what it names.
        *wrong.last_mut().unwrap() = settled(ADDRESS + PAGE);
        assert_eq!(result(&wrong), Ok(()));
    }

    #[test]
    fn bit_63_flushes_nothing() {
        let mut events = with_identifiers();
        events.extend([store(ENTRY, 0), cr3(PROGRAM | KEEP), cr3(KERNEL | KEEP), cr3(PROGRAM), RUN]);
        assert_eq!(result(&events), Ok(()), "only the kernel's are old");
        events.push(cr3(KERNEL | KEEP));
        let expected = old(1, ADDRESS, Moment::KernelIsEntered);
        assert_eq!(result(&events), Err((events.len() - 1, expected)));
    }

    #[test]
    fn without_identifiers_each_change_of_tables_flushes_and_invlpg_is_enough() {
        let begin = [cr3(TOP), store(ENTRY, 0xa000 | LINK), RUN];
        let before = [link(), begin.to_vec()].concat();
        check(before.clone(), &[store(ENTRY, 0), Event::Invlpg(ADDRESS), RUN], &[(1, in_program(0))]);
        check(before.clone(), &[store(ENTRY, 0), cr3(TOP), RUN], &[(1, in_program(0))]);
        check(before, &[store(ENTRY, 0), cr3(PROGRAMS_TOP), RUN, cr3(TOP)], &[(1, in_program(0))]);
    }

    #[test]
    fn what_was_mapped_while_another_identifier_was_current_was_never_kept() {
        let mut events = with_identifiers();
        let other = ENTRY + 8;
        let change = [store(other, 0xb000 | LINK), store(other, 0), Event::Invlpg(ADDRESS + PAGE)];
        events.extend(change.iter().chain(&round(KEEP)));
        assert_eq!(result(&events), Ok(()));
        // Had the program's been current in between, it would have been.
        let between = events.len() - round(KEEP).len() - 2;
        events.splice(between..between, [cr3(PROGRAM | KEEP), cr3(KERNEL | KEEP)]);
        let expected = old(2, ADDRESS + PAGE, Moment::ProgramRuns);
        assert_eq!(result(&events).map_err(|(_, wrong)| wrong), Err(expected));
    }

    #[test]
    fn a_table_that_is_unlinked_is_flushed_with_all_that_it_led_to() {
        for entry in [TABLES[1], TABLES[0]] {
            let flushes = [store(entry, 0), cr3(PROGRAM), cr3(KERNEL)];
            let wrong = |identifier, moment| old(identifier, 0, moment);
            let needed = [(1, wrong(2, Moment::ProgramRuns)), (2, wrong(1, Moment::KernelIsEntered))];
            check(with_identifiers(), &[&flushes[..], &round(KEEP)].concat(), &needed);
        }
    }

    #[test]
    fn a_table_without_a_page_is_flushed_too() {
        let is_page = |event: &Event| matches!(event, Event::Store { entry: ENTRY, .. });
        let mut empty = with_identifiers();
        empty.retain(|event| !is_page(event));
        let clear = |first| Event::Clear { first, bytes: PAGE / 2 };
        let promise = Event::Settled { first: 0, bytes: 1 << 47 };
        for before in [with_identifiers(), empty] {
            let change = [clear(TOP), clear(PROGRAMS_TOP), cr3(PROGRAM), cr3(KERNEL), promise];
            let needed = [(2, old(2, 0, Moment::ProgramRuns)), (3, old(1, 0, Moment::KernelIsEntered))];
            check(before.clone(), &[&change[..], &round(KEEP)].concat(), &needed);
            // What was read of tables is forgotten by INVLPG, whatever its address; of pages, there is but this one.
            let change = [clear(TOP), Event::Invlpg(ADDRESS), promise];
            check(before, &change, &[(1, old(1, 0, Moment::Promised))]);
        }
    }

    #[test]
    fn large_pages_are_forgotten_by_any_of_their_addresses() {
        let (large, address) = (TABLES[1] + 8, (2 << 20) + 3 * PAGE);
        let mut before = with_identifiers();
        before.extend([store(large, 0x40_0000 | LINK | LARGE)]);
        let promise = settled(address + PAGE);
        let wrong = old(1, address + PAGE, Moment::Promised);
        check(before, &[store(large, 0), Event::Invlpg(address), promise], &[(1, wrong)]);
    }

    #[test]
    fn addresses_of_the_upper_half_are_sign_extended() {
        let top = TOP + 511 * 8;
        let mut before = with_identifiers();
        before.extend([store(top, 0x6000 | LINK), store(0x6000, 0x4000_0000 | LINK | LARGE)]);
        let (first, size) = (0xffff_ff80_0000_0000, 1 << 30);
        let wrong = old(1, first, Moment::Promised);
        let promise = Event::Settled { first, bytes: size };
        check(before, &[store(0x6000, 0), Event::Invlpg(first), promise], &[(1, wrong)]);
    }

    #[test]
    fn an_identifier_for_other_tables_is_flushed() {
        let mut before = with_identifiers();
        let other = 0x9000 | 2;
        let kept = Wrong::Kept { identifier: 2 };
        check(before.clone(), &[cr3(other), cr3(other | KEEP), RUN], &[(0, kept)]);
        before.extend([cr3(0x9000 | 3 | KEEP)]);
        assert_eq!(result(&before), Err((before.len() - 1, Wrong::Kept { identifier: 3 })), "never flushed");
    }

    #[test]
    fn identifiers_are_switched_on_and_off_with_0() {
        let begin = [link(), vec![cr3(TOP)]].concat();
        check(begin, &[Event::Cr4(PCIDE), cr3(TOP | KEEP)], &[(0, Wrong::Fault)]);
        let mut with_another = link();
        with_another.extend([cr3(TOP | 1), Event::Cr4(PCIDE)]);
        assert_eq!(result(&with_another), Err((with_another.len() - 1, Wrong::Fault)));
        // Off: what was kept with 0 before, and is old, counts again.
        let mut before = link();
        before.extend([cr3(TOP), store(ENTRY, 0xa000 | LINK), Event::Cr4(PCIDE), cr3(PROGRAM), cr3(KERNEL)]);
        before.push(store(ENTRY, 0));
        check(before, &[cr3(TOP), Event::Cr4(0), RUN], &[(0, in_program(0))]);
    }

    fn invpcid(kind: u64, identifier: u64, address: u64) -> Event {
        Event::Invpcid { kind, identifier, address }
    }

    #[test]
    fn invpcid_forgets_a_page_an_identifier_or_all() {
        let kernels = old(1, ADDRESS, Moment::KernelIsEntered);
        for (kind, address) in [(0, ADDRESS), (1, 0)] {
            let flushes = [store(ENTRY, 0), invpcid(kind, 2, address), invpcid(kind, 1, address)];
            let needed = [(1, in_program(2)), (2, kernels)];
            check(with_identifiers(), &[&flushes[..], &round(KEEP)].concat(), &needed);
        }
        for kind in [2, 3] {
            let flushes = [store(ENTRY, 0), invpcid(kind, 0, 0)];
            check(with_identifiers(), &[&flushes[..], &round(KEEP)].concat(), &[(1, in_program(2))]);
        }
        // What was read of tables is not promised to be forgotten with a page.
        let mut events = with_identifiers();
        events.extend([store(TABLES[1], 0), invpcid(0, 1, ADDRESS), settled(ADDRESS)]);
        assert_eq!(result(&events).map_err(|(_, wrong)| wrong), Err(old(1, ADDRESS, Moment::Promised)));
        // An identifier without translations may be kept with any tables.
        let kept = Wrong::Kept { identifier: 2 };
        check(with_identifiers(), &[invpcid(1, 2, 0), cr3(0x9000 | 2 | KEEP)], &[(0, kept)]);
        check(
            with_identifiers(),
            &[invpcid(3, 0, 0), cr3(0x9000 | 7 | KEEP)],
            &[(0, Wrong::Kept { identifier: 7 })],
        );
        let begin = [link(), vec![cr3(TOP)]].concat();
        for (event, expected) in [
            (invpcid(1, 1, 0), Err(Wrong::Fault)),
            (invpcid(1, 0, 0), Ok(())),
            (invpcid(4, 0, 0), Err(Wrong::Fault)),
        ] {
            let events = [begin.clone(), vec![event]].concat();
            assert_eq!(result(&events).map_err(|(_, wrong)| wrong), expected, "{event:?}");
        }
    }

    const SHARED: u64 = 0xc000 | PRESENT | GLOBAL;
    const OF_KERNEL: u64 = ADDRESS + PAGE;

    /// As `with_identifiers`, with a global page.
    fn with_globals(value: u64) -> Vec<Event> {
        let begin =
            [cr3(TOP), Event::Cr4(PCIDE | PGE), cr3(PROGRAM), cr3(KERNEL), store(ENTRY, 0xa000 | LINK)];
        [link(), begin.to_vec(), vec![store(ENTRY + 8, value)], round(KEEP)].concat()
    }

    #[test]
    fn a_global_translation_is_left_by_all_but_what_names_it_or_forgets_everything() {
        let change = store(ENTRY + 8, 0);
        let promise = settled(OF_KERNEL);
        let wrong = |identifier| old(identifier, OF_KERNEL, Moment::Promised);
        for flush in [
            vec![Event::Invlpg(OF_KERNEL)],
            vec![invpcid(2, 0, 0)],
            vec![Event::Cr4(PCIDE), Event::Cr4(PCIDE | PGE)],
        ] {
            let events = [vec![change], flush, vec![promise], round(KEEP)].concat();
            check(with_globals(SHARED), &events, &[]);
        }
        for flush in [
            vec![cr3(PROGRAM), cr3(KERNEL)],
            vec![invpcid(3, 0, 0)],
            vec![invpcid(0, 1, OF_KERNEL)],
            vec![invpcid(1, 1, 0), invpcid(1, 2, 0)],
            vec![Event::Invlpg(ADDRESS)],
        ] {
            let events = [with_globals(SHARED), vec![change], flush, vec![promise]].concat();
            assert_eq!(result(&events).map_err(|(_, wrong)| wrong), Err(wrong(1)), "{events:x?}");
        }
        // Without CR4.PGE the bit means nothing.
        let mut events = with_globals(SHARED);
        events
            .iter_mut()
            .filter(|event| matches!(event, Event::Cr4(_)))
            .for_each(|event| *event = Event::Cr4(PCIDE));
        events.extend([change, cr3(PROGRAM), cr3(KERNEL), promise]);
        assert_eq!(result(&events), Ok(()));
        // Another address space's tables are current when the page changes, which was global in the first.
        let other = [store(0x9000, TABLES[0] | LINK), cr3(0x9000 | 3), change, cr3(0x9000 | 3), promise];
        let events = [with_globals(SHARED), other.to_vec()].concat();
        assert_eq!(result(&events).map_err(|(_, wrong)| wrong), Err(wrong(3)));
    }

    #[test]
    fn what_is_global_is_the_same_in_all_tables_that_become_current() {
        // The kernel's tables have one more page than the program's, and it is global.
        let top = TOP + 256 * 8;
        let (base, tables) = (0xffff_8000_0000_0000, [0x6000, 0x7000, 0x8000]);
        let path = [
            store(top, tables[0] | LINK),
            store(tables[0], tables[1] | LINK),
            store(tables[1], tables[2] | LINK),
        ];
        let begin = |page: u64| {
            [
                link(),
                path.to_vec(),
                vec![store(tables[2], page), cr3(TOP), Event::Cr4(PCIDE | PGE), cr3(KERNEL)],
            ]
            .concat()
        };
        let events = [begin(0xd000 | PRESENT | GLOBAL), vec![cr3(PROGRAM), RUN]].concat();
        assert_eq!(result(&events), Err((events.len() - 1, Wrong::Foreign { address: base })));
        let events = [begin(0xd000 | PRESENT), vec![cr3(PROGRAM), RUN]].concat();
        assert_eq!(result(&events), Ok(()));
        // The program's tables have it, too.
        let of_program = PROGRAMS_TOP + 256 * 8;
        let shared = [
            begin(0xd000 | PRESENT | GLOBAL),
            vec![store(of_program, tables[0] | LINK), cr3(PROGRAM), RUN, cr3(KERNEL)],
        ]
        .concat();
        assert_eq!(result(&shared), Ok(()));
    }
}

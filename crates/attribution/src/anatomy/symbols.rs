//! Names of the kernel's addresses, in one boot.

use crate::anatomy::Location;
use crate::anatomy::code::is_own;
use iced_x86::{Instruction, Register};
use record::trace::Symbol;
use std::collections::BTreeMap;
use std::ops::Range;

/// No function of a kernel is longer.
const LONGEST: u64 = 1 << 16;

/// The lowest address of the kernel's half.
const KERNEL_HALF: u64 = 1 << 63;

/// Where the kernel's image and its modules are.
const IMAGE: Range<u64> = 0xffff_ffff_8000_0000..0xffff_ffff_ff00_0000;

/// No kernel has more data for each CPU.
const OWN: u64 = 16 << 20;

/// The symbols of a boot by address, and how far it has moved the kernel.
pub(crate) struct Symbols {
    names: BTreeMap<u64, String>,
    /// What each CPU has of its own, by its offset from the CPU's first. Since Linux 6.15 it has addresses as other data has.
    own: BTreeMap<u64, String>,
    offset: u64,
}

impl Symbols {
    /// Of several names at one address, the last of the alphabet: `__x64_sys_getppid`, not `__ia32_sys_getppid`; but none that marks the
    /// padding before a function or an end. `text` is the address that the kernel's file gives to `_text`.
    pub fn of(symbols: &[Symbol], text: Option<u64>) -> Symbols {
        let mut names: BTreeMap<u64, String> = BTreeMap::new();
        let mut loaded = None;
        for Symbol { address, name } in symbols.iter().filter(|symbol| symbol.address >= KERNEL_HALF) {
            match name.as_str() {
                "_text" => loaded = Some(*address),
                "_stext" => loaded = loaded.or(Some(*address)),
                _ => (),
            }
            let known = names.get(address);
            if known.is_none_or(|known| (is_marker(known), name) > (is_marker(name), known)) {
                names.insert(*address, name.clone());
            }
        }
        let offset = loaded.zip(text).map_or(0, |(loaded, text)| loaded.wrapping_sub(text));
        let own = symbols.iter().filter(|symbol| symbol.address < OWN);
        let own = own.map(|symbol| (symbol.address, symbol.name.clone())).collect();
        Symbols { names, own, offset }
    }

    /// The address of the symbol of this name, as linked.
    pub fn address(&self, name: &str) -> Option<u64> {
        let (address, _) = self.names.iter().find(|(_, known)| *known == name)?;
        Some(self.linked(*address))
    }

    /// The addresses between two symbols, as linked; empty where one of them is missing.
    pub fn between(&self, start: &str, stop: &str) -> Range<u64> {
        self.address(start).zip(self.address(stop)).map_or(0..0, |(start, stop)| start..stop)
    }

    /// The data at an address that the kernel's file gives.
    pub fn data(&self, linked: u64) -> Option<&str> {
        let (_, name) = self.names.range(..=linked.wrapping_add(self.offset)).next_back()?;
        Some(name)
    }

    /// What of the CPU's own data an instruction has an operand in (`%gs:…`).
    pub fn own(&self, code: &Instruction) -> Option<Location> {
        let is_fixed = matches!(code.memory_base(), Register::None | Register::RIP);
        let address = Some(code.memory_displacement64())
            .filter(|_| is_fixed && is_own(code) && code.memory_index() == Register::None)?;
        if address >= KERNEL_HALF {
            return self.place(address);
        }
        let (start, name) = self.own.range(..=address).next_back()?;
        Some(Location { name: name.clone(), offset: address - start })
    }

    /// The address that the kernel's file gives to one of this boot.
    pub fn linked(&self, address: u64) -> u64 {
        if address >= KERNEL_HALF { address.wrapping_sub(self.offset) } else { address }
    }

    /// The function, or other name, that covers an address.
    pub fn place(&self, address: u64) -> Option<Location> {
        let (start, name) = self.names.range(..=address).next_back()?;
        let offset = address - start;
        let is_covered = IMAGE.contains(&address) && offset < LONGEST && !is_marker(name);
        is_covered.then(|| Location { name: name.clone(), offset })
    }

    /// What stands in an instruction's text for an address of the kernel: `do_syscall_64`, `__rcu_read_lock+0x1d`. Without a symbol,
    /// the address that the kernel's file gives, so that the texts of two boots are the same.
    pub fn text(&self, address: u64) -> Option<String> {
        Some(match self.place(address) {
            Some(place) => place.text(),
            None if IMAGE.contains(&address) => format!("{:#x}", self.linked(address)),
            None => return None,
        })
    }
}

impl Location {
    /// `do_syscall_64`, `__rcu_read_lock+0x1d`
    pub(crate) fn text(&self) -> String {
        match self {
            Location { name, offset: 0 } => name.clone(),
            Location { name, offset } => format!("{name}+{offset:#x}"),
        }
    }
}

/// The beginnings and ends of sections of code.
const MARKERS: [&str; 5] = ["_text", "_stext", "_etext", "_sinittext", "_einittext"];

/// Names that mark a place between functions: `__entry_text_start`, but not `audit_reset_context`.
fn is_marker(name: &str) -> bool {
    let ends = ["text_start", "text_end", "thunk_start", "thunk_end"];
    let is_of_section = name.starts_with("__") && ends.iter().any(|end| name.ends_with(end));
    name.starts_with("__pfx_") || MARKERS.contains(&name) || is_of_section
}

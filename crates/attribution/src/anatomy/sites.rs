//! What the kernel's own tables say of places in its code, besides that of alternatives: static keys, traced functions, calls of a guest
//! of Xen.

use crate::anatomy::code::{is_nop, jumps};
use crate::anatomy::symbols::Symbols;
use crate::anatomy::{Part, keys};
use iced_x86::Instruction;
use linux::{Branch, Kernel, Paravirt};
use std::collections::{BTreeMap, BTreeSet};

/// The tables of a kernel, by address as linked. Where they are, symbols say; without these only that of Xen's guests is there.
pub(crate) struct Sites {
    branches: BTreeMap<u64, Branch>,
    traced: BTreeSet<u64>,
    paravirt: BTreeMap<u64, u64>,
}

impl Sites {
    pub fn of(kernel: &Kernel, symbols: &Symbols) -> Sites {
        let branches = kernel.branches(symbols.between("__start___jump_table", "__stop___jump_table"));
        let traced = kernel.traced(symbols.between("__start_mcount_loc", "__stop_mcount_loc"));
        let length = |site: &Paravirt| (site.address, site.length);
        Sites {
            branches: branches.into_iter().map(|branch| (branch.address, branch)).collect(),
            traced: traced.into_iter().collect(),
            paravirt: kernel.paravirt.iter().map(length).collect(),
        }
    }

    /// What an instruction belongs to, and whether it does nothing there.
    pub fn at(&self, linked: u64, code: &Instruction, symbols: &Symbols) -> Option<(Part, bool)> {
        let is_nop = is_nop(code);
        if let Some(branch) = self.branches.get(&linked).filter(|_| is_nop || jumps(code)) {
            let Some(part) = symbols.data(branch.key).and_then(keys::part) else {
                return Some((Part::StaticKeys, false));
            };
            let is_on = jumps(code) != branch.jumps_when_off;
            return Some((part, is_nop || !is_on));
        }
        if self.traced.contains(&linked) && is_nop {
            return Some((Part::FunctionTrace, false));
        }
        let (start, length) = self.paravirt.range(..=linked).next_back()?;
        (is_nop && linked - start < *length).then_some((Part::Paravirt, true))
    }
}

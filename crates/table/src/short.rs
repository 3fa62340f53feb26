//! Short names: `syscall` for `syscall-x86_64`, `clock_gettime` for all clocks.

use crate::{Entry, Kernel, Operation, Table};

/// The endings that distinguish the entries of a family, in the order in which a short name prefers them.
const ABIS: [&str; 3] = ["-x86_64", "-i386", "-x32"];

/// A name without its ABI.
fn family(name: &str) -> &str {
    ABIS.iter().find_map(|abi| name.strip_suffix(abi)).unwrap_or(name)
}

impl Table {
    /// The entries whose names consist of this word and an ABI, those for 64-bit code first.
    pub fn family(&self, word: &str) -> Vec<&Entry> {
        let of_abi = |abi| move |entry: &&Entry| entry.name.strip_suffix(abi) == Some(word);
        ABIS.iter().flat_map(|abi| self.entries.iter().filter(of_abi(*abi))).collect()
    }

    /// The entry that a word means on a kernel: the entry of that name, or the first of the family that the kernel has.
    pub fn entry_of(&self, word: &str, kernel: Kernel) -> Option<&Entry> {
        let first = || self.family(word).into_iter().find(|entry| entry.kernels.contains(&kernel));
        self.entry(word).or_else(first)
    }

    /// The operations that a word means: the one of that name, or all that the C function of that name does.
    pub fn operations_of(&self, word: &str) -> Vec<&Operation> {
        match self.operation(word) {
            Some(operation) => vec![operation],
            None => self.operations.iter().filter(|known| known.function.as_deref() == Some(word)).collect(),
        }
    }

    /// Every short name that is not itself the name of an entry or an operation.
    pub fn short_names(&self) -> Vec<&str> {
        let families = self.entries.iter().map(|entry| family(&entry.name));
        let functions = self.operations.iter().filter_map(|operation| operation.function.as_deref());
        let is_new = |name: &&str| self.entry(name).is_none() && self.operation(name).is_none();
        let mut names: Vec<&str> = families.chain(functions).filter(is_new).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_means_the_64_bit_entry_that_the_kernel_has() {
        let of = |word, kernel| Table::get().entry_of(word, kernel).map(|entry| entry.name.as_str());
        assert_eq!(of("syscall", Kernel::Linux), Some("syscall-x86_64"));
        assert_eq!(of("sysenter", Kernel::Linux), Some("sysenter-i386"));
        assert_eq!(of("sysenter", Kernel::Lab), Some("sysenter-x86_64"));
        assert_eq!(of("call-gate", Kernel::Linux), None);
        assert_eq!(of("int3", Kernel::Lab), Some("int3"), "a whole name goes first");
        for nothing in ["", "sys", "x86_64", "-x86_64", "syscall-"] {
            assert_eq!(of(nothing, Kernel::Linux), None, "{nothing}");
        }
        let all: Vec<_> = Table::get().family("syscall").iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(all, ["syscall-x86_64", "syscall-i386", "syscall-x32"]);
    }

    #[test]
    fn a_c_function_means_all_that_it_does() {
        let of = |word| Table::get().operations_of(word).len();
        assert_eq!([of("time"), of("nothing")], [1, 0]);
        assert!(of("clock_gettime") > 3);
    }

    #[test]
    fn short_names_are_neither_entries_nor_operations() {
        let names = Table::get().short_names();
        assert!(names.contains(&"syscall") && names.contains(&"clock_gettime"), "{names:?}");
        assert!(!names.contains(&"int3") && !names.contains(&"time"), "{names:?}");
    }
}

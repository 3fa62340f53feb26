//! Rows that mean more than themselves, each named once: what others are compared with, and what tells about the machine.

/// A row by its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowName {
    /// The entry's.
    pub entry: &'static str,
    /// The operation's.
    pub operation: &'static str,
}

impl RowName {
    const fn new(entry: &'static str, operation: &'static str) -> RowName {
        RowName { entry, operation }
    }

    /// Whether it names this entry and operation.
    pub fn is(self, entry: &str, operation: &str) -> bool {
        (self.entry, self.operation) == (entry, operation)
    }
}

impl std::fmt::Display for RowName {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(out, "{} {}", self.entry, self.operation)
    }
}

/// The way into the kernel that 64-bit programs use.
pub const SYSCALL: &str = "syscall-x86_64";

/// The vDSO of 64-bit programs.
pub const VDSO: &str = "vdso-x86_64";

/// The system's C library.
pub const LIBC: &str = "libc";

/// A call and return through a pointer: the floor of all costs. It is so cheap that it is also run to see how quiet a CPU
/// is.
pub const CALL: RowName = RowName::new("call", "none");

/// The instruction that a hypervisor executes for its guests.
pub const CPUID: &str = "cpuid";

/// The plainest system call, which other costs are multiples of. It is measured throughout: if its cost changes, something
/// has changed the machine.
pub const BARE_SYSCALL: RowName = RowName::new(SYSCALL, "none");

/// The plainest system call that does something.
pub const GETPPID: RowName = RowName::new(SYSCALL, "getppid");

/// What Linux answers an exception by, where the lab serves a call.
pub const SIGNAL: &str = "signal";

/// The operations that need the clocksource. The coarse clocks and `time` read what the last timer tick left, and a
/// thread's CPU time is always the kernel's.
pub const CLOCK_READS: [&str; 3] = ["clock_gettime-monotonic", "clock_gettime-realtime", "gettimeofday"];

/// The rows of the first screen, in its order: the floor, then what a 64-bit program uses, a 32-bit one, and what the kernel
/// does unasked.
pub const FIRST_SCREEN: [RowName; 14] = [
    CALL,
    BARE_SYSCALL,
    GETPPID,
    RowName::new(SYSCALL, "clock_gettime-monotonic"),
    RowName::new(VDSO, "clock_gettime-monotonic"),
    RowName::new(LIBC, "clock_gettime-monotonic"),
    RowName::new(VDSO, "getrandom"),
    RowName::new(LIBC, "getrandom"),
    RowName::new("vsyscall", "gettimeofday"),
    RowName::new("int80-i386", "getppid"),
    RowName::new("sysenter-i386", "getppid"),
    RowName::new("vdso-i386", "clock_gettime-monotonic"),
    RowName::new("page-fault", "minor-fault"),
    RowName::new("ud", SIGNAL),
];

/// Whether a row is on the first screen.
pub fn is_on_first_screen(entry: &str, operation: &str) -> bool {
    FIRST_SCREEN.iter().any(|name| name.is(entry, operation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, Table};

    #[test]
    fn every_special_row_is_in_the_table() {
        let reads =
            CLOCK_READS.iter().flat_map(|read| [SYSCALL, VDSO].map(|entry| RowName::new(entry, read)));
        for name in FIRST_SCREEN.into_iter().chain(reads) {
            let mut rows = Table::get().rows(Kernel::Linux);
            assert!(rows.any(|(entry, operation)| name.is(&entry.name, &operation.name)), "{name}");
        }
    }

    #[test]
    fn a_row_is_named_by_both_of_its_names() {
        assert!(CALL.is("call", "none") && !CALL.is("call", "getppid") && !CALL.is("rdtsc", "none"));
        assert_eq!(BARE_SYSCALL.to_string(), "syscall-x86_64 none");
    }
}
